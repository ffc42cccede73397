"""Public recipes: what a framework sets for a model, a GPU and a precision where a measured row does not say.

Read from the presets of Megatron-Bridge (``data/measurements/recipes.csv.gz``). A row's own columns always count first.
Of the presets of its model, GPU and precision that one is meant which differs least from the row's degrees, batch,
number of chips and release; a degree counts as two releases.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from volvelle.applications.measured_table import shipped_table
from volvelle.applications.table_cells import fields_from, table_text
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.mapping.parallelism import Graphs

_FRAMEWORK = "megatron-bridge"
_PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "bf16": ("bf16",),
    "nvfp4": ("nvfp4",),
    "fp8": ("fp8_cs", "fp8_sc"),
    "fp8-cs": ("fp8_cs",),
    "fp8-sc": ("fp8_sc",),
    "fp8-mx": ("fp8_mx",),
    "mxfp8": ("fp8_mx",),
}
"""What tables of results call a precision → what presets call it."""
_LIGHT = {"layernorm", "moe_act", "mla_up_proj"}
"""Modules that are cheap to compute again for the memory they free."""
_COMPARED = ("chips", "global_batch", "tensor", "pipeline", "interleave", "context", "expert", "micro_batch")
"""Settings by which a preset is told from others of its model, GPU and precision."""
_RELEASES = 2
"""Releases between that one such setting that differs is worth."""
_FURTHEST = 3
"""Of such settings at most so many may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One preset; what it does not set is None or empty, and has the framework's default."""

    release: str
    """Of containers, like 26.02; several if they share it."""
    preset: str
    model: str
    gpu: str
    precision: str
    chips: int | None = None
    global_batch: int | None = None
    tensor: int | None = None
    pipeline: int | None = None
    interleave: int | None = None
    context: int | None = None
    expert: int | None = None
    micro_batch: int | None = None
    dispatcher: str = ""
    """What brings tokens to experts; none: plain all-to-alls."""
    overlap: bool | None = None
    """Whether that runs behind computation."""
    graph_kind: str = ""
    graph_scope: str = ""
    recompute: str = ""
    """Modules that are recomputed."""
    recompute_layers: int | None = None
    """Layers that are recomputed in full."""
    fsdp: bool | None = None
    offload_layers: int | None = None
    """Layers whose activations go to host memory."""
    narrow_attention: bool | None = None

    @property
    def graphs(self) -> Graphs:
        """Which kernels the host starts together."""
        if self.graph_kind in ("", "none"):
            return Graphs.NONE
        if "full_iteration" in (self.graph_kind, self.graph_scope):
            return Graphs.WHOLE
        modules = self.graph_scope.split(";")
        return Graphs.ATTENTION if "attn" in modules else Graphs.ROUTER if "moe_router" in modules else Graphs.NONE

    @property
    def light(self) -> bool:
        """Whether what is cheap for its memory is computed again."""
        return bool(_LIGHT & set(self.recompute.split(";")))

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Settings that no law prices, in words."""
        modules = [name for name in self.recompute.split(";") if name and name not in _LIGHT]
        found = [f"recomputes {', '.join(modules)}"] if modules else []
        found += [f"recomputes {self.recompute_layers} layers"] if self.recompute_layers else []
        return (*found, *(["activations of all layers off-load"] if self.offload_layers else []))


@cache
def _recipes() -> Mapping[tuple[str, str], Sequence[Recipe]]:
    """All of them by model and GPU."""
    found: dict[tuple[str, str], list[Recipe]] = {}
    for row in csv.DictReader(io.StringIO(table_text(shipped_table("recipes")))):
        recipe = Recipe(**fields_from(Recipe, row))
        found.setdefault((_letters(recipe.model), recipe.gpu), []).append(recipe)
    return found


@cache
def _releases() -> tuple[str, ...]:
    """In their order."""
    return tuple(
        sorted({name for recipes in _recipes().values() for one in recipes for name in one.release.split("/")})
    )


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def recipe_of(row: TrainingMeasurement) -> tuple[Recipe, str] | None:
    """The preset that a row ran, and how sure that is in words (nothing: it is the very one); None: it has none."""
    framework, _, release = row.framework.lower().partition(" ")
    if framework != _FRAMEWORK:
        return None
    names = _PRECISIONS.get(row.precision.lower(), ())
    known = _recipes().get((_letters(row.model), row.accelerator.lower().partition("-")[0]), ())
    recipe = min(
        (one for one in known if one.precision in names),
        key=lambda one: _RELEASES * _differing(row, one) + _apart(one, release),
        default=None,
    )
    differing = _differing(row, recipe) if recipe else 0
    if recipe is None or differing > _FURTHEST:
        return None
    unsure = [] if release in recipe.release.split("/") else [f"release {recipe.release}"]
    unsure += ["other degrees or batch"] if differing else []
    return recipe, f"recipe {recipe.preset} ({', '.join(unsure)})" if unsure else ""


def _differing(row: TrainingMeasurement, recipe: Recipe) -> int:
    """How many of the settings that both state differ; degrees that a preset leaves out are 1."""
    count = 0
    for name in _COMPARED:
        own, theirs = getattr(row, name), getattr(recipe, name)
        if theirs is None and name not in ("chips", "global_batch"):
            theirs = 1
        count += own is not None and theirs is not None and own != theirs
    return count


def _apart(recipe: Recipe, release: str) -> int:
    """Releases between the preset's and a row's; one that is not known counts as the newest."""
    order = _releases()
    place = sum(name <= release for name in order) - 1 if release else len(order) - 1
    return min(abs(order.index(name) - place) for name in recipe.release.split("/"))
