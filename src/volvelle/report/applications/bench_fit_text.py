"""An engine fitted to runs of somebody's own: constants, residuals before and after, what they do not cover."""

from dataclasses import asdict

from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.quantities import SECONDS, percent, show
from volvelle.report.applications.fitted_text import print_fit
from volvelle.report.terminal import show_table, wide_console
from volvelle.verbs.serving.calibrate import ServingCalibration

_TIMES = ("first_token", "per_sequence", "host", "per_admission")


def as_fit(found: ServingCalibration) -> Fit:
    """As fits of applications are told."""
    fit = found.fit
    before, after = fit.mean_error(after=False), fit.mean_error(after=True)
    scores = {"runs": float(len(found.results)), "figures": float(len(fit.residuals))}
    scores |= {} if before is None else {"mean_abs_error_before": before}
    scores |= {} if after is None else {"mean_abs_error": after}
    return Fit(
        constants=tuple(
            FittedConstant(
                of=found.instance.engine.name,
                name=name,
                fitted=getattr(fit.constants, name),
                catalogue=getattr(fit.start, name),
                kind=SECONDS if name in _TIMES else None,
            )
            for name in fit.told
        ),
        notes=found.notes,
        scores=scores,
    )


def print_bench_fit(found: ServingCalibration) -> None:
    """Print it."""
    fit = as_fit(found)
    rows = (
        (
            one.place,
            one.measure.upper(),
            show(one.measured, SECONDS),
            *(_off(value, one.measured) for value in (one.before, one.after)),
        )
        for one in found.fit.residuals
    )
    show_table("residuals", ("run", "figure"), ("measured", "before", "after"), rows)
    console = wide_console()
    if "mean_abs_error" in fit.scores and "mean_abs_error_before" in fit.scores:
        console.print(
            f"mean error {percent(fit.scores['mean_abs_error_before'])} before, "
            f"{percent(fit.scores['mean_abs_error'])} after; to these runs it was fitted"
        )
    print_fit(f"constants of {found.instance.engine.title}, fitted to {len(found.results)} runs", fit)
    if found.saved is not None:
        console.print(f"saved: {found.saved}; volvelle serve … --engine {found.saved}")


def _off(value: float | None, measured: float) -> str:
    return "–" if value is None else percent(value / measured - 1.0, 1, signed=True)


def bench_fit_document(found: ServingCalibration) -> dict[str, object]:
    """The same for machines, in SI units."""
    fit = as_fit(found)
    return {
        "application": "serving",
        "constants": [
            {
                "constant": one.name,
                "median_abs_error": None,
                "yaml": None,
                "of": one.of,
                "fitted": one.fitted,
                "low": None,
                "high": None,
                "catalogue": one.catalogue,
                "rows": None,
            }
            for one in fit.constants
        ],
        "scores": dict(fit.scores),
        "notes": list(fit.notes),
        "residuals": [asdict(one) for one in found.fit.residuals],
    }
