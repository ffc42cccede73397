"""A training step as questions put it: a model, what of it is trained, by which optimiser, in which types."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from volvelle.domains import EXPERT_LOAD, NO_LAYERS, RANK, SEQUENCES, within_domains
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.optimiser_recipe import optimiser_recipe
from volvelle.interchange.lengths_file import read_lengths
from volvelle.laws.packing import keys_in_documents
from volvelle.workload.graph import Workload
from volvelle.workload.optimisers import optimiser
from volvelle.workload.packing import Lengths, packed
from volvelle.workload.training import TrainingStep
from volvelle.workload.tuning import Tuning, tuned

GRADIENTS = ("fp32", "bf16")
"""Element types that gradients may be accumulated and exchanged in."""
_NARROW = "adam-8bit"
"""The optimiser that is proposed where states are too large."""
USUAL_RANK = 16
"""Of adapters, where they are proposed."""


def tuning_of(
    *,
    lora: int | None = None,
    qlora: int | None = None,
    lora_targets: str | Sequence[str] | None = None,
    base: str | None = None,
    freeze: str | Sequence[str] = (),
    freeze_layers: int = 0,
) -> Tuning:
    """What is trained; `qlora` is `lora` beside frozen weights in 4-bit NormalFloat."""
    if lora is not None and qlora is not None:
        raise DescriptionError("both lora and qlora are given; qlora is lora with base nf4, give one of them")
    rank = lora if qlora is None else qlora
    if rank is None and lora_targets:
        raise DescriptionError("LoRA targets are given without a rank; give lora (or qlora) too, like 16")
    return Tuning(
        rank=rank or 0,
        targets=_words(lora_targets) or ("all",),
        base=base or ("nf4" if qlora is not None else "bf16"),
        frozen=_words(freeze),
        frozen_layers=freeze_layers,
    )


@within_domains
def training_step(
    forward: Workload,
    *,
    batch: Annotated[int, SEQUENCES],
    element: str = "bf16",
    expert_load: Annotated[float, EXPERT_LOAD] = 1.0,
    lora: Annotated[int | None, RANK] = None,
    qlora: Annotated[int | None, RANK] = None,
    lora_targets: str | Sequence[str] | None = None,
    base: str | None = None,
    freeze: str | Sequence[str] = (),
    freeze_layers: Annotated[int, NO_LAYERS] = 0,
    optimizer: str = "adam",
    master: str = "fp32",
    moments: str = "fp32",
    gradients: str | None = None,
    lengths: str | Path | Lengths | None = None,
) -> TrainingStep:
    """One step of a forward pass, tuned as the arguments say; see `tuning_of` for those of LoRA and frozen parts.

    `optimizer` is a name of ``volvelle.workload.optimisers``, `master` the type of the weights it updates (``none``:
    those that are multiplied), `moments` and `gradients` those of its moments and of gradients (``fp32`` unless
    given). `lengths` are of documents packed into the sequences, ``"512:0.7,4096:0.3"`` or a file.
    """
    if gradients is not None and gradients not in (*GRADIENTS, element):
        raise UnknownNameError.among("element type of gradients", gradients, GRADIENTS)
    if lengths is not None:
        forward = _packed(forward, lengths if isinstance(lengths, Lengths) else read_lengths(lengths))
    tuning = tuning_of(
        lora=lora, qlora=qlora, lora_targets=lora_targets, base=base, freeze=freeze, freeze_layers=freeze_layers
    )
    model = tuned(forward, tuning)
    chosen = optimiser(optimizer)
    recipe = optimiser_recipe(chosen, model, master=master, moments=moments)
    return TrainingStep(
        model=model,
        batch=batch,
        element=element,
        gradient_element=gradients or "fp32",
        expert_load=expert_load,
        optimiser=chosen.name,
        optimiser_state=recipe.state,
        master=recipe.master,
        optimiser_work=recipe.work,
        tuning=None if tuning.does_nothing else tuning,
    )


def lighter_steps(step: TrainingStep) -> Iterator[tuple[str, TrainingStep]]:
    """The same step with less to keep, and the options that say so: narrow states, adapters, adapters of 4-bit weights.

    None where it is tuned already.
    """
    if step.tuning is not None or not any(block.is_layer for block in step.model.blocks):
        return
    if step.optimiser == "adam":
        recipe = optimiser_recipe(optimiser(_NARROW), step.model)
        yield (
            f"--optimizer {_NARROW} --gradients bf16",
            replace(
                step,
                optimiser=_NARROW,
                optimiser_state=recipe.state,
                master=recipe.master,
                optimiser_work=recipe.work,
                gradient_element="bf16",
            ),
        )
    for options, tuning in (("--lora", tuning_of(lora=USUAL_RANK)), ("--qlora", tuning_of(qlora=USUAL_RANK))):
        try:
            yield f"{options} {USUAL_RANK}", replace(step, model=tuned(step.model, tuning), tuning=tuning)
        except DescriptionError:
            return  # it has no projection that adapters stand beside


def _packed(forward: Workload, lengths: Lengths) -> Workload:
    sequence = int(forward.sizes.get("position", 1))
    if lengths.longest > sequence:
        raise DescriptionError(
            f"lengths: a document of {lengths.longest} tokens does not fit a sequence of {sequence}; "
            "give a longer sequence, or cut it"
        )
    window = forward.sizes.get("window")
    return packed(
        forward,
        keys=keys_in_documents(lengths.lengths, lengths.shares),
        window=None if window is None else keys_in_documents(lengths.lengths, lengths.shares, reach=window),
    )


def _words(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Words from a list of them, or from text with commas."""
    parts = given.split(",") if isinstance(given, str) else [word for part in given or () for word in part.split(",")]
    return tuple(dict.fromkeys(word.strip() for word in parts if word.strip()))
