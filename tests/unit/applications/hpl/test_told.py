"""What a plan of High-Performance Linpack tells beside its runs."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from volvelle import Catalogue
from volvelle.applications.contract import Planned
from volvelle.applications.hpl.application import HPL
from volvelle.applications.hpl.questions import PlanHpl
from volvelle.applications.hpl.told import METHODS
from volvelle.cli import _volvelle
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError

OWN = ("--n", "760000", "--nb", "1024", "--p", "8", "--q", "8")
CATALOGUE = Catalogue()


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(_volvelle, ["plan", "hpl", *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_ones_own_run_by_layer(method: str) -> None:
    told = json.loads(run("--on", "dgx-h100/64", "--method", method, *OWN, "--json"))
    decision = told["plans"][0]["decision"]
    assert [decision[name] for name in ("N", "NB", "P", "Q")] == [760_000, 1024, 8, 8]
    assert sum(layer["time"] for layer in told["layers"]) == pytest.approx(told["plans"][0]["figures"]["time"]["value"])
    assert {"latency", "element_time", "parts", "rate", "row_range"} <= set(told["layers"][-1])
    shown = run("--on", "dgx-h100/64", "--method", method, *OWN)
    assert "rate 8/β" in shown
    assert "compute" in shown


def test_the_equivalent_core_is_said_and_may_be_ones_own() -> None:
    told = json.loads(run("--on", "dgx-b200/64", "--method", "layered", "--json"))
    assert told["equivalent_core"]["origin"].startswith("derived")
    own = run("--on", "dgx-b200/64", "--method", "layered", "--cores", "18944", "--words", "128")
    assert "18,944 cores, 128 words" in own


def test_a_run_that_the_machine_has_no_room_for_is_refused_by_name() -> None:
    machine = CATALOGUE.cluster("dgx-h100/64")
    with pytest.raises(MappingError, match="--p 16 and --q 8 asks for 128 processes"):
        HPL.space(machine, CATALOGUE, PlanHpl(on=machine, p=16, q=8))
    with pytest.raises(DescriptionError, match="--n is 64, fewer rows than a block"):
        HPL.space(machine, CATALOGUE, PlanHpl(on=machine, n=64, nb=(512,)))


def test_a_side_that_is_left_away_is_as_long_as_the_machine_allows() -> None:
    decision = json.loads(run("--on", "dgx-h100/64", "--p", "4", "--nb", "512", "--json"))["plans"][0]["decision"]
    assert (decision["P"], decision["Q"]) == (4, 16)


def test_curves_rise_to_the_run_and_are_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "curves.svg"
    told = json.loads(run("--on", "dgx-a100/16", "--method", "layered", "--curves", "--figure", str(picture), "--json"))
    curves, first = told["curves"], told["plans"][0]
    assert curves["N"][-1] == first["decision"]["N"]
    assert curves["layered"][-1] == pytest.approx(first["figures"]["rate"]["value"])
    for method in METHODS:
        assert curves[method] == sorted(curves[method])
    assert picture.read_text("utf-8").startswith("<svg")
    assert "must end in .svg or .png" in run("--on", "dgx-a100/16", "--figure", str(tmp_path / "curves.pdf"), code=2)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_any_cluster_with_double_precision_answers_all_methods_within_a_second(every: int) -> None:
    answered, slowest = 0, 0.0
    for name in CATALOGUE.names("clusters")[::every]:
        cluster = CATALOGUE.cluster(f"{name}/{CATALOGUE.cluster_file(name).default_count or 1152}")
        for method in METHODS:
            start = time.process_time()
            asked = HPL.space(cluster, CATALOGUE, PlanHpl(on=cluster, method=method))
            try:
                cluster.chip.matrix_rate("fp64")
            except OutsideDomainError:
                continue
            ranking = HPL.planner(asked).rank(asked.candidates, asked.system, top=1)
            planned = Planned(asked=asked, ranking=ranking, seconds=0.0)
            assert list(HPL.plan_findings(planned))
            slowest = max(slowest, time.process_time() - start)
            answered += 1
    assert answered > 100 / every
    assert slowest < 1.0
