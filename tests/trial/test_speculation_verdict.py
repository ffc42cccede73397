"""Whether drafts are worth it has one answer per question, and the words say which question."""

from pathlib import Path

from tests.everyday.asking import ask

DEEPSEEK = ("deepseek-v3", "--on", "dgx-h200/8", "--weights", "fp8-block", "--input", "1024", "--output", "256")


def told(folder: Path, *words: str) -> list[str]:
    """Return the lines of a brief answer, each unwrapped."""
    reply = ask(folder, "serve", *words, "--brief", COLUMNS="400")
    assert reply.status == 0, reply.err
    return reply.out.splitlines()


def test_the_load_and_the_static_batches_agree_on_whether_drafts_are_a_gain(tmp_path: Path) -> None:
    lines = told(tmp_path, *DEEPSEEK, "--load", "closed 32", "--speculate", "mtp 1")
    verdict = next(line for line in lines if "times as fast for each user" in line)
    static = next(line for line in lines if line.startswith("static batches"))
    assert verdict.startswith("a gain")
    assert "a gain at every batch that fits" in static


def test_a_line_about_static_batches_says_so_under_a_load(tmp_path: Path) -> None:
    words = ("llama3-8b", "--on", "dgx-h100/1", "--speculate", "eagle 3")
    under_load = told(tmp_path, *words, "--load", "closed 8")
    alone = told(tmp_path, *words, "--batch", "8")
    assert sum("under this load" in line for line in under_load) == 1
    assert sum(line.startswith("static batches") for line in under_load) == 1
    assert not any("under this load" in line or line.startswith("static batches") for line in alone)
    assert sum("times as fast" in line for line in under_load) == 1
