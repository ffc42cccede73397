"""``volvelle config``."""

import click

from volvelle.cli.configuration import KEYS, PROJECT_FILE, configuration_files, settings, user_file
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.questions.config import ConfigQuestion


class _Output(Json):
    pass


def _run(question: ConfigQuestion, output: _Output) -> None:
    files, known = configuration_files(), settings()
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        body = {key: {"value": one.value, "file": str(one.file)} for key, one in known.items()}
        click.echo(json_text("config", {"files": [str(file) for file in files], "settings": body}))
        return
    if not files:
        click.echo(f"No configuration file. Looked for {user_file()} and for {PROJECT_FILE} here and above.")
    for file in files:
        click.echo(f"{file}")
        for key, one in known.items():
            if one.file == file:
                value = ", ".join(map(str, one.value)) if isinstance(one.value, list) else one.value
                click.echo(f"  {key}: {value}")
    unset = [key for key in KEYS if key not in known]
    click.echo(f"Not set: {', '.join(unset)}." if unset else "Every key is set.")


config = command(ConfigQuestion, _Output, _run)
