"""Loads in words."""

from pathlib import Path

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.load_words import read_load
from volvelle.workload.serving.loads import AbstractLoad, AtOnce, Closed, Gamma, Poisson, Ramp, Recorded


@pytest.mark.parametrize(
    ("text", "load"),
    [
        ("closed 64", Closed(clients=64)),
        ("poisson 12/s", Poisson(rate=12.0)),
        (" Poisson 12 ", Poisson(rate=12.0)),
        ("gamma 12/s 0.5", Gamma(rate=12.0, burstiness=0.5)),
        ("ramp 1/s 20/s", Ramp(start_rate=1.0, end_rate=20.0)),
        ("poisson inf", AtOnce()),
        ("poisson ∞/s", AtOnce()),
        ("at once", AtOnce()),
        ("all at once", AtOnce()),
    ],
)
def test_a_load_is_what_it_says(text: str, load: AbstractLoad) -> None:
    assert read_load(text) == load


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write 'closed 64'"),
        ("closed", "write 'closed 64'"),
        ("closed many", "no number of clients"),
        ("closed -3", "no number of clients"),
        ("closed 0", "clients is 0"),
        ("poisson 0/s", "no request ever comes"),
        ("poisson -2", "rate is -2"),
        ("poisson nan", "rate is nan"),
        ("gamma 3/s x", "is no number"),
        ("gamma 3/s", "write 'closed 64'"),
        ("sometimes", "write 'closed 64'"),
        ("trace nowhere.csv", "there is no trace"),
    ],
)
def test_a_load_that_says_nothing_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        read_load(text)


@pytest.mark.parametrize("times", ["×1.5", "x1.5", "*1.5"])
def test_a_trace_may_be_sent_faster(tmp_path: Path, times: str) -> None:
    file = tmp_path / "my trace.csv"
    file.write_text("0,10,2\n3,10,2\n")
    found = read_load(f"trace {file} {times}")
    assert isinstance(found, Recorded)
    assert found.requests().arrival.tolist() == [0.0, 2.0]
    assert read_load(f"trace {file}").requests(None, count=0).arrival.tolist() == [0.0, 3.0]
