"""How one instance of a served model is laid out over chips."""

from dataclasses import dataclass

from volvelle.domains import DEGREE, check_fields, number
from volvelle.errors import MappingError
from volvelle.workload.families.shape import Transformer


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLayout:
    """Degrees of one instance: attention split over `tensor` chips and repeated `data` times, layers over `pipeline`.

    Experts lie on all chips of a stage: `expert` groups of whole experts, each split over the chips of a group.
    """

    tensor: int = number(DEGREE, 1)
    pipeline: int = number(DEGREE, 1)
    expert: int = number(DEGREE, 1)
    data: int = number(DEGREE, 1)

    def __post_init__(self) -> None:
        check_fields(self, "layout")

    @property
    def chips(self) -> int:
        """Of one instance."""
        return self.tensor * self.data * self.pipeline

    @property
    def expert_tensor(self) -> int:
        """Chips that one expert is split over."""
        return self.tensor * self.data // self.expert

    def checked(self, shape: Transformer) -> "ServingLayout":
        """The layout, if the model can be laid out so."""
        problems = {
            f"{shape.heads} heads are not divided by tensor parallelism {self.tensor}": shape.heads % self.tensor,
            f"{shape.kv_heads} heads of keys are neither divided by tensor parallelism {self.tensor} nor divide it": (
                shape.kv_heads % self.tensor and self.tensor % shape.kv_heads
            ),
            f"{shape.layers} layers are fewer than {self.pipeline} stages": self.pipeline > shape.layers,
            f"{self.tensor * self.data} chips of a stage are not divided by expert parallelism {self.expert}": (
                (self.tensor * self.data) % self.expert
            ),
            f"{shape.name} has no experts to spread over {self.expert} groups": self.expert > 1 and not shape.experts,
            "there are fewer experts than groups to spread them over": (
                shape.experts is not None and shape.experts.count < self.expert
            ),
        }
        found = [problem for problem, holds in problems.items() if holds]
        if found:
            raise MappingError(f"{shape.name} cannot be served so: {'; '.join(found)}")
        return self
