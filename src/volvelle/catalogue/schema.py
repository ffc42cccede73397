"""What a catalogue file must look like. A number without a source does not load."""

from collections.abc import Collection
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from volvelle.domains import (
    ACCELERATORS,
    BYTE_ENERGY,
    ERROR_FACTOR,
    EVENTS,
    HAZARD,
    MULTIPLE,
    NO_SHARE,
    NO_WIDTH,
    OVERSUBSCRIPTION,
    PARAMETERS,
    PART_DAYS,
    POWER,
    RECOVERY,
    ROWS,
    SOCKETS,
    YEAR,
    NumberDomain,
    domains_of,
)
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link
from volvelle.system.routing import RuleWord
from volvelle.workload.families.attention_forms import DeltaNet, SparseIndex
from volvelle.workload.families.shape import Experts, LatentAttention, Mamba, Mamba2, Transformer

Text = Annotated[str, Field(min_length=1)]
Kind = Literal["measured", "vendor", "derived", "assumed"]
"""Of evidence."""
CHIP, MEMORY, LINK, CLUSTER = domains_of(Chip), domains_of(Memory), domains_of(Link), domains_of(Cluster)
AXES = NumberDomain(1, 6, whole=True)
"""Of a torus."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpreadFile(_Strict):
    """How far a number may lie from its value: exactly one of these."""

    interval: tuple[str | float, str | float] | None = None
    normal: str | float | None = None
    """One standard deviation."""
    lognormal: Annotated[float, ERROR_FACTOR] | None = None
    """One standard deviation, as a factor."""


class Datum(_Strict):
    """A number: value with unit, what kind of evidence, and who says so."""

    value: str | int | float
    kind: Kind
    source: Text
    spread: SpreadFile | None = None
    note: str = ""
    date: str | None = None
    """Day, month or year that it holds for; every price has one."""


class MemoryFile(_Strict):
    """One tier of memory."""

    name: Text
    capacity: Annotated[Datum, MEMORY["capacity"]]
    rate: Annotated[Datum, MEMORY["rate"]]


class ChipFile(_Strict):
    """An accelerator."""

    name: Text
    title: Text
    vendor: Text
    family: Text
    launched: str
    matrix_rate: dict[str, Annotated[Datum, CHIP["matrix_rates"]]]
    vector_rate: dict[str, Annotated[Datum, CHIP["vector_rates"]]]
    buffer: Annotated[Datum, CHIP["buffer"]]
    memories: Annotated[list[MemoryFile], Field(min_length=1)]
    dataflow: bool = False
    """Kernels stream tiles to each other on the chip, as on an RDU or a wafer."""
    units: Annotated[Datum, CHIP["units"]] | None = None
    """Streaming multiprocessors, compute units or Xe cores, over which a GPU schedules tiles and blocks."""
    tile: Annotated[Datum, CHIP["tile"]] | None = None
    """Elements of a tile of a matrix product, fitted to training runs."""
    power: Annotated[Datum, CHIP["power"]] | None = None
    price: Annotated[Datum, CHIP["price"]] | None = None
    notes: str = ""


class DomainFile(_Strict):
    """Which runs constants were fitted to."""

    runs: Annotated[int, ROWS]
    chips: tuple[Annotated[int, ACCELERATORS], Annotated[int, ACCELERATORS]]
    elements: list[Text]
    publications: list[Text]


class CalibrationFile(_Strict):
    """Constants fitted to runs: of a chip (in an element type, under a software stack), of a family, or of any chip."""

    name: Text
    title: str = ""
    chip: str = ""
    family: str = ""
    element: str = ""
    stack: str = ""
    domain: DomainFile | None = None
    """None: they were fitted to no run."""
    constants: dict[str, Datum]
    notes: str = ""


class LinkFile(_Strict):
    """An interconnect as one accelerator sees it."""

    name: Text
    title: Text
    rate: Annotated[Datum, LINK["rate"]]
    latency: Annotated[Datum, LINK["latency"]]
    efficiency: Annotated[Datum, LINK["efficiency"]]
    setup: Annotated[Datum, LINK["setup"]] | None = None
    contention: Annotated[Datum, LINK["contention"]] | None = None
    fill: Annotated[Datum, LINK["fill"]] | None = None
    energy: Annotated[Datum, BYTE_ENERGY] | None = None
    reduces: bool = False
    reduces_source: str = ""
    reduction_efficiency: Annotated[Datum, LINK["reduction_efficiency"]] | None = None
    unhidden: Annotated[Datum, LINK["unhidden"]] | None = None
    notes: str = ""


class RoutingFile(_Strict):
    """Which of several shortest ways a message takes."""

    value: RuleWord
    kind: Kind
    source: Text
    note: str = ""


class DimensionFile(_Strict):
    """One level of a cluster's network."""

    name: Text
    topology: Literal[
        "ring",
        "switch",
        "fully-connected",
        "torus",
        "dragonfly",
        "fat-tree",
        "cube-mesh",
        "slim-fly",
        "polar-fly",
        "hyper-x",
        "rail-only",
    ]
    size: Annotated[int, ACCELERATORS] | Literal["rest"]
    size_source: str = ""
    link: Text
    share: Annotated[Datum, MULTIPLE] | None = None
    oversubscription: Annotated[Datum, OVERSUBSCRIPTION] | None = None
    axes: Annotated[int, AXES] = 3
    group: Annotated[int, ROWS] = 0
    group_source: str = ""
    routing_rule: RoutingFile | None = None
    """None: nobody says; the time of flows then needs to be told."""


