"""A reproduction of the DFModel paper, piece by piece: pictures, tables, JSON, and words around them."""

from collections.abc import Callable

from volvelle.catalogue.published.dfmodel import DfModel, Study
from volvelle.report.figures.engine import Chart
from volvelle.reproductions.dfmodel import pictures, sheets
from volvelle.reproductions.dfmodel.constants import constants_of
from volvelle.reproductions.dfmodel.design_space import WITHIN, DesignSpace, design_document, solve_design_space
from volvelle.reproductions.dfmodel.figures import (
    SweptRun,
    TrainingRun,
    solve_calculon,
    solve_rail_only,
    solve_sram_sweep,
    solve_three_dimensional,
    sweep_document,
    training_run_document,
)
from volvelle.reproductions.dfmodel.ratios import find_ratios, ratio_document
from volvelle.reproductions.dfmodel.table6 import (
    Table6,
    intensity_document,
    solve_intensities,
    solve_table6,
    table6_document,
)
from volvelle.reproductions.item import Item

__all__ = ["Advance", "Reproduction"]

Advance = Callable[[], None]

_HEAT: dict[str, Study] = {"fig10": "LLM", "fig12": "DLRM", "fig14": "HPL", "fig16": "FFT"}
_BREAKDOWN: dict[str, Study] = {"fig11": "LLM", "fig13": "DLRM", "fig15": "HPL", "fig17": "FFT"}
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
        f"fused mappings are bound by compute and network and gain {fused - 1:.1%} at most. So with the printed rate "
        f"the speed-up in all is {whole.text:.2f}, with that of the inputs {whole.repository:.2f}; the paper prints "
        f"{whole.paper:.2f}."
    )


