"""``volvelle calibrate hpl``."""

import json

import click

__all__ = ["calibrate_hpl"]


@click.command("hpl", short_help="How near to its peak a family of accelerators gets in High-Performance Linpack.")
@click.option(
    "--family", type=click.Choice(["ampere", "pascal", "volta"]), default="ampere", show_default=True, help="Family."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def calibrate_hpl(*, family: str, as_json: bool) -> None:
    """Fit a family's constants to its calibration runs; held-out rows are not read. Takes half a minute."""
    from volvelle.applications.hpl.constants import hpl_data  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.fit import fit_hpl  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.measurements import hpl_measurements  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.scores_text import show_table, wide_console  # noqa: PLC0415 - short start-up

    rows = [row for row in hpl_measurements().rows if row.head.split == "calibration"]
    fit = fit_hpl(family, rows, Catalogue())
    data = hpl_data()
    held = {name: data.get(f"{family}.{name}") or data[f"shared.{name}"] for name in fit.constants}
    if as_json:
        document = {
            "family": family,
            "runs": fit.runs,
            "mean_abs_error": fit.mean_abs_error,
            "median_abs_error": fit.median_abs_error,
            "bias": fit.bias,
            "error": fit.error,
            "constants": {
                name: {"fitted": value, "range": fit.ranges[name], "catalogue": held[name].value}
                for name, value in fit.constants.items()
            },
        }
        click.echo(json.dumps(document, indent=2))
        return
    show_table(
        f"constants of {family}, fitted again",
        ("constant",),
        ("fitted", "does nearly as well", "catalogue"),
        (
            (
                name.replace("_", " "),
                _shown(name, value),
                " … ".join(_shown(name, end) for end in fit.ranges[name]),
                str(held[name].value),
            )
            for name, value in fit.constants.items()
        ),
    )
    wide_console().print(
        f"{fit.runs} calibration runs: mean error {fit.mean_abs_error:.1%}, median {fit.median_abs_error:.1%}, "
        f"bias {fit.bias:+.1%}; four fifths within a factor of {fit.error:.2f} a standard deviation"
    )


def _shown(name: str, value: float) -> str:
    """A constant in its unit."""
    if name == "column":
        return f"{value * 1e6:.3g} us"
    if name == "work_per_joule":
        return f"{value * 1e-9:.3g}e9"
    return f"{value:.3g}" if name == "panel_intensity" else f"{value:.1%}"
