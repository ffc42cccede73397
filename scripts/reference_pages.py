"""Tables of the pages on the command and on Python, from the options and the docstrings themselves."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

import volvelle
from volvelle.cli import _volvelle
from volvelle.cli.plan_application import plan_applications
from volvelle.cli.question_command import QuestionCommand

__all__ = ["reference_pages"]

PYTHON = Path(__file__).resolve().parent.parent / "docs" / "reference" / "python.md"


def reference_pages() -> dict[str, str]:
    """Fragments of the two pages by file name."""
    names = {f"names-{section}.md": _names(listed) for section, listed in _sections().items()}
    verbs = _commands(_volvelle, "volvelle", "##")
    return {"command.md": verbs, "command-benchmarks.md": _commands(plan_applications, "volvelle plan", "###")} | names


def _commands(group: click.Group, called: str, heading: str) -> str:
    context = click.Context(group, info_name=called)
    parts: list[str] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        parts += _command(command, f"{called} {name}", heading)
    return "\n\n".join(parts)


def _command(command: click.Command, called: str, heading: str) -> Iterator[str]:
    """A command and the commands below it: what it is for, how it is typed, its arguments and options by group."""
    context = click.Context(command, info_name=called, max_content_width=100)
    yield f"{heading} {called}"
    yield _prose(command.help or command.short_help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{called} {usage}\n```"
    for title, records in _sections_of(command, context).items():
        rows = [(f"`{option}`".replace("|", "\\|"), _cell(says)) for option, says in records if "--help" not in option]
        if rows:
            yield f"| {title} | |\n| --- | --- |\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _command(below, f"{called} {name}", f"{heading}#")


def _sections_of(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The arguments and options of a command with their help, by group where it has groups."""
    if isinstance(command, QuestionCommand):
        return command.sections(context)
    records = (each.get_help_record(context) for each in command.params if isinstance(each, click.Option))
    return {"option": list(filter(None, records))}


def _prose(text: str) -> str:
    """A command's help as Markdown; what it keeps line by line (after a backspace) as verbatim text."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            parts.append("```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```")
        else:
            parts.append(_cell(" ".join(paragraph.split())))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    """Words of a help text, which are no Markdown."""
    text = re.sub(r"(?<![\w`])(--?[a-z][\w-]*)", r"`\1`", " ".join(text.split()))
    return re.sub(r"([|*<>_])(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"\\\1", text)


def _sections() -> dict[str, list[str]]:
    """Names that the page on Python lists, by its headings."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in PYTHON.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = re.sub(r"\W+", "-", line[3:].lower())
        listed = re.fullmatch(r"(?:   |\.\. py:data:: )(\w+)", line)
        if listed:
            found.setdefault(section, []).append(listed[1])
    return found


def _names(listed: list[str]) -> str:
    rows = "\n".join(f"| `{name}` | {_said(name)} |" for name in listed)
    return f"| name | |\n| --- | --- |\n{rows}\n"


def _said(name: str) -> str:
    """The first sentence of a name's docstring; of a value, its kind."""
    value = getattr(volvelle, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return f"a `{type(value).__name__}`"
    first = (inspect.getdoc(value) or "").split("\n\n")[0]
    return re.sub(r"``?([^`]+)``?", r"`\1`", " ".join(first.split())).replace("|", "\\|")
