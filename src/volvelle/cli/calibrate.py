"""``volvelle calibrate collectives`` and ``volvelle calibrate training``."""

import json
import sys

import click

from volvelle.cli.benchmark_words import VerbOnBenchmarks

__all__ = ["calibrate"]

_WIDTH = 100


@click.group(cls=VerbOnBenchmarks, short_help="Fit constants again from the measurements that ship with the package.")
def calibrate() -> None:
    """Fit constants again, and show them beside the catalogue's. Nothing is written."""


@calibrate.command(short_help="Set-up, latency, filling and efficiency of links.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def collectives(*, as_json: bool) -> None:
    """Fit the constants of links to the calibration rows of the measured collectives; held-out rows are not read."""
    from volvelle.applications.collectives.fit import fit_collectives, yaml_line  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up

    catalogue = Catalogue()
    fitted = fit_collectives(catalogue=catalogue)
    links = {constant.link: catalogue.link(constant.link) for constant in fitted}
    held = {(constant.link, constant.name): float(getattr(links[constant.link], constant.name)) for constant in fitted}
    if as_json:
        document = [
            {
                "link": constant.link,
                "constant": constant.name,
                "fitted": constant.value,
                "low": constant.low,
                "high": constant.high,
                "catalogue": held[constant.link, constant.name],
                "telling_rows": constant.rows,
                "median_abs_error": constant.median_abs_error,
                "yaml": yaml_line(constant),
            }
            for constant in fitted
        ]
        click.echo(json.dumps({"constants": document}, indent=2))
        return

    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - short start-up
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.table import Table  # noqa: PLC0415 - short start-up

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    console.width = min(console.width, _WIDTH)
    table = Table(title="constants of links, fitted again", title_justify="left", box=SIMPLE_HEAD)
    for name in ("link", "constant"):
        table.add_column(name, no_wrap=True)
    for name in ("fitted", "range", "catalogue", "rows"):
        table.add_column(name, justify="right", no_wrap=True)
    for constant in fitted:
        share = constant.name.endswith("efficiency")
        value, low, high, catalogued = (
            f"{number:.1%}" if share else f"{number * 1e6:.3g} µs"
            for number in (constant.value, constant.low, constant.high, held[constant.link, constant.name])
        )
        table.add_row(
            constant.link, constant.name.replace("_", " "), value, f"{low}–{high}", catalogued, str(constant.rows)
        )
    console.print(table)
    console.print("rows: those whose time depends on the constant most")


_FAMILIES = {"ampere": "a100-sxm4-80gb", "hopper": "h100-sxm"}
"""Families with calibration runs, each with the chip that stands for it."""


@calibrate.command(short_help="How near to its peaks a family of chips gets in whole steps.")
@click.option("--family", type=click.Choice(sorted(_FAMILIES)), default="ampere", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def training(*, family: str, as_json: bool) -> None:
    """Fit the constants of a family of chips to calibration runs; held-out rows are not read. Takes a minute."""
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.progress import Progress  # noqa: PLC0415 - short start-up
    from rich.table import Table  # noqa: PLC0415 - short start-up

    from volvelle.applications.training.fit import fit_family  # noqa: PLC0415 - short start-up
    from volvelle.applications.training.measurements import training_measurements  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up

    catalogue = Catalogue()
    runs = [run for run in training_measurements().rows if run.split == "calibration"]
    with Progress(transient=True, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"fitting {family}", total=None)
        fit = fit_family(
            family, runs, catalogue, progress=lambda done, total: progress.update(task, completed=done, total=total)
        )
    chip = catalogue.chip(_FAMILIES[family])
    network = {"ampere": "infiniband-hdr200", "hopper": "infiniband-ndr400"}[family]
    held = {name: float(getattr(chip, name, 0.0)) for name in fit.constants}
    held["contention"] = float(catalogue.link(network).contention)
    if as_json:
        document = {
            "family": family,
            "runs": fit.runs,
            "mean_abs_error": fit.mean_abs_error,
            "median_abs_error": fit.median_abs_error,
            "bias": fit.bias,
            "constants": {
                name: {"fitted": value, "range": fit.ranges[name], "catalogue": held[name]}
                for name, value in fit.constants.items()
            },
        }
        click.echo(json.dumps(document, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("constant")
    for head in ("fitted", "does nearly as well", "catalogue"):
        table.add_column(head, justify="right")
    for name, value in fit.constants.items():
        low, high = fit.ranges[name]
        shown = [_shown(name, x) for x in (value, low, high, held[name])]
        table.add_row(name.replace("_", " "), shown[0], f"{shown[1]} … {shown[2]}", shown[3])
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"{fit.runs} calibration runs: mean error {fit.mean_abs_error:.1%}, median {fit.median_abs_error:.1%}, "
        f"bias {fit.bias:+.1%}"
    )


def _shown(name: str, value: float) -> str:
    """A constant in its unit: microseconds, keys, or a share."""
    if name in ("kernel_launch_time", "host_dispatch_time"):
        return f"{value * 1e6:.3g} us"
    return f"{value:.0f} keys" if name == "attention_kv_half" else f"{value:.1%}"
