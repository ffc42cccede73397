"""``volvelle plan APPLICATION --on SYSTEM …``."""

from functools import partial

import click

from volvelle.applications.contract import AnyApplication
from volvelle.cli.application_commands import ApplicationGroup
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.questions.applications import PlanApplicationQuestion
from volvelle.report.documents.document import json_text
from volvelle.verbs.remedies.applications import planned


class _Output(Json):
    pass


def _run(application: AnyApplication, question: PlanApplicationQuestion, output: _Output) -> int:
    from volvelle.report.applications.documents import plan_document  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.plan_text import print_plan  # noqa: PLC0415 - short start-up

    plan = planned(application, question)
    emit, figure = (getattr(question, name, None) for name in ("emit", "figure"))
    if emit is not None:
        emit.write_text(application.emitted(plan), "utf-8")
    if figure is not None:
        from volvelle.report.applications.plan_picture import plan_picture  # noqa: PLC0415 - only where it is drawn
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - only where it is drawn

        save(plan_picture(application.plan_picture(plan)), figure)
        click.echo(f"written: {figure}", err=True)
    if output.as_json:
        click.echo(json_text("plan", plan_document(application, plan)))
    else:
        print_plan(application, plan)
    return 0 if plan.ranking.best else 1


def plan_command(application: AnyApplication) -> click.Command | None:
    """Return the command that plans an application; None where nothing is planned."""
    if not application.plans:
        return None
    return command(application.plan_question, _Output, partial(_run, application))


plan_applications = ApplicationGroup("plan", make=plan_command, help="The best run of a benchmark on a machine.")
"""The commands of all applications that are planned."""
