"""Numbers of rows: each has a domain, and a row that leaves it is not read."""

import pytest

from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.number_cells import check_numbers


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"tp": "None"}, "tp is 'None', not a number"),
        ({"pp": "0"}, "pp is 0; it must be a whole number from 1"),
        ({"isl": "nan"}, "isl is nan"),
        ({"concurrency": "1e7"}, "concurrency is 1e7"),
        ({"gpu_memory_utilization": "9"}, "gpu_memory_utilization is 9"),
        ({"isl": "", "tp": "1"}, "it states no isl"),
    ],
)
def test_a_number_that_cannot_be_is_named(cells: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check_numbers(cells, ("isl", "tp"))


def test_what_a_kind_does_not_need_may_be_blank() -> None:
    check_numbers({"tp": "8", "isl": "1024", "osl": "", "kv_tokens": ""}, ("tp", "isl"))


def test_every_shipped_row_has_numbers_that_may_be() -> None:
    assert serving_measurements().unread == ()
