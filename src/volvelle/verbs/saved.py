"""Answers of `estimate` and `plan` that were kept as JSON, read back for a comparison."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from volvelle.economics.training_run import TrainingRun
from volvelle.errors import DescriptionError, brief
from volvelle.estimators.result import Range
from volvelle.interchange.json_file import read_json

_VERBS = ("estimate", "plan")


def saved_answer(given: object) -> dict[str, Any]:
    """What a comparison takes from a kept answer: its first layout, where it is a plan's."""
    where = "the answer" if isinstance(given, Mapping) else repr(str(given))
    document: Any = given if isinstance(given, Mapping) else _read(Path(str(given)))
    if document.get("verb") not in _VERBS:
        raise DescriptionError(
            f"{where} is no answer to compare (verb {brief(document.get('verb'))}); keep one with: "
            "volvelle estimate … --json > FILE"
        )
    try:
        taken = _of_estimate(document) if document["verb"] == "estimate" else _of_plan(document)
        named = f"{document['model']} on {document['system']}" if isinstance(given, Mapping) else Path(str(given)).stem
        return {
            "name": named,
            "model": str(document["model"]),
            "system": str(document["system"]),
            "tokens": float(document["batch"] * document["sequence"]),
            "sequence": int(document["sequence"]),
            "range": None if document["range"] is None else _range(document["range"]),
            "run": None if document["run"] is None else _run(document["run"]),
            **taken,
        }
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DescriptionError(
            f"{where} was kept by another version, or is not whole ({brief(str(error))}); ask again and keep it anew"
        ) from None


def is_saved_answer(file: Path) -> bool:
    """Whether a JSON file is an answer of ours, rather than a model's config."""
    return "verb" in _read(file)


def _read(file: Path) -> dict[str, object]:
    return read_json(file, missing="keep an answer with: volvelle estimate … --json > FILE")


def _of_estimate(document: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, float] = {}
    for line in document["contributions"]:
        if line["exposed"]:
            parts[line["part"]] = parts.get(line["part"], 0.0) + float(line["seconds"])
    return {
        "stack": str(document["stack"]),
        "feasible": bool(document["feasible"]),
        "layout": dict(document["mapping"]),
        "time": document["seconds"],
        "utilisation": document["utilisation"],
        "memory_bytes": document["memory_bytes"],
        "memory_capacity": document["memory_capacity"],
        "joules": document["joules"],
        "usd": document["usd"],
        "parts": dict(sorted(parts.items(), key=lambda part: -part[1])),
    }


def _of_plan(document: Mapping[str, Any]) -> dict[str, Any]:
    first = document["layouts"][0] if document["layouts"] else None
    figures = ("seconds", "utilisation", "memory_bytes")
    about = ("layout_kind", "tied_layouts", "frameworks", "measured_runs", "bias")
    return {
        "stack": "",
        "feasible": first is not None,
        "layout": {name: value for name, value in (first or {}).items() if name not in (*figures, *about)},
        "time": None if first is None else first["seconds"],
        "utilisation": None if first is None else first["utilisation"],
        "memory_bytes": None if first is None else first["memory_bytes"],
        "memory_capacity": None,
        "joules": None,
        "usd": None,
        "parts": {},
    }


def _range(kept: Mapping[str, Any]) -> Range:
    low, high, level = (float(kept[name]) for name in ("low", "high", "level"))
    return Range(low=low, high=high, level=level, varied=tuple(map(str, kept["varied"])))


def _run(kept: Mapping[str, Any]) -> TrainingRun:
    return TrainingRun(**{**kept, "ranges": {name: _range(span) for name, span in kept["ranges"].items()}})
