"""What a layout multiplies bounds its time from below, whatever the layout."""

import numpy as np
import pytest

from volvelle import Catalogue, ClosedForm, TrainingStep, training_step, transformer
from volvelle.mapping.parallelism import Recompute, Schedule
from volvelle.search.exhaustive import fastest
from volvelle.search.layouts import layouts
from volvelle.search.least_time import least_times
from volvelle.search.space import Space


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


def _step(catalogue: Catalogue, model: str, **recipe: object) -> TrainingStep:
    return training_step(transformer(catalogue.model(model), sequence=4096), batch=192, **recipe)  # type: ignore[arg-type]


SPACE = Space(
    context=(1, 2),
    schedule=tuple(Schedule),
    recompute=(Recompute.NONE, Recompute.SELECTIVE, Recompute.FULL, Recompute.LIGHT, Recompute.ALTERNATE),
    largest_micro_batch=4,
)


@pytest.mark.parametrize(
    ("model", "system", "recipe"),
    [
        ("llama3-8b", "dgx-h100/24", {}),
        ("gpt3-175b", "dgx-a100/96", {}),
        ("mixtral-8x7b", "dgx-h100/64", {"expert_load": 1.2}),
        ("deepseek-v2-lite", "dgx-b200/16", {}),
        ("gemma3-27b", "tpu-v5p-pod/64", {}),
        ("llama3-8b", "dgx-h100/8", {"lora": 16}),
    ],
)
def test_no_layout_is_faster_than_its_bound(
    catalogue: Catalogue, model: str, system: str, recipe: dict[str, object]
) -> None:
    step, cluster = _step(catalogue, model, **recipe), catalogue.cluster(system)
    seen = 0
    for table in layouts(SPACE, step, cluster):
        times = ClosedForm().table(step, cluster, table).time
        assert (least_times(table, step, cluster) <= times * (1 + 1e-9)).all()
        seen += len(table)
    assert seen > 500


def test_a_search_within_a_time_finds_what_a_search_finds(catalogue: Catalogue) -> None:
    step, cluster = _step(catalogue, "llama3-8b"), catalogue.cluster("dgx-h100/24")
    best = fastest(Space(), step, cluster, ClosedForm())
    assert best is not None
    assert fastest(Space(), step, cluster, ClosedForm(), within=1.01 * best.time) == best
    assert fastest(Space(), step, cluster, ClosedForm(), within=0.99 * best.time) is None
    assert np.isfinite(best.time)


def test_after_enough_layouts_one_that_runs_will_do(catalogue: Catalogue) -> None:
    step, cluster = _step(catalogue, "llama3-8b"), catalogue.cluster("dgx-h100/24")
    best = fastest(Space(), step, cluster, ClosedForm())
    some = fastest(Space(), step, cluster, ClosedForm(), enough=1)
    assert best is not None
    assert some is not None
    assert some.time >= best.time
