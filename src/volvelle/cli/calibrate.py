"""``volvelle calibrate collectives``."""

import json
import sys

import click

__all__ = ["calibrate"]

_WIDTH = 100


@click.group(short_help="Fit constants again from the measurements that ship with the package.")
def calibrate() -> None:
    """Fit constants again, and show them beside the catalogue's. Nothing is written."""


@calibrate.command(short_help="Set-up, latency, filling and efficiency of links.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def collectives(*, as_json: bool) -> None:
    """Fit the constants of links to the calibration rows of the measured collectives; held-out rows are not read."""
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.study.collective_fit import fit_collectives, yaml_line  # noqa: PLC0415 - short start-up

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
