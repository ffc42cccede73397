"""Requests under load: what an engine puts into each step, by its own rules, and when every token comes of it.

Nothing here knows how long a step takes: that is one value, `costs.StepCosts`. With it::

    requests = Closed(clients=64).requests(shape, count=640)      # volvelle.workload.serving
    served = serve(requests, costs, vllm(kv_blocks=40_000))           # serving, rules
    answer(served, limits=Limits(ttft=0.5))                           # stability: Metrics, or Unstable
    served.curve(moments)                                             # who runs, who waits, memory in use

Import it where it is used: it loads numba.
"""
