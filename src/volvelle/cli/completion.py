"""``volvelle completion SHELL``."""

import click

from volvelle.base.question import Question
from volvelle.cli.commands import VARIABLE
from volvelle.cli.question_command import command
from volvelle.cli.shells import SHELLS
from volvelle.questions.interfaces import CompletionQuestion

_KEPT_IN = {
    "bash": "~/.local/share/bash-completion/completions/volvelle",
    "zsh": '"${fpath[1]}/_volvelle"',
    "fish": "~/.config/fish/completions/volvelle.fish",
}
_AT_ONCE = {"fish": "volvelle completion fish | source"}


class _Output(Question):
    pass


def _run(question: CompletionQuestion, output: _Output) -> None:
    shell, root = question.shell, click.get_current_context().find_root().command
    script = SHELLS[shell](root, {}, "volvelle", VARIABLE)
    kept, now = _KEPT_IN[shell], _AT_ONCE.get(shell, f'eval "$(volvelle completion {shell})"')
    click.echo(script.source_template % script.source_vars())
    click.echo(f"# To keep it:      volvelle completion {shell} > {kept}\n# In this shell:   {now}")


completion = command(CompletionQuestion, _Output, _run)
