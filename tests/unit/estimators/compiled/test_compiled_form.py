"""Tracing writes down what runs, guards say where it holds, and the compiled code answers as NumPy does."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import small_chip, small_cluster, small_gpt
from volvelle import (
    Catalogue,
    ClosedForm,
    CompiledClosedForm,
    EstimateTable,
    MappingError,
    MappingTable,
    Memory,
    MissingExtraError,
    OutsideDomainError,
    ParallelMapping,
    Ring,
    Switch,
    TrainingStep,
    UnderUncertainty,
    transformer,
)
from volvelle.estimators.compiled import compiled_form as estimator_module
from volvelle.estimators.compiled import vector_code
from volvelle.estimators.compiled.graph import OPERATIONS, Evaluation, Graph
from volvelle.estimators.compiled.program import Program, traced
from volvelle.estimators.compiled.tracer import Recording, Tracer
from volvelle.system.topologies import CubeMesh

pytest.importorskip("numba")

RNG = np.random.default_rng(0)


def run(program: Program, columns: dict[str, Any], numbers: dict[str, float]) -> tuple[dict[str, Any], list[bool]]:
    """Results of a program's compiled code, and whether any row has what is asked."""
    rows = np.arange(len(next(iter(columns.values()))))
    uniform, constant, _ = program.numbers(numbers)
    results = {
        name: np.empty(len(rows), dtype=bool if place in program.code.truths else float)
        for name, place in zip(program.stored, program.code.stored, strict=True)
    }
    found = np.zeros(len(program.asked), dtype=np.uint8)
    vector_code.compiled(program.code)(
        np.array([columns[name].ctypes.data for name in program.columns], dtype=np.int64),
        uniform,
        rows,
        np.array([result.ctypes.data for result in results.values()], dtype=np.int64),
        found,
    )
    return results | constant, [bool(one) for one in found]


def assert_same(one: EstimateTable, other: EstimateTable) -> None:
    np.testing.assert_allclose(one.time, other.time, rtol=1e-12)
    np.testing.assert_allclose(one.memory_bytes, other.memory_bytes, rtol=1e-12)
    assert one.violations.keys() == other.violations.keys()
    for name, violated in one.violations.items():
        np.testing.assert_array_equal(violated, other.violations[name], err_msg=name)


# -- the graph -----------------------------------------------------------------------------------------------


def test_equal_values_are_one_node_constants_fold_and_what_changes_nothing_is_left_out() -> None:
    graph = Graph()
    x, y, one = graph.column("x"), graph.column("y"), graph.constant(1.0)
    assert graph.apply("add", x, y) == graph.apply("add", y, x)
    assert graph.apply("multiply", x, one) == x
    assert graph.apply("divide", x, one) == x
    assert graph.nodes[graph.apply("add", one, one)].detail == 2.0
    assert graph.apply("where", graph.constant(True), x, y) == x
    assert graph.apply("both", graph.apply("less", x, y), graph.constant(False)) == graph.constant(False)
    assert graph.constant(1.0) != graph.constant(True)
    assert graph.constant(0.0) != graph.constant(-0.0)


def test_what_no_result_needs_is_not_run() -> None:
    def price(recording: Recording) -> dict[str, Any]:
        x = Tracer(recording, recording.graph.column("x"), columnar=True)
        np.sqrt(x * 3.0)
        return {"y": x + 1.0}

    program = traced(price, dict)
    assert [step.operation for step in program.code.steps] == ["add"]


def test_what_is_the_same_for_all_rows_is_computed_once_a_call() -> None:
    def price(recording: Recording) -> dict[str, Any]:
        x = Tracer(recording, recording.graph.column("x"), columnar=True)
        rate = Tracer(recording, recording.graph.number("rate"), columnar=False)
        return {"y": x * np.sqrt(rate / 3.0), "z": rate * 2.0}

    program = traced(price, dict)
    assert [step.operation for step in program.code.steps] == ["multiply"]
    results, _ = run(program, {"x": np.arange(3.0)}, {"rate": 12.0})
    np.testing.assert_array_equal(results["y"], [0.0, 2.0, 4.0])
    assert results["z"] == 24.0


