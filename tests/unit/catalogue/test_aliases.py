"""What others call accelerators."""

import pytest

from volvelle import Catalogue
from volvelle.catalogue.aliases import accelerator_aliases


def test_a_name_of_an_accelerator_means_a_chip_and_machines_of_as_much_memory(catalogue: Catalogue) -> None:
    asked = 0
    for alias in accelerator_aliases():
        machines = [name for name in (alias.cluster, *alias.over.values()) if name]
        for name in machines if alias.chip else ():
            held, own = catalogue.chip(alias.chip or "").memory, catalogue.node(name).chip.memory
            assert float(own.capacity) == pytest.approx(float(held.capacity), rel=0.05), (alias.match, name)
            asked += 1
    assert asked > 40
