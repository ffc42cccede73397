"""Table VI and the figures of the DFModel paper as tables: which fields of the documents each column shows, and how."""

from collections.abc import Mapping, Sequence

from volvelle.catalogue.published.dfmodel import Study
from volvelle.quantities import percent
from volvelle.report.sheet import Sheet
from volvelle.reproductions.dfmodel.constants import Constant
from volvelle.reproductions.dfmodel.design_space import DesignSpace
from volvelle.reproductions.item import Columns, Document, Number, sheet_of

_MEASURES = {"performance": "utilisation", "per_dollar": "FLOP/s per dollar", "per_watt": "FLOP/s per watt"}
_MACHINE = {"accelerator": "accelerator", "network": "topology", "memory": "memory", "link": "link"}
TRAINING: Columns = {
    "run": "run",
    "logged, s": Number("logged_s"),
    "ours, s": Number("ours_s"),
    "difference": Number("difference", "change"),
    "gap left in the log": Number("logged_gap", ".1%"),
}
"""Figures 7 and 8."""
SWEEP: Columns = {
    "run": "run",
    "logged": Number("logged_utilisation", ".4f"),
    "ours": Number("utilisation", ".4f"),
    "difference": Number("difference", "change"),
    "powers of two": Number("utilisation_power_of_two", ".4f"),
    "tile": Number("tile", "d"),
    "partitions": Number("partitions", "d"),
    "gap left in the log": Number("logged_gap", ".1%"),
}
"""Figures 19 and 22."""
SILICON: Columns = {
    "accelerator": "accelerator",
    "TFLOP/s": Number("rate_flops", ",.0f", per=1e12),
    "power, W": Number("power_w", ",.0f"),
    "by the line": Number("law_power_w", ",.0f"),
    "by the caption's curve": Number("curve_power_w", ",.0f"),
    "price, USD": Number("price_usd", ",.0f"),
    "price by the line": Number("law_price_usd", ",.0f"),
}
"""Figure 9."""
SERVED: Columns = {
    "TP×PP": "layout",
    "TTFT logged, ms": Number("logged_ttft_ms", ".2f"),
    "ours": Number("ttft_ms", ".2f"),
    "difference": Number("ttft_difference", "change"),
    "TPOT logged, ms": Number("logged_tpot_ms", ".4f"),
    "our TPOT": Number("tpot_ms", ".4f"),
    "of TPOT": Number("tpot_difference", "change"),
}
"""Figure 20, latency."""
SERVED_RATES: Columns = {
    "TP×PP": "layout",
    "prefill logged, tokens/s": Number("logged_prefill_tokens_per_s", ",.0f"),
    "ours": Number("prefill_tokens_per_s", ",.0f"),
    "difference": Number("prefill_difference", "change"),
    "decode logged, tokens/s": Number("logged_decode_tokens_per_s", ",.1f"),
    "our decode": Number("decode_tokens_per_s", ",.1f"),
    "of decode": Number("decode_difference", "change"),
}
"""Figure 20, throughput."""
SPECULATED: Columns = {
    "draft": "draft",
    "kept of 4": Number("acceptance", ".1f"),
    "logged, tokens/s": Number("logged", ".1f"),
    "ours": Number("ours", ".1f"),
    "difference": Number("difference", "change"),
}
"""Figure 21, the window that was logged."""
MEASURED: Columns = {
    "target": "target",
    "draft": "draft",
    "measured, tokens/s": Number("measured", ",.0f"),
    "paper": Number("paper", ",.0f"),
    "ours": Number("ours", ",.1f"),
    "difference": Number("difference", "+.1%"),
    "with 0.6 kept": Number("least", ",.1f"),
    "with 0.9": Number("most", ",.1f"),
    "source": "source",
}
"""What was measured on the chips of Figures 20 and 21."""
STATEMENTS: Columns = {"the paper says": "statement", "holds": Number("holds", "yes"), "ours": "figures"}


def constants_sheet(constants: Sequence[Constant]) -> Sheet:
    """What the results rest on."""
    return Sheet(
        title="Constants used",
        columns=("constant", "used", "the paper's text", "whose"),
        rows=tuple((one.name, one.used, one.printed or "–", one.origin) for one in constants),
    )


def table6_sheet(document: Document, constants: str) -> Sheet:
    """Table VI with one set of constants."""
    rows = [row for row in document["rows"] if row["constants"] == constants]
    logged = constants == "repository"
    return sheet_of(
        f"Table VI, constants of the {constants}: DRAM {rows[0]['dram_gb_per_s']:g} GB/s",
        rows if logged else [{**row, "logged_ms": None, "difference": None} for row in rows],
        {
            "mapping": "mapping",
            "logged, ms": Number("logged_ms"),
            "ours, ms": Number("ours_ms"),
            "difference": Number("difference", "change"),
            "tile": Number("tile", "d"),
            "partitions": Number("partitions", "d"),
            "proven": Number("proven", "yes"),
            "seconds": Number("seconds", ".2f"),
        },
        note="Time of one layer and sample; two replicas on 4×2 halve it."
        if logged
        else "The logged runs have the other rate; with twice the DRAM rate what memory bounds is faster.",
    )


def speed_up_sheet(document: Document) -> Sheet:
    """The speed-ups that Table VI prints."""
    columns = {"paper": "paper", "logged": "logged", "ours, repository": "repository", "ours, text": "text"}
    return sheet_of(
        "Speed-ups of Table VI",
        document["speed_ups"],
        {"comparison": "comparison", **{name: Number(key, ".2f") for name, key in columns.items()}},
    )


