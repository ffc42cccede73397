"""Bytes of state a trainable parameter, by optimiser and types."""

import pytest

from tests.conftest import small_llama
from volvelle.estimators.optimiser_recipe import optimiser_recipe
from volvelle.workload.families.transformer import transformer
from volvelle.workload.optimisers import optimiser

LLAMA = transformer(small_llama())


@pytest.mark.parametrize(
    ("name", "master", "moments", "expected"),
    [
        ("adam", "fp32", "fp32", 12.0),
        ("adam", "none", "bf16", 4.0),
        ("adam", "fp32", "bf16", 8.0),
        ("adam-8bit", "none", "fp32", 2.03125),
        ("lion", "fp32", "fp32", 8.0),
        ("sgd", "none", "fp32", 0.0),
        ("sgd-momentum", "none", "fp32", 4.0),
    ],
)
def test_states_are_what_the_optimiser_keeps(name: str, master: str, moments: str, expected: float) -> None:
    found = optimiser_recipe(optimiser(name), LLAMA, master=master, moments=moments)
    assert found.state == expected
    assert found.work == 0.0


def test_adafactor_keeps_next_to_nothing() -> None:
    assert 0.0 < optimiser_recipe(optimiser("adafactor"), LLAMA, master="none").state < 0.1


def test_muon_keeps_less_than_adam_and_multiplies_for_it() -> None:
    found = optimiser_recipe(optimiser("muon"), LLAMA)
    assert 8.0 < found.state < 12.0
    assert found.work > 0.0
