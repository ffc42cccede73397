"""What is said where SimGrid is not there, does not answer or cannot be asked."""

import sys
from pathlib import Path

import numpy as np
import pytest

from volvelle import DescriptionError, VolvelleError
from volvelle.interchange.simgrid import engine
from volvelle.simulation.flow.flows import Flows, RouteTable

SHELL = pytest.mark.skipif(sys.platform == "win32", reason="scripts of the shell stand in for Python")


def one_flow(shares: float = 1.0) -> Flows:
    return Flows(
        routes=RouteTable.of(np.array([[0]]), np.array([[shares]])),
        route=np.zeros(1, dtype=np.int64),
        size=np.array([1e6]),
        latency=np.zeros(1),
        before=np.zeros((0, 2), dtype=np.int64),
    )


def test_without_simgrid_one_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "simgrid_python", lambda: None)
    with pytest.raises(VolvelleError, match="apt-get install python3-simgrid"):
        engine.simgrid_ends([1e9], one_flow())


@SHELL
def test_an_engine_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text("#!/bin/sh\nsleep 30\n")
    script.chmod(0o755)
    monkeypatch.setattr(engine, "simgrid_python", lambda: str(script))
    with pytest.raises(VolvelleError, match=r"did not answer within 0\.2 s"):
        engine.simgrid_ends([1e9], one_flow(), limit=0.2)


@SHELL
def test_an_engine_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text("#!/bin/sh\necho no such setting >&2\nexit 2\n")
    script.chmod(0o755)
    monkeypatch.setattr(engine, "simgrid_python", lambda: str(script))
    with pytest.raises(VolvelleError, match="status 2 and said: no such setting"):
        engine.simgrid_ends([1e9], one_flow())


def test_flows_that_spread_are_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "simgrid_python", lambda: "python3")
    with pytest.raises(DescriptionError, match="messages take one"):
        engine.simgrid_ends([1e9], one_flow(0.5))
