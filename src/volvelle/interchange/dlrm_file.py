"""Reads a recommendation model from a JSON file: widths of its stacks, and its tables."""

from pathlib import Path
from typing import Any

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.json_file import read_json
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables

_NEEDED = ("dense", "bottom", "top", "tables")
_INTERACTIONS = ("dot", "concatenate", "cross", "apart")
_FIELDS = {*_NEEDED, "name", "interaction", "cross_layers", "cross_rank", "activation", "element"}


def read_dlrm(file: Path) -> Dlrm:
    """The model that a file describes.

    ``{"dense": 13, "bottom": [512, 256, 128], "top": [1024, 1024, 512, 256, 1], "interaction": "dot",
    "tables": [{"count": 26, "rows": 1000000, "width": 128, "pooling": 1}]}``
    """
    written: dict[str, Any] = read_json(file, missing=f"give a file with the fields {', '.join(_NEEDED)}")
    missing = [name for name in _NEEDED if name not in written]
    strange = sorted(set(written) - _FIELDS)
    problems = [f"lacks {', '.join(missing)}"] if missing else []
    problems += [f"has the unknown {', '.join(strange)}"] if strange else []
    if problems:
        has = ", ".join(sorted(_FIELDS))
        raise DescriptionError(f"{file} {' and '.join(problems)}; a recommendation model has {has}")
    interaction: Any = written.get("interaction", "dot")
    known = isinstance(interaction, str) and interaction in _INTERACTIONS
    if not known:
        raise DescriptionError(f"{file}: interaction is {brief(interaction)}; it may be {', '.join(_INTERACTIONS)}")
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
    except (TypeError, ValueError, OverflowError) as error:
        raise DescriptionError(f"{file} does not describe a recommendation model: {error}") from None
