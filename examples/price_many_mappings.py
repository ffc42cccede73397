"""Price every layout of a 405-billion-parameter model on 4096 H100, then ask how sure the best one is."""

import numpy as np

from volvelle import (
    Catalogue,
    ClosedForm,
    MappingTable,
    Recompute,
    TrainingStep,
    UnderUncertainty,
    sampled,
    transformer,
)

catalogue = Catalogue()
step = TrainingStep(model=transformer(catalogue.model("llama3-405b")), batch=2048)
cluster = catalogue.cluster("dgx-h100/4096")

# Every combination of these options; the replicas take the chips that are left.
every = MappingTable.every(
    tensor=(1, 2, 4, 8, 16),
    pipeline=(1, 2, 4, 8, 16, 32, 64),
    micro_batch=(1, 2, 4),
    zero=(0, 1, 2, 3),
    recompute=(Recompute.NONE, Recompute.FULL),
)
columns = ("tensor", "pipeline", "micro_batch", "zero", "recompute")
table = MappingTable.columns(
    **{name: getattr(every, name) for name in columns},
    data=cluster.accelerators / (every.tensor * every.pipeline),
)
found = ClosedForm().table(step, cluster, table)

print(f"{len(found)} layouts, {np.count_nonzero(found.feasible)} can run; struck out by")
for name, struck in found.violations.items():
    print(f"  {name:14} {np.count_nonzero(struck):4}")

time = np.where(found.feasible, found.time, np.inf)
best = np.argsort(time, kind="stable")[:5]
print("\nthe five fastest:")
for row in best:
    m = table.row(int(row))
    layout = f"tensor {m.tensor:2} pipeline {m.pipeline:2} data {m.data:4}"
    options = f"micro-batch {m.micro_batch} ZeRO-{m.zero} recompute {m.recompute.word:4}"
    memory = found.memory_bytes[row] / 1e9
    print(f"  {layout} {options}  {found.time[row]:.1f} s  {memory:.0f} GB")

# One layout, its range.
winner = table.row(int(best[0]))
estimator = UnderUncertainty(estimator=ClosedForm(), samples=512, seed=0)
answer = estimator.estimate(step, cluster, winner)
around = answer.time_range
assert around is not None
print(f"\nthe fastest: {answer.time:.1f} s, {around.low:.1f} s to {around.high:.1f} s")

# Two layouts on the same 512 machines: how often is the first really the faster?
machines, varied = sampled(cluster, samples=512, seed=0)
first, third = (ClosedForm().table(step, machines, table.take(best[i : i + 1])).time for i in (0, 2))
print(f"the third fastest: {third.min():.1f} s to {third.max():.1f} s on all machines")
print(f"the fastest is faster on {100 * np.mean(first < third):.0f} % of them; they vary in")
for name in varied:
    print(f"  {name}")
