"""Options about the machine, as the questions of all commands have them."""

import click
import pytest

from volvelle.cli import _volvelle
from volvelle.cli.commands import VERBS
from volvelle.cli.question_command import QuestionCommand
from volvelle.questions.mpi import MpiQuestion
from volvelle.questions.replay import ReplayQuestion

COMMANDS = [_volvelle.get_command(click.Context(_volvelle), verb) for verb in VERBS]
QUESTIONS = [command.question for command in COMMANDS if isinstance(command, QuestionCommand)]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.subcommand)
def test_a_key_of_a_configuration_file_sets_one_option(question: type) -> None:
    keys = [part.configured for part in question.options() if part.configured]  # type: ignore[attr-defined]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("question", [MpiQuestion, ReplayQuestion])
def test_no_file_sets_the_machine_of_a_trace_that_is_shown_as_recorded(question: type) -> None:
    parts = question.options()  # type: ignore[attr-defined]
    assert {part.name for part in parts if part.configured} == {"catalogue"}