# -- the code ------------------------------------------------------------------------------------------------

_UNARY = ("negative", "absolute", "sqrt", "ceil", "floor", "log2", "log", "exp")
_BINARY = ("add", "subtract", "multiply", "divide", "power", "remainder", "minimum", "maximum", "equal", "not_equal")
_ORDER = ("less", "less_equal", "greater", "greater_equal")


def every_operation(x: Any, y: Any, z: Any) -> dict[str, Any]:
    found = {name: OPERATIONS[name](x) for name in _UNARY if name not in ("sqrt", "log2", "log")}
    found |= {name: OPERATIONS[name](np.maximum(np.abs(x), 0.1)) for name in ("sqrt", "log2", "log")}
    found |= {
        name: OPERATIONS[name](np.maximum(np.abs(x), 0.1) if name == "power" else x, y) for name in (*_BINARY, *_ORDER)
    }
    found["where"] = np.where(x > y, x, z)
    found["truths"] = np.where((x > y) | ~(y > z), x < z, (x > 0.0) & (z > 0.0))
    found["counted"] = (x > y) * 2.0 + 1.0 * (y > z)
    found["gcd"] = np.gcd(np.multiply(x, 7.0).astype(np.int64), np.positive(z * 12.0).astype(np.int64)) / 2.0
    found["shared divisor"] = x / z + y / z + (x + y) / 7.3
    found["powers"] = x**2.0 + np.abs(y) ** 0.5 + z**-1.0 + x % 4.0 + x / 8.0
    return found


def test_every_operation_is_that_of_numpy() -> None:
    columns = {name: RNG.uniform(-9.0, 9.0, 1003).round(1) for name in "xyz"}
    columns["z"] = np.where(columns["z"] == 0.0, 2.0, columns["z"])
    columns["y"] = np.where(columns["y"] == 0.0, 3.0, columns["y"])
    columns["x"][:16] = 2.0 ** (np.arange(16) % 9)  # a vector of powers of two, whose logarithms take another path

    def price(recording: Recording) -> dict[str, Any]:
        given = (Tracer(recording, recording.graph.column(name), columnar=True) for name in "xyz")
        return every_operation(*given)

    program = traced(price, lambda: columns)
    expected = every_operation(*columns.values())
    results, _ = run(program, columns, {})
    assert set(OPERATIONS) - {step.operation for step in program.code.steps} == set()
    evaluation = Evaluation(program.graph, columns)
    assert evaluation.value(program.guards[0].node).shape == (1003,)
    for name, wanted in expected.items():
        if wanted.dtype == bool:
            np.testing.assert_array_equal(results[name], wanted, err_msg=name)
        else:
            np.testing.assert_allclose(results[name], wanted, rtol=1e-14, err_msg=name)


