"""Every command that the page on the four documents names answers."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.everyday.asking import ask

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from documents_page import listed_commands  # noqa: E402 - a script, not of the package

EVERY = 12
"""Of the commands, one in so many is asked each time; all of them by scripts/test long."""


def marked(place: int, command: str) -> object:
    return pytest.param(command, marks=() if place % EVERY == 0 else pytest.mark.long)


@pytest.mark.parametrize("command", [marked(place, one) for place, one in enumerate(listed_commands())])
def test_what_shows_an_item_answers(command: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    reply = ask(tmp_path, *shlex.split(command))
    assert reply.status == os.EX_OK, reply.err or reply.out
    assert reply.out.strip()
