"""``volvelle schema COMMAND``."""

import json

import click

from volvelle.base.question import Question
from volvelle.cli.question_command import command
from volvelle.errors import UnknownNameError
from volvelle.questions import QUESTIONS, question_of_command
from volvelle.questions.interfaces import SchemaQuestion
from volvelle.report.documents.document import DOCUMENTS
from volvelle.report.documents.document import schema as schema_of


class _Output(Question):
    pass


def _run(question: SchemaQuestion, output: _Output) -> None:
    name = " ".join(question.of)
    if question.question:
        document = question_called(name).schema()
    elif name in DOCUMENTS:
        document = schema_of(name)
    else:
        raise UnknownNameError.among("document of a command", name, DOCUMENTS)
    click.echo(json.dumps(document, indent=2))


def question_called(name: str) -> type[Question]:
    """Return the question of a command, or of a command about an application, like ``plan hpl``."""
    if name in QUESTIONS:
        return question_of_command(name)
    from volvelle.applications.registry import APPLICATIONS, application  # noqa: PLC0415 - loads what answers questions

    verb, _, word = name.partition(" ")
    if word in APPLICATIONS and verb in (questions := application(word).questions):
        return questions[verb]
    known = [f"{verb} {word}" for word in APPLICATIONS for verb in application(word).questions]
    raise UnknownNameError.among("command with a question", name, sorted([*QUESTIONS, *known]))


schema = command(SchemaQuestion, _Output, _run)
