"""With numba or without, the machine gives the same answers."""

import subprocess
import sys

import numpy as np
import pytest

from volvelle.simulation import compiler

RUN = """
import sys
if {hidden}:
    sys.modules["numba"] = None
from tests.property.test_batching import case
from volvelle.simulation import compiler
from volvelle.simulation.batching import serving, worker
assert compiler.INSTALLED is not {hidden}
worker._PLAIN["spans"] = {plainly}
if {plainly}:
    worker.ready, worker._PLAIN_PIECE = lambda run: False, 4
for seed in (0, 1, 2, 3, 4, 5):
    print(" ".join(map(float.hex, serving.serve(*case(seed)).end.tolist())))
"""


def printed(*, hidden: bool, plainly: int = 0) -> str:
    program = RUN.format(hidden=hidden, plainly=plainly)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_without_numba_every_bit_is_the_same() -> None:
    pytest.importorskip("numba")
    plain, fast = printed(hidden=True), printed(hidden=False)
    assert plain == fast
    assert len(plain.splitlines()) == 6


def test_what_begins_plainly_and_goes_on_compiled_gives_the_same_bits() -> None:
    pytest.importorskip("numba")
    assert printed(hidden=False, plainly=32) == printed(hidden=False)


def test_a_plain_entry_calls_plain_functions_only() -> None:
    pytest.importorskip("numba")

    @compiler.compiled
    def half(value: float) -> float:
        return value / 2

    names: dict[str, object] = {"half": half}
    exec("def quarter(value):\n    return half(half(value))", names)
    quarter = compiler.plain(compiler.entry(names["quarter"]))  # type: ignore[type-var]
    assert quarter(8.0) == 2.0  # type: ignore[operator]
    assert not half.overloads  # type: ignore[attr-defined]


def test_an_entry_is_ready_once_it_has_run() -> None:
    pytest.importorskip("numba")

    @compiler.entry
    def third(value: float) -> float:
        return value / 3

    third(3.0)
    assert compiler.ready(third)


def test_a_function_is_itself_where_nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(value: float) -> float:
        return value / 2

    monkeypatch.setattr(compiler, "INSTALLED", False)
    assert compiler.compiled(half) is half
    assert compiler.entry(half) is half


def test_a_division_by_zero_is_infinite() -> None:
    @compiler.entry
    def ratio(one: float, other: float) -> float:
        return np.float64(one) / other

    with np.errstate(divide="ignore"):
        assert ratio(1.0, 0.0) == np.inf
