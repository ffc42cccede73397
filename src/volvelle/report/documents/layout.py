"""A layout in a document: its keys are the fields of a mapping, so that a field is declared once."""

from dataclasses import fields
from enum import IntEnum
from typing import Any, Literal

from pydantic import create_model

from volvelle.mapping.parallelism import ParallelMapping
from volvelle.report.documents.document import Document, at

_OFFLOAD = "offload_"


def layout_fields(prefix: str = "") -> dict[str, Any]:
    """Keys of a layout with their kinds, read from a value that holds the mapping under a prefix like ``mapping.``."""
    found: dict[str, Any] = {}
    for field in fields(ParallelMapping):
        kind: Any = field.type
        if field.name.startswith(_OFFLOAD) or field.name == "sharding":
            continue  # said as a list; said block by block
        if isinstance(kind, type) and issubclass(kind, IntEnum):
            words = tuple(choice.word for choice in kind)  # type: ignore[attr-defined]
            found[field.name] = (Literal[words], at(f"{prefix}{field.name}.word"))
        else:
            found[field.name] = (kind, at(f"{prefix}{field.name}"))
    parts = tuple(f.name.removeprefix(_OFFLOAD) for f in fields(ParallelMapping) if f.name.startswith(_OFFLOAD))
    found["offload"] = (list[Literal[parts]], at(f"{prefix}offloaded"))  # type: ignore[valid-type]
    return found


LayoutEntry = create_model("LayoutEntry", __base__=Document, __doc__="A layout.", **layout_fields())
