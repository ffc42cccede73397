"""The documentation is true: what it shows was run, what it lists is there, and what it tells one to write loads."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import volvelle
from tests.conftest import ROOT
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, transformer

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_an_example_prints_what_is_shown_beside_it(example: Path) -> None:
    done = run("-W", "error", str(example))
    assert done.returncode == 0, done.stderr
    assert done.stdout == example.with_suffix(".out").read_text("utf-8")


def test_a_catalogue_of_ones_own_loads_as_the_how_to_says() -> None:
    catalogue = Catalogue(ROOT / "examples" / "own_catalogue")
    cluster = catalogue.cluster("orion-tray/256")
    assert cluster.chip.name == "orion-x1"
    assert [dimension.size for dimension in cluster.dimensions] == [16, 16]
    step = TrainingStep(model=transformer(catalogue.model("llama3-70b")), batch=512)
    assert ClosedForm().estimate(step, cluster, ParallelMapping(tensor=8, data=32)).feasible


@pytest.mark.parametrize(
    "page",
    [
        "choose-a-layout",
        "bring-your-own-config",
        "what-a-machine-costs",
        "explore-a-design-space",
        "use-in-a-notebook",
        "fine-tune",
    ],
)
def test_the_python_of_a_how_to_runs(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    config = ROOT / "tests" / "data" / "huggingface" / "qwen3-30b-a3b.json"
    (tmp_path / "config.json").write_text(config.read_text("utf-8"), "utf-8")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def python_shown() -> dict[str, str]:
    """All Python that users are shown, by where it stands: pages, examples, notebooks."""
    equations = ROOT / "docs" / "reference" / "equations.md"  # it shows signatures of laws, nothing to run
    pages = [page for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if page != equations]
    found = {
        f"{page.relative_to(ROOT)} {place}": code
        for page in pages
        for place, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL))
    }
    found |= {str(example.relative_to(ROOT)): example.read_text("utf-8") for example in EXAMPLES}
    for notebook in (ROOT / "examples" / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        found[notebook.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return found


@pytest.mark.parametrize(("place", "code"), python_shown().items(), ids=list(python_shown()))
def test_what_users_are_shown_imports_public_names_only(place: str, code: str) -> None:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            rooms = [name.name for name in node.names if name.name.startswith("volvelle.")]
            assert not rooms, f"{place} imports {rooms}; import names from volvelle, or make them public"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "volvelle":
            assert node.module == "volvelle", f"{place} imports from {node.module}"
            assert {name.name for name in node.names} <= set(volvelle.__all__), place
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "volvelle":
            assert node.attr in volvelle.__all__, f"{place}: volvelle.{node.attr} is not public"


def test_the_python_page_lists_the_public_names_and_no_others() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    listed = re.findall(r"^(?:   |\.\. py:data:: )(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(volvelle.__all__)


def test_the_readme_names_only_files_that_exist() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)#:]+)\)", readme)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert len(readme.splitlines()) <= 120
