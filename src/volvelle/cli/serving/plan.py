"""``volvelle plan MODEL --serve --on SYSTEM --load … --slo …``."""

from pathlib import Path

import click

from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import FIGURE, Brief, Html, Json, write_page
from volvelle.cli.question_command import command
from volvelle.cli.waiting import counting
from volvelle.questions.serving import PlanServingQuestion


class _Output(Brief, Html, Json):
    figure: Path | None = option(FIGURE, default=None, help="Draw tokens/s per GPU against tokens/s per user.")


def _run(question: PlanServingQuestion, output: _Output) -> int:
    from volvelle.verbs.plan_serving.plan import plan_serving as answered  # noqa: PLC0415 - keeps completion short

    with counting("{:,} of {:,} {}", quiet=output.as_json, before="listing candidates") as progress:
        plan = ask(answered, question.changed(progress=progress))
    if output.figure is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - only where it is drawn
        from volvelle.report.plan_serving.picture import tradeoff_picture  # noqa: PLC0415
        from volvelle.verbs.plan_serving.tradeoff import tradeoff  # noqa: PLC0415

        points = tradeoff(plan)
        if points:
            save(tradeoff_picture(plan, points), output.figure)
            click.echo(f"written: {output.figure}", err=True)
    if output.html is not None:
        from volvelle.report.plan_serving.page import serving_plan_page  # noqa: PLC0415 - only where it is written

        write_page(output.html, serving_plan_page(plan, command=question.command))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.plan_serving import ServingPlanDocument  # noqa: PLC0415

        click.echo(json_text("plan", ServingPlanDocument.model_validate(plan)))
    else:
        from volvelle.report.plan_serving.text import print_serving_plan  # noqa: PLC0415 - not needed for JSON

        print_serving_plan(plan, brief=output.brief)
    return 0 if plan.feasible else 1


plan_serving = command(PlanServingQuestion, _Output, _run)
