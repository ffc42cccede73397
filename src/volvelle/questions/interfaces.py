"""Questions about the interfaces of volvelle: completion in a shell, and JSON Schemas."""

from collections.abc import Sequence

from volvelle.base.option_kinds import Switch, Words
from volvelle.base.question import Option, Question, option


class CompletionQuestion(Question):
    """Print a script that lets SHELL complete commands, options, models, clusters and software stacks.

    Keep it where the shell looks for such scripts. The last lines of the script name the place.
    """

    subcommand = "completion"
    summary = "Print a script that lets a shell complete models, machines and options."
    examples = ("bash", "fish")

    shell: str = option(Option("SHELL", "Shell: bash, fish or zsh.", kind=Words(("bash", "fish", "zsh"))))


class SchemaQuestion(Question):
    """Print the JSON Schema of the document that COMMAND prints with --json.

    With --question, print the JSON Schema of the question: the options of the command, with kinds, limits, units and
    defaults. Each application has its own question, like plan hpl.
    """

    subcommand = "schema"
    summary = "Print the JSON Schema of the answer or of the question of a command."
    examples = ("estimate", "plan hpl --question")

    of: Sequence[str] = option(
        Option(
            "COMMAND",
            "Command, like estimate; with --question also like plan hpl.",
            several=True,
        )
    )
    question: bool = option(
        Option("--question", "Print the schema of the question instead of the answer.", kind=Switch(), group="Output"),
        default=False,
    )
