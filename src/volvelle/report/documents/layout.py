"""A layout in a document: its keys are the fields of a mapping, as they are declared."""

from typing import Any, Literal

from pydantic import create_model

from volvelle.mapping.parallelism import CHOICES
from volvelle.report.documents.document import Document, at


def layout_fields(prefix: str = "") -> dict[str, Any]:
    """Keys of a layout with their kinds, read from a value that holds the mapping under a prefix like ``mapping.``."""
    keys: dict[str, Any] = {}
    for choice in CHOICES:
        if choice.listed:
            parts = tuple(one.listed_word for one in CHOICES if one.listed == choice.listed)
            keys[choice.listed] = (list[Literal[parts]], at(f"{prefix}listed.{choice.listed}"))  # type: ignore[valid-type]
        elif choice.words:
            keys[choice.name] = (Literal[tuple(choice.words)], at(f"{prefix}{choice.name}.word"))
        else:
            keys[choice.name] = (choice.kind, at(f"{prefix}{choice.name}"))
    return keys


LayoutEntry = create_model("LayoutEntry", __base__=Document, __doc__="A layout.", **layout_fields())
