"""``volvelle compare A B …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.html_page import html_option, write_page
from volvelle.cli.options.layout import layout_values, values_given
from volvelle.cli.options.shared import batch_options, expert_load_option, machine_options, margin_option, run_options
from volvelle.cli.options.tuning import tuning_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import Within
from volvelle.domains import SEED
from volvelle.report.documents.document import json_text


@click.command(short_help="Systems, models, layouts, software or kept answers side by side.")
@click.argument("alternatives", metavar="A B…", nargs=-1, required=True)
@click.option("--model", default=None, help="Model, where A and B are not models.")
@click.option("--on", default=None, metavar="SYSTEM", help="Cluster and accelerators, where A and B are not systems.")
@batch_options
@layout_values
@tuning_options
@expert_load_option
@click.option("--element", default="bf16", show_default=True, help="Element type of weights and products.")
@run_options
@margin_option
@machine_options
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the uncertainty samples.")
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema compare).")
@click.pass_context
def compare(
    ctx: click.Context, /, *, alternatives: tuple[str, ...], html: Path | None, as_json: bool, **question: Any
) -> None:
    """Hold B and others against A: how much faster, in which parts, and whether that is real.

    Each is a system (dgx-h100/64), a model, a layout ("tp8 pp4 zero1"), software (fsdp), a change of the machine
    (scale_up.rate=2x), or an answer kept as JSON. Without a layout, each has its fastest.
    """
    from volvelle.verbs.compare import compare as verb  # noqa: PLC0415 - keeps start-up short

    with waiting(f"comparing {len(alternatives)} alternatives"):
        found = verb(*alternatives, **values_given(question))
    if html is not None:
        from volvelle.report.page.compare import compare_page  # noqa: PLC0415 - keeps start-up short

        write_page(html, lambda command: compare_page(found, command=command))
    if as_json:
        click.echo(json_text("compare", found))
    else:
        from volvelle.report.compare_text import print_comparison  # noqa: PLC0415 - not needed for JSON

        print_comparison(found)
    if not found.feasible:
        ctx.exit(1)
