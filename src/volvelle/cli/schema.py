"""``volvelle schema DOCUMENT``."""

import json

import click

__all__ = ["schema"]


@click.command(short_help="Print the JSON Schema of what --json prints.")
@click.argument("document", type=click.Choice(["estimate"]))
def schema(document: str) -> None:
    """Print the JSON Schema of DOCUMENT."""
    from volvelle.report.estimate_json import EstimateDocument  # noqa: PLC0415 - keeps start-up short

    found = EstimateDocument.model_json_schema()
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    click.echo(json.dumps(found, indent=2))
