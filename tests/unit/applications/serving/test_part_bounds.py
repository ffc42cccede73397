"""What bounds a part is the resource that shortens it."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.instance import instance
from volvelle.applications.serving.part_bounds import compared, part_bounds
from volvelle.estimators.serving.iteration import Batch
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel


def bounds(catalogue: Catalogue, **batch: float) -> dict[str, str]:
    served = ServedModel(shape=catalogue.model("llama3-8b"))
    one = instance(catalogue, served, "h100-sxm", ServingLayout(tensor=2), "vllm")
    steps = Batch(**{name: np.full(3, value) for name, value in batch.items()})
    parts = one.iteration.on(compared(one.iteration.chip)).parts(steps)
    return dict(part_bounds({name: np.broadcast_to(time, 3) for name, time in parts.items()}))


def test_parts_that_take_no_time_have_no_bound(catalogue: Catalogue) -> None:
    assert "attention over prompts" not in bounds(catalogue, decodes=1.0, context=100.0)
    assert "attention of decodes" not in bounds(catalogue, prompt_tokens=1000.0, prompts=1.0)


@pytest.mark.parametrize(
    ("batch", "part", "bound"),
    [
        ({"prompt_tokens": 8192.0, "prompts": 1.0}, "feed-forward", "arithmetic"),
        ({"decodes": 1.0, "context": 1000.0}, "feed-forward", "memory traffic"),
        ({"decodes": 1.0, "context": 10.0}, "norms, rotations, activations", "kernel launches"),
        ({"decodes": 256.0, "context": 256 * 8192.0}, "attention of decodes", "memory traffic"),
        ({"decodes": 1.0, "context": 10.0}, "all-reduce", "network"),
    ],
)
def test_more_of_what_bounds_a_part_is_what_shortens_it(
    batch: dict[str, float], part: str, bound: str, catalogue: Catalogue
) -> None:
    assert bounds(catalogue, **batch)[part] == bound
