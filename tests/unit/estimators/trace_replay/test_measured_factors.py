"""A profile says what operations take to start and how they grow; what else the machine did does not count."""

import pytest

from volvelle import Catalogue
from volvelle.estimators.trace_replay.measured_factors import MeasuredFactors
from volvelle.estimators.trace_replay.operation_times import OperationTimes
from volvelle.workload.trace.values import Operation, Place, Trace, Work

TIMES = OperationTimes(Catalogue().cluster("dgx-a100/8"))
START, SLOWER = 20e-6, 1.5


def copied(megabytes: float) -> Work:
    return Work("copy", traffic=megabytes * 1e6)


def law(work: Work) -> float:
    timed = TIMES(work)
    assert timed is not None
    return timed.seconds


def profile(*operations: tuple[str, Work, float], host: tuple[float, ...] = ()) -> Trace:
    made = [Operation(name, "", 0, seconds, work=work) for name, work, seconds in operations]
    made += [Operation("between operations", "", 0, seconds, place=Place.HOST) for seconds in host]
    return Trace(format="made", operations=tuple(made), streams=("thread",))


@pytest.mark.parametrize("asked", [1.0, 64.0, 4096.0])
def test_two_sizes_tell_what_starting_takes_and_how_time_grows(asked: float) -> None:
    seen = [("copy", copied(size), START + SLOWER * law(copied(size))) for size in (4.0, 64.0, 256.0)]
    found = MeasuredFactors(profile(*seen), TIMES)("copy", law(copied(asked)))
    assert found is not None
    assert found * law(copied(asked)) == pytest.approx(START + SLOWER * law(copied(asked)), rel=1e-9)


def test_one_size_starts_as_the_shortest_operations_do() -> None:
    seen = [("copy", copied(64.0), 3e-3), *[("short", Work("elementwise", traffic=8.0), 5e-6)] * 30]
    factors = MeasuredFactors(profile(*seen), TIMES)
    at, twice = law(copied(64.0)), law(copied(128.0))
    found = factors("copy", at), factors("copy", twice)
    assert found[0] is not None
    assert found[0] * at == pytest.approx(3e-3)
    assert found[1] is not None
    assert found[1] * twice == pytest.approx(5e-6 + (3e-3 - 5e-6) * twice / at)


def test_an_operation_that_was_interrupted_once_counts_as_its_median() -> None:
    usual = [("copy", copied(64.0), 3e-3)] * 5
    factors = MeasuredFactors(profile(*usual, host=(1e-6,) * 5), TIMES)
    held_up = MeasuredFactors(profile(*usual[1:], ("copy", copied(64.0), 0.4), host=(1e-6,) * 4 + (0.1,)), TIMES)
    assert held_up("copy", law(copied(64.0))) == pytest.approx(factors("copy", law(copied(64.0))))
    assert held_up.host_time == pytest.approx(factors.host_time)


def test_a_larger_operation_never_takes_less() -> None:
    """Also where a profile has a small one that took longer than a large one."""
    seen = [("copy", copied(1.0), 5e-3), ("copy", copied(512.0), 2e-3)]
    factors = MeasuredFactors(profile(*seen), TIMES)
    times = [(factors("copy", law(copied(size))) or 0.0) * law(copied(size)) for size in (0.5, 8.0, 512.0, 4096.0)]
    assert times == sorted(times)
    assert times[0] > 0.0


def test_names_that_a_profile_does_not_have_are_not_known() -> None:
    assert MeasuredFactors(profile(("copy", copied(1.0), 1e-3)), TIMES)("product", 1e-3) is None
