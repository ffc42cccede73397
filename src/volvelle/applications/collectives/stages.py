"""Which constants of links are fitted to which publications, in which order."""

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number that a stage is free to choose, of one link or of several that share it."""

    name: str
    links: tuple[str, ...]
    start: float
    most: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Some constants, and the groups of rows they are fitted to."""

    groups: tuple[str, ...]
    constants: tuple[Constant, ...]
    between: bool = False
    """Whether the links are between nodes."""


def _node(link: str, *groups: str, reduces: bool = False) -> Stage:
    """A link inside a node. One node cannot tell steps from launching, so the latency of a step stays as it is."""
    constants = [
        Constant(name="setup", links=(link,), start=30e-6),
        Constant(name="efficiency", links=(link,), start=0.8, most=1.0),
        Constant(name="fill", links=(link,), start=60e-6),
    ]
    if reduces:
        constants.append(Constant(name="reduction_efficiency", links=(link,), start=0.85, most=1.0))
    return Stage(groups=groups, constants=tuple(constants))


def _network(link: str, *groups: str, latency: float, fill: float) -> Stage:
    """A link between nodes, on two of them or more; launching costs what it costs inside a node."""
    return Stage(
        groups=groups,
        constants=(
            Constant(name="latency", links=(link,), start=latency),
            Constant(name="fill", links=(link,), start=fill),
            Constant(name="efficiency", links=(link,), start=0.9, most=1.0),
        ),
        between=True,
    )


# The rows of vtrain-lut-* are those of peers-vtrain-* at fewer sizes. The OSU rows of JUWELS time MPI messages,
# which use a node's links otherwise than a collective does.
STAGES = (
    _node("nvlink3", "azure-nd_a100_v4", "stas-a100", "peers-vtrain-a100", "peers-galvatron"),
    _node(
        "nvlink4",
        "azure-nd_h100_v5",
        "azure-nd_h200_v5",
        "stas-h200",
        "stas-nvls-sweep",
        "stas-h200-ops",
        "voltage-park",
        reduces=True,
    ),
    # What NVLink 5 carries is taken from NVLink 4, as steps on Blackwell bear out; what its switches reduce is its own.
    Stage(
        groups=("nccl-b200-local", "oci-b300", "oci-gb200", "oci-gb300", "yangwhale-a4", "yangwhale-a4x"),
        constants=(Constant(name="reduction_efficiency", links=("nvlink5",), start=0.75, most=1.0),),
    ),
    _node("nvlink2-cube-mesh", "peers-vtrain-v100", "peers-aceso-v100"),
    # MI355X has long messages alone: launching and filling are taken to be MI300X's.
    Stage(
        groups=("hisohara-mi300x", "hisohara-mi325x", "hpe-mi300x", "mi300x-transferbench", "oci-mi355x"),
        constants=(
            Constant(name="setup", links=("infinity-fabric-mi300x", "infinity-fabric-mi355x"), start=30e-6),
            Constant(name="fill", links=("infinity-fabric-mi300x", "infinity-fabric-mi355x"), start=60e-6),
            Constant(name="efficiency", links=("infinity-fabric-mi300x",), start=0.7, most=1.0),
            Constant(name="efficiency", links=("infinity-fabric-mi355x",), start=0.75, most=1.0),
        ),
    ),
    Stage(
        groups=("peers-nnscaler-mi200",),
        constants=(
            Constant(name="setup", links=("infinity-fabric-mi250x",), start=90e-6),
            Constant(name="latency", links=("infinity-fabric-mi250x",), start=3e-6),
        ),
    ),
    # On p5 the switches of the node are the narrowest, so p4d and p4de say what the network sustains.
    Stage(
        groups=("aws-p4de", "aws-p5", "skypilot-p4d"),
        constants=(
            Constant(name="latency", links=("efa-400-per-node",), start=60e-6),
            Constant(name="fill", links=("efa-400-per-node",), start=400e-6),
            Constant(name="latency", links=("efa-3200-per-node",), start=20e-6),
            Constant(name="fill", links=("efa-3200-per-node",), start=300e-6),
            Constant(name="efficiency", links=("efa-400-per-node", "efa-3200-per-node"), start=0.85, most=1.0),
        ),
        between=True,
    ),
    # The same adapters drive both: one filling for both keeps publications that were left out closer than one each.
    Stage(
        groups=(
            "dstack-lambda-b200",
            "dstack-nebius-h100",
            "nccl-tests-309-aion",
            "nccl-tests-309-hgx",
            "oci-gb200-racks",
            "skypilot-coreweave-h200",
            "skypilot-nebius-h100",
            "skypilot-together-h100",
            "dstack-gcp-a4",
            "hisohara-mi300x-nodes",
            "hisohara-mi325x-nodes",
            "hisohara-mi355x",
            "oci-mi300x",
            "oci-mi355x-nodes",
            "openshift-h200-roce",
            "rccl-ainic-mi300x",
            "skypilot-gcp-a3-ultra",
            "yangwhale-a4-nodes",
        ),
        constants=(
            Constant(name="latency", links=("infiniband-ndr400",), start=5e-6),
            Constant(name="latency", links=("roce-400",), start=8e-6),
            Constant(name="efficiency", links=("infiniband-ndr400",), start=0.9, most=1.0),
            Constant(name="efficiency", links=("roce-400",), start=0.9, most=1.0),
            Constant(name="fill", links=("infiniband-ndr400", "roce-400"), start=150e-6),
        ),
        between=True,
    ),
    _network("gpudirect-tcpxo-200", "dstack-gcp-a3-mega", "ztan-a3-mega", latency=40e-6, fill=400e-6),
    _network("gpudirect-tcpx-100", "dstack-gcp-a3-high", "skypilot-gcp-a3-high", latency=100e-6, fill=400e-6),
)
FITTED = frozenset(link for stage in STAGES for constant in stage.constants for link in constant.links)
"""Links that calibration rows of a collective library exchanged over."""
