"""Documents that see only themselves."""

import pytest

from volvelle.laws.packing import keys_in_documents


def test_documents_of_one_length_meet_that_many_keys() -> None:
    assert keys_in_documents([512], [0.3]) == 512.0


def test_attention_of_packed_documents_is_the_sum_of_squares_of_their_lengths() -> None:
    lengths, shares = [512, 4096], [0.7, 0.3]
    tokens = 0.7 * 512 + 0.3 * 4096
    assert keys_in_documents(lengths, shares) * tokens == pytest.approx(0.7 * 512**2 + 0.3 * 4096**2)


def test_local_attention_reaches_no_further_than_its_window() -> None:
    assert keys_in_documents([512, 4096], [0.7, 0.3], reach=128.0) == 128.0
