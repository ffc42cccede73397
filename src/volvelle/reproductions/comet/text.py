"""The reproduction of COMET, piece by piece: verdicts on what is printed, pictures, tables and JSON."""

from collections.abc import Iterable

from volvelle.catalogue.published.comet import Comet
from volvelle.quantities import percent
from volvelle.report.page.parts import Drawing
from volvelle.report.sheet import Sheet
from volvelle.reproductions.comet import pictures
from volvelle.reproductions.comet.figures import (
    BASELINE,
    BEST,
    Sweep,
    expanded_memory,
    per_node_memory,
    scaled_compute,
    scaled_network,
    strategies,
)
from volvelle.reproductions.comet.targets import WITHIN, Verdict, target_document, verdicts, verdicts_by_reading
from volvelle.reproductions.item import Document, Item, Number, sheet_of

ITEMS = ("targets", "fig5", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12")
RULE = (
    f"A number is reproduced if ours is within {percent(WITHIN, 0)} of it, relative; a change of run time such as "
    "+50 % is compared as the ratio of run times, 1.50. An order or a break-even must hold exactly, and two numbers "
    f"printed as a pair must come out in the printed order. Strictly: a change must also itself be within "
    f"{percent(WITHIN, 0)}, +50 % against ours."
)


def count_of(found: Iterable[Verdict], *, strictly: bool = False) -> int:
    """How many are reproduced."""
    return sum(one.strictly if strictly else one.reproduced for one in found)


def comet_item(data: Comet, name: str) -> Item:
    """One piece of the paper."""
    return {
        "targets": _targets,
        "fig5": _memory,
        "fig7": _strategies,
        "fig8": _expanded,
        "fig9": _compute,
        "fig10": _network,
        "fig11": _clusters,
        "fig12": _others,
    }[name](data)


def comet_document(items: Iterable[Item]) -> dict[str, object]:
    """JSON of several pieces: the verdicts at the top, then figures by name."""
    document: dict[str, object] = {}
    figures: dict[str, object] = {}
    for item in items:
        if item.name == "targets":
            document |= item.document
        else:
            figures[item.name] = item.document
    return {**document, "figures": figures} if figures else document


# -- what the text prints ------------------------------------------------------------------------------------------


def _shown(one: Verdict, value: float) -> str:
    if one.target.change:
        return f"{100 * (value - 1.0):+.1f} %".replace("-", "−")
    return f"{value:.3g}"


def _verdict_cell(one: Verdict) -> str:
    return "yes" if one.strictly else "yes, not strictly" if one.reproduced else "no"


def _error_cell(one: Verdict) -> str:
    if one.error is None:
        return "–"
    return percent(abs(one.error)) + ("" if one.change_error is None else f" ({percent(abs(one.change_error), 0)})")


def _verdict_sheet(found: Iterable[Verdict], title: str, note: str = "") -> Sheet:
    return Sheet(
        title=title,
        columns=("section", "what", "paper", "ours", "off by", "reproduced"),
        rows=tuple(
            (
                one.target.section,
                one.target.name,
                one.target.paper,
                _shown(one, one.ours),
                _error_cell(one),
                _verdict_cell(one),
            )
            for one in found
        ),
        numbers=frozenset({"ours", "off by"}),
        note=note,
    )


def _why_sheet(found: Iterable[Verdict]) -> Sheet:
    return Sheet(
        title="What was not reproduced, or not strictly",
        columns=("section", "what", "reproduced", "why"),
        rows=tuple(
            (one.target.section, one.target.name, _verdict_cell(one), one.why) for one in found if not one.strictly
        ),
    )


def _reading_sheet(by_reading: dict[str, tuple[Verdict, ...]]) -> Sheet:
    def missed(found: tuple[Verdict, ...]) -> str:
        return "; ".join(one.target.measure for one in found if not one.reproduced)

    return Sheet(
        title="The same under other readings",
        columns=("reading", "reproduced", "strictly", "not reproduced"),
        rows=tuple(
            (name, str(count_of(found)), str(count_of(found, strictly=True)), missed(found))
            for name, found in by_reading.items()
        ),
        numbers=frozenset({"reproduced", "strictly"}),
    )


def _targets(data: Comet) -> Item:
    by_reading = verdicts_by_reading(data)
    found, also = verdicts(data), verdicts(data, data.also_printed)
    orders = sum(one.target.rule == "order" for one in found)
    lead = (
        f"{count_of(found)} of {len(found)} reproduced, {count_of(found, strictly=True)} strictly; of {orders} the "
        f"text states only an order. {RULE}"
    )
    note = "Off by: relative to the printed value, of run times for changes; in brackets the change itself."
    return Item(
        name="targets",
        title="COMET: what the text prints",
        lead=lead,
        sheets=(
            _verdict_sheet(found, "Targets", note),
            _why_sheet((*found, *also)),
            _verdict_sheet(also, "Also printed"),
            _reading_sheet(by_reading),
        ),
        document={
            "rule": RULE,
            "reproduced": count_of(found),
            "reproduced_strictly": count_of(found, strictly=True),
            "of": len(found),
            "targets": target_document(found),
            "also_printed": target_document(also),
            "readings": [
                {
                    "name": name,
                    "reproduced": count_of(each),
                    "reproduced_strictly": count_of(each, strictly=True),
                    "not_reproduced": [one.target.name for one in each if not one.reproduced],
                }
                for name, each in by_reading.items()
            ],
        },
    )


# -- figures -------------------------------------------------------------------------------------------------------


def _sheet(swept: Sweep, columns: tuple[str, ...], *, title: str = "") -> Sheet:
    """A few columns of a sweep; whole numbers without decimals."""

    def cell(value: float) -> str:
        return f"{value:.0f}" if value == int(value) else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"

    return Sheet(
        title=title or swept.title,
        columns=columns,
        rows=tuple(tuple(cell(float(swept.columns[name][row])) for name in columns) for row in range(len(swept))),
        numbers=frozenset(columns),
    )


def _document(swept: Sweep) -> dict[str, object]:
    return {name: column.tolist() for name, column in swept.columns.items()}


_SPLIT = ("mp", "dp", "run_time", *pictures.COLOURS, "footprint_gb")


def _figure(swept: Sweep, lead: str, columns: tuple[str, ...], draw: Drawing) -> Item:
    """A figure of one sweep."""
    sheets, document = (_sheet(swept, columns),), _document(swept)
    return Item(name=swept.key, title=swept.title, lead=lead, picture=draw, sheets=sheets, document=document)


def _memory(data: Comet) -> Item:
    swept = per_node_memory(data)
    lead = "GB of model states and of activations between two checkpoints, on each of 1024 nodes."
    columns = ("zero", "mp", "dp", "footprint_gb")
    return _figure(swept, lead, columns, lambda width: pictures.memory_picture(swept, data, width=width))


def _strategies(data: Comet) -> Item:
    swept = strategies(data, "dgx-a100")
    lead = "Run time a sequence, relative to the fastest configuration, by phase; compute and exposed communication."
    return _figure(swept, lead, _SPLIT, lambda width: pictures.strategies_picture(swept, data, width=width))


def _expanded(data: Comet) -> Item:
    swept = expanded_memory(data)
    lead = "Run time relative to MP64_DP16, with what exceeds 80 GB in a second memory of some rate."
    columns = ("mp", "expanded_gbs", "run_time", "footprint_gb")
    return _figure(swept, lead, columns, lambda width: pictures.expanded_picture(swept, data, width=width))


def _compute(data: Comet) -> Item:
    swept = scaled_compute(data)
    lead = "Run time relative to compute × 1 with expanded memory as fast as a node's own."
    columns = ("expanded_gbs", "compute", "run_time")
    return _figure(swept, lead, columns, lambda width: pictures.compute_picture(swept, width=width))


def _network(data: Comet) -> Item:
    many, few = (scaled_network(data, mp) for mp in (BASELINE, BEST))
    columns = ("inside", "between", "run_time")
    return Item(
        name="fig10",
        title="Figure 10: network",
        lead="Run time with both dimensions of the network faster and slower, relative to × 1.",
        picture=lambda width: pictures.network_picture(many, few, width=width),
        sheets=(_sheet(many, columns), _sheet(few, columns)),
        document={"MP64_DP16": _document(many), "MP8_DP128": _document(few)},
    )


def _clusters(data: Comet) -> Item:
    names = ("nodes", "compute_rate", "memory_capacity", "memory_rate", "buffer")
    document: Document = {
        key: {
            **{name: getattr(cluster, name) for name in names},
            "dimensions": [{"size": each.size, "rate": each.rate} for each in cluster.dimensions],
        }
        for key, cluster in data.clusters.items()
    }
    rates = {key: " / ".join(f"{each.rate / 1e9:g}" for each in one.dimensions) for key, one in data.clusters.items()}
    table = sheet_of(
        "Clusters",
        [{**row, "title": data.cluster(key).title, "rates": rates[key]} for key, row in document.items()],
        {
            "cluster": "title",
            "nodes": Number("nodes", "d"),
            "compute, TFLOP/s": Number("compute_rate", ",.0f", per=1e12),
            "memory, GB": Number("memory_capacity", ".0f", per=1e9),
            "memory, GB/s": Number("memory_rate", ".0f", per=1e9),
            "on chip, MB": Number("buffer", ",.0f", per=1e6),
            "network, GB/s each way": Number("rates", ""),
        },
    )
    return Item(
        name="fig11",
        title="Figures 6 and 11, Tables 3 to 5: the clusters",
        lead="As the paper models them. 624 TFLOP/s of an A100 is the figure with sparsity; dense it is 312.",
        picture=lambda width: pictures.clusters_picture(data, width=width),
        sheets=(table,),
        document=document,
    )


def _others(data: Comet) -> Item:
    base = strategies(data, "dgx-a100").at("seconds_per_sample", mp=BASELINE)
    tpu, dojo = (strategies(data, key, base=base) for key in ("tpu-v4", "dojo"))
    return Item(
        name="fig12",
        title="Figure 12: other clusters",
        lead="Run time a sequence relative to DGX MP64_DP16, by phase; compute and exposed communication.",
        picture=lambda width: pictures.other_clusters_picture(tpu, dojo, data, width=width),
        sheets=(_sheet(tpu, _SPLIT), _sheet(dojo, _SPLIT)),
        document={"tpu-v4": _document(tpu), "dojo": _document(dojo)},
    )
