"""``volvelle plan APPLICATION --on SYSTEM …``."""

from functools import partial
from typing import Any

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.cli.application_commands import ApplicationGroup
from volvelle.cli.output import Json
from volvelle.cli.question_command import QuestionCommand, command
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


class PlanCommand(QuestionCommand):
    """A command that hands over to another where its first argument names an application that is planned."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the first word, or ``--serve``, asks for."""
        if "--serve" in args:
            from volvelle.cli.serving.plan import plan_serving  # noqa: PLC0415 - keeps completion of options short

            return plan_serving.make_context(f"{info_name}", args, parent, **extra)
        other = plan_command(application(args[0])) if args and args[0] in APPLICATIONS else None
        if other is not None:
            return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and the applications that may stand in place of a model."""
        super().format_epilog(ctx, formatter)
        known = plan_applications.list_commands(ctx)
        with formatter.section("Benchmarks"):
            formatter.write_text(f"In place of a model: {', '.join(known)} (volvelle {self.name} {known[0]} --help).")
        with formatter.section("Serving"):
            formatter.write_text("The cheapest way to serve a load within limits: volvelle plan --serve --help.")
