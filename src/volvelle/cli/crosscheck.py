"""``volvelle crosscheck MODEL --on SYSTEM …``, and ``volvelle crosscheck --suite``."""

from typing import Any

import click

from volvelle.cli.options.layout import layout_options, unlisted
from volvelle.cli.options.shared import (
    batch_options,
    expert_load_option,
    machine_options,
    margin_option,
    stack_options,
)
from volvelle.cli.options.tuning import tuning_options
from volvelle.cli.waiting import counting, waiting
from volvelle.cli.words import BRIEF, Lower, Within
from volvelle.domains import SEED


@click.command(short_help="One step by several estimators: do they agree, and if not, why.")
@click.argument("model", required=False)
@click.option("--on", metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/1024.")
@click.option(
    "--with",
    "estimators",
    type=Lower(),
    default="closed,event",
    show_default=True,
    help="Two or more of closed (formulas), event (a replay), flows (exchanges on links of the machine) and simgrid "
    "(the same by SimGrid), with commas between.",
)
@click.option(
    "--routing", type=Lower(), help="As flows: d-mod-k, random or adaptive, in place of what the machine states."
)
@click.option("--suite", is_flag=True, help="Formulas against replays of 51 workloads, 8 to 65,536 chips, worst first.")
@batch_options
@layout_options
@tuning_options
@expert_load_option
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@stack_options()
@margin_option
@machine_options
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the uncertainty samples.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema crosscheck).")
@click.pass_context
def crosscheck(
    ctx: click.Context,
    /,
    *,
    model: str | None,
    suite: bool,
    brief: bool,
    as_json: bool,
    **question: Any,
) -> None:
    """One training step of MODEL by several estimators: answers side by side, and the cause of every difference.

    MODEL is a name from the catalogue (volvelle catalogue models), or a Hugging Face config.json. With --suite, a fixed
    set of workloads is checked instead.
    """
    if suite:
        if model is not None or question["on"] is not None:
            raise click.UsageError("--suite has its own models and machines; leave MODEL and --on away")
        _suite(question["catalogue"], brief=brief, as_json=as_json)
        return
    for name, given in (("MODEL", model), ("--on", question["on"]), ("--batch", question["batch"])):
        if given is None:
            raise click.UsageError(f"{name} is missing; name a step to check, or ask for --suite")
    from volvelle.verbs.crosscheck.crosscheck import crosscheck as verb  # noqa: PLC0415 - keeps start-up short

    with waiting("timing the step by several estimators"):
        answer = verb(model, **unlisted(question))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("crosscheck", answer))
    else:
        from volvelle.report.crosscheck.text import print_crosscheck  # noqa: PLC0415 - not needed for JSON

        print_crosscheck(answer, brief=brief)
    if not answer.differences:
        ctx.exit(1)


def _suite(catalogue: Any, *, brief: bool, as_json: bool) -> None:
    from volvelle.verbs.crosscheck.suite_check import crosscheck_suite  # noqa: PLC0415 - keeps start-up short

    with counting("{} of {} workloads", quiet=as_json) as progress:
        found = crosscheck_suite(catalogue=catalogue, progress=progress)
    if as_json:
        from volvelle.report.documents.crosscheck import SuiteDocument  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("crosscheck", SuiteDocument.model_validate(found)))
    else:
        from volvelle.report.crosscheck.text import print_suite  # noqa: PLC0415 - not needed for JSON

        print_suite(found, brief=brief)
