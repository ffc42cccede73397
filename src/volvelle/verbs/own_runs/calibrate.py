"""What logs of one's own teach of a machine: constants of its software, its links, its power, its memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.own_link import OwnLink, fit_own_link, own_rows
from volvelle.applications.own_factor import OwnFactor
from volvelle.applications.own_machine import with_own_links
from volvelle.applications.training.own_runs import OwnFit, fit_own, shapes_of
from volvelle.applications.training.stack_fit import errors_and_slopes, shipped_logs
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_calibrations import (
    KeptLinpack,
    KeptRuns,
    OwnCalibration,
    UsedLog,
    this_version,
    write_calibration,
)
from volvelle.catalogue.own_spread import own_runs_spread, spread_of, typical_slopes
from volvelle.errors import DescriptionError
from volvelle.estimators.factored import CONSTANTS, NETWORK, WIDE, felt_variance, run_variance
from volvelle.estimators.question_error import step_error
from volvelle.interchange.logs.logged import Log
from volvelle.interchange.logs.readers import read_log
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.questions.own_runs import CalibrateFromQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Model, catalogue_of
from volvelle.verbs.own_runs.figures import OwnMemory, own_linpack, own_memory, own_power, own_products, own_ran
from volvelle.verbs.own_runs.questions import OwnRun, own_run, same_machine
from volvelle.workload.elements import element_bytes

Table = NDArray[np.float64]
_FAR = 3.5
"""Standard deviations from what the other runs say at which a run disagrees with them."""
_ROUNDS = 2
"""Gauss–Newton steps after the first."""
_NARROW = 2
_OTHER_LINK = 1.5
"""A factor by which links of a kind do not differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What was learned, and how far it holds."""

    cluster: Cluster
    logs: tuple[Log, ...]
    runs: tuple[OwnRun, ...]
    unasked: tuple[tuple[str, str], ...]
    """Runs that put no question, and why."""
    errors: Table
    """ln(measured / predicted) of runs as shipped."""
    fit: OwnFit | None
    disagreeing: tuple[tuple[str, float], ...] = ()
    """Runs that are further from what the others say than runs are, and by how many standard deviations."""
    links: tuple[OwnLink, ...] = ()
    products: float | None = None
    """What own products sustain over what the catalogue says."""
    linpack: OwnFactor | None = None
    """What own runs of High-Performance Linpack say."""
    power: float | None = None
    memory: OwnMemory | None = None
    alike: float | None = None
    """One standard deviation, as a factor, of runs like these."""
    elsewhere: float | None = None
    """The same of runs of other shapes on the machine."""
    before: float | None = None
    """The same without own runs."""
    saved: Path | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is answered better now, and what is not."""
        return tuple(_notes(self))

    @property
    def factors(self) -> Mapping[str, float]:
        """Constants that change, each with its factor."""
        if self.fit is None:
            return {}
        narrow = bool(self.runs) and element_bytes(self.runs[0].run.element) < _NARROW
        return {
            name: float(f"{exp(change):.6g}")
            for name, change in zip(CONSTANTS, self.fit.change.tolist(), strict=True)
            if abs(change) > 1e-3 and (narrow or name != WIDE)
        }

    @property
    def file(self) -> OwnCalibration:
        """As ``--calibrated`` takes it."""
        first = self.runs[0].run if self.runs else None
        chips = [one.run.row.chips for one in self.runs if one.run.row.chips]
        covers: dict[str, Any] = {}
        if self.runs:
            covers = {
                "chips": [min(chips), max(chips)],
                "mixtures": sorted({EXPERT_DIM in one.run.question.work.model.sizes for one in self.runs}),
                "unpriced": sorted({word for one in self.runs for word in one.run.question.work.model.unpriced}),
                "models": sorted({str(one.settings["model"]) for one in self.runs}),
                "sequences": sorted({int(str(one.settings["sequence"])) for one in self.runs}),
                "batches": sorted({int(str(one.settings["batch"])) for one in self.runs}),
            }
        report = {}
        if self.fit is not None:
            report = {"before": _mean_error(self.fit.before), "after": _mean_error(self.fit.after)}
        return OwnCalibration(
            version=this_version(),
            chip=self.cluster.chip.name,
            family=self.cluster.chip.family,
            element=first.element if first else "bf16",
            stack=first.stack if first else "",
            runs=len(self.runs),
            covers=covers,
            constants=dict(self.factors),
            error=None if self.elsewhere is None else float(f"{self.elsewhere:.4g}"),
            told=None if self.fit is None or not self.runs else KeptRuns.of(self.fit.told),
            links={one.link: {name: float(f"{value:.6g}") for name, value in one.after.items()} for one in self.links},
            power=None if self.power is None else float(f"{self.power:.4g}"),
            memory=None if self.memory is None else float(f"{self.memory.ratio:.4g}"),
            memory_error=None if self.memory is None else float(f"{self.memory.error:.4g}"),
            ran=own_ran(self.runs),
            linpack=None
            if self.linpack is None
            else KeptLinpack(
                rate=float(f"{self.linpack.value:.6g}"),
                error=float(f"{self.linpack.error:.4g}"),
                runs=self.linpack.runs,
                note=self.linpack.note,
            ),
            report={name: float(f"{value:.4g}") for name, value in report.items()},
            logs=[UsedLog(file=log.file, tool=log.tool, sha256=log.digest) for log in self.logs],
        )


