"""Every name of the public surface, re-exported; ``volvelle`` itself loads this when a name is first asked for."""

from volvelle import catalogue
from volvelle.applications.training.training_step import training_step
from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import owned_costs as step_costs
from volvelle.economics.step_cost import CostAssumptions, Costs
from volvelle.errors import (
    DescriptionError,
    GraphError,
    MappingError,
    MissingExtraError,
    MissingFigureError,
    OutsideDomainError,
    SourceError,
    UnitError,
    UnknownNameError,
    VolvelleError,
)
from volvelle.estimators.calibration import (
    CalibratedCluster,
    Calibration,
    Calibrations,
    FittedConstants,
    fitted_constants,
)
from volvelle.estimators.compiled.compiled_form import CompiledClosedForm
from volvelle.estimators.contract import Estimator, TrainingEstimator
from volvelle.estimators.result import (
    Contribution,
    Estimate,
    EstimateTable,
    MemoryPart,
    Range,
    RangedFigure,
    TrainingEstimate,
    Violation,
)
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty, sampled
from volvelle.interchange.load_words import Trace
from volvelle.interchange.speculation_words import Draft, Drafter, Eagle, Mtp, Ngram, Parallel
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Recompute, Schedule
from volvelle.mapping.sharding import Conversion, ShardedBlock, all_shardings, by_dimension, shard
from volvelle.spread import Evidence, Exact, Figure, Interval, LogNormal, Normal
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.invert import Inversion
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import (
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
)
from volvelle.verbs.collective.ask import CollectiveAnswer, collective
from volvelle.verbs.compare import Alternative, Comparison, compare
from volvelle.verbs.cost import Account, cost
from volvelle.verbs.crosscheck.answers import CrossCheck
from volvelle.verbs.crosscheck.crosscheck import crosscheck
from volvelle.verbs.crosscheck.suite_check import SuiteCheck, crosscheck_suite
from volvelle.verbs.differences import Difference
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.explore import explore
from volvelle.verbs.fleet.answer import Fleet
from volvelle.verbs.fleet.size import fleet
from volvelle.verbs.how_many import Sizing, how_many
from volvelle.verbs.job.answer import Job
from volvelle.verbs.job.job import job
from volvelle.verbs.map import MapAnswer, map  # noqa: A004 - the verb's name
from volvelle.verbs.mpi import MpiAnswer, mpi
from volvelle.verbs.plan import Launch, Plan, launch, plan
from volvelle.verbs.plan_serving.plan import ServingPlan, plan_serving
from volvelle.verbs.read_model import read_model
from volvelle.verbs.replay import ReplayAnswer, replay
from volvelle.verbs.scale import Scaling, scale
from volvelle.verbs.serving.load_figures import LatencyFigure
from volvelle.verbs.serving.serve import LoadedServing, Serving, StaticServing, serve
from volvelle.verbs.serving.split import SplitServing, serve_split
from volvelle.verbs.trained import Trained
from volvelle.verbs.validate import GoodputRuns, Validation, validate
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.attention_forms import DeltaNet, SparseIndex
from volvelle.workload.families.shape import Experts, LatentAttention, LayerKind, Mamba, Mamba2, Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Block, Tensor, Workload
from volvelle.workload.operations import Contraction, Lookup, Normalisation, Operation, Phase, Pointwise, Routing
from volvelle.workload.serving.lengths import FixedLengths, LengthsAround, LengthsUpTo, RequestLengths
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AtOnce, Closed, Gamma, Load, Poisson, Ramp
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, TensorLayout, conversion, split
from volvelle.workload.training import TrainingStep
from volvelle.workload.transforms import with_backward
from volvelle.workload.tuning import Tuning

__all__ = [
    "PARTIAL",
    "REPLICATED",
    "Account",
    "Alternative",
    "Answer",
    "Answers",
    "AtOnce",
    "Block",
    "BlockBuilder",
    "CalibratedCluster",
    "Calibration",
    "Calibrations",
    "Catalogue",
    "Chip",
    "Closed",
    "ClosedForm",
    "Cluster",
    "Collective",
    "CollectiveAnswer",
    "Comparison",
    "CompiledClosedForm",
    "Contraction",
    "Contribution",
    "Conversion",
    "CostAssumptions",
    "Costs",
    "CrossCheck",
    "DeltaNet",
    "DescriptionError",
    "Difference",
    "Dimension",
    "Draft",
    "Drafter",
    "Dragonfly",
    "Eagle",
    "Estimate",
    "EstimateTable",
    "Estimator",
    "Evidence",
    "Exact",
    "Experts",
    "FatTree",
    "Figure",
    "FittedConstants",
    "FixedLengths",
    "Fleet",
    "FullyConnected",
    "Gamma",
    "GoodputRuns",
    "GraphError",
    "HyperX",
    "Interval",
    "Inversion",
    "Job",
    "LatencyFigure",
    "LatencyLimit",
    "LatentAttention",
    "Launch",
    "LayerKind",
    "LengthsAround",
    "LengthsUpTo",
    "Link",
    "Load",
    "LoadedServing",
    "LogNormal",
    "Lookup",
    "Mamba",
    "Mamba2",
    "MapAnswer",
    "MappingError",
    "MappingTable",
    "Memory",
    "MemoryPart",
    "MissingExtraError",
    "MissingFigureError",
    "MpiAnswer",
    "Mtp",
    "Ngram",
    "Normal",
    "Normalisation",
    "Operation",
    "OutsideDomainError",
    "Parallel",
    "ParallelMapping",
    "Phase",
    "Plan",
    "Pointwise",
    "Poisson",
    "PolarFly",
    "RailOnly",
    "Ramp",
    "Range",
    "RangedFigure",
    "Recompute",
    "ReplayAnswer",
    "RequestLengths",
    "Ring",
    "Routing",
    "Scaling",
    "Schedule",
    "Serving",
    "ServingPlan",
    "ShardedBlock",
    "Sizing",
    "SlimFly",
    "SourceError",
    "SparseIndex",
    "SplitServing",
    "StaticServing",
    "SuiteCheck",
    "Switch",
    "Tensor",
    "TensorLayout",
    "Torus",
    "Trace",
    "Trained",
    "TrainingEstimate",
    "TrainingEstimator",
    "TrainingStep",
    "Transformer",
    "Tuning",
    "UnderUncertainty",
    "UnitError",
    "UnknownNameError",
    "Validation",
    "Violation",
    "VolvelleError",
    "Workload",
    "all_shardings",
    "by_dimension",
    "catalogue",
    "collective",
    "compare",
    "conversion",
    "cost",
    "crosscheck",
    "crosscheck_suite",
    "estimate",
    "explore",
    "fitted_constants",
    "fleet",
    "how_many",
    "job",
    "launch",
    "map",
    "mpi",
    "plan",
    "plan_serving",
    "read_model",
    "replay",
    "sampled",
    "scale",
    "serve",
    "serve_split",
    "shard",
    "split",
    "step_costs",
    "training_step",
    "transformer",
    "validate",
    "with_backward",
]
