"""Drafters on the chips of a target."""

import numpy as np
import pytest

import volvelle
from volvelle import DescriptionError
from volvelle.applications.serving.speculation.drafts import Speculation
from volvelle.workload.serving.requests import Requests

NODE = "dgx-h100/8"


def drafts(speculate: str, model: str = "llama3-70b") -> Speculation:
    found = volvelle.serve(model, on=NODE, weights="fp8", speculate=speculate).instance.speculation
    assert found is not None
    return found


def test_an_eagle_head_is_a_layer_beside_what_it_shares() -> None:
    found = drafts("eagle 3")
    shape = volvelle.Catalogue().model("llama3-70b")
    layer = 2 * shape.hidden * (shape.heads + shape.kv_heads) * shape.head_dim + 3 * shape.hidden * shape.ffn
    assert found.weights == pytest.approx(2.0 * layer / 8)
    assert found.growing == pytest.approx(2 * 2 * shape.head_dim)  # one head of keys a chip, in 16 bits


def test_an_mtp_layer_of_a_mixture_has_experts_and_an_eagle_head_has_not() -> None:
    mtp, eagle = (drafts(f"{drafter} 1", model="qwen3-235b-a22b") for drafter in ("mtp", "eagle"))
    assert mtp.served is not None
    assert eagle.served is not None
    assert mtp.served.shape.experts is not None
    assert eagle.served.shape.experts is None


def test_a_draft_model_lies_on_as_many_chips_as_is_said() -> None:
    one, all_of_them = drafts("draft llama3-8b 4 tp1"), drafts("draft llama3-8b 4")
    assert one.weights > 7 * all_of_them.weights


@pytest.mark.parametrize(
    ("speculate", "why"),
    [
        ("draft llama3-8b 4 tp16", "tp16 is more than tensor=8"),
        ("draft llama2-7b 4", "of the same family"),
        ("draft no-such-model 4", "no-such-model"),
    ],
)
def test_a_draft_model_that_cannot_draft_is_refused(speculate: str, why: str) -> None:
    with pytest.raises(DescriptionError, match=why):
        drafts(speculate)


def test_cycles_of_requests_are_drawn_around_their_mean_and_the_same_for_a_seed() -> None:
    found = drafts("eagle 3")
    count = 20_000
    requests = Requests(arrival=np.zeros(count), input_tokens=np.full(count, 10), output_tokens=np.full(count, 101))
    steps = found.drawn(requests, 1).decode_steps
    assert steps.mean() == pytest.approx(found.cycles(100), rel=0.003)
    assert steps.std() > 1.0
    assert steps.min() >= 25
    assert steps.max() <= 100
    assert np.array_equal(steps, found.drawn(requests, 1).decode_steps)
    assert not np.array_equal(steps, found.drawn(requests, 2).decode_steps)
