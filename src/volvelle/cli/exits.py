"""How the command ends: its exit status, and one line where there is no answer."""

import codecs
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from volvelle.errors import VolvelleError, brief, removed, renamed

ANSWERED, CANNOT_RUN, NO_SENSE, DEFECT = 0, 1, 2, 3
INTERRUPTED, CLOSED_PIPE = 130, 141
"""As shells have it: 128, and the number of the signal."""
DEBUG = "VOLVELLE_DEBUG"
"""Set in the environment, it shows where a defect is."""
_LONGEST = 2000
"""Characters of what click says, which quotes without end."""
_PLAIN = {
    **dict.fromkeys("─━═╴╶╌", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏", ""),
    "…": "...",
    "×": "x",
    "–": "-",
    "—": "-",
    "µ": "u",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "’": "'",
    "÷": "/",
}
"""What stands for signs that a terminal does not have."""


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C; says what is kept, and how to go on."""


def exit_status(command: Callable[[], object]) -> int:
    """Run the command; whatever happens becomes a status, and a line where there is no answer."""
    _fit_encoding()
    try:
        status = command()
        sys.stdout.flush()
        return status if isinstance(status, int) else ANSWERED
    except VolvelleError as error:
        return _refused(str(error))
    except click.exceptions.Abort as error:
        return _interrupted(error.__cause__)
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except click.exceptions.NoArgsIsHelpError as error:  # click would print the help as an error, and cut it off
        click.echo(error.ctx.get_help() if error.ctx else error.message)
        return ANSWERED
    except click.ClickException as error:
        shown = _named_anew(error)
        if len(shown.message) > _LONGEST:
            shown = click.UsageError(f"{shown.message[:_LONGEST]} …", ctx=getattr(shown, "ctx", None))
        shown.show()
        return NO_SENSE
    except (BrokenPipeError, SystemExit) as error:  # click and rich leave by the latter when a pipe's reader has left
        if isinstance(error, SystemExit) and not error.code:  # click has answered a shell that completes
            return ANSWERED
        _silence(sys.stdout)
        return CLOSED_PIPE
    except MemoryError:
        return _refused("there is not enough memory for this question; ask for less at once")
    except OSError as error:
        _silence(sys.stdout)
        where = brief(str(error.filename)) if error.filename else "the output"
        return _refused(f"{where} cannot be read or written: {error.strerror or error}")
    except Exception as error:
        return _defect(error)


def _refused(why: str) -> int:
    click.echo(click.style("error: ", fg="red", bold=True) + why, err=True)
    return NO_SENSE


def _interrupted(cause: BaseException | None) -> int:
    said = str(cause) if isinstance(cause, Interrupted) else "nothing was written; the same command starts again"
    click.echo(f"interrupted: {said}", err=True)
    return INTERRUPTED


def _defect(error: Exception) -> int:
    import traceback  # noqa: PLC0415 - only when there is something to tell

    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}volvelle{os.sep}" in frame.filename] or list(frames)
    at = f" ({own[-1].filename.rpartition(os.sep)[2]}:{own[-1].lineno})" if own else ""
    said = " ".join(str(error).split())[:200]
    click.echo(
        click.style("defect: ", fg="red", bold=True)
        + f"{type(error).__name__}{at}: {said}; this is a mistake in volvelle, not an answer. Please report the "
        f"command and its files, with what it prints when {DEBUG}=1 is set (CONTRIBUTING.md)",
        err=True,
    )
    return DEFECT


def _named_anew(error: click.ClickException) -> click.ClickException:
    """Return the same error; if an option or a choice was renamed or removed, with what to use instead.

    Click suggests only names that are spelt alike.
    """
    if isinstance(error, click.NoSuchOption):
        parameters = [] if error.ctx is None else error.ctx.command.params
        options = [option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)]
        if gone := removed(_command(error.ctx), error.option_name):
            return click.UsageError(gone, ctx=error.ctx)
        now = " or ".join(renamed(error.option_name, options))
        return click.UsageError(f"{error.message} Did you mean {now}?", ctx=error.ctx) if now else error
    if isinstance(error, click.BadParameter) and error.param is not None and isinstance(error.param.type, click.Choice):
        choice = error.message.partition(" is not one of ")[0].strip("'")
        if gone := removed(_command(error.ctx), error.param.opts[0], choice):
            return click.UsageError(gone, ctx=error.ctx)
    return error


def _command(ctx: click.Context | None) -> str:
    """Return the name of a command without that of the program: ``plan serve``."""
    return "" if ctx is None else ctx.command_path.partition(" ")[2]


def _silence(stream: Any) -> None:
    """Let nothing be written to a stream that cannot be written to any more, not when Python ends either."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):  # it is no file
        pass


def _fit_encoding() -> None:
    """Write signs that the terminal lacks by others, as in ``x`` for ``×``, and go on."""

    def plainly(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        signs = error.object[error.start : error.end]
        return "".join(_PLAIN.get(sign, "?") for sign in signs), error.end

    codecs.register_error("volvelle-plain", plainly)
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-")
        if not encoding.startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="volvelle-plain")
