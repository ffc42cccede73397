"""``volvelle plan fft GRID --on SYSTEM …``."""

import json
from pathlib import Path

import click

__all__ = ["plan_fft"]


@click.command("fft", short_help="The best decomposition of a three-dimensional transform.")
@click.argument("grid")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/64.")
@click.option(
    "--element", type=click.Choice(["fp32", "fp64"]), default="fp64", show_default=True, help="Of real numbers."
)
@click.option("--real", is_flag=True, help="Real to complex instead of complex to complex.")
@click.option("--bricks", is_flag=True, help="Input and output are three-dimensional bricks.")
@click.option("--top", default=8, type=click.IntRange(1, 100), show_default=True, help="Layouts to show.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plan_fft(
    ctx: click.Context,
    *,
    grid: str,
    system: str,
    element: str,
    real: bool,
    bricks: bool,
    top: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rank slabs and every grid of pencils for a transform of GRID points on SYSTEM.

    GRID is a side, like 1024, or three of them, like 2048x2048x1024.
    """
    from volvelle.applications.fft.constants import fft_model_error  # noqa: PLC0415 - short start-up
    from volvelle.applications.fft.estimator import FftModel, FftProblem  # noqa: PLC0415 - short start-up
    from volvelle.applications.fft.plan import rank_fft  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.fft_text import fft_document, print_fft  # noqa: PLC0415 - short start-up

    sides = grid.lower().split("x")
    if len(sides) not in (1, 3) or not all(side.strip().isdecimal() for side in sides):
        raise click.BadParameter(f"{grid!r} is no grid; write one side like 1024, or three like 2048x2048x1024")
    x, y, z = (int(side) for side in (sides * 3 if len(sides) == 1 else sides))
    cluster = Catalogue(*([folder] if folder else [])).cluster(system)
    problem = FftProblem(shape=(x, y, z), element=element, real=real, bricks=bricks)
    model = FftModel(error=fft_model_error().on(cluster))
    found = rank_fft(problem, cluster, model=model, top=top)
    if as_json:
        click.echo(json.dumps(fft_document(found, cluster, outside=fft_model_error().outside(cluster)), indent=2))
    else:
        print_fft(found, cluster, outside=fft_model_error().outside(cluster))
    if not found.best:
        ctx.exit(1)
