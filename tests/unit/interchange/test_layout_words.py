"""A layout in a few words is read as a plan prints it."""

import pytest

from volvelle.errors import VolvelleError
from volvelle.interchange.layout_words import looks_like_layout, read_layout_words
from volvelle.mapping.parallelism import CHOICES, ParallelMapping, Recompute, Schedule
from volvelle.report.plan_words import choices_text, degrees_text

LAYOUTS = (
    ParallelMapping(tensor=4, pipeline=4, data=2, context=2, schedule=Schedule.ZERO_BUBBLE, recompute=Recompute.NONE),
    ParallelMapping(
        data=64, micro_batch=4, zero=3, recompute=Recompute.FULL, recompute_every=2, sequence_parallel=False
    ),
    ParallelMapping(tensor=2, pipeline=8, data=4, expert=8, expert_tensor_parallel=False, interleave=2),
    ParallelMapping(context=8, ulysses=True, tensor=2, recompute=Recompute.LIGHT),
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_plan_prints_is_read_back(layout: ParallelMapping) -> None:
    text = f"{degrees_text(layout)}; {choices_text(layout)}"
    assert looks_like_layout(text)
    read = read_layout_words(text)
    for choice in CHOICES:
        if choice.name in read:
            assert read[choice.name] == getattr(layout, choice.name), choice.name
    for name in ("tensor", "pipeline", "data", "micro_batch", "zero", "recompute"):
        assert name in read


def test_every_field_has_a_word_of_its_own() -> None:
    assert read_layout_words("micro_batch=2 overlap=no graphs=whole") == {
        "micro_batch": 2,
        "overlap": False,
        "graphs": next(choice.kind(3) for choice in CHOICES if choice.name == "graphs"),
    }


@pytest.mark.parametrize(
    "text", ["", "tp", "tp2 tp4", "zero=x", "recompute=some", "overlap=2", "mb2 nonsense", "1f1b/x"]
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(VolvelleError):
        read_layout_words(text)


@pytest.mark.parametrize("text", ["dgx-h100/64", "fsdp", "llama3-8b", "config.json", "scale_up.rate=2x", "chip=b200"])
def test_names_of_other_things_do_not_look_like_layouts(text: str) -> None:
    assert not looks_like_layout(text)
