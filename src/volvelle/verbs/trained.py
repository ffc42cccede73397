"""What of a model a step trains, and what that keeps beside the weights: the part of an answer that says so."""

from dataclasses import dataclass

from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Of a whole model, not of one chip."""

    trainable_parameters: int
    trainable_share: float
    """Of all its parameters."""
    frozen_bytes: float
    """Of weights that are left as they are."""
    adapter_rank: int
    """0: no adapters."""
    adapter_targets: tuple[str, ...]
    frozen_element: str | None
    """Type that frozen matrices are kept in; None: nothing is frozen."""
    frozen_parts: tuple[str, ...]
    frozen_layers: int
    optimizer: str
    optimizer_bytes: float
    """Of a trainable parameter, master weights among them."""
    gradient_element: str
    keys_per_query: float | None
    """That attention over all positions meets on average, where documents are packed; None: they are not."""


def trained(step: TrainingStep) -> Trained:
    """Of a step."""
    model, tuning = step.model, step.tuning
    keys, positions = model.sizes.get("key"), model.sizes.get("position")
    return Trained(
        trainable_parameters=model.trainable_parameters(),
        trainable_share=model.trainable_parameters() / max(model.parameters(), 1),
        frozen_bytes=model.frozen_bytes,
        adapter_rank=0 if tuning is None else tuning.rank,
        adapter_targets=tuning.targets if tuning is not None and tuning.rank else (),
        frozen_element=None if tuning is None else tuning.base,
        frozen_parts=() if tuning is None else tuning.frozen,
        frozen_layers=0 if tuning is None else tuning.frozen_layers,
        optimizer=step.optimiser,
        optimizer_bytes=float(step.optimiser_state),
        gradient_element=step.gradient_element,
        keys_per_query=None if keys is None or keys == positions else keys,
    )
