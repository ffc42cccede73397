"""Rows of tables that come with the package."""

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def packaged_rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Of a table of the catalogue, like ``prices/rents.csv``: each by its columns."""
    file = resources.files("volvelle.catalogue") / "data" / name
    return tuple(csv.DictReader(file.read_text("utf-8").splitlines()))
