"""The house stays one that can be walked through: no circles, no crowded room, tests where one looks for them."""

import re
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "volvelle"
UNIT = ROOT / "tests" / "unit"


def test_no_files_import_each_other_in_a_circle() -> None:
    """Inside a room either, and also where the import waits in a function or is there for types alone."""
    graph = grimp.build_graph("volvelle")
    imports = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        pytest.fail(" is imported by ".join(circle.args[1]))


@pytest.mark.parametrize("file", sorted(UNIT.rglob("test_*.py")), ids=lambda file: str(file.relative_to(UNIT)))
def test_a_unit_test_stands_where_what_it_tests_stands(file: Path) -> None:
    """The test of a module in the same folder, of a package beside it, or of the whole folder under its name."""
    subject = file.stem.removeprefix("test_")
    place = SOURCE / file.parent.relative_to(UNIT)
    assert (
        (place / f"{subject}.py").is_file() or (place / subject / "__init__.py").is_file() or place.name == subject
    ), f"there is no {(place / subject).relative_to(ROOT)}"
    assert (place / "__init__.py").is_file()


def test_every_dependency_has_a_lowest_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "lowest"), *extras], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    promised = {re.split(r"[\[>=<]", line)[0] for line in sum(extras.values(), project["dependencies"])}
    assert {line.split("==")[0] for line in done.stdout.splitlines()} == promised - {"volvelle"}


def test_every_folder_of_tests_is_run() -> None:
    script = (ROOT / "scripts" / "test").read_text("utf-8")
    folders = {file.parent.relative_to(ROOT / "tests").parts[0] for file in (ROOT / "tests").rglob("*/test_*.py")}
    assert set(re.findall(r"tests/(\w+)", "".join(re.findall(r"pytest tests.*", script)))) == folders
