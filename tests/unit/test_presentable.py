"""Values that are no answers show themselves in a few lines too."""

import numpy as np
import pytest

from volvelle import (
    Catalogue,
    ClosedForm,
    MappingTable,
    ParallelMapping,
    Recompute,
    TrainingStep,
    catalogue,
    fitted_constants,
    transformer,
)
from volvelle.presentable import only_what_is_set


def on_a_screen(value: object) -> bool:
    lines = repr(value).split("\n")
    return len(lines) <= 24 and max(map(len, lines)) <= 100


def test_a_layout_is_the_call_that_makes_it() -> None:
    mapping = ParallelMapping(tensor=8, pipeline=4, recompute=Recompute.FULL)
    assert repr(ParallelMapping(tensor=8, pipeline=4)) == "ParallelMapping(tensor=8, pipeline=4)"
    assert eval(repr(mapping)) == mapping


@pytest.mark.parametrize("shelf", ["chips", "clusters", "links", "models"])
def test_every_entry_of_the_catalogue_fits_a_screen(shelf: str) -> None:
    entries = getattr(catalogue, shelf)
    assert [name for name in entries if not on_a_screen(entries[name])] == []


def test_steps_tables_and_estimates_fit_a_screen() -> None:
    known = Catalogue()
    cluster, step = known.cluster("dgx-h100/64"), TrainingStep(model=transformer(known.model("llama3-70b")), batch=64)
    table = MappingTable.every(tensor=(1, 2, 4, 8), zero=(1, 3))
    estimate = ClosedForm().estimate(step, cluster, ParallelMapping(tensor=8, data=8))
    for value in (known, step.model, step.model.blocks[0], table, ClosedForm().table(step, cluster, table), estimate):
        assert on_a_screen(value)
    assert "cannot run" in repr(estimate)
    assert repr(table) == "MappingTable of 8 mappings, varied in tensor, zero"
    assert repr(fitted_constants(cluster, "bf16")).startswith("FittedConstants(matrix_efficiency=")


def test_a_column_is_never_a_default() -> None:
    constants = fitted_constants(Catalogue().cluster("dgx-h100/64"), "bf16")
    assert only_what_is_set(constants)
    chip = catalogue.chips.h100_sxm
    assert on_a_screen(chip)
    assert "…" in repr(
        type(chip)(
            name="x", matrix_rates={"bf16": np.array([1e12, 2e12])}, vector_rates={}, buffer=1e6, memories=chip.memories
        )
    )
