"""``volvelle explore STUDY.yaml``."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from volvelle.base.option_kinds import Switch, Text
from volvelle.base.python_function import ask
from volvelle.base.question import Option, option
from volvelle.cli.exits import Interrupted
from volvelle.cli.output import Html, Json, write_page
from volvelle.cli.question_command import command
from volvelle.cli.waiting import counting, waiting, watched
from volvelle.questions.explore import ExploreQuestion

if TYPE_CHECKING:
    from volvelle.verbs.explore import Sweep


class _Output(Html, Json):
    dry_run: bool = option(
        Option("--dry-run", "Show the size and the expected time, and stop.", kind=Switch(), group="Output"),
        default=False,
    )
    invert: str | None = option(
        Option(
            "--invert",
            'Find the best design that meets a requirement: "days<=30 and usd minimal".',
            kind=Text(),
            group="Search",
        ),
        default=None,
    )


def _run(question: ExploreQuestion, output: _Output) -> int:
    from volvelle.report.explore.text import print_study  # noqa: PLC0415 - keeps start-up short
    from volvelle.studies.answers.invert import requirement_of  # noqa: PLC0415 - keeps start-up short
    from volvelle.studies.sweep.query import check_engines  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.explore import outlook, sweep  # noqa: PLC0415

    invert, as_json = output.invert, output.as_json
    if invert is not None:
        if output.html is not None:
            raise click.UsageError("--html writes the report of a whole study; leave --invert out")
        requirement_of(invert)
    if not output.dry_run:
        check_engines()
    results = Path(question.out or f"{Path(str(question.study)).stem}.results")
    ahead = ask(outlook, question.changed(out=results))
    if not as_json:
        print_study(ahead)
    if output.dry_run:
        if as_json:
            from volvelle.report.documents.document import json_text  # noqa: PLC0415
            from volvelle.report.documents.explore import OutlookDocument  # noqa: PLC0415

            click.echo(json_text("explore", OutlookDocument.model_validate(ahead)))
        return 0

    def tell(text: str) -> None:
        click.echo(click.style("note: ", fg="yellow") + text, err=True)

    kept = 0

    def count(rows: int) -> None:
        nonlocal kept
        kept += rows
        advance(rows)

    try:
        with _bar(ahead.forecast.rows, quiet=as_json) as advance:
            done = sweep(ahead, advance=count, told=tell)
    except KeyboardInterrupt:
        if not kept:
            raise
        of = f"{kept:,} of {ahead.forecast.rows:,} points are done and kept in {str(results)!r}"
        raise Interrupted(f"{of}; the same command goes on from there") from None
    if done.rows and not as_json:
        rate = f"{done.rows / done.seconds:,.0f} a second"
        click.echo(f"{done.rows:,} points in {done.seconds:.1f} s, {rate}", err=True)
    with waiting("finding the best points and what limits them"):
        if invert is not None:
            met = _inverted(done, invert, as_json=as_json)
        else:
            met = _answered(done, question.command, output)
    return 0 if met else 1


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


def _answered(done: "Sweep", command: str, output: _Output) -> bool:
    """Show the best and the front, and write the report with the command; whether any design meets the constraints."""
    from volvelle.report.explore.files import write_explore_files  # noqa: PLC0415 - keeps start-up short

    answers = done.answers()
    files = write_explore_files(answers, done.results.folder, command=command)
    written = tuple(map(str, files))
    if output.html is not None:
        write_page(output.html, files[0].read_text("utf-8"))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415
        from volvelle.report.documents.explore import ExploreDocument, RanEntry  # noqa: PLC0415

        more = {"ran": RanEntry.model_validate(done), "files": written}
        click.echo(json_text("explore", ExploreDocument.model_validate(answers).model_copy(update=more)))
    else:
        from volvelle.report.explore.text import print_answers  # noqa: PLC0415 - keeps start-up short

        print_answers(answers)
        click.echo(f"written: {', '.join(written)}")
    return answers.best.design is not None


explore = command(ExploreQuestion, _Output, _run)