def _mean_error(errors: Table) -> float:
    return float(np.mean(np.abs(np.expm1(-errors))))


@asks(CalibrateFromQuestion)
def calibrate_from(question: CalibrateFromQuestion) -> Calibrated:
    """Return the constants of a machine from logs of your own, drawn towards what published runs imply.

    `logs` are files of benchmarks and training runs, each recognised by its content. `on` is the machine, with a number
    of GPUs (``dgx-h100/64``), or without one if each log states its own. Model, batch and layout come from the log;
    state here what a log does not. `save` is the file to write, which ``--calibrated`` reads.
    """
    if not question.logs:
        raise DescriptionError("no log is given; give one file or several")
    on, known = question.on, catalogue_of(question.catalogue)
    read = tuple(read_log(Path(file)) for file in question.logs)
    told = {name: getattr(question, name) for name in ("batch", "sequence", "element")}
    told |= {"stack": question.stack or None, **question.layout}
    links = tuple(_links(read, on, known))
    runs, unasked = _asked(read, on, question.model, told, known)
    runs = [_over(one, links) for one in runs]
    cluster = same_machine(runs) if runs else known.cluster(on) if "/" in on else known.node(on)
    errors: Table = np.zeros(0)
    found = Calibrated(
        cluster=cluster,
        logs=read,
        runs=tuple(runs),
        unasked=tuple(unasked),
        errors=errors,
        fit=None,
        links=links,
        products=own_products([row for log in read for row in log.gemms], cluster, question.element),
        linpack=own_linpack(read, on, known),
        power=own_power(runs),
        memory=own_memory(runs),
    )
    if runs or found.products is not None:
        found = _fitted(found)
    if found.fit is None and not found.links and found.linpack is None:
        why = "; ".join(f"{place}: {reason}" for place, reason in unasked) or _refusals(read)
        raise DescriptionError(f"nothing can be learned from {', '.join(log.file for log in read)}: {why}")
    if question.save is None:
        return found
    write_calibration(found.file, Path(question.save))
    return replace(found, saved=Path(question.save))


def _over(one: OwnRun, links: Sequence[OwnLink]) -> OwnRun:
    """A run over links as sweeps of one's own have them, so that what they tell is not told again by its steps."""
    system = with_own_links(one.run.question.system, {link.link: link.after for link in links})
    return replace(one, run=replace(one.run, question=replace(one.run.question, system=system)))


def _refusals(logs: Sequence[Log]) -> str:
    if any(log.gradients for log in logs):
        return "runs of HPCG are taken where it is planned: volvelle plan hpcg --on SYSTEM --runs FILE"
    lines = [f"{log.file}, line {one.line}: {one.why}" for log in logs for one in log.refused]
    return "; ".join(lines[:3]) or "no line of a steady step or of a sweep"


