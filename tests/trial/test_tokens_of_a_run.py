"""Tokens that are less than one step are refused: a unit was forgotten."""

from pathlib import Path

import pytest

from tests.everyday.asking import ask

_STEP = 64 * 8192


@pytest.mark.parametrize(
    "words",
    [
        ("estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--seq", "8192"),
        ("plan", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--seq", "8192"),
        ("plan", "llama3-8b", "--on", "dgx-h100", "--batch", "64", "--seq", "8192", "--days", "3"),
        ("job", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--seq", "8192"),
        ("job", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--seq", "8192", "--step", "5 s"),
        ("cost", "--on", "dgx-h100/8", "--step", "5 s", "--tokens-per-step", str(_STEP)),
        ("compare", "dgx-h100/8", "dgx-a100/8", "--model", "llama3-8b", "--batch", "64", "--seq", "8192"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_fewer_tokens_than_a_step_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *words, "--tokens", "15")
    assert reply.status == 2
    assert f"15 tokens are less than one step of {_STEP:,} tokens; did you mean 15T?" in " ".join(reply.err.split())
    assert reply.out == ""


def test_one_step_of_tokens_is_a_run(tmp_path: Path) -> None:
    words = ("estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--seq", "8192")
    assert ask(tmp_path, *words, "--tokens", str(_STEP)).status in (0, 1)
