"""One training step of GPT-3 on 1024 A100, asked from Python."""

from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, UnderUncertainty, transformer

catalogue = Catalogue()
step = TrainingStep(model=transformer(catalogue.model("gpt3-175b")), batch=1536)
cluster = catalogue.cluster("dgx-a100/1024")
mapping = ParallelMapping(tensor=8, pipeline=8, data=16)
answer = UnderUncertainty(estimator=ClosedForm(), seed=0).estimate(step, cluster, mapping)
around = answer.time_range
assert around is not None

print(f"{answer.time:.1f} s, between {around.low:.1f} s and {around.high:.1f} s")
for part, seconds in answer.parts().items():
    print(f"{part:30} {100 * seconds / answer.time:5.1f} %")
