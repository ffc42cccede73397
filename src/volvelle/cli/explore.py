"""``volvelle explore STUDY.yaml``."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from volvelle.cli.exits import Interrupted
from volvelle.cli.html_page import command_line, html_option, write_page
from volvelle.cli.options.shared import machine_options, stack_options
from volvelle.cli.waiting import counting, waiting, watched
from volvelle.cli.words import Output, Within
from volvelle.domains import MARGIN, PROCESSES, SEQUENCES

if TYPE_CHECKING:
    from volvelle.verbs.explore import Sweep


@click.command(short_help="A design space from a file: every point, the best, the Pareto front, and why.")
@click.argument("study_file", metavar="STUDY", type=click.Path(path_type=Path))
@click.option("--out", type=Output(folder=True), help="Folder for results. [default: STUDY's name + .results]")
@click.option("--dry-run", is_flag=True, help="Show the size and the expected time, and stop.")
@click.option("--workers", type=Within(PROCESSES), help="Processes on this machine. [default: all cores]")
@click.option(
    "--ray",
    "ray_address",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ADDRESS]",
    help="Run on a Ray cluster: the one at ADDRESS, or the one that runs on this machine.",
)
@click.option("--compiled", is_flag=True, help="Compile the model first (numba): several times faster on many points.")
@click.option("--fresh", is_flag=True, help="Throw away what an earlier run left in the folder.")
@click.option("--chunk", type=Within(SEQUENCES), help="Rows a chunk. [default: about two seconds' worth]")
@click.option(
    "--invert", metavar="TEXT", help='Find the best design that meets a requirement: "days<=30 and usd minimal".'
)
@click.option("--on", default="", metavar="SYSTEM", help="Machine that axes start from. [default: what STUDY says]")
@stack_options("what STUDY says")
@click.option(
    "--margin", type=Within(MARGIN), help="Share of memory to leave free, like 10%. [default: what STUDY says]"
)
@machine_options
@html_option
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
    on: str,
    stack: str,
    margin: str | None,
    set: dict[str, str] | None,  # noqa: A002 - the option's name
    catalogue: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Evaluate every point of the design space that STUDY describes, and answer.

    Results go to a folder as Parquet, with report.html and front.csv beside them. Run the same command again to go on
    after an interruption, or to ask again: finished points are not computed twice.
    """
    from volvelle.report.explore.text import print_study  # noqa: PLC0415 - keeps start-up short
    from volvelle.studies.answers.invert import requirement_of  # noqa: PLC0415 - keeps start-up short
    from volvelle.studies.sweep.query import check_engines  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.explore import outlook, sweep  # noqa: PLC0415

    if invert is not None:
        if html is not None:
            raise click.UsageError("--html writes the report of a whole study; leave --invert away for it")
        requirement_of(invert)
    if not dry_run:
        check_engines()
    ahead = outlook(
        study_file, workers=workers, compiled=compiled, on=on, stack=stack, margin=margin, set=set, catalogue=catalogue
    )
    if not as_json:
        print_study(ahead)
    if dry_run:
        if as_json:
            from volvelle.report.documents.document import json_text  # noqa: PLC0415
            from volvelle.report.documents.explore import OutlookDocument  # noqa: PLC0415

            click.echo(json_text("explore", OutlookDocument.model_validate(ahead)))
        return

    def tell(text: str) -> None:
        click.echo(click.style("note: ", fg="yellow") + text, err=True)

    results = out or Path(f"{study_file.stem}.results")
    kept = 0

    def count(rows: int) -> None:
        nonlocal kept
        kept += rows
        advance(rows)

    try:
        with _bar(ahead.forecast.rows, quiet=as_json) as advance:
            done = sweep(ahead, out=results, ray=ray_address, fresh=fresh, chunk=chunk, advance=count, told=tell)
    except KeyboardInterrupt:
        if not kept:
            raise
        of = f"{kept:,} of {ahead.forecast.rows:,} points are done and kept in {str(results)!r}"
        raise Interrupted(f"{of}; the same command goes on from there") from None
    if done.rows and not as_json:
        rate = f"{done.rows / done.seconds:,.0f} a second"
        click.echo(f"{done.rows:,} points in {done.seconds:.1f} s, {rate}", err=True)
    with waiting("finding the best points and what limits them"):
        met = _inverted(done, invert, as_json=as_json) if invert is not None else _answered(done, html, as_json=as_json)
    if not met:
        ctx.exit(1)


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar with rate on standard error, for runs that take longer than a moment."""
    if quiet or not watched():
        done = 0

        def noted(rows: int) -> None:
            nonlocal done
            done += rows
            counted(done, total)

        with counting("{:,} of {:,} points", quiet=True, before="exploring") as counted:
            yield noted
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


def _inverted(done: "Sweep", requirement: str, *, as_json: bool) -> bool:
    """Show what meets a requirement best; whether anything does."""
    inversion = done.invert(requirement)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - keeps start-up short
        from volvelle.report.documents.explore import InversionDocument, RanEntry  # noqa: PLC0415

        ran = {"ran": RanEntry.model_validate(done)}
        click.echo(json_text("explore", InversionDocument.model_validate(inversion).model_copy(update=ran)))
    else:
        from volvelle.report.explore.text import print_inversion  # noqa: PLC0415 - keeps start-up short

        print_inversion(inversion)
    return inversion.design is not None


def _answered(done: "Sweep", html: Path | None, *, as_json: bool) -> bool:
    """Show the best and the front, and write the report; whether any design meets the constraints."""
    from volvelle.report.explore.files import write_explore_files  # noqa: PLC0415 - keeps start-up short

    answers = done.answers()
    files = write_explore_files(answers, done.results.folder, command=command_line())
    written = tuple(map(str, files))
    write_page(html, lambda command: files[0].read_text("utf-8"))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415
        from volvelle.report.documents.explore import ExploreDocument, RanEntry  # noqa: PLC0415

        more = {"ran": RanEntry.model_validate(done), "files": written}
        click.echo(json_text("explore", ExploreDocument.model_validate(answers).model_copy(update=more)))
    else:
        from volvelle.report.explore.text import print_answers  # noqa: PLC0415 - keeps start-up short

        print_answers(answers)
        click.echo(f"written: {', '.join(written)}")
    return answers.best.design is not None
