"""``volvelle plan APPLICATION --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.catalogue import Catalogue
from volvelle.cli.application_commands import JSON, ApplicationGroup, chosen, own_options
from volvelle.cli.question_command import QuestionCommand
from volvelle.cli.words import Within
from volvelle.domains import RESULTS
from volvelle.report.documents.document import json_text
from volvelle.verbs.remedies.applications import planned


def plan_command(application: AnyApplication) -> click.Command | None:
    """The command that plans an application; None where nothing is planned."""
    if not application.plans:
        return None
    arguments = " ".join(option.help for option in application.plan_options if not option.flag.startswith("-"))
    says = f"{application.plans} With an 80 % range.\n\n{arguments}"

    @click.command(application.word, short_help=application.plans, help=says)
    @click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/64.")
    @click.option("--top", default=8, type=Within(RESULTS), show_default=True, help="Plans to show.")
    @click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of yours.")
    @JSON
    @own_options(application.plan_options)
    @click.pass_context
    def run(ctx: click.Context, /, *, system: str, top: int, folder: Path | None, as_json: bool, **given: Any) -> None:
        from volvelle.report.applications.documents import plan_document  # noqa: PLC0415 - short start-up
        from volvelle.report.applications.plan_text import print_plan  # noqa: PLC0415 - short start-up

        figure = given.get("figure")
        if figure is not None:
            from volvelle.report.figures.engine import check_engines  # noqa: PLC0415 - before anything is computed

            check_engines()
        if figure is not None and figure.suffix not in (".svg", ".png"):
            raise click.UsageError(f"--figure is {str(figure)!r}; its name must end in .svg or .png")
        catalogue = Catalogue(*([folder] if folder else []))
        options = chosen(application.plan_options, given)
        plan = planned(application, system, catalogue, options, top=top, folder=folder)
        if options.get("emit") is not None:
            options["emit"].write_text(application.emitted(plan), "utf-8")
        if options.get("figure") is not None:
            from volvelle.report.applications.plan_picture import plan_picture  # noqa: PLC0415 - only where it is drawn
            from volvelle.report.figures.rendering import save  # noqa: PLC0415 - only where it is drawn

            save(plan_picture(application.plan_picture(plan)), options["figure"])
            click.echo(f"written: {options['figure']}", err=True)
        if as_json:
            click.echo(json_text("plan", plan_document(application, plan)))
        else:
            print_plan(application, plan)
        if not plan.ranking.best:
            ctx.exit(1)

    return run


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
