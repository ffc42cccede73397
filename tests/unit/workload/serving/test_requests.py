"""Requests are looked at where they are made."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.workload.serving.requests import Requests


def made(**changed: object) -> Requests:
    columns: dict[str, object] = {
        "arrival": np.array([0.0, 1.0]),
        "input_tokens": np.array([3, 4]),
        "output_tokens": np.array([1, 2]),
    }
    return Requests(**{**columns, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"arrival": np.array([1.0, 0.0])}, "not in the order of time"),
        ({"arrival": np.array([0.0, np.nan])}, "arrival is"),
        ({"input_tokens": np.array([0, 4])}, "input_tokens is 0"),
        ({"output_tokens": np.array([1])}, "1 entries for 2 arrivals"),
        ({"hash_ids": np.array([1, 2]), "hash_starts": np.array([0, 1, 1])}, "rise from 0 to 2"),
        ({"clients": -1}, "clients is -1"),
    ],
)
def test_requests_that_make_no_sense_are_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        made(**changed)


def test_no_requests_are_refused() -> None:
    nothing = np.zeros(0, np.int64)
    with pytest.raises(DescriptionError, match="no requests"):
        Requests(arrival=np.zeros(0), input_tokens=nothing, output_tokens=nothing)


def test_the_first_of_them_keep_their_blocks() -> None:
    found = made(hash_ids=np.array([5, 6, 7]), hash_starts=np.array([0, 2, 3])).first(1)
    assert found.hash_ids.tolist() == [5, 6]
    assert len(found) == 1
