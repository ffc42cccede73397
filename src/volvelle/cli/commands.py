"""The commands there are, in a line each, and what people call them."""

VERBS = {
    "calibrate": "Fit constants again, from measurements of the package or from logs of your own.",
    "catalogue": "Show or search chips, clusters, models, software, and where each number comes from.",
    "collective": "How long an all-reduce or another collective takes, by dimension, and what limits it.",
    "compare": "Systems, models, layouts, software or kept answers side by side: what differs, and is it real.",
    "completion": "Print a script that lets a shell complete models, machines and options.",
    "config": "Show which configuration file sets which default.",
    "cost": "What a machine costs to buy and to own, by part, with dates, intervals and sources.",
    "crosscheck": "One step by formulas, by a replay and with flows on links: do they agree, and if not, why.",
    "estimate": "How long one training step takes, what fits, and where the time goes.",
    "explore": "A design space from a file: every point, the best, the Pareto front, and why.",
    "fleet": "How many chips serve a load of days within limits, by the hour, and for what money.",
    "job": "How long a run really takes, failures included, and its money, energy and carbon.",
    "map": "The best mapping of any graph of kernels, with a proof.",
    "mpi": "What an MPI trace tells: who talks to whom, loops, its time elsewhere and on more ranks.",
    "plan": "The best layout for a model on a machine, or the best run of a benchmark.",
    "replay": "A recorded trace on another machine: time, each operation's bound, how much is understood.",
    "reproduce": "Compute a published study again, and hold it against what was logged.",
    "scale": "The best layout at every count of accelerators: efficiency, where the time goes, what breaks it.",
    "schema": "Print the JSON Schema of what --json prints.",
    "serve": "How fast a model is served, as a batch or under load: latency, throughput, memory, cost.",
    "validate": "Hold predictions against measurements, worst rows first.",
    "why-unsure": "Which numbers make an answer uncertain, and what to measure first.",
}


VARIABLE = "_VOLVELLE_COMPLETE"
"""Set in the environment by the script of a shell that asks what may be completed."""
ALSO = {"catalog": "catalogue"}
"""What a command is called elsewhere."""
MEANT = {
    **dict.fromkeys(("models", "clusters", "chips", "list", "search", "show"), "catalogue"),
    **dict.fromkeys(("train", "predict", "memory", "fit", "time"), "estimate"),
    **dict.fromkeys(("optimise", "optimize", "layout", "tune", "best"), "plan"),
    **dict.fromkeys(("allreduce", "all-reduce", "nccl", "communication", "network"), "collective"),
    **dict.fromkeys(("scaling", "efficiency"), "scale"),
    **dict.fromkeys(("fidelity", "simulate", "cross-check", "contention"), "crosscheck"),
    **dict.fromkeys(("trace", "profile", "kineto", "chakra", "onnx", "project"), "replay"),
    **dict.fromkeys(("mpi-trace", "otf2", "scorep", "smpi"), "mpi"),
    **dict.fromkeys(("goodput", "ettr", "mtbf", "failures", "days", "carbon", "energy"), "job"),
    **dict.fromkeys(("doubt", "sensitivity", "uncertainty", "why"), "why-unsure"),
    **dict.fromkeys(("price", "tco", "buy"), "cost"),
    **dict.fromkeys(("sweep", "study", "dse"), "explore"),
    **dict.fromkeys(("capacity", "autoscale", "replicas", "sizing"), "fleet"),
    **dict.fromkeys(("serving", "infer", "inference", "deploy", "generate"), "serve"),
}
"""Words for which people look, and the command that they mean."""
