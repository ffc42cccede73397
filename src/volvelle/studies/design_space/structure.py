"""What makes another machine or another workload, rather than another number on it: one value at a time."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path

from volvelle.applications.own_machine import as_calibrated
from volvelle.base.option_kinds import Number, Table
from volvelle.catalogue import Catalogue
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.domains import ACCELERATORS, NumberDomain
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.questions.workloads import KEYS
from volvelle.studies.design_space.fields import dimension_names, dimension_place
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.topologies import OF_A_SIZE, AbstractTopology, FatTree, FullyConnected, Ring, Switch, Torus
from volvelle.system.topologies.torus import nearly_cubic

_WHOLE = ("system", "chip", "accelerators", "stack")
_MEMORY = "chip.memory"
"""The chip of the catalogue whose memory the machine's chips have."""
_SHAPE, _LINK = "network.shape", "network.link"
"""All dimensions of the network in words (``ring 8, switch 128``, innermost first), and the link of all of them."""
REPLACED = (_MEMORY, _SHAPE, _LINK)
"""Fields that replace a part of whatever machine it is."""
SOLD = frozenset(_WHOLE)
"""Fields that make another machine of the catalogue; the others make a variant nobody sells."""
_PARTS = ("size", "link", "topology")
WORKLOAD = "workload"
"""Which of the study's workloads runs, where that is an axis; else all do, in turn."""
_KEY = "workload."
"""The start of an axis that varies a field of a workload."""
_KEYS = {
    f"{_KEY}{name}": part
    for keys in reversed(list(KEYS.values()))
    for name, part in keys.items()
    if not isinstance(part.kind, Table)
}
"""Axis → the field of a workload that it varies; a field of several kinds is the field of the first kind."""


_PLAIN: Mapping[str, type[AbstractTopology]] = {
    "ring": Ring,
    "switch": Switch,
    "fully-connected": FullyConnected,
    "fat-tree": FatTree,
}
_TORI = {"torus-2d": 2, "torus-3d": 3}


def structural_names(cluster: Cluster) -> tuple[str, ...]:
    """Every field that makes another machine or workload."""
    return (
        *_WHOLE,
        _MEMORY,
        _SHAPE,
        _LINK,
        *(f"{dimension}.{name}" for dimension in dimension_names(cluster) for name in _PARTS),
        WORKLOAD,
        *_KEYS,
    )


def structural_domain(path: str) -> NumberDomain | None:
    """Return the domain of a field that is a number; None: it is named by words."""
    if path in _KEYS:
        kind = _KEYS[path].kind
        return kind.domain if isinstance(kind, Number) else None
    return ACCELERATORS if path.rpartition(".")[2] in ("accelerators", "size") else None


def machine(catalogue: Catalogue, system: str, values: Mapping[str, object], *, stack: str = "") -> Cluster:
    """A machine with some of these fields, others as in the catalogue, and with software, or the usual one."""
    stack = str(values.get("stack", stack))
    template, slash, count = str(values.get("system", system)).partition("/")
    if not slash and "/" in system:
        count = system.partition("/")[2]
    if "accelerators" in values:
        count = str(_whole(values["accelerators"], "accelerators"))
    cluster = catalogue.cluster(f"{template}/{count}" if count else template, stack=stack)
    if "chip" in values:
        cluster = catalogue.with_chip(cluster, str(values["chip"]), stack=stack)
    if is_yaml_name(stack):
        cluster = as_calibrated(cluster, Path(stack))
    if _MEMORY in values:
        memories = catalogue.chip(str(values[_MEMORY])).memories
        cluster = replace(cluster, chip=replace(cluster.chip, memories=memories))
    if _SHAPE in values:
        cluster = replace(cluster, dimensions=_shaped(cluster, str(values[_SHAPE])))
    if _LINK in values:
        every = catalogue.link(str(values[_LINK]))
        cluster = replace(cluster, dimensions=tuple(replace(one, link=every) for one in cluster.dimensions))
    parts: dict[str, dict[int, object]] = {name: {} for name in _PARTS}
    for path, value in values.items():
        room, _, name = path.rpartition(".")
        if name in _PARTS and path != _LINK:
            place = dimension_place(room, cluster)
            if place is None:
                raise UnknownNameError.among(f"network dimension of {cluster.name!r}", room, dimension_names(cluster))
            parts[name][place] = value
    dimensions = list(cluster.dimensions)
    for place, size in enumerate(_sizes(cluster, parts["size"])):
        part = dimensions[place]
        if size != part.size:
            dimensions[place] = replace(part, size=size, topology=part.topology.resized(size))
    for place, link in parts["link"].items():
        dimensions[place] = replace(dimensions[place], link=catalogue.link(str(link)))
    for place, word in parts["topology"].items():
        shape = topology_of(str(word), dimensions[place].size)
        dimensions[place] = replace(dimensions[place], topology=shape)
    return replace(cluster, dimensions=tuple(dimensions))