class ServerFile(_Strict):
    """The computer that several accelerators share: what is put off them goes into its memory."""

    chips: Annotated[int, ACCELERATORS]
    """Accelerators of one host."""
    memory: Annotated[Datum, CLUSTER["host_memory"]]
    """Of the whole host."""
    rate: Annotated[Datum, CLUSTER["host_memory_rate"]]
    """Peak rate of that memory, all sockets together."""
    sockets: Annotated[int, SOCKETS]


class ClusterFile(_Strict):
    """A machine of a stated size, or a template of machines of any size."""

    name: Text
    title: Text
    chip: Text
    default_count: Annotated[int, ACCELERATORS] | None = None
    """Accelerators of a machine whose size is a fact; None: a template, so a question has to state a number."""
    count_source: str = ""
    dimensions: Annotated[list[DimensionFile], Field(min_length=1)]
    host_link: str = ""
    """Link to host memory, as one accelerator sees it."""
    server: ServerFile | None = None
    host_power: Annotated[Datum, CLUSTER["host_power"]] | None = None
    pue: Annotated[Datum, CLUSTER["pue"]] | None = None
    notes: str = ""


def _form(value: type, *, without: Collection[str] = (), stated: Collection[str] = (), **own: Any) -> Any:
    """What a file says of a frozen value: its fields, some of which must be stated, and the file's own."""
    domains = domains_of(value)
    kinds = {
        name: Annotated[kind, domains[name]] if name in domains else kind
        for name, kind in get_type_hints(value).items()
    }
    read = {
        field.name: (kinds[field.name], ... if field.default is MISSING or field.name in stated else field.default)
        for field in fields(value)
        if field.name not in without
    }
    first = {name: kind for name, kind in own.items() if name not in read}
    name = f"{value.__name__}File"
    return create_model(name, __base__=_Strict, __doc__=value.__doc__, **{**first, **read, **own})


if TYPE_CHECKING:
    ArchitectureFile: TypeAlias = Any
else:
    ArchitectureFile = _form(
        Transformer,
        without=("name", "element", "context", "published_weights"),
        stated=("activation", "norm", "norm_bias", "linear_bias", "positions", "tied_embeddings"),
        source=(Text, ...),
        kind=(Kind, ...),
        experts=(_form(Experts) | None, None),
        latent=(_form(LatentAttention) | None, None),
        mamba=(_form(Mamba, stated=("taps",)) | None, None),
        mamba2=(_form(Mamba2, stated=("taps",)) | None, None),
        delta_net=(_form(DeltaNet, stated=("taps",)) | None, None),
        sparse=(_form(SparseIndex) | None, None),
        pattern=(str, ""),
        kinds=(dict[str, str], {}),
    )
