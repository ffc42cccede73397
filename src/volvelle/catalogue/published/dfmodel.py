"""Published studies that ship with the package, so that anyone can reproduce them: here DFModel's.

Where every file comes from is said in its ``sources.yaml``; a file that is not listed there is not read. Values are in
SI units, as everywhere; the files keep those of the source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Literal, Protocol, TypeVar

from volvelle.catalogue.published.rows import Row, column, read_rows
from volvelle.catalogue.published.sources import listed_file
from volvelle.errors import UnknownNameError
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables
from volvelle.workload.families.fft import Fft
from volvelle.workload.families.gpt_layer import GptLayer
from volvelle.workload.families.hpl import Hpl

Study = Literal["LLM", "DLRM", "HPL", "FFT"]
"""Workloads of the design-space study."""
_GIGA, _NANO = 1e9, 1e-9
_ELEMENTS = {2: "bf16"}
_TopologyKind = Literal["ring", "switch", "fully-connected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAccelerator:
    """A chip as the inputs describe it."""

    key: str
    title: str
    cores: int
    lane_width: int
    stage_width: int
    clock: float = column("clock_ghz", scale=_GIGA)
    """Hertz."""
    sram: float = column("sram_bytes")
    price: float | None = column("price_usd")
    power: float | None = column("power_w")
    text_rate: float | None = column("text_tflops", scale=1e12)
    """FLOP/s, as the paper prints it."""
    source: str

    @property
    def rate(self) -> float:
        """FLOP/s: two for every multiplier and cycle."""
        return 2.0 * self.cores * self.lane_width * self.stage_width * self.clock


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMemory:
    """A memory technology of one chip."""

    key: str
    study: str
    rate: float = column("rate_gbs", scale=_GIGA)
    text_rate: float | None = column("text_rate_gbs", scale=_GIGA)
    """As the paper prints it; results were computed with `rate`."""
    capacity: float | None = column("capacity_bytes")
    price: float | None = column("price_usd_per_gbs", scale=_NANO)
    """Dollars for every byte a second."""
    energy: float | None = column("energy_j_per_gb", scale=_NANO)
    """Joules for every byte."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedLink:
    """An interconnect of one chip along one dimension, or a port of a switch."""

    key: str
    study: str
    rate: float | None = column("rate_gbs", scale=_GIGA)
    text_rate: float | None = column("text_rate_gbs", scale=_GIGA)
    price: float | None = column("price_usd_per_gbs", scale=_NANO)
    energy: float | None = column("energy_j_per_gb", scale=_NANO)
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTopology:
    """A network of 1024 chips: kind and size of each dimension, and the parallelism along it."""

    workload: Study
    key: str
    kinds: tuple[_TopologyKind, ...]
    dims: tuple[int, ...]
    axes: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedWorkload:
    """Sizes of a workload; which are there depends on what it is."""

    key: str
    workload: Study
    hidden: int | None
    heads: int | None
    head_dim: int | None
    ffn: int | None
    sequence: int | None
    layers: int | None
    global_batch: int | None
    micro_batch: int | None
    tables: int | None
    rows: int | None
    width: int | None
    pooling: int | None
    layer_width: int | None
    bottom_layers: int | None
    top_layers: int | None
    local_batch: int | None
    order: int | None
    block: int | None
    steps: int | None
    length: int | None
    radix: int | None
    word_bytes: int
    text: str
    """What the paper's text says otherwise, or where it is used."""
    source: str

    @property
    def shape(self) -> GptLayer | Dlrm | Hpl | Fft:
        """Its sizes, as those of the family that it is of."""
        if self.workload == "DLRM":
            return self._recommender
        family: Any = {"LLM": GptLayer, "HPL": Hpl, "FFT": Fft}[self.workload]
        sizes = {each.name: getattr(self, each.name, None) for each in fields(family)}
        stated = {name: size for name, size in sizes.items() if size is not None}
        found: GptLayer | Hpl | Fft = family(name=self.key, element=_ELEMENTS[self.word_bytes], **stated)
        return found

    @property
    def _recommender(self) -> Dlrm:
        wide = self.layer_width or 1
        tables = EmbeddingTables(
            count=self.tables or 1, rows=self.rows or 1, width=self.width or 1, pooling=self.pooling or 1
        )
        return Dlrm(
            name=self.key,
            dense=wide,
            bottom=(wide,) * (self.bottom_layers or 1),
            top=(wide,) * (self.top_layers or 1),
            tables=(tables,),
            interaction="apart",
            activation=False,
            element=_ELEMENTS[self.word_bytes],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignPoint:
    """A machine and a workload of the design-space study, with what was logged for it."""

    workload: Study
    figure: int
    accelerator: str
    topology: str
    memory: str
    link: str
    utilisation: float
    cost: float = column("cost_usd")
    power: float = column("power_w")
    interval: float | None = column("interval_ns", scale=_NANO)
    """Seconds of all partitions; None where the log is of another run than the figure."""
    gap: float | None = column("gap_percent", scale=0.01)
    """What the solver had left to prove when it stopped."""
    apart_utilisation: float
    """With compute, memory and network one after another."""
    apart_gap: float | None = column("apart_gap_percent", scale=0.01)
    cores: int | None
    """Cores in this run's input, where it has another number than the chip."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRun:
    """A run of the mapping studies: its input and what was logged; None where the log is missing."""

    study: Literal["table 6", "figure 7", "figure 8", "figure 19", "figure 22", "joint optimisation"]
    run: str
    kernels: int
    edges: int
    chips: int
    cores: int
    lane_width: int
    stage_width: int
    clock: float = column("clock_ghz", scale=_GIGA)
    sram: float = column("sram_bytes")
    dram_rate: float = column("dram_rate_gbs", scale=_GIGA)
    kinds: tuple[_TopologyKind, ...]
    dims: tuple[int, ...]
    link_rates: tuple[float, ...] = column("link_rates_gbs", scale=_GIGA)
    axes: tuple[str, ...]
    fast_domain: int | None
    """Chips with fast links between them, in the rail-only network."""
    style: Literal["dataflow", "kernel by kernel"]
    partitions: int | None
    """Most partitions allowed; None: one for each kernel."""
    overlap: Literal["all", "none", "compute and memory"]
    objective: str
    """Of C(ompute), M(emory) and N(etwork), what the solver was told to minimise; empty: time."""
    matrix_share: float | None
    """Share of peak every kernel reaches; None: by how its sizes fill the arrays."""
    all_reduce_passes: int
    hidden: int
    heads: int
    head_dim: int
    sequence: int
    layers: int
    global_batch: int
    micro_batch: int
    tensor: int | None
    pipeline: int | None
    data: int | None
    tile: int | None
    tiles: int | None
    flop: float | None
    time: float | None = column("time_s")
    utilisation: float | None
    compute: float | None = column("compute_ns", scale=_NANO)
    memory: float | None = column("memory_ns", scale=_NANO)
    network: float | None = column("network_ns", scale=_NANO)
    interval: float | None = column("interval_ns", scale=_NANO)
    gap: float | None = column("gap_percent", scale=0.01)
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRun:
    """A pass of a language model through 16 chips: its input and what was logged."""

    study: Literal["figure 20", "figure 21"]
    model: str
    phase: Literal["prefill", "decode"]
    hidden: int
    heads: int
    head_dim: int
    ffn: int
    layers: int
    tokens: int
    """Positions that the pass computes."""
    context: int
    """Positions that each of them attends to."""
    cached: int
    """Positions whose keys and values are read from memory."""
    tensor: int
    pipeline: int
    requests: int
    matrix_share: float
    memory_rate: float = column("dram_rate_gbs", scale=_GIGA)
    link_rate: float = column("link_rate_gbs", scale=_GIGA)
    link_latency: float = column("link_latency_ns", scale=_NANO)
    compute: float = column("compute_ns", scale=_NANO)
    """Seconds of one layer, as memory and network are."""
    memory: float = column("memory_ns", scale=_NANO)
    network: float = column("network_ns", scale=_NANO)
    latency: float = column("latency_ns", scale=_NANO)
    """Seconds of the pass through all stages."""
    time: float = column("time_s")
    """Seconds of all requests, one behind the other."""
    flop: float
    """Of all layers and requests."""
    source: str

    @property
    def rate(self) -> float:
        """Passes a second, as logged."""
        return self.requests / self.time


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRate:
    """What was measured of one request that is decoded, with a draft or without."""

    target: str
    draft: str | None
    window: int | None
    acceptance: float | None
    measured: float = column("tokens_per_s")
    paper: float | None = column("paper_tokens_per_s")
    """As the paper computes it."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedIntensity:
    """Operations for every byte of memory and of network traffic."""

    run: str
    memory: float = column("memory_flop_per_byte")
    network: float = column("network_flop_per_byte")
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRatio:
    """A ratio the paper prints."""

    workload: str
    comparison: str
    performance: float | None
    per_dollar: float | None
    per_watt: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DfModel:
    """DFModel's inputs and logged results (arXiv:2412.16432)."""

    accelerators: tuple[PublishedAccelerator, ...]
    memories: tuple[PublishedMemory, ...]
    links: tuple[PublishedLink, ...]
    topologies: tuple[PublishedTopology, ...]
    workloads: tuple[PublishedWorkload, ...]
    design_space: tuple[DesignPoint, ...]
    runs: tuple[MappingRun, ...]
    intensities: tuple[PublishedIntensity, ...]
    ratios: tuple[PublishedRatio, ...]
    serving: tuple[ServingRun, ...]
    served_rates: tuple[ServedRate, ...]

    def accelerator(self, key: str) -> PublishedAccelerator:
        """The chip of that key."""
        return _named("accelerator", key, self.accelerators)

    def memory(self, key: str) -> PublishedMemory:
        """The memory technology of that key."""
        return _named("memory", key, self.memories)

    def link(self, key: str) -> PublishedLink:
        """The interconnect of that key."""
        return _named("link", key, self.links)

    def workload(self, key: str) -> PublishedWorkload:
        """The workload of that key."""
        return _named("workload", key, self.workloads)

    def topology(self, workload: Study, key: str) -> PublishedTopology:
        """The network of that key, as the study of one workload lays it out."""
        return _named(f"topology of {workload}", key, [each for each in self.topologies if each.workload == workload])

    def points(self, workload: Study) -> tuple[DesignPoint, ...]:
        """The 80 points of one workload."""
        return tuple(point for point in self.design_space if point.workload == workload)

    def study(self, name: str) -> tuple[MappingRun, ...]:
        """The runs of one study."""
        found = tuple(run for run in self.runs if run.study == name)
        if not found:
            raise UnknownNameError.among("study of DFModel", name, {run.study for run in self.runs})
        return found


@cache
def dfmodel(folder: Traversable | None = None) -> DfModel:
    """DFModel's data, those of the package or those of a folder with files of the same names."""
    root = folder or resources.files("volvelle.catalogue") / "data" / "published" / "dfmodel"

    def rows(name: str, kind: type[Row]) -> tuple[Row, ...]:
        return read_rows(listed_file(root, name), kind)

    return DfModel(
        accelerators=rows("accelerators.csv", PublishedAccelerator),
        memories=rows("memories.csv", PublishedMemory),
        links=rows("links.csv", PublishedLink),
        topologies=rows("topologies.csv", PublishedTopology),
        workloads=rows("workloads.csv", PublishedWorkload),
        design_space=rows("design_space.csv", DesignPoint),
        runs=rows("runs.csv", MappingRun),
        intensities=rows("intensities.csv", PublishedIntensity),
        ratios=rows("ratios.csv", PublishedRatio),
        serving=rows("serving.csv", ServingRun),
        served_rates=rows("served_rates.csv", ServedRate),
    )


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


Keyed = TypeVar("Keyed", bound=_Keyed)


def _named(kind: str, key: str, among: Sequence[Keyed]) -> Keyed:
    for each in among:
        if each.key == key:
            return each
    raise UnknownNameError.among(f"{kind} of DFModel", key, [each.key for each in among])
