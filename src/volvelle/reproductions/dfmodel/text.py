"""A reproduction of the DFModel paper, piece by piece: pictures, tables, JSON, and words around them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

from volvelle.catalogue.published.dfmodel import DfModel, Study
from volvelle.quantities import percent
from volvelle.report.figures.engine import Chart
from volvelle.reproductions.dfmodel import pictures, serving_pictures, sheets
from volvelle.reproductions.dfmodel.constants import constants_of
from volvelle.reproductions.dfmodel.design_space import WITHIN, DesignSpace, design_document, solve_design_space
from volvelle.reproductions.dfmodel.figures import (
    dataflow_gain,
    solve_calculon,
    solve_rail_only,
    solve_sram_sweep,
    solve_three_dimensional,
    sweep_document,
    training_run_document,
)
from volvelle.reproductions.dfmodel.ratios import find_ratios, ratio_document
from volvelle.reproductions.dfmodel.serving import layout_document, solve_layouts, with_text_links
from volvelle.reproductions.dfmodel.silicon import silicon_document, silicon_picture, solve_silicon
from volvelle.reproductions.dfmodel.speculation import (
    BRANCHES,
    DRAFTS,
    EVEN,
    LEVELS,
    SEQUENCE,
    solve_speculation,
    speculation_document,
)
from volvelle.reproductions.dfmodel.table6 import (
    Table6,
    intensity_document,
    solve_intensities,
    solve_table6,
    table6_document,
)
from volvelle.reproductions.item import Columns, Document, Item, sheet_of

Advance = Callable[[], None]

_HEAT: dict[str, Study] = {"fig10": "LLM", "fig12": "DLRM", "fig14": "HPL", "fig16": "FFT"}
_BREAKDOWN: dict[str, Study] = {"fig11": "LLM", "fig13": "DLRM", "fig15": "HPL", "fig17": "FFT"}
_CHOSEN = (
    "With a draft: four tokens, 0.8 of them kept, which is our choice. The vendor does not say whether a draft was "
    "used, so the agreement says that the rate is possible, not how it was reached."
)
_STEPS = {"dse": 320, "fig19": 18, "fig22": 15}


def _why_text(found: Table6) -> str:
    """Why the paper's printed constants do not give its table."""
    ours, printed = (found.with_constants(name) for name in ("repository", "text"))
    by_kernel = ours[0].ours.time / printed[0].ours.time
    fused = max(a.ours.time / b.ours.time for a, b in zip(ours[1:], printed[1:], strict=True))
    whole = found.speed_ups[-1]
    return (
        f"The paper prints DRAM of {printed[0].dram_rate / 1e9:g} GB/s, its inputs have {ours[0].dram_rate / 1e9:g}. "
        f"Kernel by kernel the layer is bound by DRAM, so the printed rate makes it {by_kernel:.2f} times as fast; "
        f"fused mappings are bound by compute and network and gain {percent(fused - 1)} at most. So with the printed "
        f"rate the speed-up in all is {whole.text:.2f}, with that of the inputs {whole.repository:.2f}; the paper "
        f"prints {whole.paper:.2f}."
    )


