"""A machine with other numbers: fields by dotted names, each with a value or relative to what it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.domains import FACTOR, NumberDomain
from volvelle.errors import DescriptionError, UnknownNameError, brief, plainly
from volvelle.questions.machine import Changes
from volvelle.spread import Figure
from volvelle.studies.design_space.fields import dimension_place, field_names, numeric_field, value_of, with_values
from volvelle.studies.design_space.structure import machine, structural_domain, structural_names
from volvelle.system.cluster import Cluster

_TIMES = re.compile(r"(?:[x×]\s*(?P<after>[\d.eE+-]+)|(?P<before>[\d.eE+-]+)\s*[x×])")
_TIERS = {"chip.memory": "memories.0", "chip.expansion": "memories.1"}
_UP, _OUT = ("scale_up.rate",), ("scale_out.rate",)
_WORDS = {
    **dict.fromkeys(("nvlink", "nvswitch", "xgmi", "infinityfabric"), _UP),
    **dict.fromkeys(("infiniband", "roce", "ethernet", "nic", "slingshot"), _OUT),
    **dict.fromkeys(("network", "bandwidth", "interconnect"), (*_UP, *_OUT)),
    **dict.fromkeys(("hbm", "vram"), ("chip.memory.rate", "chip.memory.capacity")),
    "flops": ("chip.matrix_rate",),
}
"""Words for parts of a machine → the fields that they mean."""
_SHARE = re.compile(r"(?P<sign>[+-])\s*(?P<share>[\d.eE]+)\s*%")


def changed(cluster: Cluster, changes: Changes, catalogue: Catalogue, *, named: str | None, stack: str = "") -> Cluster:
    """A machine with other numbers; `named` is its name where it is the catalogue's, whose parts can be changed too."""
    names = [name for name in structural_names(cluster) if not name.startswith("workload.")]
    structural = {path: _counted(path, value) for path, value in changes.items() if path in names}
    if structural:
        if named is None:
            raise DescriptionError(
                f"{', '.join(structural)} makes another machine of the catalogue's, and this one has no name there; "
                "change the machine itself"
            )
        cluster = machine(catalogue, named, structural, stack=stack)
    numbers = numbers_of(cluster, {path: value for path, value in changes.items() if path not in structural}, names)
    said = ", ".join(f"{path} {value}" for path, value in changes.items())
    cluster = _as_set(with_values(cluster, numbers), numbers)
    return replace(cluster, notes=(*cluster.notes, f"not as {cluster.name} is: {said}"))


def _as_set(cluster: Cluster, numbers: Mapping[str, float]) -> Cluster:
    """The machine with the figures behind its numbers as they are set too, for those that show what an answer uses."""
    chip, dimensions = cluster.chip, list(cluster.dimensions)
    own, of_chip = dict(cluster.figures), dict(chip.figures)
    for path, value in numbers.items():
        room, _, name = path.rpartition(".")
        place = dimension_place(room, cluster)
        if place is not None:
            link = dimensions[place].link
            if name in link.figures:
                link = replace(link, figures={**link.figures, name: link.figures[name].set_to(value)})
                dimensions[place] = replace(dimensions[place], link=link)
        elif room in _TIERS:
            _put(of_chip, f"{_TIERS[room]}.{name}", value)
        elif room == "chip" and name.endswith("_rate"):
            for element, rate in getattr(chip, f"{name}s").items():
                _put(of_chip, f"{name}s.{element}", float(rate))
        else:
            _put(of_chip if room == "chip" else own, name, value)
    return replace(cluster, chip=replace(chip, figures=of_chip), dimensions=tuple(dimensions), figures=own)


def _put(figures: dict[str, Figure], name: str, value: float) -> None:
    """A figure as it is set, where there is one."""
    if name in figures:
        figures[name] = figures[name].set_to(value)


def _counted(path: str, value: str | float) -> str | float:
    """A value of a field that makes another machine: a whole number, where it counts something."""
    return int(value) if structural_domain(path) is not None and str(value).isdigit() else value


def numbers_of(cluster: Cluster, changes: Changes, others: Sequence[str] = ()) -> dict[str, float]:
    """Numbers of a machine that changes give it; `others` may be changed too, but not here."""
    numbers: dict[str, float] = {}
    for path, value in changes.items():
        field = numeric_field(path, cluster)
        if field is None:
            known = (*field_names(cluster), *others)
            meant = [name for word, names in _WORDS.items() if word in plainly(path) for name in names if name in known]
            if meant:
                told = " or ".join(map(repr, dict.fromkeys(meant)))
                raise UnknownNameError(f"there is no field of the machine {brief(path)}; did you mean {told}?")
            raise UnknownNameError.among("field of the machine", path, known)
        numbers[path] = _read(path, value, field.domain, cluster)
    return numbers


def _read(path: str, value: str | float, domain: NumberDomain, cluster: Cluster) -> float:
    """A number, by itself or relative to what the machine has."""
    factor = _factor(path, value) if isinstance(value, str) else None
    if factor is None:
        number = value
        if isinstance(value, str) and domain.kind is None:
            try:
                number = float(value)
            except ValueError:
                raise DescriptionError(f"{path} is {brief(value)}; it must be {domain}") from None
        return domain.read(number, path)
    found = factor * float(np.max(value_of(path, cluster)))
    domain.check(found, path)
    return found


def _factor(path: str, text: str) -> float | None:
    """What ``2x``, ``×2`` or ``+10%`` multiplies by; None: it is not of that kind."""
    times, share = _TIMES.fullmatch(text.strip()), _SHARE.fullmatch(text.strip())
    try:
        if times is not None:
            return FACTOR.read(float(times["after"] or times["before"]), path)
        if share is not None:
            return FACTOR.read(1.0 + float(share["sign"] + share["share"]) / 100.0, path)
    except ValueError:
        raise DescriptionError(f"{path} is {brief(text)}; write it like 2x, +10% or a quantity with its unit") from None
    return None
