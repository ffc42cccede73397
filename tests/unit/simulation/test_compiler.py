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
from volvelle.simulation.batching.serving import serve
assert compiler.INSTALLED is not {hidden}
for seed in (0, 1, 2, 3, 4, 5):
    print(" ".join(map(float.hex, serve(*case(seed)).end.tolist())))
"""


def test_without_numba_every_bit_is_the_same() -> None:
    pytest.importorskip("numba")
    plain, fast = (
        subprocess.run([sys.executable, "-c", RUN.format(hidden=hidden)], capture_output=True, text=True, check=True)
        for hidden in (True, False)
    )
    assert plain.stdout == fast.stdout
    assert len(plain.stdout.splitlines()) == 6


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