def _asked(
    logs: Sequence[Log], on: str, model: Model | None, told: Mapping[str, Any], catalogue: Catalogue
) -> tuple[list[OwnRun], list[tuple[str, str]]]:
    runs, unasked = [], []
    for log in logs:
        for logged in log.runs:
            asked = own_run(logged, on=on, model=model, told=told, catalogue=catalogue)
            if isinstance(asked, str):
                unasked.append((logged.place, asked))
            else:
                runs.append(asked)
    return runs, unasked


def _fitted(found: Calibrated) -> Calibrated:
    spread = own_runs_spread()
    runs = [one.run for one in found.runs]
    slopes: Table = np.zeros((0, len(CONSTANTS)))
    errors: Table = np.zeros(0)
    if runs:
        errors, slopes = errors_and_slopes(runs, shipped_logs(runs))
    chip = found.cluster.chip
    stack = runs[0].stack if runs else ""
    prior = spread_of(stack or "megatron-core", chip.family, runs[0].element if runs else "bf16")
    # Products alone tell one constant: a time goes down as it goes up.
    alone = np.zeros((0 if found.products is None else 1, len(CONSTANTS)))
    alone[:, 0] = -1.0
    told = np.zeros(0) if found.products is None else np.array([-np.log(found.products)])
    doubts = np.append(np.array([one.doubt for one in found.runs]), np.ones(len(alone)))
    shapes = shapes_of(runs)

    def fitted(slopes: Table, errors: Table) -> OwnFit:
        rows, values = np.vstack([slopes, alone]), np.append(errors, told)
        return fit_own(rows, values, shapes, prior=prior, spread=spread, doubts=doubts)

    fit, values = fitted(slopes, errors), errors
    for _ in range(_ROUNDS if runs else 0):
        # Slopes change with constants: those at the new ones tell the rest of the way.
        change = fit.posterior.change
        now, slopes = errors_and_slopes(runs, shipped_logs(runs) + change)
        values = now + slopes @ change
        fit = fitted(slopes, values)
    disagreeing = _disagreeing(found.runs, values, slopes, doubts[: len(runs)], prior)
    if disagreeing and 2 * len(disagreeing) >= len(found.runs):
        # Two machines or two versions: what lies between them is neither.
        believed = float(np.mean(felt_variance(slopes, prior)))
        by_itself = float(np.mean(run_variance(slopes, scatter=spread.scatter, network=spread.network)))
        scattered = float(np.var(errors)) / (believed + by_itself + spread.shape**2)
        wider = replace(fit.posterior, inflation=max(fit.posterior.inflation, scattered))
        fit = replace(fit, kept=False, posterior=wider)
    fit = replace(fit, before=np.append(errors, told))
    left, typical = fit.told, typical_slopes(chip.family)
    waits = CONSTANTS.index(NETWORK)
    by_itself = left.scatter**2 + left.network**2 * float(typical[waits, waits])
    anywhere = float((left.covariance * typical).sum()) + left.shapes.spread**2 + by_itself
    elsewhere, before = np.asarray(left.wider * sqrt(anywhere)), _before(found)
    if before is not None:
        elsewhere = left.no_wider(elsewhere, np.log(before))
    return replace(
        found,
        errors=errors,
        fit=fit,
        disagreeing=disagreeing,
        alike=exp(float(np.sqrt(np.mean(left.error(slopes, shapes) ** 2)))) if runs else None,
        elsewhere=exp(float(elsewhere)) if runs else None,
        before=before,
    )


def _before(found: Calibrated) -> float | None:
    """One standard deviation of such runs without own ones, as a factor, in the middle; None: it is not known."""
    asked = [one.run.question for one in found.runs]
    known = [step_error(one.system, one.work, one.decision).factor for one in asked]
    return float(np.median([one for one in known if one is not None])) if any(known) else None


