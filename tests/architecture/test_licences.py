"""Whoever passes the package on knows whose data are in it, and under what terms."""

import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "volvelle"
TEXTS = {
    "Apache-2.0": ROOT / "LICENSE",
    "MIT": ROOT / "LICENSES" / "MIT.txt",
    "BSD-2-Clause": ROOT / "LICENSES" / "BSD-2-Clause.txt",
    "BSD-3-Clause": ROOT / "LICENSES" / "BSD-3-Clause.txt",
    "CC-BY-4.0": None,  # asks for a link, which NOTICE has
}


@cache
def rows() -> tuple[tuple[str, str, str], ...]:
    """Pattern of files, where from, terms."""
    text = (SOURCE / "catalogue" / "data" / "LICENCES.md").read_text("utf-8")
    return tuple(re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", text, re.MULTILINE))


def shipped() -> list[str]:
    """Every file of the wheel that is not code."""
    files = (file for file in SOURCE.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return sorted(file.relative_to(SOURCE).as_posix() for file in files if file.suffix != ".py")


@pytest.mark.parametrize("file", shipped())
def test_a_data_file_that_ships_says_whose_it_is(file: str) -> None:
    found = [pattern for pattern, _, _ in rows() if fnmatchcase(file, pattern)]
    assert len(found) == 1, f"{file} is in {len(found)} rows of catalogue/data/LICENCES.md; one should say its terms"


def test_no_licence_is_named_for_files_that_are_gone() -> None:
    files = shipped()
    assert [pattern for pattern, _, _ in rows() if not any(fnmatchcase(file, pattern) for file in files)] == []


@pytest.mark.parametrize("terms", sorted({terms for _, _, terms in rows()}))
def test_terms_are_known_and_their_text_ships(terms: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = project["project"]["license-files"]
    for name in terms.split(" AND "):
        text = TEXTS[name]
        if text is not None:
            assert text.is_file()
            assert any(fnmatchcase(text.relative_to(ROOT).as_posix(), pattern) for pattern in listed)


def test_the_notice_names_every_licence_and_ships() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "NOTICE" in project["project"]["license-files"]
    assert {"NOTICE", "LICENSES"} <= set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    for words in ("Apache License", "MIT licence", "BSD 2-clause licence", "creativecommons.org/licenses/by/4.0"):
        assert words in notice
