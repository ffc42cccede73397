"""``volvelle crosscheck MODEL --on SYSTEM …``, and ``volvelle crosscheck --suite``."""

import click

from volvelle.base.python_function import ask
from volvelle.base.settings import settings_in_use
from volvelle.cli.output import Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import counting, waiting
from volvelle.questions.crosscheck import CrosscheckOrSuiteQuestion, CrosscheckQuestion


class _Output(Brief, Json):
    pass


def _run(question: CrosscheckOrSuiteQuestion, output: _Output) -> int:
    if question.suite:
        stated = question.on is not None and "on" not in settings_in_use()
        if question.model is not None or stated:
            raise click.UsageError("--suite has its own models and machines; leave MODEL and --on away")
        _suite(question, output)
        return 0
    for name, given in (("MODEL", question.model), ("--on", question.on), ("--batch", question.batch)):
        if given is None:
            raise click.UsageError(f"{name} is missing; name a step to check, or ask for --suite")
    from volvelle.verbs.crosscheck.crosscheck import crosscheck as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("timing the step by several estimators"):
        answer = ask(answered, question.as_question(CrosscheckQuestion))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("crosscheck", answer))
    else:
        from volvelle.report.crosscheck.text import print_crosscheck  # noqa: PLC0415 - not needed for JSON

        print_crosscheck(answer, brief=output.brief)
    return 0 if answer.differences else 1


def _suite(question: CrosscheckOrSuiteQuestion, output: _Output) -> None:
    from volvelle.verbs.crosscheck.suite_check import crosscheck_suite  # noqa: PLC0415 - keeps start-up short

    with counting("{} of {} workloads", quiet=output.as_json) as progress:
        checks = crosscheck_suite(catalogue=question.catalogue, progress=progress)
    if output.as_json:
        from volvelle.report.documents.crosscheck import SuiteDocument  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("crosscheck", SuiteDocument.model_validate(checks)))
    else:
        from volvelle.report.crosscheck.text import print_suite  # noqa: PLC0415 - not needed for JSON

        print_suite(checks, brief=output.brief)


crosscheck = command(CrosscheckOrSuiteQuestion, _Output, _run)
