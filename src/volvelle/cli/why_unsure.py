"""``volvelle why-unsure MODEL --on SYSTEM …``."""

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
from volvelle.cli.waiting import waiting
from volvelle.cli.words import Lower, Within
from volvelle.domains import SAMPLES, SEED


@click.command("why-unsure", short_help="Which numbers make an answer uncertain, and what to measure first.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/2048.")
@batch_options
@layout_options
@tuning_options
@expert_load_option
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@stack_options()
@margin_option
@machine_options
@click.option(
    "--against", default="", metavar="LAYOUT", help="Another layout, like 'tp8 pp4 zero1': why is the order unsure?"
)
@click.option("--samples", default=4096, type=Within(SAMPLES), show_default=True, help="Samples of each set.")
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the samples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why_unsure(*, model: str, as_json: bool, **question: Any) -> None:
    """Which numbers bring how much of the uncertainty of a step, and what to run to be surer.

    The model's own error is one of them. With --against, it is that of the difference of two layouts.
    """
    from volvelle.verbs.why_unsure import why_unsure as verb  # noqa: PLC0415 - keeps start-up short

    with waiting("sampling every uncertain number"):
        found = verb(model, **unlisted(question))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415

        click.echo(json_text("why-unsure", found))
    else:
        from volvelle.report.why_unsure_text import print_why_unsure  # noqa: PLC0415

        print_why_unsure(found)
