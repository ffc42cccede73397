"""Finds what published runs leave open of constants, and how runs scatter around them.

Writes ``stack_spread.csv`` and ``own_runs.yaml``, towards which a user's own runs are drawn, and ``step_ranges.yaml``
with ``open_constants.csv.gz``, by which ranges of steps go. Takes ten minutes; prints the figures of both. Run it after
``fit_stacks.py``.
"""

import csv
import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from volvelle import Catalogue
from volvelle.applications.kernels.measurements import kernel_measurements
from volvelle.applications.kernels.own_products import product_spreads
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.own_runs import Corpus, collectives_off, own_spreads
from volvelle.applications.training.own_runs_scores import LARGE, validate_own_runs
from volvelle.applications.training.stack_fit import stack_runs
from volvelle.catalogue.model_errors import LEVEL, tilt_by
from volvelle.catalogue.own_spread import SLOPES, OwnRunsSpread, OwnScatter
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.stacks import stack_entries
from volvelle.catalogue.training_errors import (
    StepRanges,
    open_of_runs,
    reaches_left_out,
    runs_left_out,
    stretch_by,
)
from volvelle.estimators.factored import network_shares
from volvelle.laws.model_error import interval_score, two_levels

DATA = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data"
TRIED = {
    "scatter": (0.06, 0.08, 0.09, 0.1, 0.11, 0.12, 0.13, 0.14, 0.16),
    "stand_in": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    "unstated_network": (0.0, 0.2, 0.3, 0.4, 0.5),
}
"""One standard deviation each of `StepRanges`, that is tried."""
BAND = (0.65, 0.95)
"""Coverage of a large publication that is near four fifths."""
OWN_BAND = (0.65, 0.92)
"""Likewise after three own runs."""
STRETCHES = tuple(1.0 + place / 50 for place in range(8))
"""Of ranges after own runs."""
_NOWHERE = "?"
"""A family or an element type that no run is of."""


def transfer(corpus: Corpus) -> float:
    """What another chip of a family adds: chips of one family and source, each against the others' middle."""
    apart = []
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run, error in zip(corpus.runs, corpus.errors.tolist(), strict=True):
        chips = groups.setdefault((run.source, run.family, run.element), {})
        chips.setdefault(run.question.system.chip.name, []).append(error)
    for chips in groups.values():
        medians = np.array([np.median(errors) for errors in chips.values() if len(errors) > 2])
        if len(medians) > 1:
            apart += (medians - medians.mean()).tolist()
    return float(np.sqrt(np.mean(np.square(apart)) * 2.0)) if apart else 0.1


def chosen(corpus: Corpus, figures: Mapping[str, float], others: Mapping[str, Any]) -> tuple[float, OwnScatter]:
    """Of those that sources cannot tell apart, one after which ranges hold nearest to 4/5, with three own runs.

    Fewest large machines outside their band first, those whose times were computed after the others; then least squares
    over all that ran: several have fewer runs than a large one, and theirs, mixtures of experts among them, are those
    that ranges hold least of.
    """

    def miss(pair: tuple[float, OwnScatter]) -> tuple[int, int, float]:
        spread = OwnRunsSpread(share=pair[0], **pair[1].model_dump(), source="", **figures, **others)
        found = validate_own_runs(corpus, own=(3,), spread=spread)
        measured = found.part(measured=True)
        badly = [
            not OWN_BAND[0] <= one.scores[3].coverage <= OWN_BAND[1]
            for part in (measured, found.part())
            for one in part
            if one.runs >= LARGE
        ]
        large = sum(one.runs >= LARGE for one in measured)
        off = np.mean([(one.scores[3].coverage - LEVEL) ** 2 for one in measured])
        return sum(badly[:large]), sum(badly[large:]), float(off)

    tried = [
        (share, scatter.model_copy(update={"stretch": stretch}))
        for share, scatter in own_spreads(corpus)
        for stretch in STRETCHES
    ]
    return min(track(tried, description="as likely"), key=miss)


def products(*, narrow: bool) -> dict[str, float | str]:
    """What large matrix products sustain, between chips and libraries and within one."""
    rows = calibration_rows(kernel_measurements(), shipped=True).rows
    between, within, count, groups = product_spreads(rows, Catalogue(), narrow=narrow)
    source = f"{count} products of {groups} chips and libraries, calibration rows of kernels.csv.gz"
    return {"between": float(f"{between:.4g}"), "within": float(f"{within:.4g}"), "source": source}


