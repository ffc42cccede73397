"""Which command a question asks, and which of its options the question sets off their defaults."""

import re
from collections.abc import Iterator, Sequence

import click
from click.core import ParameterSource

from volvelle.cli import _volvelle
from volvelle.cli.commands import VARIABLE
from volvelle.cli.plan_application import plan_applications
from volvelle.cli.serving.plan import plan_serving

__all__ = ["asked_of", "commands"]

_SERVING = "plan --serve"


def commands() -> dict[str, click.Command]:
    """Return every command by the words that ask it, also those to which ``plan`` hands over."""
    root = click.Context(_volvelle, info_name="")
    found = dict(_below(_volvelle, root))
    return found | {_SERVING: plan_serving} | dict(_below(plan_applications, click.Context(plan_applications), "plan "))


def _below(group: click.Group, context: click.Context, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _below(command, click.Context(command, parent=context), f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def asked_of(words: Sequence[str]) -> tuple[str, set[str]]:
    """Return the command of a question and the options that it sets off their defaults."""
    if words[0].startswith(VARIABLE):
        return "completion", set()  # what a shell asks
    words = [word for word in words if not re.match(r"[A-Z_]+=", word)]  # the environment
    context = _volvelle.make_context("volvelle", list(words), obj=list(words))
    while isinstance(group := context.command, click.Group):
        # click keeps the word of a command apart from what follows it
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    path = context.command_path.removeprefix("volvelle ")
    named = _SERVING if context.command is plan_serving else path
    return named, {str(option.name) for option in context.command.params if _is_off(option, context)}


def _is_off(option: click.Parameter, context: click.Context) -> bool:
    name, default = str(option.name), option.default
    if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return False
    if isinstance(default, str | int | float):
        default = option.type_cast_value(context, default)
    return name not in context.params or context.params[name] != default
