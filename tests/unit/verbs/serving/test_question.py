"""What an engine can be told that moves the first token."""

import json
import shlex

import pytest

import volvelle
from volvelle.cli import run
from volvelle.verbs.serving.serve import Serving

LOAD = "poisson 4/s"


def served(engine: str, **told: object) -> Serving:
    return volvelle.serve("llama3-8b", on="dgx-h100/1", engine=engine, load=LOAD, requests=200, **told)  # type: ignore[arg-type]


def ttft(answer: Serving) -> float:
    assert answer.load is not None
    return answer.load.latencies["ttft"].mean


def test_requests_that_are_looked_for_seldom_wait() -> None:
    assert ttft(served("sglang", receive_interval=30)) > 2.0 * ttft(served("sglang"))


def test_prompts_that_wait_for_a_fuller_step_wait() -> None:
    usual = ttft(served("trtllm"))
    waiting = ttft(served("trtllm", batch_wait=40, batch_wait_ratio=0.8))
    assert waiting > 2.0 * usual
    assert ttft(served("trtllm", batch_wait=40, batch_wait_ratio=0.1)) == usual  # one prompt ends the wait


@pytest.mark.parametrize(
    ("engine", "told", "said"),
    [
        ("vllm", {"receive_interval": 10}, "engine='sglang'"),
        ("sglang", {"batch_wait": 10}, "engine='trtllm'"),
        ("trtllm", {"batch_wait_ratio": 0.5}, "give batch_wait,"),
    ],
)
def test_what_another_engine_is_told_is_refused(engine: str, told: dict[str, object], said: str) -> None:
    with pytest.raises(volvelle.DescriptionError, match=said):
        served(engine, **told)


def test_the_command_of_an_answer_says_what_the_engine_was_told(capsys: pytest.CaptureFixture[str]) -> None:
    answer = served("sglang", receive_interval=10, stream_interval=20, prefix_caching=False)
    command = answer.question.command
    assert "--receive-interval 10 --stream-interval 20 --no-prefix-caching" in command
    assert run([*shlex.split(command)[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["load"]["latencies"]["ttft"]["mean"] == pytest.approx(ttft(answer))


def test_files_that_launch_it_say_so_too() -> None:
    answer = served("sglang", receive_interval=10, stream_interval=20, prefix_caching=False, emit="sglang")
    text = "".join(file.text for file in answer.files)
    for word in ("scheduler-recv-interval", "stream-interval", "disable-radix-cache"):
        assert word in text
