"""Shapes of a network dimension, one a file."""

from collections.abc import Mapping

from volvelle.system.topologies.base import AbstractTopology, HoldingTopology
from volvelle.system.topologies.cube_mesh import CubeMesh
from volvelle.system.topologies.dragonfly import Dragonfly
from volvelle.system.topologies.fat_tree import FatTree
from volvelle.system.topologies.fully_connected import FullyConnected
from volvelle.system.topologies.hyper_x import HyperX
from volvelle.system.topologies.polar_fly import PolarFly
from volvelle.system.topologies.rail_only import RailOnly
from volvelle.system.topologies.ring import Ring
from volvelle.system.topologies.slim_fly import SlimFly
from volvelle.system.topologies.switch import Switch
from volvelle.system.topologies.torus import Torus

OF_A_SIZE: Mapping[str, type[HoldingTopology]] = {
    "slim-fly": SlimFly,
    "polar-fly": PolarFly,
    "hyper-x": HyperX,
    "rail-only": RailOnly,
}
"""Shapes that there are for some numbers of chips only, by the names that files have for them."""

__all__ = [
    "OF_A_SIZE",
    "AbstractTopology",
    "CubeMesh",
    "Dragonfly",
    "FatTree",
    "FullyConnected",
    "HyperX",
    "PolarFly",
    "RailOnly",
    "Ring",
    "SlimFly",
    "Switch",
    "Torus",
]