def test_what_is_not_a_number_or_infinite_comes_out_as_in_numpy() -> None:
    values = np.array([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    x, y = (one.ravel().copy() for one in np.meshgrid(values, values))

    def answers(x: Any, y: Any) -> dict[str, Any]:
        return {
            "min": np.minimum(x, y),
            "max": np.maximum(x, y),
            "quotients": x / y + (x + 1.0) / y,
            "equal": x == y,
            "unequal": x != y,
            "order": (x < y) | (x >= 1.0),
        }

    def price(recording: Recording) -> dict[str, Any]:
        return answers(*(Tracer(recording, recording.graph.column(name), columnar=True) for name in "xy"))

    results, _ = run(traced(price, dict), {"x": x, "y": y}, {})
    with np.errstate(all="ignore"):
        for name, wanted in answers(x, y).items():
            np.testing.assert_array_equal(results[name], wanted, err_msg=name)


# -- guards --------------------------------------------------------------------------------------------------


def test_a_question_about_rows_becomes_a_guard_that_the_code_answers_again() -> None:
    def price(recording: Recording) -> dict[str, Any]:
        x = Tracer(recording, recording.graph.column("x"), columnar=True)
        return {"y": np.sqrt(x) if np.all(x >= 0.0) else x * 2.0}

    program = traced(price, lambda: {"x": np.array([1.0, 4.0])})
    assert [guard.outcome for guard in program.guards] == [False]  # none is below zero
    assert run(program, {"x": np.array([4.0, 9.0, 16.0])}, {})[1] == [False]
    assert run(program, {"x": np.array([4.0, -9.0, 16.0])}, {})[1] == [True]


def test_a_table_that_takes_another_branch_gets_another_program(step: TrainingStep) -> None:
    cluster = small_cluster()
    plain = {"tensor": [2, 4, 8], "data": [16, 8, 4], "pipeline": [1, 1, 1], "zero": [0, 0, 0], "interleave": [1, 1, 1]}
    tables = [
        MappingTable.columns(**plain),
        MappingTable.columns(**plain | {"zero": [0, 1, 0]}),
        MappingTable.columns(**plain | {"zero": [3, 1, 2]}),
        MappingTable.columns(**plain | {"pipeline": [1, 1, 3], "data": [16, 8, 1]}),
        MappingTable.columns(**plain | {"context": [1, 2, 1]}),
        MappingTable.columns(**plain | {"schedule": [0, 3, 2]}),
        MappingTable.columns(**plain),
    ]
    for table in tables:
        assert_same(CompiledClosedForm().table(step, cluster, table), ClosedForm().table(step, cluster, table))


def test_a_column_has_no_single_truth_and_no_single_value() -> None:
    recording = Recording(lambda: {"x": np.ones(3)})
    x = Tracer(recording, recording.graph.column("x"), columnar=True)
    with pytest.raises(ValueError, match="any or all"):
        bool(x > 0.0)
    with pytest.raises(TypeError, match="one row"):
        x[0]
    with pytest.raises(TypeError):
        np.cumsum(x)
    with pytest.raises(TypeError, match="neither a number nor traced"):
        x + np.ones(3)


# -- the estimator -------------------------------------------------------------------------------------------


def test_one_compiled_function_serves_many_machines(step: TrainingStep) -> None:
    table = MappingTable.columns(tensor=[1, 2, 4, 8], data=[32, 16, 8, 4])
    CompiledClosedForm().table(step, small_cluster(), table)
    known = len(vector_code._KERNELS)
    for rate in (1e12, 5e12):
        chip = small_chip(memories=(Memory(name="HBM", capacity=40e9, rate=rate),))
        cluster = small_cluster(8, chip=chip, matrix_efficiency=0.5)
        other = replace(step, batch=128)
        assert_same(CompiledClosedForm().table(other, cluster, table), ClosedForm().table(other, cluster, table))
    assert len(vector_code._KERNELS) == known


def test_rates_of_the_system_may_be_columns(step: TrainingStep) -> None:
    rates = np.linspace(1e12, 4e12, 37)
    chip = small_chip(
        memories=(Memory(name="HBM", capacity=np.linspace(1e9, 80e9, 37), rate=rates),),
        buffer=np.geomspace(1e5, 1e9, 37),
    )
    cluster = small_cluster(chip=chip)
    for table in (
        MappingTable.of([ParallelMapping(tensor=8, data=4)]),
        MappingTable.columns(tensor=[8.0] * 37, data=4),
    ):
        assert_same(CompiledClosedForm().table(step, cluster, table), ClosedForm().table(step, cluster, table))
    with pytest.raises(MappingError, match="37 variants"):
        CompiledClosedForm().table(step, cluster, MappingTable.columns(tensor=[8, 4]))


def test_ranges_come_out_the_same(step: TrainingStep, catalogue: Catalogue) -> None:
    cluster, mapping = catalogue.cluster("dgx-h100/32"), ParallelMapping(tensor=8, data=4)
    ranges = [
        UnderUncertainty(estimator=estimator, samples=64).estimate(step, cluster, mapping).time_range
        for estimator in (ClosedForm(), CompiledClosedForm())
    ]
    assert ranges[0] is not None
    assert ranges[1] is not None
    assert ranges[0].low == pytest.approx(ranges[1].low, rel=1e-12)


@pytest.mark.parametrize("topology", [CubeMesh(), Ring()])
def test_shapes_of_networks_are_traced(step: TrainingStep, topology: Any) -> None:
    cluster = small_cluster()
    inner = replace(cluster.dimensions[0], topology=topology)
    cluster = replace(cluster, dimensions=(inner, *cluster.dimensions[1:]))
    table = MappingTable.columns(tensor=[1, 2, 4, 8, 3, 5, 7], data=[32, 16, 8, 4, 1, 2, 3])
    assert_same(CompiledClosedForm().table(step, cluster, table), ClosedForm().table(step, cluster, table))


def test_a_mixture_of_experts_in_two_structures_at_once(catalogue: Catalogue) -> None:
    step = TrainingStep(model=transformer(catalogue.model("mixtral-8x7b")), batch=256, element="fp8")
    rows = 500
    table = MappingTable.columns(
        tensor=2.0 ** RNG.integers(0, 4, rows),
        pipeline=RNG.integers(1, 9, rows),
        data=2.0 ** RNG.integers(0, 6, rows),
        context=2.0 ** RNG.integers(0, 3, rows),
        expert=2.0 ** RNG.integers(0, 4, rows),
        zero=RNG.integers(0, 4, rows),
        schedule=RNG.integers(0, 4, rows),
        zero_group=RNG.choice([0, 2, 4], rows),
        hierarchical_dispatch=RNG.integers(0, 2, rows),
        offload_weights=RNG.integers(0, 2, rows),
        offload_optimiser=RNG.integers(0, 2, rows),
        offload_activations=RNG.integers(0, 2, rows),
        expert_tensor_parallel=RNG.integers(0, 2, rows),
        recompute_every=RNG.integers(1, 3, rows),
    )
    cluster = catalogue.cluster("dgx-h100/256")
    assert_same(CompiledClosedForm().table(step, cluster, table), ClosedForm().table(step, cluster, table))


def test_breakdowns_and_single_mappings_are_those_of_the_closed_form(step: TrainingStep) -> None:
    cluster, table = small_cluster(), MappingTable.columns(tensor=[1, 2], data=[32, 16])
    found = CompiledClosedForm().table(step, cluster, table, breakdown=True)
    assert found.contributions is not None
    mapping = ParallelMapping(tensor=2, data=16)
    assert CompiledClosedForm().estimate(step, cluster, mapping) == ClosedForm().estimate(step, cluster, mapping)
    empty = MappingTable.columns(tensor=np.ones(0))
    assert len(CompiledClosedForm().table(step, cluster, empty)) == 0


def test_what_cannot_be_traced_is_refused_by_name(step: TrainingStep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator_module, "_PROGRAMS", {})
    monkeypatch.setattr(Switch, "steps", lambda _, chips: np.cumsum(chips))
    with pytest.raises(OutsideDomainError, match=r"toy/32 cannot be compiled.*use ClosedForm"):
        CompiledClosedForm().table(step, small_cluster(), MappingTable.columns(tensor=[1, 2], data=[32, 16]))


def test_groups_beyond_exact_arithmetic_are_refused(step: TrainingStep) -> None:
    table = replace(MappingTable.columns(tensor=[1, 2]), data=np.array([32, 2.0**60]))
    with pytest.raises(OutsideDomainError, match=r"beyond 2\^52"):
        CompiledClosedForm().table(step, small_cluster(), table)


def test_without_numba_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(vector_code, "_KERNELS", {})
    monkeypatch.setattr(estimator_module, "_PROGRAMS", {})
    step = TrainingStep(model=transformer(small_gpt()), batch=64)
    with pytest.raises(MissingExtraError, match=r"pip install 'volvelle\[compiled\]"):
        CompiledClosedForm().table(step, small_cluster(), MappingTable.columns(tensor=[1, 2], data=[32, 16]))
