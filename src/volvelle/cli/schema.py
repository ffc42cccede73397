"""``volvelle schema VERB``."""

import json

import click

from volvelle.report.documents.document import DOCUMENTS
from volvelle.report.documents.document import schema as schema_of


@click.command(short_help="Print the JSON Schema of what --json prints.")
@click.argument("verb", metavar="COMMAND", type=click.Choice(sorted(DOCUMENTS)))
def schema(verb: str) -> None:
    """Print the JSON Schema of what COMMAND prints with --json."""
    click.echo(json.dumps(schema_of(verb), indent=2))
