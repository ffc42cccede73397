"""From catalogue files to the values the rest of the package works with."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.schema import (
    CHIP,
    CLUSTER,
    LINK,
    MEMORY,
    ArchitectureFile,
    CalibrationFile,
    ChipFile,
    ClusterFile,
    Datum,
    DimensionFile,
    LinkFile,
    ModelFile,
)
from volvelle.domains import BYTE_ENERGY, MULTIPLE, NO_WIDTH, OVERSUBSCRIPTION, PARAMETERS, NumberDomain
from volvelle.errors import DescriptionError, SourceError, UnknownNameError
from volvelle.estimators.calibration import (
    CONSTANTS,
    ERRORS,
    HELD_BYTES,
    LIST_TIMES,
    MOVED_BYTES,
    CalibratedCluster,
    Calibration,
    Calibrations,
    Domain,
)
from volvelle.spread import Figure
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Dimension, nested_sizes
from volvelle.system.link import Link
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import (
    OF_A_SIZE,
    AbstractTopology,
    CubeMesh,
    Dragonfly,
    FatTree,
    FullyConnected,
    Ring,
    Switch,
    Torus,
)
from volvelle.system.topologies.torus import nearly_cubic
from volvelle.workload.elements import element_bytes
from volvelle.workload.families.attention_forms import DeltaNet, SparseIndex
from volvelle.workload.families.shape import Experts, LatentAttention, LayerKind, Mamba, Mamba2, Transformer


class _Figures:
    """Collects the figures of one entry by field name."""

    def __init__(self, where: str, sources: Collection[str]) -> None:
        self.where = where
        self.sources = sources
        self.found: dict[str, Figure] = {}

    def read(self, name: str, datum: Datum, domain: NumberDomain, *, exact: str = "") -> float:
        """The value of a number; `exact` is the reason why it cannot have a spread, if it cannot."""
        figure = read_figure(datum, domain, where=f"{self.where}: {name}", sources=self.sources)
        if exact and figure.spread is not None:
            raise DescriptionError(f"{self.where}: {name} cannot have a spread: {exact}; leave the spread away")
        self.found[name] = figure
        return figure.value

    def known(self, name: str, source: str) -> None:
        if source not in self.sources:
            raise SourceError(f"{self.where}: {name} has the source {source!r}, which is in no references file")


def build_chip(file: ChipFile, sources: Collection[str]) -> Chip:
    """A chip from its file."""
    figures = _Figures(f"chip {file.name!r}", sources)

    def rates(name: str, table: Mapping[str, Datum]) -> dict[str, float]:
        for element in table:
            element_bytes(element)
        return {element: figures.read(f"{name}.{element}", datum, CHIP[name]) for element, datum in table.items()}

    return Chip(
        name=file.name,
        family=file.family,
        matrix_rates=rates("matrix_rates", file.matrix_rate),
        vector_rates=rates("vector_rates", file.vector_rate),
        buffer=figures.read("buffer", file.buffer, CHIP["buffer"]),
        memories=tuple(
            Memory(
                name=tier.name,
                capacity=figures.read(f"memories.{index}.capacity", tier.capacity, MEMORY["capacity"]),
                rate=figures.read(f"memories.{index}.rate", tier.rate, MEMORY["rate"]),
            )
            for index, tier in enumerate(file.memories)
        ),
        dataflow=file.dataflow,
        units=figures.read("units", file.units, CHIP["units"]) if file.units else None,
        tile=figures.read("tile", file.tile, CHIP["tile"]) if file.tile else None,
        power=figures.read("power", file.power, CHIP["power"]) if file.power else None,
        price=figures.read("price", file.price, CHIP["price"]) if file.price else None,
        figures=figures.found,
    )


def build_calibration(file: CalibrationFile, sources: Collection[str]) -> Calibration:
    """Constants fitted to runs, from their file."""
    figures = _Figures(f"calibration {file.name!r}", sources)
    if file.element:
        element_bytes(file.element)
    for name in file.constants:
        if name not in CONSTANTS:
            raise UnknownNameError.among("constant of a calibration", name, CONSTANTS)
    exact = dict.fromkeys(ERRORS, "it is itself how far an estimate may be off, so state a larger value")
    exact["memory_margin"] = "it is chosen and not measured"
    exact |= dict.fromkeys(HELD_BYTES, "its doubt is in the error of memory")
    exact |= dict.fromkeys((*MOVED_BYTES, *LIST_TIMES), "its doubt is in the error of steps")
    constants = {
        name: figures.read(name, datum, CONSTANTS[name], exact=exact.get(name, ""))
        for name, datum in file.constants.items()
    }
    runs = file.domain
    calibration = Calibration(
        chip=file.chip,
        family=file.family,
        element=file.element,
        stack=file.stack,
        constants=constants,
        figures=figures.found,
        domain=Domain()
        if runs is None
        else Domain(
            runs=runs.runs, chips=runs.chips, elements=tuple(runs.elements), publications=tuple(runs.publications)
        ),
    )
    if calibration.name != file.name:
        raise DescriptionError(
            f"{figures.where} is of {calibration.name!r} by its chip, family, element and stack; name file and entry so"
        )
    return calibration


def build_link(file: LinkFile, sources: Collection[str]) -> Link:
    """A link from its file."""
    figures = _Figures(f"link {file.name!r}", sources)
    if file.reduces:
        figures.known("reduces", file.reduces_source)
    if file.energy:
        figures.read("energy", file.energy, BYTE_ENERGY, exact="no answer rests on the energy of a link")
    return Link(
        name=file.name,
        rate=figures.read("rate", file.rate, LINK["rate"]),
        latency=figures.read("latency", file.latency, LINK["latency"]),
        setup=figures.read("setup", file.setup, LINK["setup"]) if file.setup else 0.0,
        efficiency=figures.read("efficiency", file.efficiency, LINK["efficiency"]),
        contention=figures.read("contention", file.contention, LINK["contention"]) if file.contention else 0.0,
        fill=figures.read("fill", file.fill, LINK["fill"]) if file.fill else 0.0,
        reduces=file.reduces,
        reduction_efficiency=(
            figures.read("reduction_efficiency", file.reduction_efficiency, LINK["reduction_efficiency"])
            if file.reduction_efficiency
            else 1.0
        ),
        unhidden=(
            figures.read("unhidden", file.unhidden, LINK["unhidden"], exact="no range rests on what a pipeline hides")
            if file.unhidden
            else 0.0
        ),
        figures=figures.found,
    )


def build_cluster(
    file: ClusterFile,
    *,
    count: int,
    chip: Chip,
    links: Mapping[str, Link],
    calibrations: Calibrations,
    sources: Collection[str],
) -> CalibratedCluster:
    """A cluster of `count` accelerators from its template, with what runs on its chips taught."""
    figures = _Figures(f"cluster {file.name!r}", sources)
    if file.default_count is not None:
        figures.known("count_source", file.count_source)
    for dimension in file.dimensions:
        if dimension.size != "rest":
            figures.known(f"size of {dimension.name}", dimension.size_source)
        if dimension.group:
            figures.known(f"group of {dimension.name}", dimension.group_source)
        if dimension.routing_rule:
            figures.known(f"routing of {dimension.name}", dimension.routing_rule.source)
    sizes, notes = nested_sizes(
        count, tuple(None if d.size == "rest" else d.size for d in file.dimensions), name=file.name
    )
    dimensions = []
    for index, (dimension, size) in enumerate(zip(file.dimensions, sizes, strict=True)):
        link = links[dimension.link]
        if dimension.share:
            share = figures.read(f"dimensions.{index}.share", dimension.share, MULTIPLE)
            link = replace(link, rate=link.rate * share)
        dimensions.append(
            Dimension(
                name=dimension.name,
                size=size,
                topology=_topology(dimension, index, size, figures),
                link=link,
                routing=Routing(rule=Rule(dimension.routing_rule.value)) if dimension.routing_rule else None,
            )
        )
    host = links[file.host_link] if file.host_link else None

    def shared(what: str) -> float | None:
        """A chip's share of what its host has."""
        if file.server is None:
            return None
        domain = CLUSTER["host_memory" if what == "memory" else "host_memory_rate"]
        datum = getattr(file.server, what)
        return (
            figures.read(f"server.{what}", datum, domain, exact="no range rests on a host's memory") / file.server.chips
        )

    return CalibratedCluster(
        name=f"{file.name}/{count}",
        chip=chip,
        calibrations=calibrations,
        dimensions=tuple(dimensions),
        host_power=figures.read("host_power", file.host_power, CLUSTER["host_power"]) if file.host_power else None,
        host_rate=host.sustained if host else None,
        host_link=host,
        host_memory=shared("memory"),
        host_memory_rate=shared("rate"),
        pue=figures.read("pue", file.pue, CLUSTER["pue"]) if file.pue else 1.0,
        figures=figures.found,
        notes=notes,
    )


