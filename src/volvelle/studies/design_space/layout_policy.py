"""How a study lays work out: one layout given, or the best of a space found anew at every point."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.mapping.parallelism import MappingTable, Recompute, Schedule
from volvelle.quantities import Number
from volvelle.search.space import Space, usual_context, usual_gaps
from volvelle.system.cluster import Cluster

_DEGREES = ("tensor", "pipeline", "context", "expert", "micro_batch", "interleave", "zero", "recompute_every")
_YES_NO = ("overlap", "sequence_parallel", "fused_attention", "expert_tensor_parallel", "ulysses")
LAYOUT_FIELDS = (*_DEGREES, "data", "zero_group", "schedule", "recompute", "hierarchical_dispatch", *_YES_NO)
_BOUNDS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys((*_YES_NO, "hierarchical_dispatch"), (0, 1)),
    "zero": (0, 3),
    "zero_group": (0, None),
}
"""Least and most of fields that are no degrees."""
_WORDS: dict[str, dict[str, int]] = {
    "schedule": {choice.word: int(choice) for choice in Schedule},
    "recompute": {choice.word: int(choice) for choice in Recompute},
}


def layout_number(name: str, value: object) -> float:
    """A field of a layout as a number, from the word or number a file has."""
    if name not in LAYOUT_FIELDS:
        raise UnknownNameError.among("field of a layout", name, LAYOUT_FIELDS)
    if name in _WORDS:
        words = _WORDS[name]
        if str(value) not in words:
            raise UnknownNameError.among(name, str(value), words)
        return float(words[str(value)])
    if isinstance(value, bool):
        return float(value)
    least, most = _BOUNDS.get(name, (1, None))
    if not isinstance(value, int | float) or value != int(value) or value < least or (most and value > most):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise DescriptionError(f"{name} of the layout is {value!r}; it must be a whole number {wanted}")
    return float(value)


def fixed_layouts(choices: Mapping[str, object], columns: Mapping[str, Number], cluster: Cluster) -> MappingTable:
    """Layouts of points: what is given, with columns where an axis varies it; replicas take the chips that are left."""
    given: dict[str, Any] = {name: layout_number(name, value) for name, value in choices.items()}
    given |= columns
    if "data" not in given:
        taken = given.get("tensor", 1.0) * given.get("pipeline", 1.0) * given.get("context", 1.0)
        given["data"] = np.maximum(1.0, np.floor(cluster.accelerators / np.asarray(taken)))
    return MappingTable.columns(**given)


def layout_space(choices: Mapping[str, object], *, length: int = 1) -> Space:
    """The space of layouts that a study's choices leave, for sequences of some length; else as a plan's."""
    found: dict[str, Any] = {"context": usual_context(length), "recompute_every": usual_gaps}
    for name, value in choices.items():
        values = value if isinstance(value, tuple) else (value,)
        if name == "largest_micro_batch":
            found[name] = int(layout_number("micro_batch", values[0]))
        elif name == "hierarchical_dispatch":
            found[name] = bool(values[0])
        elif name == "schedule":
            found["schedules"] = tuple(Schedule(int(layout_number(name, one))) for one in values)
        elif name == "recompute":
            found[name] = tuple(Recompute(int(layout_number(name, one))) for one in values)
        elif name in _YES_NO:
            found[name] = tuple(bool(layout_number(name, one)) for one in values)
        elif name in _DEGREES:
            found[name] = tuple(int(layout_number(name, one)) for one in values)
        else:
            known = (*_DEGREES, *_YES_NO, "schedule", "recompute", "hierarchical_dispatch", "largest_micro_batch")
            raise UnknownNameError.among("choice of layouts", name, known)
    return Space(**found)
