"""Our own estimators and topologies are held to the contracts we ship."""

from typing import ClassVar

from volvelle import (
    ClosedForm,
    CompiledClosedForm,
    Dragonfly,
    FatTree,
    FullyConnected,
    HyperX,
    PolarFly,
    RailOnly,
    Ring,
    SlimFly,
    Switch,
    Torus,
    UnderUncertainty,
)
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.flow_level.estimator import FlowLevel
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import AbstractTopology
from volvelle.testing import EstimatorContract, TopologyContract


class TestClosedForm(EstimatorContract):
    estimator: ClassVar[TrainingEstimator] = ClosedForm()


class TestCompiledClosedForm(EstimatorContract):
    estimator: ClassVar[TrainingEstimator] = CompiledClosedForm()


class TestEventDriven(EstimatorContract):
    estimator = EventDriven()


class TestFlowLevel(EstimatorContract):
    estimator = FlowLevel(routing=Routing(rule=Rule.DESTINATION))


class TestUnderUncertainty(EstimatorContract):
    estimator: ClassVar[TrainingEstimator] = UnderUncertainty(estimator=ClosedForm(), samples=16)


class TestRing(TopologyContract):
    topology: ClassVar[AbstractTopology] = Ring()


class TestSwitch(TopologyContract):
    topology: ClassVar[AbstractTopology] = Switch()


class TestFullyConnected(TopologyContract):
    topology: ClassVar[AbstractTopology] = FullyConnected()


class TestTorus(TopologyContract):
    topology: ClassVar[AbstractTopology] = Torus((4, 4, 4))


class TestFatTree(TopologyContract):
    topology: ClassVar[AbstractTopology] = FatTree(radix=8, oversubscription=3.0)


class TestSlimFly(TopologyContract):
    topology: ClassVar[AbstractTopology] = SlimFly(5, 4)


class TestPolarFly(TopologyContract):
    topology: ClassVar[AbstractTopology] = PolarFly(7, 4)


class TestHyperX(TopologyContract):
    topology: ClassVar[AbstractTopology] = HyperX(2, 8, 4)


class TestRailOnly(TopologyContract):
    topology: ClassVar[AbstractTopology] = RailOnly(radix=16)


class TestDragonfly(TopologyContract):
    topology: ClassVar[AbstractTopology] = Dragonfly(16, taper=0.5)