def intensity_sheet(document: Document) -> Sheet:
    """Figure 18."""
    return sheet_of(
        "Figure 18: FLOP for every byte, and the rate of a chip",
        document["rows"],
        {
            "mapping": "mapping",
            "DRAM logged": Number("logged_memory_flop_per_byte", ".0f"),
            "DRAM ours": Number("memory_flop_per_byte", ".0f"),
            "network logged": Number("logged_network_flop_per_byte", ".0f"),
            "network ours": Number("network_flop_per_byte", ".0f"),
            "TFLOP/s logged": Number("logged_tflop_per_s", ".1f"),
            "ours": Number("tflop_per_s", ".1f"),
        },
        note="On 4×2 the best mapping with nothing overlapped moves less than the logged one, whose solver stopped "
        f"with {percent(document['rows'][-1]['logged_gap'] or 0.0)} left to prove.",
    )


def summary_sheet(found: DesignSpace, document: Document) -> Sheet:
    """Counts by workload."""

    def largest(workload: Study) -> float:
        return max((one.differences[0] for one in found.of(workload)), key=abs)

    return sheet_of(
        "Design space, by workload",
        [{"workload": name, **counts, "largest": largest(name)} for name, counts in document["workloads"].items()],
        {
            "workload": "workload",
            "figure": Number("figure", "d"),
            "points": Number("points", "d"),
            "within 0.5 %": Number("within_half_percent", "d"),
            "better": Number("better_than_logged", "d"),
            "largest difference": Number("largest", "change"),
        },
        note="Utilisation, cost and power each within 0.5 % of the log; better: utilisation higher than logged.",
    )


def departures_sheet(document: Document) -> Sheet:
    """Points that are not as logged or not as described."""

    def said(row: Mapping[str, object]) -> dict[str, object]:
        point = " ".join(str(row[name]) for name in ("workload", "accelerator", "topology", "memory", "link"))
        return {**row, "point": point, "why": f"{row['kind']}: {row['reason']}"}

    return sheet_of(
        "Points that need a word",
        [said(row) for row in document["exceptions"]],
        {
            "point": "point",
            "logged": Number("logged", ".4f"),
            "ours": Number("ours", ".4f"),
            "difference": Number("difference", "change"),
            "why": "why",
        },
    )


def heat_sheet(rows: Sequence[Mapping[str, object]], workload: Study) -> Sheet:
    """Figures 10, 12, 14 and 16."""
    return sheet_of(
        f"Figure {rows[0]['figure']}: utilisation, cost and power, {workload}",
        rows,
        {
            **_MACHINE,
            "logged": Number("logged_utilisation", ".4f"),
            "ours": Number("utilisation", ".4f"),
            "M$ logged": Number("logged_cost_usd", ".2f", per=1e6),
            "M$ ours": Number("cost_usd", ".2f", per=1e6),
            "kW logged": Number("logged_power_w", ".0f", per=1e3),
            "kW ours": Number("power_w", ".0f", per=1e3),
        },
    )


def breakdown_sheet(rows: Sequence[Mapping[str, object]], workload: Study) -> Sheet:
    """Figures 11, 13, 15 and 17."""
    number = int(str(rows[0]["figure"])) + 1
    return sheet_of(
        f"Figure {number}: shares of time and utilisation, nothing overlapped, {workload}",
        rows,
        {
            **_MACHINE,
            "compute": Number("compute_share", ".1%"),
            "memory share": Number("memory_share", ".1%"),
            "network share": Number("network_share", ".1%"),
            "logged": Number("logged_apart_utilisation", ".4f"),
            "ours": Number("apart_utilisation", ".4f"),
        },
    )


def ratio_sheet(document: Document) -> Sheet:
    """Section VI-C."""
    return sheet_of(
        "Ratios of section VI-C: geometric means over design points",
        [{**row, "of": _MEASURES[row["measure"]]} for row in document["rows"]],
        {
            "workload": "workload",
            "comparison": "comparison",
            "of": "of",
            "paper": Number("paper", ".2f"),
            "logged points": Number("logged"),
            "ours": Number("ours"),
        },
        note="Language-model ratios between dragonfly and other networks leave wafers out. Where logged solvers "
        "stopped early, our proven optima are closer to the paper's figures than its logs are.",
    )


def windows_sheet(document: Document, schemes: Sequence[str], acceptance: float, drafts: Mapping[str, str]) -> Sheet:
    """Figure 21 by draft and window, a column for every scheme."""
    rows: dict[tuple[str, int], dict[str, object]] = {}
    for point in document["points"]:
        if point["acceptance"] == acceptance:
            key = (point["draft"], point["window"])
            row = rows.setdefault(key, {"draft": drafts[point["draft"]], "window": point["window"]})
            row[point["scheme"]] = point["rate"]
    return sheet_of(
        f"Tokens a second by draft and window K, acceptance {acceptance:g}",
        rows.values(),
        {"draft": "draft", "K": Number("window", "d"), **{name: Number(name, ".1f") for name in schemes}},
        note="A proportion kept of all that is drafted gives K·a + 1 tokens a cycle; an acceptance at each position "
        "gives less the longer the window. Trees have two candidates below every token.",
    )
