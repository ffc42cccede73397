"""The documentation is true: what it shows was run, what it lists is there, and what it tells one to write loads."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from in_place import blocks, figures_in, filled
from markdown_it import MarkdownIt

import volvelle
from tests.conftest import ROOT
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, transformer

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "80", "NO_COLOR": "1"}
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
        "bring-your-own-config",
        "explore-a-design-space",
        *(
            pytest.param(page, marks=pytest.mark.long)
            for page in ("choose-a-layout", "what-a-machine-costs", "use-in-a-notebook", "fine-tune")
        ),
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


FILES = re.compile(r"^<!-- file: .*?^<!-- end -->$", re.DOTALL | re.MULTILINE)
"""Files that a page shows: examples, which are looked at by themselves, and how the package is extended from inside."""


def python_shown() -> dict[str, str]:
    """All Python that users are shown, by where it stands: pages, examples, notebooks."""
    equations = ROOT / "docs" / "reference" / "equations.md"  # it shows signatures of laws, nothing to run
    pages = [page for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if page != equations]
    found = {
        f"{page.relative_to(ROOT)} {place}": code
        for page in pages
        for place, code in enumerate(
            re.findall(r"```python\n(.*?)```", FILES.sub("", page.read_text("utf-8")), re.DOTALL)
        )
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


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")), ids=lambda file: file.stem
)
def test_a_notebook_is_stored_without_what_it_printed(notebook: Path) -> None:
    found = json.loads(notebook.read_text("utf-8"))
    assert found["cells"][0]["cell_type"] == "markdown"
    for cell in found["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_python_page_lists_the_public_names_and_no_others() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    listed = re.findall(r"^(?:   |\.\. py:data:: )(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(volvelle.__all__)


# -- Markdown that reads the same anywhere ---------------------------------------------------------------------

PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "changelog.d/*.md")
    for page in ROOT.glob(pattern)
    if not {"_build", "python"} & set(page.relative_to(ROOT).parts)
)
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
CODE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1 *$|(?<!`)`[^`\n]+`(?!`)|^(?: {4}|\t)[^\n]*$", re.DOTALL | re.MULTILINE)
SITE = re.compile(r"^<!-- site:\n.*?^-->$", re.DOTALL | re.MULTILINE)


def prose_of(page: Path) -> str:
    """A page without code and without what only the site reads."""
    return CODE.sub("", SITE.sub("", page.read_text("utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_shows_text_where_it_is_read_and_no_placeholder(page: Path) -> None:
    text = SITE.sub("", page.read_text("utf-8"))
    placeholders = r"\{\{ ?\w+ ?\}\}|^ *(?:`{3,}|:{3,})\{[\w-]+\}|\{[\w:-]+\}`|ADDRESS-OF-[\w-]*|<!--=[\w-]+--><!--/-->"
    assert re.findall(placeholders, text, re.MULTILINE) == []
    # A line that begins with a comment is HTML up to its end, and Markdown in it is not read.
    assert re.findall(r"^ *(?:[-*>] |\d+\. )? *<!--=.*$", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_and_pictures_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(<?([^)\s>]+)>?\)", prose_of(page))
    local = [target.partition("#") for target in targets if not re.match(r"[a-z]+:", target)]
    assert [path for path, _, _ in local if path and not (page.parent / path).exists()] == []
    for path, _, anchor in local:
        if anchor and (not path or path.endswith(".md")):
            headings = re.findall(r"^#+ (.+)$", prose_of(page.parent / path if path else page), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_shows_files_as_they_are_and_closes_every_mark(page: Path) -> None:
    """Outputs and figures are held against what is computed by ``scripts/generate_pages.py --check``."""
    text = page.read_text("utf-8")
    assert filled(text, {}, {}, some=True) == text, "run scripts/generate_pages.py"
    assert len(re.findall(r"^ *<!-- (?:output|file|table|names): .*-->$", text, re.MULTILINE)) == len(
        re.findall(r"^ *<!-- end -->$", text, re.MULTILINE)
    )
    assert len(re.findall(r"<!--=", text)) == len(figures_in(text)) == text.count("<!--/-->")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_text_of_a_page_is_swallowed_by_a_comment(page: Path) -> None:
    text = page.read_text("utf-8")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    raw = (re.sub(r"<!--.*?-->", "", token.content, flags=re.DOTALL) for token in tokens if token.type == "html_block")
    assert [rest for rest in raw if rest.strip()] == []


def test_a_figure_is_the_same_on_every_page() -> None:
    said: dict[str, set[str]] = {}
    for page in PAGES:
        for name, text in figures_in(page.read_text("utf-8")):
            said.setdefault(name, set()).add(text)
    assert said
    assert {name: texts for name, texts in said.items() if len(texts) > 1} == {}


def test_the_readme_fits_a_screen_and_its_first_answer_is_what_is_printed() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 90
    question, *shown = blocks(readme)["brief"].splitlines()
    done = run("-c", "from volvelle.cli import main; main()", *question.removeprefix("$ volvelle ").split())
    assert [line.rstrip() for line in done.stdout.strip("\n").splitlines()] == shown


def test_the_format_that_a_script_is_told_to_expect_is_the_one_written() -> None:
    page = (ROOT / "docs" / "how-to" / "use-json.md").read_text("utf-8")
    (code,) = [
        code
        for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "subprocess" in code and "assert" in code
    ]
    (told,) = re.findall(r"== \((\d+), \"estimate\"\)", code)
    question = "gpt2 --on dgx-a100/8 --batch 8 --json"
    done = run("-c", "from volvelle.cli import main; main()", "estimate", *question.split())
    assert json.loads(done.stdout)["version"] == int(told)


def test_the_gallery_shows_every_picture_that_is_made() -> None:
    gallery = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    made = {file.name for file in (ROOT / "docs" / "_generated").glob("*.svg")}
    assert made == set(re.findall(r"\(_generated/([\w-]+\.svg)\)", gallery))
