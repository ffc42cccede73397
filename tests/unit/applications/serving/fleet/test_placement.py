"""Which service goes to which machine."""

from itertools import product

import numpy as np
import pytest

from volvelle.applications.serving.fleet.placement import Place, placed


def place(machine: str, chips: list[int], dollars: float) -> Place:
    return Place(machine=machine, chips=np.array(chips), dollars=dollars)


def test_the_cheapest_is_taken_where_there_is_room() -> None:
    found = placed({"chat": [place("new", [8], 10.0), place("old", [16], 7.0)]}, {"new": None, "old": None})
    assert found is not None
    assert found["chat"].machine == "old"


def test_services_whose_peaks_differ_share_chips() -> None:
    day = {"chat": [place("new", [8, 1], 5.0)], "batch": [place("new", [1, 8], 5.0)]}
    assert placed(day, {"new": 9}) is not None
    assert placed(day, {"new": 8}) is None


def test_the_placement_is_the_cheapest_of_all() -> None:
    generator = np.random.default_rng(1)
    for _ in range(40):
        services = {
            f"s{number}": [
                place(machine, list(generator.integers(1, 9, 3)), float(generator.uniform(1, 10)))
                for machine in ("a", "b", "c")
            ]
            for number in range(4)
        }
        room = {machine: int(generator.integers(4, 16)) for machine in ("a", "b", "c")}
        ways = [
            sum(one.dollars for one in way)
            for way in product(*services.values())
            if all(
                sum((one.chips for one in way if one.machine == machine), np.zeros(3)).max() <= most
                for machine, most in room.items()
            )
        ]
        found = placed(services, room)
        if found is None:
            assert not ways
        else:
            assert sum(one.dollars for one in found.values()) == pytest.approx(min(ways))
