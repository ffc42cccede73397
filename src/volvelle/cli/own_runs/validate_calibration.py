"""``volvelle validate calibration``."""

import click

from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.applications import OwnRunsValidationQuestion


class _Output(Json):
    pass


def _run(question: OwnRunsValidationQuestion, output: _Output) -> None:
    from volvelle.applications.training.own_runs_scores import (  # noqa: PLC0415 - keeps start-up short
        published_corpus,
        validate_own_runs,
    )
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.own_runs.scores_text import (  # noqa: PLC0415 - keeps start-up short
        print_own_runs_scores,
        scores_document,
    )

    with waiting("predicting published runs"):
        scores = validate_own_runs(published_corpus(Catalogue()), draws=question.draws, seed=question.seed)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("validate", scores_document(scores)))
    else:
        print_own_runs_scores(scores)


validate_calibration = command(OwnRunsValidationQuestion, _Output, _run)
