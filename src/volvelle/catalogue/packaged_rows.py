"""Rows of tables that come with the package."""

import csv
import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def packaged_rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Of a table of the catalogue, like ``prices/rents.csv``, packed or not: each by its columns."""
    found = (resources.files("volvelle.catalogue") / "data" / name).read_bytes()
    text = gzip.decompress(found) if name.endswith(".gz") else found
    return tuple(csv.DictReader(text.decode("utf-8").splitlines()))
