"""Tables and files of fields that come with the package."""

import csv
import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ruamel.yaml import YAML


@cache
def packaged_rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Of a table of the catalogue, like ``prices/rents.csv``, packed or not: each by its columns."""
    found = _bytes_of(name)
    text = gzip.decompress(found) if name.endswith(".gz") else found
    return tuple(csv.DictReader(text.decode("utf-8").splitlines()))


def packaged_fields(name: str) -> Mapping[str, Any]:
    """Of a file of the catalogue in YAML, like ``stacks.yaml``."""
    found: Mapping[str, Any] = YAML(typ="safe", pure=True).load(_bytes_of(name).decode("utf-8"))
    return found


def _bytes_of(name: str) -> bytes:
    return (resources.files("volvelle.catalogue") / "data" / name).read_bytes()
