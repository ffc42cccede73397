"""The house stands as drawn: layers hold, laws cite, data have sources, the surface is what is documented."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

import volvelle
import volvelle.laws
import volvelle.surface
from tests.conftest import ROOT
from volvelle import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.laws.citations import LAWS
from volvelle.system import topologies

SOURCE = ROOT / "src" / "volvelle"


def law_functions() -> list[tuple[str, object]]:
    found = []
    for module in pkgutil.walk_packages(volvelle.laws.__path__, "volvelle.laws."):
        if module.name == "volvelle.laws.citations":
            continue
        loaded = importlib.import_module(module.name)
        for name, thing in vars(loaded).items():
            if inspect.isfunction(thing) and thing.__module__ == loaded.__name__ and not name.startswith("_"):
                found.append((f"{module.name}.{name}", thing))
    return found


def test_layers_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "law"), law_functions(), ids=[name for name, _ in law_functions()])
def test_every_law_cites_its_paper_states_its_equation_and_says_what_it_assumes(name: str, law) -> None:  # type: ignore[no-untyped-def]
    assert law.__name__ in LAWS, f"{name} has no @cites"
    assert "$$" in law.__doc__, f"{name} shows no equation"
    assert "Assumes" in law.__doc__, f"{name} does not say what it assumes"


@cache
def laws_called_by_tests() -> frozenset[str]:
    """Laws, by full name, that some test module imports from their module and calls by that name."""
    called = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        imported = {
            name.asname or name.name: f"{line.module}.{name.name}"
            for line in ast.walk(tree)
            if isinstance(line, ast.ImportFrom)
            for name in line.names
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                called.add(imported.get(call.func.id, ""))
    return frozenset(called)


@pytest.mark.parametrize("name", sorted(name for name, _ in law_functions()))
def test_every_law_is_tested(name: str) -> None:
    module = name.removeprefix("volvelle.laws.").rpartition(".")[0].replace(".", "/test_")
    assert name in laws_called_by_tests(), f"no test imports and calls {name}; write one in tests/unit/laws ({module})"


def test_every_paper_a_law_cites_is_in_the_references(catalogue: Catalogue) -> None:
    law_functions()
    missing = {law.paper for law in LAWS.values()} - set(catalogue.references)
    assert not missing


def numbers(value: object, path: str) -> list[tuple[str, Datum]]:
    if isinstance(value, Datum):
        return [(path, value)]
    if isinstance(value, BaseModel):
        return [found for name in type(value).model_fields for found in numbers(getattr(value, name), f"{path}.{name}")]
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in numbers(inner, f"{path}.{name}")]
    if isinstance(value, (list, tuple)):
        return [found for index, inner in enumerate(value) for found in numbers(inner, f"{path}.{index}")]
    return []


def test_every_datum_has_a_known_source_and_assumed_ones_a_reason(catalogue: Catalogue) -> None:
    count = 0
    for room, read, build in (
        ("chips", catalogue.chip_file, catalogue.chip),
        ("links", catalogue.link_file, catalogue.link),
        ("clusters", catalogue.cluster_file, catalogue.node),
        ("models", catalogue.model_file, catalogue.model),
    ):
        for name in catalogue.names(room):
            build(name)  # refuses unknown sources, bare numbers and values outside their spread
            for path, datum in numbers(read(name), f"{room}/{name}"):
                count += 1
                assert datum.source in catalogue.references, path
                assert datum.kind != "assumed" or datum.note, f"{path} is assumed without a reason"
    assert count > 500


def test_the_catalogue_is_as_large_as_promised(catalogue: Catalogue) -> None:
    assert len(catalogue.names("chips")) >= 25
    assert len(catalogue.names("clusters")) >= 15
    assert len(catalogue.names("models")) >= 30


def test_every_reference_is_used(catalogue: Catalogue) -> None:
    text = "".join(file.read_text("utf-8") for file in (SOURCE / "catalogue" / "data").rglob("*.yaml"))
    law_functions()
    shapes = (getattr(shape, "paper", "") for shape in vars(topologies).values())
    cited = {law.paper for law in LAWS.values()} | set(shapes)
    unused = {key for key in catalogue.references if text.count(key) < 2 and key not in cited}
    assert not unused


def test_dense_peaks_are_never_more_than_twice_apart_between_neighbouring_precisions(catalogue: Catalogue) -> None:
    """A sparse figure among dense ones shows as a factor of four."""
    for name in catalogue.names("chips"):
        rates = catalogue.chip(name).matrix_rates
        if "bf16" in rates and "fp8" in rates:
            assert rates["fp8"] <= 2.01 * rates["bf16"], name


def test_the_public_surface_is_exactly_what_is_exported() -> None:
    public = {name for name in vars(volvelle.surface) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(volvelle.surface, name))} - {"catalogue"}
    assert public - modules == set(volvelle.__all__)
    assert list(volvelle.__all__) == sorted(volvelle.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n))


def test_every_public_thing_is_documented() -> None:
    for name in volvelle.__all__:
        thing = getattr(volvelle, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"volvelle.{name} has no docstring"


def test_no_module_is_named_for_nothing() -> None:
    names = {file.stem for file in SOURCE.rglob("*.py")}
    assert not names & {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


def test_every_module_says_what_it_holds() -> None:
    for file in SOURCE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(file.read_text("utf-8"))), f"{file.name} has no docstring"


@pytest.mark.parametrize(("name", "value"), [("MODEL", "the model"), ("FREEDOM", 4.0)])
def test_what_several_rooms_go_by_is_written_in_one_of_them(name: str, value: object) -> None:
    """Two constants of one meaning drift apart when one of them is changed."""
    wanted = ast.unparse(ast.Constant(value))
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for line in ast.parse(file.read_text("utf-8")).body:
            if not isinstance(line, ast.Assign):
                continue
            names = ast.unparse(line.targets[0]).strip("()").split(", ")
            values = ast.unparse(line.value).strip("()").split(", ")
            found += [file for own, said in zip(names, values, strict=False) if own == name and said == wanted]
    assert len(found) == 1, found


def test_the_core_needs_only_five_packages() -> None:
    import tomllib  # noqa: PLC0415

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {line.split(">")[0] for line in project["dependencies"]}
    assert names == {"numpy", "pydantic", "ruamel.yaml", "click", "rich"}
