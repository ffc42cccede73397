"""``volvelle plan MODEL --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.html_page import asked_of_estimate, html_option, write_page
from volvelle.cli.options.layout import considered_options
from volvelle.cli.options.shared import (
    anyway_option,
    batch_options,
    expert_load_option,
    machine_options,
    margin_option,
    run_options,
)
from volvelle.cli.options.tuning import tuning_options
from volvelle.cli.plan_application import VerbOnModelOrApplication
from volvelle.cli.waiting import counting
from volvelle.cli.words import BRIEF, Lower, Within
from volvelle.domains import DAYS, PRICE, RESULTS
from volvelle.errors import MappingError
from volvelle.report.documents.document import json_text
from volvelle.verbs.layouts import FRAMEWORKS, Framework
from volvelle.verbs.likely_best import RANKS
from volvelle.verbs.plan import Plan, launch
from volvelle.verbs.plan import plan as verb


@click.command(
    cls=VerbOnModelOrApplication, short_help="The best layout for a model on a machine, or run of a benchmark."
)
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/2048.")
@batch_options
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@click.option(
    "--top", default=4, type=Within(RESULTS), show_default=True, help="Layouts to show beside the best of each kind."
)
@considered_options
@tuning_options
@expert_load_option
@click.option("--offload", is_flag=True, help="Consider host memory too.")
@click.option(
    "--emit",
    "framework",
    type=click.Choice(FRAMEWORKS),
    help="Print the best layout's launch flags instead.",
)
@run_options
@click.option(
    "--days",
    type=Within(DAYS),
    help="Find the fewest GPUs that finish within so many days, failures included. SYSTEM has no count.",
)
@click.option(
    "--usd",
    type=Within(PRICE),
    help="Find the fewest GPUs within a budget, like 5MUSD, without failures. SYSTEM has no count.",
)
@click.option(
    "--rank",
    type=click.Choice(RANKS),
    default="centre",
    show_default=True,
    help="Order layouts by central time, by the chance of being the fastest, or by mean time.",
)
@margin_option
@machine_options
@anyway_option
@BRIEF
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    *,
    model: str,
    framework: Framework | None,
    html: Path | None,
    as_json: bool,
    **question: Any,
) -> None:
    """Rank every layout of MODEL on SYSTEM, and say why the first is first.

    MODEL is a name from the catalogue, or a Hugging Face config.json (or the folder that holds one).
    """
    days, usd, brief = question.pop("days"), question.pop("usd"), question.pop("brief")
    if days is not None or usd is not None:
        _how_many(ctx, model, framework, html=html, as_json=as_json, brief=brief, days=days, usd=usd, **question)
        return
    with counting("{:,} layouts timed", quiet=as_json or framework is not None, before="searching layouts") as progress:
        ranked = verb(model, framework=framework, progress=progress, **question)
    if html is not None:
        _write(ctx, html, model, ranked)
    if framework is not None:
        written = launch(ranked, framework)
        if as_json:
            click.echo(json_text("plan", {"framework": framework, "flags": written.flags, "note": written.note}))
            return
        if written.note:
            click.echo(f"note: {written.note}", err=True)
        click.echo(written.flags)
    elif as_json:
        click.echo(json_text("plan", ranked))
    elif brief:
        from volvelle.report.brief_text import print_brief_plan  # noqa: PLC0415 - keeps start-up short

        print_brief_plan(ranked)
    else:
        from volvelle.report.plan_text import print_plan  # noqa: PLC0415 - keeps start-up short

        print_plan(ranked)
    if not ranked.layouts:
        ctx.exit(1)


def _write(ctx: click.Context, html: Path, model: str, ranked: Plan) -> None:
    """The page of a plan."""
    from volvelle.cli.estimate import estimate  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.page.plan import plan_page  # noqa: PLC0415
    from volvelle.verbs.named import catalogue_of  # noqa: PLC0415

    asked = asked_of_estimate(ctx, estimate, model, batch=ranked.step.batch)
    references = catalogue_of(ctx.params["catalogue"]).references
    write_page(html, lambda command: plan_page(ranked, references=references, asked=asked, command=command))


def _how_many(
    ctx: click.Context,
    model: str,
    framework: Framework | None,
    *,
    html: Path | None,
    as_json: bool,
    brief: bool,
    **question: Any,
) -> None:
    """The fewest and the cheapest, in place of a ranking."""
    from volvelle.report.documents.plan import SizingDocument  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.how_many_text import print_sizing  # noqa: PLC0415
    from volvelle.verbs.how_many import how_many  # noqa: PLC0415

    if framework is not None:
        raise MappingError("launch flags are of one machine: ask how many first, then for the flags with its count")
    if question["tokens"] is None:
        raise MappingError("days and money are of a whole run: give --tokens too, like --tokens 2T")
    del question["top"], question["rank"], question["anyway"]
    with counting("{:,} sizes timed, now {:,} GPUs", quiet=as_json, before="searching layouts") as progress:
        found = how_many(model, progress=progress, **question)
    if html is not None:
        from volvelle.report.page.sizing import sizing_page  # noqa: PLC0415

        write_page(html, lambda command: sizing_page(found, command=command))
    if as_json:
        click.echo(json_text("plan", SizingDocument.model_validate(found)))
    else:
        print_sizing(found, curve=not brief)
    if found.smallest is None:
        ctx.exit(1)
