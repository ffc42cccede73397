"""Limits as people write them."""

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.limit_words import read_limits


def test_limits_are_read_in_their_order_with_units() -> None:
    found = read_limits("p99 ttft 2 s, P95 TPOT 50ms; mean e2el <= 1 min, p99.9 itl 0.2 s")
    assert [str(limit) for limit in found] == ["p99 ttft 2 s", "p95 tpot 50 ms", "mean e2el 60 s", "p99.9 itl 200 ms"]


def test_tokens_a_second_of_a_user_are_a_limit_of_tpot() -> None:
    (limit,) = read_limits("p99 tps 20")
    assert (limit.latency, limit.percentile, limit.seconds) == ("tpot", 99.0, pytest.approx(0.05))


def test_what_is_written_is_what_is_read() -> None:
    text = "p99 ttft 1.7 s, p50 tpot 33 ms, mean itl 12.5 ms"
    assert ", ".join(map(str, read_limits(text))) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no limits"),
        ("p99 ttft 2 s,", "limit 2 of 2"),
        ("ttft 2 s", "limit 1 of 1.*'p99 ttft 2 s'"),
        ("p99 ttft 2", "limit 1 of 1"),
        ("p99 ttft", "no time"),
        ("p99 ttft 2 s, p101 tpot 1 s", "limit 2 of 2.*percentile"),
        ("p99 ttft 2 s, p0 tpot 1 s", "limit 2 of 2.*percentile"),
        ("p99 speed 2 s", "there are ttft"),
        ("best ttft 2 s", "neither a percentile"),
        ("p99 ttft -2 s", "limit 1 of 1"),
        ("p99 ttft 0 s", "the time"),
        ("p99 ttft nan s", "limit 1 of 1"),
        ("p99 ttft 2 s, p99 ttft 3 s", "limited before"),
        ("p99 tps nan", "can be asked"),
        ("p99 tps fast", "no number"),
        ("p99 ttft 2 GB", "limit 1 of 1"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        read_limits(text)