"""Counts of a transformer, all from one source.

Its pattern has the kinds of layers in order, a letter each, over and over until all layers are named; `kinds` says what
each letter stands for, such as ``local attention + mlp``.
"""


class StatedWord(_Strict):
    """A fact that is a word, with its kind of evidence and its source."""

    value: Text
    kind: Kind
    source: Text


class ModelFile(_Strict):
    """A language model."""

    name: Text
    title: Text
    family: Literal["gpt", "llama"]
    architecture: ArchitectureFile
    context: Annotated[Datum, NO_WIDTH] | None = None
    """Tokens of the longest sequence the model was made for; None: unknown."""
    published_weights: StatedWord | None = None
    """Format of the published weights, by its name in Volvelle; None: 16 bits."""
    parameters: Annotated[Datum, PARAMETERS]
    notes: str = ""


class HazardFile(_Strict):
    """How often a part fails, and what counts as failing: a rate without that does not load."""

    part: Literal["node", "gpu", "host", "nic", "link", "switch", "software", "planned"]
    """Node: all of its parts together. Software and planned stops are counted for a node too."""
    what_counts: Text
    rate: Annotated[Datum, HAZARD]
    """Of one part."""
    events: Annotated[float, EVENTS] | None = None
    part_days: Annotated[float, PART_DAYS] | None = None
    pooled: bool = False
    """It is one of those that the prior of any cluster is made of: faults that stop a job or remove a node of eight."""
    sure: bool = False
    """Whoever states it has seen that it is far from what others measured."""


class RecoveryTimeFile(_Strict):
    """How long a phase of recovery, a checkpoint or a repair takes."""

    phase: Literal[
        "detect", "localise", "replace", "initialise", "load", "restart", "stall", "write", "interval", "repair"
    ]
    """Restart: all of them, from the fault to the first step."""
    way: Literal[
        "any", "automated", "by hand", "synchronous", "asynchronous", "shared file system", "remote storage"
    ] = "any"
    time: Annotated[Datum, RECOVERY]
    accelerators: Annotated[int, ACCELERATORS] | None = None
    pooled: bool = False
    """It is one of those that the prior of this phase, done this way, is made of."""


class NodePowerFile(_Strict):
    """What a node takes, all of it."""

    chip: Text
    accelerators: Annotated[int, ACCELERATORS]
    state: Literal["rated", "peak", "training"]
    power: Annotated[Datum, POWER]


class ReliabilityFile(_Strict):
    """What one study or operator says of failures, recovery, power or carbon."""

    name: Text
    title: Text
    family: str = ""
    """Of the chips it was seen on, as chips of the catalogue name theirs; empty: the study does not say."""
    accelerators: Annotated[int, ACCELERATORS] | None = None
    accelerators_per_node: Annotated[int, ACCELERATORS] | None = None
    hazards: list[HazardFile] = []
    times: list[RecoveryTimeFile] = []
    shares: dict[str, Annotated[Datum, NO_SHARE]] = {}
    factors: dict[str, Annotated[Datum, ERROR_FACTOR]] = {}
    """One standard deviation of something, as a factor."""
    power: list[NodePowerFile] = []
    notes: str = ""


class Reference(_Strict):
    """Where a number or a law comes from."""

    title: Text
    authors: Text
    year: Annotated[int, YEAR]
    place: Text


ROOMS: dict[str, tuple[str, type[BaseModel]]] = {
    "chips": ("chip", ChipFile),
    "calibrations": ("calibration", CalibrationFile),
    "links": ("link", LinkFile),
    "clusters": ("cluster", ClusterFile),
    "models": ("model", ModelFile),
    "reliability": ("study of reliability", ReliabilityFile),
}
"""Room of the catalogue → what an entry of it is called, and its form."""
Entry = ChipFile | CalibrationFile | LinkFile | ClusterFile | ModelFile | ReliabilityFile
