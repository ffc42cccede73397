"""Reads a recommendation model from a JSON file: widths of its stacks, and its tables."""

import json
from pathlib import Path

from volvelle.errors import DescriptionError
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables

_NEEDED = ("dense", "bottom", "top", "tables")
_INTERACTIONS = ("dot", "concatenate", "cross", "apart")
_FIELDS = {*_NEEDED, "name", "interaction", "cross_layers", "cross_rank", "activation", "element"}


def read_dlrm(file: Path) -> Dlrm:
    """The model that a file describes.

    ``{"dense": 13, "bottom": [512, 256, 128], "top": [1024, 1024, 512, 256, 1], "interaction": "dot",
    "tables": [{"count": 26, "rows": 1000000, "width": 128, "pooling": 1}]}``
    """
    try:
        written = json.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DescriptionError(f"{file} cannot be read as a recommendation model: {error}") from None
    if not isinstance(written, dict):
        raise DescriptionError(f"{file} holds no object with the fields {', '.join(_NEEDED)}")
    missing = [name for name in _NEEDED if name not in written]
    strange = sorted(set(written) - _FIELDS)
    problems = [f"lacks {', '.join(missing)}"] if missing else []
    problems += [f"has the unknown {', '.join(strange)}"] if strange else []
    if problems:
        known = ", ".join(sorted(_FIELDS))
        raise DescriptionError(f"{file} {' and '.join(problems)}; a recommendation model has {known}")
    interaction = written.get("interaction", "dot")
    if interaction not in _INTERACTIONS:
        raise DescriptionError(f"{file}: interaction is {interaction!r}; it may be {', '.join(_INTERACTIONS)}")
    try:
        return Dlrm(
            name=str(written.get("name", file.stem)),
            dense=int(written["dense"]),
            bottom=tuple(int(width) for width in written["bottom"]),
            top=tuple(int(width) for width in written["top"]),
            tables=tuple(EmbeddingTables(**entry) for entry in written["tables"]),
            interaction=interaction,
            cross_layers=int(written.get("cross_layers", 3)),
            cross_rank=int(written.get("cross_rank", 512)),
            activation=bool(written.get("activation", True)),
            element=str(written.get("element", "fp16")),
        )
    except (TypeError, ValueError) as error:
        raise DescriptionError(f"{file} does not describe a recommendation model: {error}") from None
