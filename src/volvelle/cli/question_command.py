"""Commands made from questions: options in groups, examples in the help, and one function that answers and shows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from volvelle.base.option_kinds import Fields, InputFile, OptionKind, OutputFile, Switch, Words
from volvelle.base.python_function import asked_on
from volvelle.base.question import GROUPS, Option, Question
from volvelle.base.settings import settings_text, using
from volvelle.cli.configuration import defaults_for
from volvelle.cli.output import draws
from volvelle.errors import VolvelleError

Asked = TypeVar("Asked", bound=Question)
Shown = TypeVar("Shown", bound=Question)


class TypedValue(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions
    """The value of an option, read from text by its kind."""

    def __init__(self, kind: OptionKind) -> None:
        self.kind = kind
        self.name = kind.metavar.lower()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value that a word stands for; reject a word that is none, by the name of the option."""
        if not isinstance(value, str):
            return value
        try:
            return self.kind.from_text(value)
        except VolvelleError as error:
            self.fail(str(error).removeprefix("it: "), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer files where the value is one."""
        local = isinstance(self.kind, InputFile | OutputFile)
        return [CompletionItem(incomplete, type="file")] if local else []


class QuestionCommand(click.Command):
    """A command whose help lists options by group, and ends with examples."""

    def __init__(self, question: type[Question], groups: dict[str, list[click.Option]], **extra: Any) -> None:
        super().__init__(**extra)
        self.question = question
        self._groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options, a section per group."""
        arguments = [(part.metavar or part.flag, part.help) for part in self.question.options() if part.is_argument]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        for title, options in self._groups.items():
            records = [record for one in options if (record := one.get_help_record(ctx)) is not None]
            if title == "Output":
                records += [
                    record
                    for one in self.get_params(ctx)
                    if "--help" in one.opts
                    if (record := one.get_help_record(ctx))
                ]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.question.examples:
            with formatter.section("Examples"):
                for example in self.question.examples:
                    formatter.write_text(f"volvelle {self.question.subcommand} {example}")
        super().format_epilog(ctx, formatter)


def command(
    question: type[Asked],
    output: type[Shown],
    run: Callable[[Asked, Shown], int | None],
    *,
    kind: type[QuestionCommand] = QuestionCommand,
) -> QuestionCommand:
    """Return the command that asks a question.

    `run` answers the question and shows the answer as the options of `output` say. It returns the exit status.
    """
    parts = [*question.options(), *output.options()]
    own = {part.name for part in question.options()}
    parameters: list[click.Parameter] = []
    groups: dict[str, list[click.Option]] = {}
    for parameter, part in _parameters(parts):
        parameters.append(parameter)
        if isinstance(parameter, click.Option):
            groups.setdefault(part.group, []).append(parameter)

    def callback(**given: Any) -> None:
        ctx = click.get_current_context()
        stated = _stated(ctx, parts, given)
        with asked_on("command"):
            shown = output(**{name: value for name, value in stated.items() if name not in own})
            if draws(shown):
                from volvelle.report.figures.engine import check_engines  # noqa: PLC0415 - before anything is computed

                check_engines()
            asked_fields = {name: value for name, value in stated.items() if name in own}
            settings = defaults_for(question, asked_fields)
            asked_fields |= {name: setting.value for name, setting in settings.items()}
            for part in question.options():
                if part.required and part.name not in asked_fields:
                    missing = next(each for each in ctx.command.params if each.name == part.name)
                    raise click.MissingParameter(ctx=ctx, param=missing)
            with using(settings):
                status = run(question(**asked_fields), shown)
                if settings and not getattr(shown, "as_json", False):
                    click.echo(f"note: {settings_text(settings)}")
        if status:
            ctx.exit(status)

    return kind(
        question,
        {title: groups[title] for title in sorted(groups, key=GROUPS.index)},
        name=question.subcommand.split()[-1],
        callback=callback,
        params=parameters,
        help=question.__doc__,
        short_help=question.summary,
    )


def _parameters(parts: Sequence[Option]) -> Iterator[tuple[click.Parameter, Option]]:
    """Yield the parameters of a command with the option that each is made from; a list is one for several options."""
    for flag, same in groupby((part for part in parts if part.in_command), key=lambda part: part.flag):
        options = list(same)
        if options[0].listed:
            words = [part.listed for part in options]
            text = options[0].help.replace(words[0], " or ".join(filter(None, (", ".join(words[:-1]), words[-1]))))
            yield click.Option([flag], multiple=True, type=click.Choice(words), help=text), options[0]
            continue
        for part in options:
            yield _parameter(part), part


def _parameter(part: Option) -> click.Parameter:
    if part.is_argument:
        metavar = (part.metavar or part.flag) + ("..." if part.several else "")
        metavar = metavar if part.required else f"[{metavar}]"
        count = -1 if part.several else 1
        return click.Argument([part.name], metavar=metavar, required=part.required, nargs=count, type=_type(part.kind))
    text = part.help + (f" [default: {default}]" if (default := _default(part)) else "")
    text += " [required]" if part.required else ""
    if part.word_flags:
        flags = "/".join(f"--{word}" for word in _words(part))
        return click.Option([flags, part.name], default=None, help=text)
    if isinstance(part.kind, Switch):
        flags = f"{part.flag}/{part.opposite_flag}" if part.opposite else part.flag
        return click.Option([flags, part.name], is_flag=True, default=None, help=text)
    shown = part.metavar or (None if isinstance(part.kind, Words) else part.kind.metavar)
    return click.Option(
        [part.flag, part.name],
        type=_type(part.kind),
        multiple=part.several,
        nargs=part.values,
        **({} if part.alone is None else {"is_flag": False, "flag_value": part.alone}),
        metavar=shown,
        help=text,
    )


def _words(part: Option) -> tuple[str, ...]:
    assert isinstance(part.kind, Words), f"{part.flag} is no word"
    return part.kind.words


def _type(kind: OptionKind) -> Any:
    return click.Choice(kind.words) if isinstance(kind, Words) else TypedValue(kind)


def _default(part: Option) -> str:
    if part.usually:
        return part.usually
    if part.required or part.default in (None, "", ()) or part.word_flags:
        return "" if part.required or not part.word_flags else str(part.default)
    if isinstance(part.kind, Switch):
        return part.flag.removeprefix("--") if part.default else ""
    return part.kind.text(part.default)


def _stated(ctx: click.Context, parts: Iterable[Option], given: dict[str, Any]) -> dict[str, Any]:
    """Return what the user stated, by the names of fields; options that were left out are left out."""
    stated: dict[str, Any] = {}
    for part in parts:
        if part.listed:
            chosen = given.get(part.flag.lstrip("-").replace("-", "_")) or ()
            if part.in_command and part.listed in chosen:
                stated[part.name] = True
        elif part.in_command and ctx.get_parameter_source(part.name) not in (None, ParameterSource.DEFAULT):
            value = given[part.name]
            if part.word_flags:
                value = _words(part)[0 if value else 1]
            if isinstance(part.kind, Fields) and not value:
                continue
            stated[part.name] = value
    return stated
