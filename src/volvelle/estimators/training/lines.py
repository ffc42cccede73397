"""Names of contributions: what a breakdown shows, line by line."""

from dataclasses import dataclass

from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.copies import added_gradients_time, listed_parts_time, unit_copies_time
from volvelle.laws.nested_collectives import nested_all_gather_time, nested_all_reduce_time
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time, host_bound_time, overlap_slowdown_time, streamed_time
from volvelle.laws.pipeline import bubble_time
from volvelle.mapping.axes import DATA, PIPELINE, TENSOR


@dataclass(frozen=True, slots=True)
class Line:
    """Identity of a contribution."""

    name: str
    part: str
    exposed: bool
    law: str


_TENSOR = TENSOR.communication
_DATA = DATA.communication
_PIPELINE = PIPELINE.name

REPEATED = Line("all-gather (recomputed)", _TENSOR, True, nested_all_gather_time.__name__)
REPEATED_HIDDEN = Line("all-gather (recomputed)", _TENSOR, False, nested_all_gather_time.__name__)
ONCE = Line("all-reduce, shared weights", _TENSOR, True, nested_all_reduce_time.__name__)
HAND_OVER = Line("pipeline send/recv", _PIPELINE, True, point_to_point_time.__name__)
BUBBLE = Line("bubble", _PIPELINE, True, bubble_time.__name__)
GRADIENTS = Line("gradient reduction (DP)", _DATA, True, nested_all_reduce_time.__name__)
GRADIENTS_HIDDEN = Line("gradient reduction (DP)", _DATA, False, hidden_time.__name__)
HOST = Line("stream to host memory", "off-load", True, streamed_time.__name__)
DISPATCH = Line("waiting for the host", "host", True, host_bound_time.__name__)
SLOWED = Line(
    "compute slowed by overlapped communication", "overlapped communication", True, overlap_slowdown_time.__name__
)
COPIES = Line("copies of weights and gradients", "copies", True, unit_copies_time.__name__)
ADDED = Line("gradients added up in 32 bits", "copies", True, added_gradients_time.__name__)
LISTED = Line("parts of tensors in lists", "host", True, listed_parts_time.__name__)
OPTIMISER = Line("optimiser step", "optimiser", True, optimiser_step_time.__name__)
