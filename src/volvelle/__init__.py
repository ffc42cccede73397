"""A working model of big machines: what is computed, where, how it is laid out — and what comes of it.

>>> import volvelle
>>> catalogue = volvelle.Catalogue()
>>> step = volvelle.TrainingStep(model=volvelle.transformer(catalogue.model("gpt3-175b")), batch=1536)
>>> cluster = catalogue.cluster("dgx-a100/1024")
>>> answer = volvelle.ClosedForm().estimate(step, cluster, volvelle.ParallelMapping(tensor=8, pipeline=8, data=16))
>>> answer.feasible
True
"""

from volvelle.catalogue import Catalogue
from volvelle.economics.step_cost import CostAssumptions, Costs, step_costs
from volvelle.errors import (
    DescriptionError,
    GraphError,
    MappingError,
    MissingExtraError,
    OutsideDomainError,
    SourceError,
    UnitError,
    UnknownNameError,
    VolvelleError,
)
from volvelle.estimators.compiled.compiled_form import CompiledClosedForm
from volvelle.estimators.contract import Estimator, TrainingEstimator
from volvelle.estimators.result import (
    Contribution,
    Estimate,
    EstimateTable,
    MemoryPart,
    Range,
    TrainingEstimate,
    Violation,
)
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Recompute, Schedule
from volvelle.mapping.sharding import Conversion, ShardedBlock, all_shardings, by_dimension, shard
from volvelle.spread import Evidence, Exact, Figure, Interval, LogNormal, Normal
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import Dragonfly, FatTree, FullyConnected, Ring, Switch, Torus
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.shape import Experts, LatentAttention, Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Block, Tensor, Workload
from volvelle.workload.operations import Contraction, Lookup, Normalisation, Operation, Phase, Pointwise, Routing
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, TensorLayout, conversion, split
from volvelle.workload.training import TrainingStep
from volvelle.workload.transforms import with_backward

__version__ = "0.1.0"

__all__ = [
    "PARTIAL",
    "REPLICATED",
    "Block",
    "BlockBuilder",
    "Catalogue",
    "Chip",
    "ClosedForm",
    "Cluster",
    "Collective",
    "CompiledClosedForm",
    "Contraction",
    "Contribution",
    "Conversion",
    "CostAssumptions",
    "Costs",
    "DescriptionError",
    "Dimension",
    "Dragonfly",
    "Estimate",
    "EstimateTable",
    "Estimator",
    "Evidence",
    "Exact",
    "Experts",
    "FatTree",
    "Figure",
    "FullyConnected",
    "GraphError",
    "Interval",
    "LatentAttention",
    "Link",
    "LogNormal",
    "Lookup",
    "MappingError",
    "MappingTable",
    "Memory",
    "MemoryPart",
    "MissingExtraError",
    "Normal",
    "Normalisation",
    "Operation",
    "OutsideDomainError",
    "ParallelMapping",
    "Phase",
    "Pointwise",
    "Range",
    "Recompute",
    "Ring",
    "Routing",
    "Schedule",
    "ShardedBlock",
    "SourceError",
    "Switch",
    "Tensor",
    "TensorLayout",
    "Torus",
    "TrainingEstimate",
    "TrainingEstimator",
    "TrainingStep",
    "Transformer",
    "UnderUncertainty",
    "UnitError",
    "UnknownNameError",
    "Violation",
    "VolvelleError",
    "Workload",
    "all_shardings",
    "by_dimension",
    "conversion",
    "shard",
    "split",
    "step_costs",
    "transformer",
    "with_backward",
]
