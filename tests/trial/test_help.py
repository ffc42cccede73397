"""The first screen of a newcomer."""

from pathlib import Path

import pytest

from tests.everyday.asking import ask
from volvelle.cli.commands import VERBS


@pytest.mark.parametrize("columns", [80, 100])
def test_the_bare_command_prints_its_whole_help(tmp_path: Path, columns: int) -> None:
    reply = ask(tmp_path, COLUMNS=str(columns))
    assert reply.status == 0
    assert reply.err == ""
    assert "…" not in reply.out
    for command in VERBS:
        assert f"\n  {command} " in reply.out
    assert reply.out == ask(tmp_path, "--help", COLUMNS=str(columns)).out
