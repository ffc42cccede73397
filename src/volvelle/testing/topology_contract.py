"""What every topology must satisfy."""

from typing import ClassVar

import numpy as np

from volvelle.system.topologies import AbstractTopology

_COUNTS = np.array([1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0])


class TopologyContract:
    """Inherit, and set `topology` to one that holds at least 64 chips."""

    topology: ClassVar[AbstractTopology]

    def _all(self, name: str) -> np.ndarray:
        answer = getattr(self.topology, name)(_COUNTS)
        return np.broadcast_to(np.asarray(answer, dtype=float), _COUNTS.shape)

    def test_answers_broadcast_over_the_number_of_chips(self) -> None:
        """A column of counts gets the column of single answers."""
        for name in ("steps", "bisection", "evenly", "diameter", "links", "switch_ports", "neighbourly"):
            single = [float(getattr(self.topology, name)(float(count))) for count in _COUNTS]
            np.testing.assert_allclose(self._all(name), single, rtol=1e-12, err_msg=name)

    def test_one_chip_needs_no_steps(self) -> None:
        """A collective among one is over before it starts."""
        assert float(self.topology.steps(1.0)) == 0

    def test_more_chips_never_take_fewer_steps(self) -> None:
        """Latency grows with the group."""
        assert np.all(np.diff(self._all("steps")) >= -1e-9)

    def test_no_cut_carries_more_than_half_the_chips_can_send(self) -> None:
        """Bisection is a fraction, and never nothing."""
        found = self._all("bisection")
        assert np.all((found > 0) & (found <= 1 + 1e-12))
        tightest = self._all("evenly")
        assert np.all((tightest > 0) & (tightest <= found + 1e-12))

    def test_no_ring_goes_faster_than_chips_can_send(self) -> None:
        """Neighbourly traffic is a fraction, and never nothing."""
        found = self._all("neighbourly")
        assert np.all((found > 0) & (found <= 1 + 1e-12))

    def test_parts_are_never_negative(self) -> None:
        """One can buy no negative cables."""
        for name in ("diameter", "links", "switch_ports"):
            assert np.all(self._all(name) >= 0), name
