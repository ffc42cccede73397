"""How a study lays work out: one layout given, or the best of a space found anew at every point."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from volvelle.errors import UnknownNameError
from volvelle.mapping.axes import DATA, TAKING
from volvelle.mapping.parallelism import CHOICES, MappingTable
from volvelle.quantities import Number
from volvelle.search.space import Space, usual_context, usual_gaps
from volvelle.system.cluster import Cluster

_FIELDS = {choice.name: choice for choice in CHOICES}
LAYOUT_FIELDS = tuple(_FIELDS)


def layout_number(name: str, value: object) -> float:
    """A field of a layout as a number, from the word or number a file has."""
    if name not in LAYOUT_FIELDS:
        raise UnknownNameError.among("field of a layout", name, LAYOUT_FIELDS)
    choice = _FIELDS[name]
    if choice.words:
        if str(value) not in choice.words:
            raise UnknownNameError.among(name, str(value), choice.words)
        return float(choice.words[str(value)])
    if isinstance(value, bool):
        return float(value)
    return choice.domain.read(value, f"{name} of the layout")


def fixed_layouts(choices: Mapping[str, object], columns: Mapping[str, Number], cluster: Cluster) -> MappingTable:
    """Layouts of points: what is given, with columns where an axis varies it; replicas take the chips that are left."""
    given: dict[str, Any] = {name: layout_number(name, value) for name, value in choices.items()}
    given |= columns
    if "data" not in given:
        taken = prod(np.asarray(given.get(axis.name, 1.0)) for axis in TAKING if axis is not DATA)
        given["data"] = np.maximum(1.0, np.floor(cluster.accelerators / taken))
    return MappingTable.columns(**given)


def layout_space(choices: Mapping[str, object], *, length: int = 1) -> Space:
    """The space of layouts that a study's choices leave, for sequences of some length; else as a plan's."""
    considered: dict[str, Any] = {"context": usual_context(length), "recompute_every": usual_gaps}
    for name, value in choices.items():
        values = value if isinstance(value, tuple) else (value,)
        if name == "largest_micro_batch":
            considered[name] = int(layout_number("micro_batch", values[0]))
        elif name in _FIELDS:
            considered[name] = tuple(_FIELDS[name].kind(layout_number(name, one)) for one in values)
        else:
            raise UnknownNameError.among("choice of layouts", name, (*LAYOUT_FIELDS, "largest_micro_batch"))
    return Space(**considered)
