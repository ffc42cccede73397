"""What a reproduction of DFModel rests on: constants of the paper's text and of its data, and readings of ours."""

from dataclasses import dataclass
from typing import Literal

from volvelle.catalogue.published.dfmodel import DfModel, PublishedLink, PublishedMemory
from volvelle.quantities import BYTES_PER_SECOND, show
from volvelle.reproductions.dfmodel.machine import COMPUTE_SHARE

Origin = Literal["repository", "text", "ours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number or a rule the results depend on."""

    name: str
    used: str
    printed: str = ""
    """What the paper's text says instead; empty where it says the same or nothing."""
    origin: Origin = "repository"


def _rates(of: PublishedLink | PublishedMemory, name: str) -> Constant:
    used, printed = of.rate or 0.0, of.text_rate
    return Constant(
        name=name,
        used=show(used, BYTES_PER_SECOND),
        printed="" if printed in (None, used) else show(printed or 0.0, BYTES_PER_SECOND),
    )


_EDGES = Constant(
    name="tensors between partitions",
    used="paid to DRAM by the partition that writes them and by each that reads them; weights are never paid",
)


def constants_of(data: DfModel, item: str) -> tuple[Constant, ...]:
    """Those of Table VI or of a figure, by the name that the command gives it."""
    if item in ("table6", "fig18"):
        return _table6(data, item)
    if item == "fig7":
        return _rails(data)
    if item == "fig8":
        return (
            _rates(data.link("nvlink-a100"), "links, tensor parallelism"),
            _rates(data.link("infiniband-a100"), "links, pipeline and data parallelism"),
            Constant(name="share of peak", used=f"{COMPUTE_SHARE:g} for every kernel"),
            Constant(name="all-reduce", used="reduce-scatter and all-gather, no latency; nothing overlaps"),
            _EDGES,
        )
    if item == "fig9":
        return (
            Constant(name="chips", used="those of the design space, without their memory"),
            Constant(name="exponents", used="least squares through logarithms", origin="ours"),
        )
    if item in ("fig19", "fig22"):
        return _sweeps(data, item)
    if item in ("fig20", "fig21"):
        return _serving(data, item)
    return _design_space(data)


def _table6(data: DfModel, item: str) -> tuple[Constant, ...]:
    found = (
        _rates(data.memory("ddr-sn10"), "DRAM"),
        _rates(data.link("pcie-sn10"), "links"),
        Constant(name="all-reduce", used="(p − 1)/p of the tensor: one pass, no latency"),
        _EDGES,
        Constant(name="graph", used="the forward layer", printed="training"),
        Constant(name="kernels between products", used="go where they are best; only the products are pinned"),
        Constant(name="tile sizes", used="powers of two from 16 to the whole sequence", origin="ours"),
    )
    more = Constant(name="intensities", used="of the mappings that are best with nothing overlapped")
    return (*found, more) if item == "fig18" else found


def _rails(data: DfModel) -> tuple[Constant, ...]:
    return (
        _rates(data.link("nvlink-h100"), "links inside the fast domain"),
        _rates(data.link("rail-h100"), "links of the rails"),
        Constant(name="all-reduce", used="one pass: inside the fast domain, then what is left over the rails"),
        Constant(name="fast domain", used="whole for the data-parallel group too, not divided by the tensor degree"),
        Constant(name="cores", used="whole cores in lanes and stages, the best split for each kernel; one tile"),
        Constant(name="SRAM", used="not limiting: a kernel by itself takes its weights in pieces at no price"),
        _EDGES,
    )


def _sweeps(data: DfModel, item: str) -> tuple[Constant, ...]:
    allowed = sorted({run.partitions for run in data.study("figure 19") if run.partitions is not None})
    most = f"{allowed[0]} to {allowed[-1]}"
    common = (
        Constant(name="all-reduce", used="(p − 1)/p of the tensor: one pass, no latency"),
        Constant(name="weights larger than SRAM", used="in pieces, the kernel's traffic paid once for each piece"),
        Constant(name="tile sizes", used="every size; powers of two apart", origin="ours"),
        Constant(name="partitions", used=f"as many as are best; the inputs allow {most}", origin="ours")
        if item == "fig19"
        else Constant(name="partitions", used="a kernel each"),
        _EDGES,
    )
    if item == "fig19":
        return common
    shape = data.workload("gpt-100t")
    return (
        *(_rates(data.memory(key), f"DRAM, {key}") for key in ("ddr-2d", "hbm-2.5d", "dram-3d")),
        Constant(name="chips", used=f"{data.study('figure 22')[0].chips}", printed="1024"),
        Constant(
            name="heads",
            used=f"{shape.head_dim} of {shape.heads}, by the logged FLOP",
            printed=f"{shape.heads} of {shape.head_dim} in the inputs",
        ),
        *common,
    )


def _serving(data: DfModel, item: str) -> tuple[Constant, ...]:
    run = next(run for run in data.serving if run.phase == "decode")
    common = (
        Constant(name="chip", used=f"{data.accelerator('sn40l').rate / 1e12:.6g} TFLOP/s", printed="640 TFLOP/s"),
        Constant(name="memory", used=show(run.memory_rate, BYTES_PER_SECOND)),
        _rates(data.link("sn40l"), "links"),
        Constant(name="share of peak", used=f"{run.matrix_share:g} for every kernel"),
        Constant(
            name="all-reduce",
            used=f"two a layer, each reduce-scatter and all-gather on a ring, {run.link_latency * 1e9:g} ns a step",
        ),
        Constant(name="overlap", used="none of compute, memory and network"),
        Constant(
            name="layer",
            used="keys and values for every head, two products in the feed-forward part; no embedding and no head",
            printed="Llama 3",
        ),
        Constant(name="cache", used=f"keys and values of {run.cached} positions are read for every pass of decoding"),
    )
    if item == "fig20":
        return (
            *common,
            Constant(name="weights", used="read for every token that is decoded, not for a prompt"),
            Constant(name="between stages", used="every chip hands on its share; beside the stages for throughput"),
        )
    return (
        *common,
        Constant(name="68M draft", used="8 layers", printed="Llama 68M, which has 2"),
        Constant(name="acceptance, sequence", used="the proportion of drafted tokens that are kept: K·a + 1 a cycle"),
        Constant(
            name="tree",
            used="two candidates below every token, accepted independently; 2^K drafted in turn, 2^K + 1 verified",
            origin="ours",
        ),
        Constant(name="acceptance and window of measured rates", used="0.8 and 4", origin="ours"),
    )


def _edited(data: DfModel) -> tuple[Constant, ...]:
    """Points whose input has another chip than the others."""
    found: dict[tuple[str, str, str, int], int] = {}
    for point in data.design_space:
        if point.cores is not None:
            key = (point.workload, point.accelerator, point.topology, point.cores)
            found[key] = found.get(key, 0) + 1
    return tuple(
        Constant(
            name=f"{workload} on {chip} with {topology}",
            used=f"{cores} cores, as in those {count} inputs; efficiencies are taken from all cores, as printed",
            printed=f"{data.accelerator(chip).cores} cores",
        )
        for (workload, chip, topology, cores), count in found.items()
    )


def _design_space(data: DfModel) -> tuple[Constant, ...]:
    hpl = data.workload("hpl-1m")
    wafer = data.workload("hpl-5m")
    return (
        _rates(data.memory("ddr"), "DDR"),
        _rates(data.memory("hbm"), "HBM"),
        _rates(data.link("pcie"), "PCIe"),
        _rates(data.link("nvlink"), "NVLink"),
        Constant(name="share of peak", used=f"{COMPUTE_SHARE:g} for every kernel"),
        Constant(name="all-reduce", used="reduce-scatter and all-gather, no latency"),
        Constant(
            name="link technology, language model",
            used="of the first dimension only; the others are PCIe",
            printed="of the machine",
        ),
        Constant(
            name="fourth all-reduce",
            used="one for the gradients of queries, keys and values together; no kernel adds them",
        ),
        Constant(
            name="all-to-all",
            used="the worst cut; a ring of a torus counts one of the two links it is cut at",
        ),
        Constant(
            name="DLRM weight updates",
            used="their bytes taken as nanoseconds: the inputs never divide them by a bandwidth",
        ),
        Constant(
            name="HPL",
            used=f"{hpl.order}² in panels of {hpl.block}; on wafers {wafer.order}² in panels of {wafer.block}; "
            f"the first {hpl.steps} updates, {hpl.word_bytes} bytes a number",
            printed="5M² for all",
        ),
        *_edited(data),
        Constant(
            name="mapping",
            used="kernel by kernel on H100 and TPU, and on SN30 but for the language model; at most 6 partitions, "
            "forward before backward, for the language model on SN30; free on WSE-2",
        ),
        Constant(
            name="SRAM",
            used="checked for the language model on SN30 and WSE-2; a kernel by itself takes weights in pieces at no "
            "price",
        ),
        _EDGES,
    )