class Reproduction:
    """Solves what is asked for, each study once."""

    def __init__(self, data: DfModel, *, advance: Advance = lambda: None) -> None:
        self._data, self._advance = data, advance
        self._space: DesignSpace | None = None

    @staticmethod
    def steps(names: tuple[str, ...]) -> int:
        """How often `advance` is called for these items."""
        space = any(name in ("dse", "ratios", *_HEAT, *_BREAKDOWN) for name in names)
        return _STEPS["dse"] * space + sum(_STEPS.get(name, 0) for name in names if name != "dse") + len(names)

    def item(self, name: str) -> Item:
        """One piece, with its constants."""
        if name in _HEAT:
            found = self._heat(name, _HEAT[name])
        elif name in _BREAKDOWN:
            found = self._breakdown(name, _BREAKDOWN[name])
        else:
            found = {
                "table6": self._table6,
                "dse": self._dse,
                "ratios": self._ratios,
                "fig7": self._rails,
                "fig8": self._layouts,
                "fig18": self._intensities,
                "fig19": self._sram,
                "fig22": self._three_dimensional,
            }[name]()
        self._advance()
        constants = constants_of(self._data, name)
        stated = [{"name": one.name, "used": one.used, "text": one.printed, "origin": one.origin} for one in constants]
        return Item(
            name=found.name,
            title=found.title,
            lead=found.lead,
            picture=found.picture,
            sheets=(*found.sheets, sheets.constants_sheet(constants)),
            document={**found.document, "stated_constants": stated},
        )

    @property
    def space(self) -> DesignSpace:
        """The design space, solved when first asked for."""
        if self._space is None:
            self._space = solve_design_space(self._data, advance=self._advance)
        return self._space

    def _table6(self) -> Item:
        found = solve_table6(self._data)
        why = _why_text(found)
        return Item(
            name="table6",
            title="Table VI: mappings of GPT-3 175B on eight SN10",
            lead=why,
            picture=lambda width: pictures.table6_picture(found, width=width),
            sheets=(
                sheets.table6_sheet(found, "repository"),
                sheets.table6_sheet(found, "text"),
                sheets.speed_up_sheet(found.speed_ups),
            ),
            document={**table6_document(found), "why_text_differs": why},
        )

    def _dse(self) -> Item:
        space = self.space
        lead = (
            f"{space.within_half_percent} of {len(space.points)} points within 0.5 % of the log in utilisation, cost "
            f"and power; {space.better_than_logged} better than logged, {space.unexplained} unexplained. All "
            f"{space.proven} proven optimal, {space.problems} different problems in {space.seconds:.1f} s."
        )
        return Item(
            name="dse",
            title="Design space: 80 machines, four workloads",
            lead=lead,
            sheets=(sheets.summary_sheet(space), sheets.departures_sheet(space)),
            document=design_document(space),
        )

    def _ratios(self) -> Item:
        found, table = find_ratios(self._data, self.space), solve_table6(self._data)
        return Item(
            name="ratios",
            title="Ratios that the paper prints",
            lead="Geometric means over the design points of each kind.",
            sheets=(sheets.ratio_sheet(found), sheets.speed_up_sheet(table.speed_ups)),
            document={**ratio_document(found), "speed_ups": table6_document(table)["speed_ups"]},
        )

    def _heat(self, name: str, workload: Study) -> Item:
        document = design_document(self.space)
        return Item(
            name=name,
            title=f"Figure {name[3:]}: {pictures.WORKLOADS[workload]}",
            lead="Utilisation, power efficiency and cost efficiency of 80 machines.",
            picture=lambda width: pictures.heat_picture(self.space, workload, width=width),
            sheets=(sheets.heat_sheet(self.space, workload),),
            document={"rows": _of(document["rows"], workload)},
        )

    def _breakdown(self, name: str, workload: Study) -> Item:
        document = design_document(self.space)
        return Item(
            name=name,
            title=f"Figure {name[3:]}: where the time goes, {pictures.WORKLOADS[workload]}",
            lead="Shares of compute, memory and network with nothing overlapped; utilisation beside what was logged.",
            picture=lambda width: pictures.breakdown_picture(self.space, workload, width=width),
            sheets=(sheets.breakdown_sheet(self.space, workload),),
            document={"rows": _of(document["rows"], workload)},
        )

    def _intensities(self) -> Item:
        found = solve_intensities(self._data)
        return Item(
            name="fig18",
            title="Figure 18: hierarchical roofline",
            lead="Each mapping at its operations for every byte of DRAM and of network traffic.",
            picture=lambda width: pictures.roofline_picture(found, width=width),
            sheets=(sheets.intensity_sheet(found),),
            document=intensity_document(found),
        )

    def _training(
        self, name: str, title: str, found: tuple[TrainingRun, ...], note: str, draw: Callable[..., Chart]
    ) -> Item:
        return Item(
            name=name,
            title=title,
            lead=note,
            picture=lambda width: draw(found, width=width),
            sheets=(sheets.training_sheet(found, title, note),),
            document=training_run_document(found),
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
        return self._training("fig7", title, found, note, pictures.rail_picture)

    def _layouts(self) -> Item:
        note = "Kernel by kernel, nothing overlapped; one of the authors' runs has no log."
        title = "Figure 8: GPT-3 1T on 4096 A100, as compared with Calculon"
        return self._training("fig8", title, solve_calculon(self._data), note, pictures.layout_picture)

    def _sweep(self, name: str, title: str, found: tuple[SweptRun, ...], note: str, draw: Callable[..., Chart]) -> Item:
        return Item(
            name=name,
            title=title,
            lead=note,
            picture=lambda width: draw(found, width=width),
            sheets=(sheets.sweep_sheet(found, title, note),),
            document=sweep_document(found),
        )

    def _sram(self) -> Item:
        found = solve_sram_sweep(self._data, advance=self._advance)
        note = (
            "Utilisation. Ours is the exact optimum over every tile size (beside it over powers of two); the logged "
            "runs cap the number of partitions, and most stopped with a gap."
        )
        return self._sweep("fig19", "Figure 19: SRAM and DRAM", found, note, pictures.sram_picture)

    def _three_dimensional(self) -> Item:
        found = solve_three_dimensional(self._data, advance=self._advance)
        below = [one.difference for one in found if one.difference is not None and one.difference < -1e-4]
        note = (
            "Utilisation, kernel by kernel, weights in pieces; one of the authors' runs has no log. "
            f"Ours is below the log in {len(below)} of {len(found)} runs, by {-min(below, default=0.0):.1%} at most, "
            "why is not known; elsewhere it is the same or better."
        )
        return self._sweep("fig22", "Figure 22: 3-D memory", found, note, pictures.three_dimensional_picture)


def _of(rows: object, workload: Study) -> list[object]:
    assert isinstance(rows, list), "a document lists its rows"
    return [row for row in rows if row["workload"] == workload]