def write_ranges(corpus: Corpus, share: float) -> None:
    """What others leave open of each run's constants, and the scatters by which ranges are best.

    Those that hold as many large publications as any within a band of coverage; of these, of the best interval score.
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("row_id", "open", "network", "stand_in", "unstated_network"))
    for run, slopes in zip(corpus.runs, corpus.slopes, strict=True):
        spread = corpus.spread(run.stack, run.family, run.element, without=run.source, share=share)
        network = float(network_shares(slopes))
        known = (float(slopes @ spread @ slopes) ** 0.5, network, run.stands_in, network * run.network_assumed)
        table.writerow((run.row.head.row_id, *(f"{number:.5g}" for number in known)))
    target = DATA / "measurements" / "open_constants.csv.gz"
    with target.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(out.getvalue().encode())
    packaged_rows.cache_clear()
    open_of_runs.cache_clear()
    rows = runs_left_out()
    errors, sources = np.array([row.residual for row in rows]), [row.source for row in rows]
    weights = np.array([1.0 / sources.count(name) for name in sources])
    source = f"{len(rows)} runs of {len(set(sources))} publications, each left out (scripts/fit_own_runs.py)"

    def score(ranges: StepRanges) -> tuple[int, float]:
        known = reaches_left_out(ranges)
        reaches = np.array([known[row.row_id] for row in rows])
        covered = [
            np.mean((np.abs(errors) <= reaches)[np.array(sources) == name])
            for name in set(sources)
            if sources.count(name) >= LARGE
        ]
        badly = sum(not BAND[0] <= share <= BAND[1] for share in covered)
        return badly, float(np.average(interval_score(errors, reaches, level=LEVEL), weights=weights))

    network = float(f"{collectives_off().within:.4g}")
    found = StepRanges(scatter=0.1, network=network, stand_in=0.2, unstated_network=0.4, stretch=1.0, source=source)
    before, scores = None, dict[StepRanges, tuple[int, float]]()
    while found != before:
        before = found
        for name, values in TRIED.items():
            near = [found.model_copy(update={name: value}) for value in values]
            scores |= {ranges: score(ranges) for ranges in near if ranges not in scores}
            found = min(near, key=lambda ranges: scores[ranges])
    found = found.model_copy(update={"stretch": float(f"{stretch_by(rows, found):.4g}")})
    known = reaches_left_out(found)
    tilt = tilt_by("training", rows, np.array([known[row.row_id] for row in rows]))
    found = found.model_copy(update={"tilt": float(f"{tilt:.4g}")})
    said = "".join(f"{name}: {value}\n" for name, value in found.model_dump().items())
    (DATA / "step_ranges.yaml").write_text(said, "utf-8")
    print(said, end="")
    for name, values in TRIED.items():
        for value in values:
            badly, worth = scores[before.model_copy(update={name: value})]
            print(f"{name} {value:.2f}: {badly} outside, interval score {worth:.4f}")


def main() -> None:
    """Find, write, print."""
    corpus = Corpus(stack_runs(calibration_rows(training_measurements(), shipped=True), Catalogue()))
    names, counts = np.unique(corpus.sources, return_counts=True)
    several = np.isin(corpus.sources, names[counts > 1])
    _, between, within = two_levels(corpus.left_out[several], list(corpus.sources[several]), centre=0.0)
    figures = {"between": between, "within": within, "transfer": transfer(corpus)}
    of_products = {"products": products(narrow=False), "narrow_products": products(narrow=True)}
    share, scatter = chosen(corpus, figures, of_products)
    figures = {"share": share, **scatter.model_dump(), **figures}
    families = sorted({(run.family, run.element) for run in corpus.runs})
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("stack", "family", "element", "covariance"))
    for stack in stack_entries():
        keys = [*families, *((family, "") for family in sorted({family for family, _ in families})), ("", "")]
        for family, element in keys:
            spread = corpus.spread(stack, family or _NOWHERE, element or _NOWHERE, share=share)
            numbers = " ".join(f"{number:.5g}" for number in spread[np.triu_indices(len(spread))])
            table.writerow((stack, family, element, numbers))
    families_alone = np.array([run.family for run in corpus.runs])
    for family in ("", *np.unique(families_alone)):
        slopes = corpus.slopes[families_alone == family] if family else corpus.slopes
        mean = slopes.T @ slopes / len(slopes)
        numbers = " ".join(f"{number:.5g}" for number in mean[np.triu_indices(len(mean))])
        table.writerow((SLOPES, family, "", numbers))
    (DATA / "stack_spread.csv").write_text(out.getvalue(), "utf-8")
    said = "".join(f"{name}: {value:.4g}\n" for name, value in figures.items())
    source = f"source: {len(names)} sources of calibration runs, each left out of the fit (scripts/fit_own_runs.py)\n"
    for name, found in of_products.items():
        said += f"{name}:\n" + "".join(f"  {key}: {value}\n" for key, value in found.items())
    (DATA / "own_runs.yaml").write_text(said + source, "utf-8")
    print(said, end="")
    write_ranges(corpus, share)


if __name__ == "__main__":
    main()
