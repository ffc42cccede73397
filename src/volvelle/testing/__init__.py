"""Conformance suites: inherit one, give it your estimator or topology, and pytest holds it to the contract.

from volvelle.testing import EstimatorContract

class TestMine(EstimatorContract):
    estimator = MyEstimator()
"""

from volvelle.testing.estimator_contract import EstimatorContract
from volvelle.testing.topology_contract import TopologyContract

__all__ = ["EstimatorContract", "TopologyContract"]
