"""The package grows by the diffs that the how-to pages show: each is applied to a copy, and the command asked.

A diff that no longer applies, or that no longer is enough, fails here before it misleads a reader.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
DOCS = HERE.parents[1] / "docs" / "how-to"
Run = Callable[..., "subprocess.CompletedProcess[str]"]

LLAMA = ("llama3-8b", "--on", "dgx-h100/64", "--batch", "64")


def grown(tmp_path_factory: pytest.TempPathFactory, *diffs: str) -> Run:
    """A copy of the package with some diffs applied, as a function that runs Python on it."""
    root = tmp_path_factory.mktemp("-".join(diffs) or "as-it-is")
    shutil.copytree(SOURCE / "volvelle", root / "src" / "volvelle", ignore=shutil.ignore_patterns("__pycache__"))
    for diff in diffs:
        subprocess.run(["git", "apply", str(HERE / f"{diff}.patch")], cwd=root, check=True, capture_output=True)

    def run(*words: str, fails: bool = False) -> "subprocess.CompletedProcess[str]":
        script = () if words[0] == "-c" else ("-c", "from volvelle.cli import main; main()")
        command = [sys.executable, *script, *words]
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done

    return run


def answer(run: Run, *words: str, fails: bool = False) -> dict[str, Any]:
    found = json.loads(run(*words, "--json", fails=fails).stdout)
    assert isinstance(found, dict)
    return found


def seconds(estimate: dict[str, Any], part: str, *, exposed: bool = True) -> float:
    lines = [line for line in estimate["contributions"] if line["part"] == part and line["exposed"] is exposed]
    return float(sum(line["seconds"] for line in lines))


def held(estimate: dict[str, Any], part: str) -> float:
    return float(next(line["bytes"] for line in estimate["memory"] if line["name"] == part))


# -- an axis: one declaration and its law ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return grown(tmp_path_factory, "axis")


def test_an_axis_is_one_declaration_and_its_law() -> None:
    touched = [line[6:] for line in (HERE / "axis.patch").read_text("utf-8").splitlines() if line.startswith("+++ b/")]
    assert touched == [
        "src/volvelle/catalogue/data/references/papers.yaml",  # the law's paper
        "src/volvelle/estimators/training/overlaps.py",
        "src/volvelle/laws/overlap.py",
        "src/volvelle/mapping/axes.py",
    ]


def test_an_axis_is_an_option_a_field_and_chips(wide: Run) -> None:
    found = answer(wide, "estimate", *LLAMA, "--tp", "4", "--wp", "2")
    assert found["mapping"]["width"] == 2
    assert found["mapping"]["data"] == 8  # replicas take what tensor and width leave
    assert "--wp" in wide("estimate", "--help").stdout
    assert "width" in json.dumps(json.loads(wide("schema", "estimate").stdout))
    assert "tensor 4 × width 2 × data 8" in " ".join(wide("estimate", *LLAMA, "--tp", "4", "--wp", "2").stdout.split())


@pytest.mark.long
def test_an_axis_divides_what_its_dimension_is_in(wide: Run) -> None:
    one, two = (answer(wide, "estimate", *LLAMA, "--tp", "4", "--wp", degree) for degree in ("1", "2"))
    assert held(two, "weights") == pytest.approx(held(one, "weights") / 2, rel=1e-3)
    # Half as many replicas do twice the sequences each, a product that is split takes as long for both.
    assert seconds(two, "feed-forward") < 1.25 * seconds(one, "feed-forward")


@pytest.mark.long
def test_an_axis_pays_for_what_it_exchanges_where_its_group_lies(wide: Run) -> None:
    near = answer(wide, "estimate", *LLAMA, "--tp", "4", "--wp", "2")
    far = answer(wide, "estimate", *LLAMA, "--tp", "8", "--wp", "2")
    part = "width-parallel communication"
    assert 0 < seconds(near, part, exposed=False) < seconds(far, part) + seconds(far, part, exposed=False)
    resources = [{line["resource"] for line in found["contributions"] if line["part"] == part} for found in (near, far)]
    assert resources == [{"network: NVSwitch"}, {"network: InfiniBand NDR"}]
    assert seconds(answer(wide, "estimate", *LLAMA, "--tp", "8"), part) == 0


def test_an_axis_that_does_not_divide_is_a_violation_with_cures(wide: Run) -> None:
    found = answer(wide, "estimate", *LLAMA, "--wp", "3", "--dp", "21", fails=True)
    problems = {violation["name"]: violation for violation in found["violations"]}
    assert "hidden = 4096" in problems["width split"]["problem"]
    cures = problems["width split"]["cures"]
    assert any("--wp 2" in cure for cure in cures)
    for cure in cures[:2]:
        changed = cure.partition(" (")[0].split()
        assert answer(wide, "estimate", *LLAMA, "--wp", "3", "--dp", "21", *changed)["feasible"]


@pytest.mark.long
def test_an_axis_is_searched(wide: Run) -> None:
    narrow = ("--tp", "8", "--cp", "1", "--micro-batch", "1", "--zero", "1")
    one = answer(wide, "plan", *LLAMA, *narrow, "--wp", "1")
    two = answer(wide, "plan", *LLAMA, *narrow, "--wp", "2")
    every = answer(wide, "plan", *LLAMA, *narrow)
    assert {layout["width"] for layout in two["layouts"]} == {2}
    assert every["configurations"] > one["configurations"] + two["configurations"]
    refused = wide("plan", *LLAMA, *narrow, "--wp", "2", "--emit", "megatron", fails=True)
    assert "width parallelism of 2" in refused.stderr


@pytest.mark.long
def test_an_axis_is_compiled_like_the_others(wide: Run) -> None:
    wide(
        "-c",
        "import numpy as np\n"
        "from volvelle import Catalogue, ClosedForm, CompiledClosedForm, MappingTable, TrainingStep, transformer\n"
        "known = Catalogue()\n"
        "step = TrainingStep(model=transformer(known.model('llama3-8b')), batch=64)\n"
        "table = MappingTable.columns(tensor=[1, 2, 4, 8], width=[8, 2, 2, 1], data=[8, 16, 8, 8])\n"
        "machine = known.cluster('dgx-h100/64')\n"
        "found = [one.table(step, machine, table) for one in (ClosedForm(), CompiledClosedForm())]\n"
        "assert np.array_equal(found[0].time, found[1].time)\n"
        "assert found[0].time[1] != found[0].time[2]\n"
        "assert MappingTable.of([table.row(1)]).width[0] == 2\n",
    )


# -- a field of a mapping: one declaration, and the law that reads it --------------------------------------------


@pytest.mark.long
def test_a_field_of_a_mapping_is_one_declaration(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = grown(tmp_path_factory, "field")
    wide, narrow = (answer(run, "estimate", *LLAMA, "--tp", "2", *flags) for flags in ((), ("--narrow-gradients",)))
    assert (wide["mapping"]["narrow_gradients"], narrow["mapping"]["narrow_gradients"]) == (False, True)
    part = "data-parallel communication"
    exchanged = [seconds(found, part) + seconds(found, part, exposed=False) for found in (wide, narrow)]
    assert exchanged[1] < 0.9 * exchanged[0]
    best = answer(run, "plan", *LLAMA, "--tp", "8", "--cp", "1", "--no-overlap")["layouts"][0]
    assert best["narrow_gradients"] is True


# -- a chip, an operation, an application, an estimator ----------------------------------------------------------


def test_a_chip_is_one_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = grown(tmp_path_factory, "chip")
    assert "Orion X1" in run("catalogue", "chips", "orion-x1").stdout
    run(
        "-c",
        "import volvelle\n"
        "known = volvelle.Catalogue()\n"
        "machine = known.with_chip(known.cluster('dgx-h100/8'), 'orion-x1')\n"
        "assert volvelle.estimate('llama3-8b', on=machine, batch=32, tensor=2).estimate.feasible\n",
    )


def test_an_operation_is_one_file_and_its_word(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = grown(tmp_path_factory, "operation")
    found = answer(run, "map", str(HERE / "sorted_rows.yaml"), "--on", "dgx-h100/8", "--limit", "20")
    kernels = json.dumps(found)
    assert "ordered" in kernels
    assert "ordered.backward" in kernels


@pytest.mark.long
def test_an_application_is_one_folder_and_one_line(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = grown(tmp_path_factory, "application")
    where = Path(run("-c", "import volvelle.applications as rooms; print(rooms.__path__[0])").stdout.strip())
    shutil.copytree(HERE.parent / "data" / "stream_triad", where / "stream_triad")
    assert answer(run, "validate", "stream")["application"] == "stream"
    assert answer(run, "plan", "stream", "--on", "dgx-a100/8")["considered"] == 8


def test_an_estimator_is_one_file_that_passes_the_suite(tmp_path: Path) -> None:
    shutil.copy(HERE / "at_peak.py", tmp_path / "test_at_peak.py")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_at_peak.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout


@pytest.mark.parametrize("kind", ["chip", "an-axis", "an-operation", "an-application", "an-estimator"])
def test_a_page_shows_the_very_diff(kind: str) -> None:
    page = next(DOCS.glob(f"add-*{kind.removeprefix('an-')}.md")).read_text("utf-8")
    shown = "at_peak.py" if kind == "an-estimator" else f"{kind.removeprefix('an-')}.patch"
    assert f"<!-- file: tests/extension/{shown}" in page
    assert (HERE / shown).read_text("utf-8").rstrip().splitlines()[-1] in page