def _disagreeing(
    runs: Sequence[OwnRun], values: Table, rows: Table, doubts: Table, prior: Table
) -> tuple[tuple[str, float], ...]:
    """Runs that other runs do not expect, the furthest first and without it the next; weights would hide them."""
    spread, kept = own_runs_spread(), np.arange(len(runs))
    found: list[tuple[str, float]] = []
    noise = doubts**2 * (run_variance(rows, scatter=spread.scatter, network=spread.network) + spread.shape**2)
    while len(kept) > 1:
        inverse = np.linalg.inv(rows[kept] @ prior @ rows[kept].T + np.diag(noise[kept]))
        deviations = np.abs(inverse @ values[kept]) / np.sqrt(np.diag(inverse))
        if deviations.max() <= _FAR:
            break
        # Of two that are left nobody can tell which is off.
        off = [int(np.argmax(deviations))] if len(kept) > 2 else [0, 1]
        found += [(runs[kept[place]].place, float(deviations[place])) for place in off]
        kept = np.delete(kept, off)
    return tuple(found)


def _links(logs: Sequence[Log], on: str, catalogue: Catalogue) -> list[OwnLink]:
    template, slash, count = on.partition("/")
    found: dict[str, OwnLink] = {}
    groups: dict[int, list[Any]] = {}
    for log in logs:
        for row in log.collectives:
            ranks = row.ranks or (int(count) if slash else 0)
            if ranks < 2:
                raise DescriptionError(
                    f"{log.file}, line {row.line}: it does not state the number of ranks; give --on {template}/N"
                )
            if slash and row.ranks and row.ranks > int(count):
                raise DescriptionError(
                    f"{log.file}, line {row.line}: {row.ranks} ranks took part, and --on has {count} chips"
                )
            _check_device(log, row.device, template, catalogue)
            groups.setdefault(ranks, []).append(row)
    for ranks, rows in groups.items():
        measured = own_rows(rows, catalogue.cluster(f"{template}/{ranks}").name.partition("/")[0], ranks=ranks)
        link = fit_own_link(measured, catalogue.cluster(f"{template}/{ranks}"), catalogue)
        if link.link not in found or link.rows > found[link.link].rows:
            found[link.link] = link
    return list(found.values())


def _check_device(log: Log, device: str, template: str, catalogue: Catalogue) -> None:
    """Refuse a sweep on chips that are plainly of another kind than the machine's."""
    chip = catalogue.node(template).chip.name
    kind = chip.split("-")[0]
    words = {name.split("-")[0] for name in catalogue.names("chips")}
    mentioned = {word for word in words if len(word) > 3 and word in device.lower().replace(" ", "-")}
    if mentioned and kind not in mentioned:
        raise DescriptionError(f"{log.file} ran on {device}, and {template} has {chip}; give its machine with --on")


def _between(factors: Table) -> str:
    least, most = f"{float(factors.min()):.3f}", f"{float(factors.max()):.3f}"
    return f"{least} times" if least == most else f"{least} to {most} times"


def _notes(found: Calibrated) -> list[str]:
    notes = []
    fit = found.fit
    if fit is not None and found.runs:
        if len(found.runs) == 1:
            notes.append("one run: no other can confirm it, so constants move a part of the way only")
        if fit.kept:
            slower = np.exp(fit.told.shapes.told(fit.shapes).shift)
            notes.append(
                f"beside constants, chips take {_between(slower)} as long for products shaped as those of own runs"
            )
        shapes = {(one.settings["model"], one.settings["sequence"]) for one in found.runs}
        if len(shapes) == 1:
            notes.append("all own runs are of one shape: other models and sequences keep a wide range")
        chips = sorted({one.run.row.chips for one in found.runs if one.run.row.chips})
        if fit.kept:
            notes.append(
                f"better answered now: steps in {found.runs[0].run.element} on {found.cluster.chip.name}, "
                f"{chips[0]} to {chips[-1]} chips"
            )
        notes.append(
            "as before: other software, other families of chips, and other element types but for products that stay in "
            "16 bits"
        )
    if found.linpack is not None:
        notes.append(found.linpack.note)
    for link in found.links:
        ratio = link.after["efficiency"] / link.before["efficiency"]
        if not 1.0 / _OTHER_LINK < ratio < _OTHER_LINK:
            notes.append(
                f"{link.link} sustains {100.0 * ratio:.0f} % of what links of its kind do: another network than that "
                f"of {found.cluster.name}, fewer ports, or something beside it?"
            )
    for place, deviations in found.disagreeing:
        notes.append(
            f"{place} is {deviations:.1f} standard deviations from what the others say: another machine, another "
            f"version, or something beside it? It is shown, not averaged"
        )
    return notes
