"""Loads, lengths, drafters and limits have a text that is read as exactly the same value."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from volvelle import (
    AtOnce,
    Closed,
    Draft,
    Drafter,
    Eagle,
    FixedLengths,
    Gamma,
    LatencyLimit,
    LengthsAround,
    LengthsUpTo,
    Load,
    Mtp,
    Ngram,
    Parallel,
    Poisson,
    Ramp,
    RequestLengths,
    Trace,
)
from volvelle.domains import NumberDomain
from volvelle.interchange.limit_words import read_limits
from volvelle.interchange.load_words import load_value
from volvelle.interchange.speculation_words import speculation_value
from volvelle.workload.serving.drafting import ACCEPTANCE, DECAY
from volvelle.workload.serving.lengths import RANGE_RATIO, request_lengths_value
from volvelle.workload.serving.limits import LATENCIES, LIMITED_PERCENTILE, LIMITED_SECONDS
from volvelle.workload.serving.loads import BURSTINESS, RATE_FACTOR, REQUEST_RATE, SOME_CLIENTS


def inside(domain: NumberDomain) -> st.SearchStrategy[float]:
    if domain.whole:
        return st.integers(int(domain.least), int(domain.most))
    return st.floats(domain.least, domain.most)


FILES = st.one_of(
    st.text(min_size=1).filter(lambda name: str(Path(name)) == str(Path(name)).strip()),
    st.sampled_from(["week x2", "my trace ×1.5", "a * 3", "x2", "./requests.csv"]),
)
RATES = inside(REQUEST_RATE)
LOADS = st.one_of(
    st.builds(Closed, inside(SOME_CLIENTS)),
    st.builds(AtOnce),
    st.builds(Poisson, st.one_of(RATES, st.integers(1, 1000))),
    st.builds(Gamma, RATES, inside(BURSTINESS)),
    st.builds(Ramp, RATES, RATES),
    st.builds(Trace, FILES, scale=st.one_of(st.just(1.0), inside(RATE_FACTOR))),
)
LENGTHS = st.one_of(
    st.builds(LengthsAround, inside(RANGE_RATIO)),
    st.builds(LengthsUpTo, inside(RANGE_RATIO)),
    st.builds(FixedLengths),
)
WINDOWS = st.one_of(st.none(), st.integers(0, 64))
CHANCES = st.one_of(
    st.fixed_dictionaries(
        {}, optional={"acceptance": st.none() | inside(ACCEPTANCE), "decay": st.none() | inside(DECAY)}
    ),
    st.fixed_dictionaries({"curve": FILES}),
)
TREES = st.tuples(st.integers(2, 4), st.sampled_from([(), (2,), (4, 2), (2, 1, 3)]))
MODELS = st.one_of(
    st.sampled_from(["llama3-8b", "curve-8b", "best", "tp1", "my/config.json"]),
    st.text(min_size=1).filter(lambda name: name.split() == [name]),
)
DRAFTERS = st.one_of(
    *(
        st.builds(lambda kind, window, options: kind(window, **options), st.just(kind), WINDOWS, CHANCES)
        for kind in (Eagle, Mtp, Parallel, Ngram)
    ),
    *(
        st.builds(lambda kind, tree, options: kind(tree[0] + 1, tree=tree[1], **options), st.just(kind), TREES, CHANCES)
        for kind in (Eagle, Mtp)
    ),
    st.builds(
        lambda model, window, tp, options: Draft(model, window, tp=tp, **options),
        MODELS,
        WINDOWS,
        st.none() | st.integers(1, 16),
        CHANCES,
    ),
)
LIMITS = st.lists(
    st.builds(
        LatencyLimit,
        st.sampled_from(LATENCIES),
        inside(LIMITED_SECONDS),
        percentile=st.none() | inside(LIMITED_PERCENTILE),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda limit: (limit.statistic, limit.latency),
)


@given(LOADS)
def test_the_text_of_a_load_is_read_as_the_same_load(load: Load) -> None:
    assert load_value(str(load)) == load


@given(LENGTHS)
def test_the_text_of_lengths_is_read_as_the_same_lengths(lengths: RequestLengths) -> None:
    assert request_lengths_value(str(lengths)) == lengths


@given(DRAFTERS)
def test_the_text_of_a_drafter_is_read_as_the_same_drafter(drafter: Drafter) -> None:
    assert speculation_value(str(drafter)) == drafter


@given(LIMITS)
def test_the_text_of_limits_is_read_as_the_same_limits(limits: list[LatencyLimit]) -> None:
    assert read_limits(", ".join(limit.words for limit in limits)) == tuple(limits)
