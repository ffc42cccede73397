"""``volvelle explore STUDY.yaml``."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from volvelle.studies.design_space.design_study import DesignStudy
    from volvelle.studies.sweep.manifest import Results

__all__ = ["explore"]


class _Advance(Protocol):
    def __call__(self, rows: int, /) -> None: ...


@click.command(short_help="A design space from a file: every point, the best, the front, and why.")
@click.argument("study_file", metavar="STUDY", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results. [default: STUDY's name + .results]")
@click.option("--dry-run", is_flag=True, help="Show the size and the expected time, and stop.")
@click.option("--workers", type=click.IntRange(1), help="Processes on this machine. [default: all cores]")
@click.option(
    "--ray",
    "ray_address",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ADDRESS]",
    help="Run on a Ray cluster: the one at ADDRESS, or the one that runs on this machine.",
)
@click.option("--compiled", is_flag=True, help="Compile the laws first (numba): several times faster on many points.")
@click.option("--fresh", is_flag=True, help="Throw away what an earlier run left in the folder.")
@click.option("--chunk", type=click.IntRange(1), help="Rows a chunk. [default: about two seconds' worth]")
@click.option(
    "--invert", metavar="TEXT", help='Find the best design that meets a requirement: "days<=30 and usd minimal".'
)
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def explore(
    ctx: click.Context,
    *,
    study_file: Path,
    out: Path | None,
    dry_run: bool,
    workers: int | None,
    ray_address: str | None,
    compiled: bool,
    fresh: bool,
    chunk: int | None,
    invert: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Evaluate every point of the design space that STUDY describes, and answer.

    Results go to a folder as Parquet, with report.html and front.csv beside them. Run the same command again to go on
    after an interruption, or to ask again: finished points are not computed twice.
    """
    from volvelle.report.explore.dry_run import print_study, study_document  # noqa: PLC0415 - keeps start-up short
    from volvelle.studies.design_space.design_study import read_study  # noqa: PLC0415
    from volvelle.studies.sweep.chunk import forecast  # noqa: PLC0415
    from volvelle.studies.sweep.local import cores, run_local  # noqa: PLC0415
    from volvelle.studies.sweep.manifest import open_results  # noqa: PLC0415

    study = read_study(study_file, folders=(folder,) if folder else ())
    count = workers or cores()
    expected = forecast(study, compiled=compiled)
    if not as_json:
        print_study(study, expected, cores=count)
    if dry_run:
        if as_json:
            click.echo(json.dumps(study_document(study, expected, cores=count), indent=2))
        return
    results = open_results(
        out or Path(f"{study_file.stem}.results"), study, chunk=chunk or expected.chunk(count), fresh=fresh
    )

    def tell(text: str) -> None:
        click.echo(click.style("note: ", fg="yellow") + text, err=True)

    for text in results.told:
        tell(text)
    begun = time.perf_counter()
    with _bar(expected.rows, quiet=as_json) as advance:
        advance(sum(shard.rows for shard in results.finished().values()))
        if ray_address is None:
            rows = run_local(results, workers=count, compiled=compiled, advance=advance, told=tell)
        else:
            from volvelle.studies.sweep.on_ray import run_on_ray  # noqa: PLC0415 - an extra

            rows = run_on_ray(results, address=ray_address or None, compiled=compiled, advance=advance, told=tell)
    seconds = time.perf_counter() - begun
    if rows and not as_json:
        click.echo(f"{rows:,} points in {seconds:.1f} s, {rows / seconds:,.0f} a second", err=True)
    _answer(ctx, results, study, invert, as_json=as_json, ran={"rows": rows, "seconds": seconds})


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[_Advance]:
    """A progress bar with rate on standard error, for runs that take longer than a moment."""
    if quiet or not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console  # noqa: PLC0415 - keeps start-up short
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("exploring"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, rate="")
        begun = time.perf_counter()
        fresh = 0
        first = True

        def advance(rows: int) -> None:
            nonlocal fresh, first
            if first:  # what an earlier run had finished counts as done, not as speed
                first = False
            else:
                fresh += rows
            spent = time.perf_counter() - begun
            progress.update(task, advance=rows, rate=f"{fresh / spent:,.0f}/s" if fresh else "")

        yield advance


def _answer(
    ctx: click.Context,
    results: "Results",
    study: "DesignStudy",
    asked: str | None,
    *,
    as_json: bool,
    ran: dict[str, float],
) -> None:
    """Answer from the results: the best and the front, or what was asked by --invert."""
    from volvelle.report.explore import text as explore_text  # noqa: PLC0415 - keeps start-up short

    if asked is not None:
        from volvelle.studies.answers.invert import invert  # noqa: PLC0415

        found = invert(results, study, asked)
        if as_json:
            click.echo(json.dumps(explore_text.inversion_document(found) | {"ran": ran}, indent=2))
        else:
            explore_text.print_inversion(found)
        if found.design is None:
            ctx.exit(1)
        return
    from volvelle.report.explore.files import write_explore_files  # noqa: PLC0415
    from volvelle.studies.answers.answers import answer  # noqa: PLC0415

    answers = answer(results, study, seconds=ran["seconds"] if ran["rows"] else None)
    written = write_explore_files(answers, results.folder)
    if as_json:
        document = explore_text.answers_document(answers)
        click.echo(json.dumps(document | {"ran": ran, "files": [str(file) for file in written]}, indent=2))
    else:
        explore_text.print_answers(answers)
        click.echo(f"written: {', '.join(str(file) for file in written)}")
    if answers.best.design is None:
        ctx.exit(1)
