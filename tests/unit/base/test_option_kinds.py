"""Kinds of options."""

import pytest

from volvelle import Closed, DescriptionError, LatencyLimit
from volvelle.base.option_kinds import InWords

LOAD, LIMITS = InWords("a load", ("Load",)), InWords("limits", ("LatencyLimit",), several=True)


def test_a_value_is_kept_as_its_words() -> None:
    assert LOAD.read(Closed(8), "load") == "closed 8" == LOAD.read("closed 8", "load")
    exact = LatencyLimit("tpot", 1.0 / 30.0, percentile=99)
    assert LIMITS.read(exact, "slo") == "p99 tpot 0.03333333333333333 s"
    assert LIMITS.read([exact, LatencyLimit("ttft", 2.0)], "slo") == "p99 tpot 0.03333333333333333 s, mean ttft 2 s"


@pytest.mark.parametrize("given", [3, b"closed 8", [Closed(8)], LatencyLimit("ttft", 2.0), object()])
def test_a_value_of_another_class_is_refused_by_its_name(given: object) -> None:
    with pytest.raises(DescriptionError, match=r"load is .*; it must be text or a load"):
        LOAD.read(given, "load")


@pytest.mark.parametrize("given", [[], [2.0], Closed(8), ["p99 ttft 2 s"]])
def test_several_values_are_all_of_the_class(given: object) -> None:
    with pytest.raises(DescriptionError, match=r"slo is .*; it must be text or limits"):
        LIMITS.read(given, "slo")