def _topology(dimension: DimensionFile, index: int, size: int, figures: _Figures) -> AbstractTopology:
    match dimension.topology:
        case "ring":
            return Ring()
        case "switch":
            return Switch()
        case "fully-connected":
            return FullyConnected()
        case "cube-mesh":
            return CubeMesh()
        case "torus":
            return Torus(nearly_cubic(size, dimension.axes))
        case "dragonfly":
            if dimension.group < 1:
                raise DescriptionError(
                    f"{figures.where}: the dragonfly {dimension.name!r} needs group: N and group_source"
                )
            return Dragonfly(dimension.group)
        case "fat-tree":
            thin = dimension.oversubscription
            factor = figures.read(f"dimensions.{index}.oversubscription", thin, OVERSUBSCRIPTION) if thin else 1.0
            return FatTree(oversubscription=factor)
        case word:
            return OF_A_SIZE[word].holding(size)


def build_model(file: ModelFile, sources: Collection[str]) -> Transformer:
    """A transformer from its file."""
    figures = _Figures(f"model {file.name!r}", sources)
    stated = file.architecture
    figures.known("architecture", stated.source)
    figures.read("parameters", file.parameters, PARAMETERS, exact="learned numbers are counted")
    parts: dict[str, type] = {"experts": Experts, "latent": LatentAttention, "mamba": Mamba, "mamba2": Mamba2}
    parts |= {"delta_net": DeltaNet, "sparse": SparseIndex}
    fields = stated.model_dump(exclude={"source", "kind", "pattern", "kinds", *parts})
    for name, part in parts.items():
        described = getattr(stated, name)
        fields[name] = part(**described.model_dump()) if described else None
    if file.context is not None:
        fields["context"] = int(figures.read("context", file.context, NO_WIDTH, exact="a context is stated"))
    if file.published_weights is not None:
        figures.known("published_weights", file.published_weights.source)
        fields["published_weights"] = file.published_weights.value
    return Transformer(name=file.name, pattern=_pattern(stated, figures.where), **fields)


def _pattern(stated: ArchitectureFile, where: str) -> tuple[LayerKind, ...]:
    """The kind of layer that each letter of the pattern stands for."""
    if set(stated.pattern) != set(stated.kinds):
        raise DescriptionError(
            f"{where}: its pattern is {stated.pattern!r} and kinds explains {', '.join(stated.kinds) or 'no letter'}; "
            "explain each letter of the pattern, and no other"
        )
    kinds = {letter: LayerKind.parse(text) for letter, text in stated.kinds.items()}
    return tuple(kinds[letter] for letter in stated.pattern)