class Reproduction:
    """Solves what is asked for, each study once."""

    def __init__(self, data: DfModel, *, advance: Advance = lambda: None) -> None:
        self._data, self._advance = data, advance

    @staticmethod
    def steps(names: tuple[str, ...]) -> int:
        """How often `advance` is called for these items."""
        space = any(name in ("dse", "ratios", *_HEAT, *_BREAKDOWN) for name in names)
        return _STEPS["dse"] * space + sum(_STEPS.get(name, 0) for name in names if name != "dse") + len(names)

    def item(self, name: str) -> Item:
        """One piece, with its constants."""
        if name in _HEAT or name in _BREAKDOWN:
            found = self._of_workload(name)
        else:
            found = {
                "table6": self._table6,
                "dse": self._dse,
                "ratios": self._ratios,
                "fig7": self._rails,
                "fig8": self._layouts,
                "fig9": self._silicon,
                "fig18": self._intensities,
                "fig19": self._sram,
                "fig20": self._served,
                "fig21": self._speculated,
                "fig22": self._three_dimensional,
            }[name]()
        self._advance()
        constants = constants_of(self._data, name)
        stated = [{"name": one.name, "used": one.used, "text": one.printed, "origin": one.origin} for one in constants]
        return replace(
            found,
            sheets=(*found.sheets, sheets.constants_sheet(constants)),
            document={**found.document, "stated_constants": stated},
        )

    @cached_property
    def space(self) -> DesignSpace:
        """The design space, solved when first asked for."""
        return solve_design_space(self._data, advance=self._advance)

    def _table6(self) -> Item:
        found = solve_table6(self._data)
        why, document = _why_text(found), table6_document(found)
        return Item(
            name="table6",
            title="Table VI: mappings of GPT-3 175B on eight SN10",
            lead=why,
            picture=lambda width: pictures.table6_picture(found, width=width),
            sheets=(
                sheets.table6_sheet(document, "repository"),
                sheets.table6_sheet(document, "text"),
                sheets.speed_up_sheet(document),
            ),
            document={**document, "why_text_differs": why},
        )

    def _dse(self) -> Item:
        space, document = self.space, design_document(self.space)
        lead = (
            f"{space.within_half_percent} of {len(space.points)} points within 0.5 % of the log in utilisation, cost "
            f"and power; {space.better_than_logged} better than logged, {space.unexplained} unexplained. All "
            f"{space.proven} proven optimal, {space.problems} different problems in {space.seconds:.1f} s."
        )
        return Item(
            name="dse",
            title="Design space: 80 machines, four workloads",
            lead=lead,
            sheets=(sheets.summary_sheet(space, document), sheets.departures_sheet(document)),
            document=document,
        )

    def _ratios(self) -> Item:
        speed_ups = {"speed_ups": table6_document(solve_table6(self._data))["speed_ups"]}
        document = {**ratio_document(find_ratios(self._data, self.space)), **speed_ups}
        return Item(
            name="ratios",
            title="Ratios that the paper prints",
            lead="Geometric means over the design points of each kind.",
            sheets=(sheets.ratio_sheet(document), sheets.speed_up_sheet(document)),
            document=document,
        )

    def _of_workload(self, name: str) -> Item:
        """A figure of one workload in the design space."""
        heat = name in _HEAT
        workload = (_HEAT if heat else _BREAKDOWN)[name]
        rows = [row for row in design_document(self.space)["rows"] if row["workload"] == workload]
        draw = pictures.heat_picture if heat else pictures.breakdown_picture
        return Item(
            name=name,
            title=f"Figure {name[3:]}: {'' if heat else 'where the time goes, '}{pictures.WORKLOADS[workload]}",
            lead="Utilisation, power efficiency and cost efficiency of 80 machines."
            if heat
            else "Shares of compute, memory and network with nothing overlapped; utilisation beside what was logged.",
            picture=lambda width: draw(self.space, workload, width=width),
            sheets=((sheets.heat_sheet if heat else sheets.breakdown_sheet)(rows, workload),),
            document={"rows": rows},
        )

    def _intensities(self) -> Item:
        found = solve_intensities(self._data)
        document = intensity_document(found)
        return Item(
            name="fig18",
            title="Figure 18: hierarchical roofline",
            lead="Each mapping at its operations for every byte of DRAM and of network traffic.",
            picture=lambda width: pictures.roofline_picture(found, width=width),
            sheets=(sheets.intensity_sheet(document),),
            document=document,
        )

    def _rails(self) -> Item:
        found = solve_rail_only(self._data)
        same = {
            name: sum(abs(one.interval(name) / (getattr(one.run, name) or 1.0) - 1) < WITHIN for one in found)
            for name in ("network", "memory")
        }
        note = (
            f"Network time is that logged in {same['network']} of {len(found)} runs, memory time in {same['memory']}. "
            "Compute is the exact best split of cores for each kernel, where the logged solver stopped with a gap, so "
            "the batch is faster than logged."
        )
        title = "Figure 7: GPT-3 1T on 16384 H100, rail-only"
        draw = partial(pictures.rail_picture, found)
        return _runs("fig7", title, note, draw, training_run_document(found), sheets.TRAINING)

    def _layouts(self) -> Item:
        found = solve_calculon(self._data)
        note = "Kernel by kernel, nothing overlapped; one of the authors' runs has no log."
        title = "Figure 8: GPT-3 1T on 4096 A100, as compared with Calculon"
        draw = partial(pictures.layout_picture, found)
        return _runs("fig8", title, note, draw, training_run_document(found), sheets.TRAINING)

    def _sram(self) -> Item:
        found = solve_sram_sweep(self._data, advance=self._advance)
        gain = dataflow_gain(found)
        note = (
            "Utilisation. Ours is the exact optimum over every tile size (beside it over powers of two); the logged "
            "runs cap the number of partitions, and most stopped with a gap. Over the nine memories dataflow is "
            f"{gain['ours']:.2f} times as fast as kernel by kernel, {gain['power_of_two']:.2f} with tiles of a power "
            f"of two; the log has {gain['logged']:.2f}, and the paper prints {gain['paper']:.2f}."
        )
        draw, document = partial(pictures.sram_picture, found), {**sweep_document(found), "dataflow_gain": gain}
        return _runs("fig19", "Figure 19: SRAM and DRAM", note, draw, document, sheets.SWEEP)

    def _served(self) -> Item:
        found = solve_layouts(self._data)
        document, (first, *_) = layout_document(found), found
        printed = with_text_links(self._data, first.prefill)
        rows = document["rows"]
        worst = max(abs(row[f"{name}_difference"]) for row in rows for name in ("ttft", "tpot"))
        lead = (
            f"Latencies are within {percent(worst, 2)} of the log. Logged throughputs are a thousandth lower than "
            "their parts, and pay for filling the pipeline once. Links are those of the inputs: with the "
            f"{printed.run.link_rate / 1e9:g} GB/s of the text TTFT of {first.name} would be "
            f"{printed.latency * 1e3:.1f} ms."
        )
        return Item(
            name="fig20",
            title="Figure 20: Llama-3-8B served on 16 SN40L",
            lead=lead,
            picture=lambda width: serving_pictures.layouts_picture(found, width=width),
            sheets=(
                sheet_of("Figure 20: time to first token and time per output token", rows, sheets.SERVED),
                sheet_of("Figure 20: throughput", rows, sheets.SERVED_RATES),
                sheet_of("What section VIII-A says", document["statements"], sheets.STATEMENTS),
            ),
            document=document,
        )

    def _speculated(self) -> Item:
        found = solve_speculation(self._data)
        document = speculation_document(found)
        return Item(
            name="fig21",
            title="Figure 21: speculative decoding of Llama-3-405B on 16 SN40L",
            lead="Tokens a second of one request. Logged: the authors' formula with the steps they logged, which are "
            "there for a window of 4; their grid and how they count a tree are not published, so trees are ours.",
            picture=lambda width: serving_pictures.speculation_picture(found, width=width),
            sheets=(
                sheet_of("Figure 21: a sequence of four drafts", document["rows"], sheets.SPECULATED),
                sheets.windows_sheet(document, (SEQUENCE, EVEN, BRANCHES, LEVELS), 0.7, DRAFTS),
                sheet_of("Measured rates of one request", document["measured"], sheets.MEASURED, note=_CHOSEN),
                sheet_of("What section VIII-B says", document["statements"], sheets.STATEMENTS),
            ),
            document=document,
        )

    def _silicon(self) -> Item:
        found = solve_silicon(self._data)
        document = silicon_document(found)
        lead = "; ".join(
            f"{law.kind} grows with the power {law.exponent:.2f} of the rate ({law.low:.2f} to {law.high:.2f} between "
            f"any two chips; studies take {law.used:g})"
            for law in found.laws
        )
        return Item(
            name="fig9",
            title="Figure 9: silicon against what it computes",
            lead=f"{lead[0].upper()}{lead[1:]}. The paper draws power, and says that price goes likewise.",
            picture=lambda width: silicon_picture(found, width=width),
            sheets=(sheet_of("Figure 9: chips without their memory", document["rows"], sheets.SILICON),),
            document=document,
        )

    def _three_dimensional(self) -> Item:
        found = solve_three_dimensional(self._data, advance=self._advance)
        below = [one.difference for one in found if one.difference is not None and one.difference < -1e-4]
        note = (
            "Utilisation, kernel by kernel, weights in pieces; one of the authors' runs has no log. "
            f"Ours is below the log in {len(below)} of {len(found)} runs, by {percent(-min(below, default=0.0))} at "
            "most, why is not known; elsewhere it is the same or better."
        )
        draw = partial(pictures.three_dimensional_picture, found)
        return _runs("fig22", "Figure 22: 3-D memory", note, draw, sweep_document(found), sheets.SWEEP)


def _runs(name: str, title: str, note: str, draw: Callable[..., Chart], document: Document, columns: Columns) -> Item:
    """Runs of one study, logged and ours."""
    return Item(
        name=name,
        title=title,
        lead=note,
        picture=lambda width: draw(width=width),
        sheets=(sheet_of(title, document["rows"], columns, note=note),),
        document=document,
    )
