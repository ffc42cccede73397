"""Questions about serving that cannot be answered with a speed: status, and one line that says why."""

from pathlib import Path

import pytest

from tests.everyday.asking import ask

NODE = ("--on", "dgx-h100/8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("llama3-405b", *NODE), "nothing is left for a cache"),
        (("llama3.1-8b", "--on", "rtx-4090-cluster/1", "--input", "100000"), "one request of 100,128 tokens keeps"),
        (("llama3-8b", "--on", "dgx-h100/1", "--batch", "3000", "--input", "64"), "such sequences"),
        (
            (
                *("llama3.1-8b", "--on", "rtx-4090-cluster/1", "--input", "120000"),
                *("--load", "closed 3", "--lengths", "fixed"),
            ),
            "weights leave",
        ),
    ],
)
def test_what_does_not_fit_is_an_answer_with_commands_that_do(
    words: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    reply = ask(tmp_path, "serve", *words)
    assert reply.status == 1
    told = " ".join(reply.out.replace("│", " ").split())
    assert says in told
    assert "fix: volvelle serve" in told
    assert "tokens/s" not in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--tp", "3"), "64 heads are not divided by tensor parallelism 3"),
        (("--engine", "vlm"), "there is no serving engine 'vlm'; did you mean 'vllm'"),
        (("--load", "poisson 0/s"), "at a rate of 0 no request ever comes"),
        (("--load", "closed 0"), "clients is 0; it must be a whole number from 1"),
        (("--load", "closed many"), "'many' is no number of clients"),
        (("--load", "trace nowhere.csv"), "nowhere.csv"),
        (("--batch", "0"), "it is 0; it must be a whole number from 1"),
        (("--memory-share", "110 %"), "it must be"),
        (("--weights", "fp3"), "there is no format of weights 'fp3'"),
        (("--ep", "2"), "has no experts"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "llama3-70b", *NODE, *words)
    assert reply.status == 2
    assert says in reply.last
    assert not reply.out


def test_an_unstable_load_says_what_comes_and_what_is_sustained(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "llama3-8b", "--on", "dgx-h100/1", "--load", "poisson 1000/s")
    assert "unstable: offered 1e+03/s, sustained" in reply.out
    assert "TTFT" not in reply.out


def test_a_trace_is_served_faster_than_it_was_recorded(tmp_path: Path) -> None:
    rows = "\n".join(f"2023-11-16 18:15:{second:02d}.0000000,{100 + second},20" for second in range(60))
    (tmp_path / "trace.csv").write_text(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{rows}\n", "utf-8")
    for times in ("", " ×1.5"):
        reply = ask(tmp_path, "serve", "llama3-8b", "--on", "dgx-h100/1", "--load", f"trace trace.csv{times}")
        assert reply.status == 0, reply.err
        assert "What clients measure" in reply.out
