"""``volvelle plan MODEL --on SYSTEM …``."""

from typing import Any

import click

from volvelle.applications.registry import APPLICATIONS, SHIPPED, application
from volvelle.base.python_function import ask
from volvelle.cli.output import Brief, Html, Json, write_page
from volvelle.cli.question_command import QuestionCommand, command
from volvelle.cli.shells import BENCHMARKS
from volvelle.cli.waiting import counting
from volvelle.errors import MappingError
from volvelle.questions.plan import HowManyQuestion, PlanOrCountQuestion, PlanQuestion


class PlanCommand(QuestionCommand):
    """A command that hands over to another where its first argument names an application that is planned."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the first word, or ``--serve``, asks for."""
        if "--serve" in args:
            from volvelle.cli.serving.plan import plan_serving  # noqa: PLC0415 - keeps completion of options short

            return plan_serving.make_context(f"{info_name}", args, parent, **extra)
        if args and args[0] in APPLICATIONS:
            from volvelle.cli.plan_application import plan_command  # noqa: PLC0415 - applications are slow to load

            other = plan_command(application(args[0]))
            if other is not None:
                return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and the applications that may stand in place of a model."""
        super().format_epilog(ctx, formatter)
        others = (word for word in APPLICATIONS if word not in SHIPPED and application(word).plans)
        with formatter.section("Benchmarks"):
            formatter.write_text(
                f"In place of a model: {', '.join([*BENCHMARKS, *others])} (volvelle {self.name} hpl --help)."
            )
        with formatter.section("Serving"):
            formatter.write_text("The cheapest way to serve a load within limits: volvelle plan --serve --help.")


class _Output(Brief, Html, Json):
    pass


def _run(question: PlanOrCountQuestion, output: _Output) -> int:
    if question.days is not None or question.usd is not None:
        return _how_many(question, output)
    from volvelle.report.documents.document import json_text  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.plan import launch  # noqa: PLC0415
    from volvelle.verbs.plan import plan as answered  # noqa: PLC0415

    asked = question.as_question(PlanQuestion)
    quiet = output.as_json or question.framework is not None
    with counting("{:,} layouts timed", quiet=quiet, before="searching layouts") as progress:
        ranked = ask(answered, asked.changed(progress=progress))
    if output.html is not None:
        from volvelle.report.page.plan import plan_page  # noqa: PLC0415
        from volvelle.verbs.named import catalogue_of  # noqa: PLC0415

        references = catalogue_of(question.catalogue).references
        write_page(
            output.html,
            plan_page(
                ranked,
                references=references,
                asked=_asked_of_estimate(asked, ranked.step.batch),
                command=asked.command,
            ),
        )
    if question.framework is not None:
        written = launch(ranked, question.framework)
        if output.as_json:
            flags = {"framework": question.framework, "flags": written.flags, "note": written.note}
            click.echo(json_text("plan", flags))
            return 0
        if written.note:
            click.echo(f"note: {written.note}", err=True)
        click.echo(written.flags)
    elif output.as_json:
        click.echo(json_text("plan", ranked))
    elif output.brief:
        from volvelle.report.brief_text import print_brief_plan  # noqa: PLC0415 - keeps start-up short

        print_brief_plan(ranked)
    else:
        from volvelle.report.plan_text import print_plan  # noqa: PLC0415 - keeps start-up short

        print_plan(ranked)
    return 0 if ranked.layouts else 1


def _asked_of_estimate(question: PlanQuestion, batch: int) -> list[str]:
    """Return the question as words of ``volvelle estimate``, except the layout."""
    from volvelle.mapping.parallelism import CHOICES  # noqa: PLC0415 - only where a page is written
    from volvelle.questions.estimate import EstimateQuestion  # noqa: PLC0415

    shared = {part.name for part in EstimateQuestion.options()} - {choice.name for choice in CHOICES}
    left_out = {part.name for part in PlanQuestion.options()} - shared
    return question.changed(batch=batch).typed(without=left_out)[2:]


def _how_many(question: PlanOrCountQuestion, output: _Output) -> int:
    """Answer with the fewest GPUs and the cheapest, in place of a ranking."""
    from volvelle.report.documents.document import json_text  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.documents.plan import SizingDocument  # noqa: PLC0415
    from volvelle.report.how_many_text import print_sizing  # noqa: PLC0415
    from volvelle.verbs.how_many import how_many as answered  # noqa: PLC0415

    if question.framework is not None:
        raise MappingError("launch flags are of one machine: ask how many first, then for the flags with its count")
    if question.tokens is None:
        raise MappingError("days and money are of a whole run: give --tokens too, like --tokens 2T")
    asked = question.as_question(HowManyQuestion)
    with counting("{:,} sizes timed, now {:,} GPUs", quiet=output.as_json, before="searching layouts") as progress:
        sizing = ask(answered, asked.changed(progress=progress))
    if output.html is not None:
        from volvelle.report.page.sizing import sizing_page  # noqa: PLC0415

        write_page(output.html, sizing_page(sizing, command=asked.command))
    if output.as_json:
        click.echo(json_text("plan", SizingDocument.model_validate(sizing)))
    else:
        print_sizing(sizing, curve=not output.brief)
    return 1 if sizing.smallest is None else 0


plan = command(PlanOrCountQuestion, _Output, _run, kind=PlanCommand)
