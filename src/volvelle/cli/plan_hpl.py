"""``volvelle plan hpl --on SYSTEM …``."""

import json
import time
from pathlib import Path

import click

__all__ = ["plan_hpl"]


@click.command("hpl", short_help="N, NB, P and Q for High-Performance Linpack, and what to expect.")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like frontier/75264.")
@click.option("--nb", multiple=True, type=click.IntRange(8), help="Blocks to consider. [default: 128 to 1024]")
@click.option("--memory", "share", default=0.85, show_default=True, help="Share of the accelerators' memory to fill.")
@click.option(
    "--host-memory",
    "host",
    metavar="SIZE",
    help="Host memory of each accelerator that the matrix may take too, like '80 GB'. [default: none]",
)
@click.option("--top", default=8, show_default=True, type=click.IntRange(1, 100), help="Runs to show.")
@click.option(
    "--emit",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write the first choice as HPL.dat.",
)
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan_hpl(
    *,
    system: str,
    nb: tuple[int, ...],
    share: float,
    host: str | None,
    top: int,
    emit: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rank runs of High-Performance Linpack on SYSTEM, with an 80 % range, panel by panel."""
    from volvelle.applications.hpl import plan as search  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.constants import hpl_constants  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.panels import PanelByPanel  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.interchange.hpl_dat import hpl_dat  # noqa: PLC0415 - short start-up
    from volvelle.quantities import BYTES, parse  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.hpl_text import hpl_plan_document, print_hpl_plan  # noqa: PLC0415 - short start-up

    catalogue = Catalogue(*([folder] if folder else []))
    cluster = catalogue.cluster(system)
    constants = hpl_constants(catalogue.chip_file(cluster.chip.name).family)
    start = time.perf_counter()
    found = search.plan_hpl(
        cluster,
        PanelByPanel(constants=constants),
        memory=share,
        host=0.0 if host is None else parse(host, BYTES),
        blocks=nb or search.BLOCKS,
        top=top,
    )
    seconds = time.perf_counter() - start
    if emit is not None:
        emit.write_text(hpl_dat(found.best[0].problem, found.best[0].grid), "utf-8")
    if as_json:
        click.echo(json.dumps(hpl_plan_document(found, constants, seconds), indent=2))
    else:
        print_hpl_plan(found, constants, seconds)
