"""``volvelle plan hpcg --on SYSTEM …``."""

import json
from pathlib import Path

import click

__all__ = ["plan_hpcg"]


@click.command("hpcg", short_help="The local grid for HPCG, and what to expect.")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and devices, like frontier/37632.")
@click.option("--memory", "share", default="50 %", show_default=True, help="Share of a device's memory to fill.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan_hpcg(*, system: str, share: str, folder: Path | None, as_json: bool) -> None:
    """Size an HPCG run on SYSTEM and say what rate to expect, with an 80 % range and what it rests on."""
    from volvelle.applications.hpcg import plan as search  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpcg.constants import hpcg_factors  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.quantities import FRACTION, parse  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.hpcg_text import hpcg_document, print_hpcg  # noqa: PLC0415 - short start-up

    catalogue = Catalogue(*([folder] if folder else []))
    cluster = catalogue.cluster(system)
    family = catalogue.chip_file(cluster.chip.name).family
    found = search.plan_hpcg(cluster, hpcg_factors(family, catalogue=catalogue), share=parse(share, FRACTION))
    if as_json:
        click.echo(json.dumps(hpcg_document(found), indent=2))
    else:
        print_hpcg(found)
