"""``volvelle validate calibration``."""

import click

from volvelle.cli.application_commands import JSON
from volvelle.cli.waiting import waiting
from volvelle.cli.words import Within
from volvelle.domains import DRAWS, SEED


@click.command("calibration", short_help="How much a few own runs improve predictions, machine by machine.")
@click.option("--draws", default=50, show_default=True, type=Within(DRAWS), help="Times that own runs are drawn.")
@click.option("--seed", default=0, show_default=True, type=Within(SEED), help="Of the draws.")
@JSON
def validate_calibration(*, draws: int, seed: int, as_json: bool) -> None:
    """Take every published machine of 8 runs and more as a user whose source the fit did not see.

    None, 1, 3 or 8 of its runs are drawn as its own, the rest is predicted. Machines of calibration sources are left
    out of the fit in turn; held-out ones never were in it, and are told apart.
    """
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
        found = validate_own_runs(published_corpus(Catalogue()), draws=draws, seed=seed)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("validate", scores_document(found)))
    else:
        print_own_runs_scores(found)
