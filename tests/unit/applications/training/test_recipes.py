"""Public recipes: which one a measured row ran, and what it says that the row does not."""

from dataclasses import replace

import pytest

from volvelle import Catalogue
from volvelle.applications.training.measurements import TrainingMeasurement, training_measurements
from volvelle.applications.training.recipes import Recipe, recipe_of
from volvelle.applications.training.rows import training_question
from volvelle.mapping.parallelism import Graphs, ParallelMapping, Recompute


@pytest.fixture(scope="module")
def rows() -> dict[str, TrainingMeasurement]:
    """Rows of Megatron-Bridge that are not held out."""
    found = training_measurements().rows
    return {row.head.row_id: row for row in found if "Bridge" in row.framework and row.head.split == "calibration"}


def run(rows: dict[str, TrainingMeasurement], release: str, model: str, gpu: str) -> TrainingMeasurement:
    named = (row for row in rows.values() if row.framework.endswith(release) and row.model == model)
    return next(row for row in named if row.accelerator.startswith(gpu))


def layout(row: TrainingMeasurement) -> tuple[ParallelMapping, tuple[str, ...]]:
    asked = training_question(row, Catalogue())
    assert not isinstance(asked, str), asked
    return asked.decision, asked.assumed


def test_a_run_of_a_release_takes_the_preset_of_that_release(rows: dict[str, TrainingMeasurement]) -> None:
    row = run(rows, " 26.02", "qwen3-235b-a22b", "GB200")
    found = recipe_of(row)
    assert found is not None
    recipe, unsure = found
    assert (recipe.release, recipe.gpu, recipe.precision, unsure) == ("26.02", "gb200", "fp8_mx", "")
    mapping, assumed = layout(row)
    assert mapping.hierarchical_dispatch
    assert not mapping.expert_overlap
    assert mapping.graphs is Graphs.ATTENTION
    assert not any("recipe" in one for one in assumed)


def test_where_a_release_has_none_the_nearest_is_taken_and_named(rows: dict[str, TrainingMeasurement]) -> None:
    row = replace(run(rows, " 26.02", "qwen3-235b-a22b", "GB200"), framework="Megatron-Bridge 27.02")
    found = recipe_of(row)
    assert found is not None
    assert found[0].release == "26.06.01"
    assert any(one.startswith("recipe ") and "release 26.06.01" in one for one in layout(row)[1])


def test_most_rows_have_a_recipe_and_other_frameworks_none(rows: dict[str, TrainingMeasurement]) -> None:
    found = [recipe_of(row) for row in rows.values()]
    assert sum(one is not None for one in found) > 0.95 * len(found)
    assert all(recipe_of(replace(row, framework="NeMo 24.07")) is None for row in rows.values())


def test_what_a_row_states_itself_counts_first(rows: dict[str, TrainingMeasurement]) -> None:
    row = run(rows, " 26.02", "qwen3-235b-a22b", "GB200")
    assert layout(replace(row, sharding="FSDP8"))[0].zero_group == 8
    assert layout(replace(row, interleave=2))[0].interleave == 2


@pytest.mark.parametrize(
    ("kind", "scope", "graphs"),
    [
        ("", "full_iteration", Graphs.NONE),
        ("none", "full_iteration", Graphs.NONE),
        ("local", "full_iteration", Graphs.WHOLE),
        ("full_iteration", "", Graphs.WHOLE),
        ("transformer_engine", "attn;moe_router;moe_preprocess", Graphs.ATTENTION),
        ("transformer_engine", "moe_router;moe_preprocess", Graphs.ROUTER),
        ("transformer_engine", "mlp", Graphs.NONE),
    ],
)
def test_graphs_are_those_that_are_switched_on(kind: str, scope: str, graphs: Graphs) -> None:
    recipe = Recipe(release="", preset="", model="", gpu="", precision="", graph_kind=kind, graph_scope=scope)
    assert recipe.graphs is graphs


def test_a_run_that_ran_is_taken_to_have_had_room() -> None:
    row = next(
        row for row in training_measurements().rows if row.head.group == "jax-toolbox-pax" and "175" in row.model
    )
    mapping, assumed = layout(row)
    assert mapping.recompute is Recompute.FULL
    assert "full recomputation: it would not have fitted" in assumed
    stated = replace(row, recompute="none")
    assert layout(stated)[0].recompute is Recompute.NONE