def _shaped(cluster: Cluster, words: str) -> tuple[Dimension, ...]:
    """Dimensions in words; the first has the innermost link of the machine, the others the outermost."""
    found: list[Dimension] = []
    for text in words.split(","):
        kind, _, count = text.strip().rpartition(" ")
        if not kind or not count.isdecimal():
            raise DescriptionError(
                f"{_SHAPE}: {text.strip()!r} is no dimension; write a shape and a size, such as 'ring 8, switch 128'"
            )
        size, link = _whole(int(count), "size"), cluster.dimensions[-1 if found else 0].link
        found.append(Dimension(name=text.strip(), size=size, topology=topology_of(kind.strip(), size), link=link))
    if prod(one.size for one in found) != cluster.accelerators:
        raise DescriptionError(
            f"{_SHAPE}: {words!r} joins {prod(one.size for one in found)} accelerators, but there are "
            f"{cluster.accelerators}; their sizes must multiply to that"
        )
    return tuple(found)


def _sizes(cluster: Cluster, wanted: Mapping[int, object]) -> tuple[int, ...]:
    """Sizes of all dimensions where some are given: the outermost takes what the others leave."""
    if not wanted:
        return tuple(part.size for part in cluster.dimensions)
    if len(cluster.dimensions) - 1 in wanted:
        raise DescriptionError(
            f"the size of the outermost network dimension of {cluster.name!r} cannot be set: it takes what the "
            "others leave; set accelerators instead"
        )
    sizes = [_whole(wanted.get(place, part.size), "size") for place, part in enumerate(cluster.dimensions[:-1])]
    inside = prod(sizes)
    if cluster.accelerators % inside:
        raise DescriptionError(
            f"{cluster.accelerators} accelerators do not fill units of {inside}; take counts that do"
        )
    return (*sizes, cluster.accelerators // inside)


def varied_form(form: WorkloadForm, values: Mapping[str, object]) -> WorkloadForm:
    """Return a workload with the values that axes give to fields of its question."""
    stated = {path.removeprefix(_KEY): value for path, value in values.items() if path.startswith(_KEY)}
    own = {name: value for name, value in stated.items() if name in form.keys}
    try:
        return form.varied(own)
    except DescriptionError as error:
        raise type(error)(f"axis {_KEY}{next(iter(own))}: {error}") from None


def chosen_forms(forms: tuple[WorkloadForm, ...], values: Mapping[str, object]) -> tuple[WorkloadForm, ...]:
    """Workloads that run: all, or the one that an axis names."""
    if WORKLOAD not in values:
        return forms
    found = tuple(form for form in forms if form.called == values[WORKLOAD])
    if not found:
        known = [form.called for form in forms]
        raise DescriptionError(f"axis {WORKLOAD}: {UnknownNameError.among('workload', str(values[WORKLOAD]), known)}")
    return found


def topology_of(word: str, size: int) -> AbstractTopology:
    """A shape by name, for so many units."""
    if word in _PLAIN:
        return _PLAIN[word]()
    if word in _TORI:
        return Torus(shape=nearly_cubic(size, _TORI[word]))
    if word in OF_A_SIZE:
        return OF_A_SIZE[word].holding(size)
    raise UnknownNameError.among("topology", word, (*_PLAIN, *_TORI, *OF_A_SIZE))


def _whole(value: object, name: str) -> int:
    return int(ACCELERATORS.read(value, name))
