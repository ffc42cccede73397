"""What an optimiser takes of one trainable parameter of a model, on average: bytes of state, FLOP of its step."""

from dataclasses import dataclass

from volvelle.errors import UnknownNameError
from volvelle.laws.optimiser import factored_state_bytes, narrow_state_bytes, orthogonalisation_work
from volvelle.quantities import Bytes
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Workload
from volvelle.workload.optimisers import MASTERS, OPTIMISERS, Optimiser, WeightShape, trainable_shapes

MOMENTS = ("fp32", "bf16")
"""Element types that moments may be kept in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimiserRecipe:
    """Of one trainable parameter."""

    state: Bytes
    master: Bytes
    """Of them those of a master copy of the weights."""
    work: float
    """FLOP of products of matrices."""


def optimiser_recipe(
    optimiser: Optimiser, model: Workload, *, master: str = "fp32", moments: str = "fp32"
) -> OptimiserRecipe:
    """An optimiser on a model's trainable weights, with a master copy of them unless it is none."""
    for kind, word, known in (("master weights", master, MASTERS), ("moments", moments, MOMENTS)):
        if word not in known:
            raise UnknownNameError.among(f"element type of {kind}", word, known)
    copy = 0.0 if master == "none" else element_bytes(master)
    each = element_bytes(moments)
    plain = optimiser.moments * each + float(narrow_state_bytes(float(optimiser.narrow_moments)))
    if not (optimiser.factored_moments or optimiser.orthogonalises):
        return OptimiserRecipe(state=copy + plain, master=copy, work=0.0)
    shapes = list(trainable_shapes(model))
    parameters = sum(shape.parameters for shape in shapes)
    state = sum(_state(optimiser, shape, each) for shape in shapes) / parameters
    turned = [shape for shape in shapes if optimiser.orthogonalises and shape.in_layer and shape.is_matrix]
    work = sum(shape.count * float(orthogonalisation_work(shape.rows, shape.columns)) for shape in turned)
    return OptimiserRecipe(state=copy + state, master=copy, work=work / parameters)


def _state(optimiser: Optimiser, shape: WeightShape, each: Bytes) -> Bytes:
    """Bytes of all weights of one shape, without a master copy."""
    if optimiser.orthogonalises:
        own = optimiser if shape.in_layer and shape.is_matrix else OPTIMISERS["adam"]
        return own.moments * each * shape.parameters
    columns = shape.columns if shape.is_matrix else 0.0
    rows = shape.rows if shape.is_matrix else shape.rows * shape.columns
    factored = shape.count * float(factored_state_bytes(rows, columns))
    return optimiser.factored_moments * factored + optimiser.moments * each * shape.parameters
