"""What a step trains, in a line."""

from volvelle.quantities import BYTES, show
from volvelle.verbs.trained import Trained, trained
from volvelle.workload.training import TrainingStep

_USUAL = (("adam", 12.0), "fp32")
"""Optimiser with its bytes a parameter, and gradients, of which nothing is said."""


def trained_text(step: TrainingStep) -> str:
    """Nothing where all weights are trained as usual."""
    found = trained(step)
    said = [_tuned(found)] if found.frozen_element is not None else []
    if ((found.optimizer, found.optimizer_bytes), found.gradient_element) != _USUAL:
        said.append(
            f"{found.optimizer} with {found.optimizer_bytes:.3g} B of state a trainable parameter, "
            f"gradients in {found.gradient_element}"
        )
    if found.keys_per_query is not None:
        said.append(f"packed documents: a query meets {found.keys_per_query:,.0f} keys on average")
    return "; ".join(said)


def _tuned(found: Trained) -> str:
    frozen = [*found.frozen_parts, *([f"first {found.frozen_layers} layers"] if found.frozen_layers else [])]
    what = f"LoRA of rank {found.adapter_rank} on {', '.join(found.adapter_targets)}" if found.adapter_rank else ""
    if frozen:
        what += f"{', ' if what else ''}frozen {', '.join(frozen)}"
    count = found.trainable_parameters
    shown = f"{count / 1e9:.4g} B" if count >= 1e9 else f"{count / 1e6:.4g} M"
    kept = f"{show(found.frozen_bytes, BYTES)} of frozen weights, matrices in {found.frozen_element}"
    return f"{what}: {shown} parameters are trained ({100 * found.trainable_share:.3g} %), {kept}"
