"""What a training script with Transformers and PEFT is to be told: adapters, frozen parts, optimiser, packing.

Facts of the libraries: PEFT's LoraConfig and its target names, bitsandbytes' 4-bit types, which FSDP shares out only
where they are stored in the type of the other weights (PEFT documentation, FSDP), and optimisers by the names of
TrainingArguments.optim. Those of bitsandbytes do not know FSDP2's tensors (bitsandbytes issues 89 and 1633), so 8-bit
Adam is that of torchao.
"""

from volvelle.interchange.launch.expressible import Framework, is_packed
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep
from volvelle.workload.tuning import Tuning

_OPTIMISERS = {
    # optimiser → name, and bytes of state beside an fp32 copy of the weights (None: depends on shapes)
    "adam-8bit": ("adamw_torch_8bit", 2.0 * (1.0 + 4.0 / 256.0)),
    "adafactor": ("adafactor", None),
    "sgd": ("sgd", 0.0),
}
_MASTER = 4.0
_TARGETS = {
    "q": ("q_proj",),
    "k": ("k_proj",),
    "v": ("v_proj",),
    "o": ("o_proj",),
    "gate": ("gate_proj",),
    "up": ("up_proj",),
    "down": ("down_proj",),
    "attention": ("q_proj", "k_proj", "v_proj", "o_proj"),
    "mlp": ("gate_proj", "up_proj", "down_proj"),
}
"""Target → modules of Llama and its relatives."""


def script_settings(
    framework: Framework, shape: Transformer, step: TrainingStep, mapping: ParallelMapping
) -> list[str]:
    """One line each, none where all weights are trained by Adam as usual; refuses what the libraries do not know."""
    settings = []
    tuning = step.tuning
    if step.model.is_tuned:
        if tuning is None:
            raise framework.cannot("frozen weights of a graph of your own", "freeze them by training_step")
        if mapping.tensor > 1 or mapping.context > 1:
            raise framework.cannot(
                "adapters or frozen weights beside tensor or context parallelism", "set tensor and context to 1"
            )
        settings += _adapters(framework, shape, tuning)
        if tuning.frozen or tuning.frozen_layers:
            layers = [f"first {tuning.frozen_layers} layers"] if tuning.frozen_layers else []
            settings.append(f"requires_grad_(False) on {', '.join([*tuning.frozen, *layers])}")
    if step.optimiser == "adam":
        framework.check_optimiser_state(step)
    else:
        settings.append(f"TrainingArguments(optim={_optim(framework, step)!r})")
    if is_packed(step):
        settings.append("SFTConfig(packing=True, padding_free=True), attn_implementation='flash_attention_2'")
    return settings


def _adapters(framework: Framework, shape: Transformer, tuning: Tuning) -> list[str]:
    if tuning.base not in ("bf16", "nf4", "nf4-single"):
        raise framework.cannot(
            f"frozen weights in {tuning.base}", "it shares out those in bf16 and nf4; use one of them"
        )
    settings = []
    if tuning.base != "bf16":
        settings.append(
            "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4', "
            f"bnb_4bit_use_double_quant={tuning.base == 'nf4'}, bnb_4bit_compute_dtype='bfloat16', "
            "bnb_4bit_quant_storage='bfloat16')"
        )
    if not tuning.rank:
        if tuning.base != "bf16":
            raise framework.cannot("trained weights beside 4-bit ones", "give --lora, or --base bf16")
        return settings
    if shape.experts is not None and set(tuning.targets) - {"attention", "q", "k", "v", "o"}:
        raise framework.cannot(
            "adapters on experts", "PEFT reaches them in some releases only; use --lora-targets attention"
        )
    modules = f"{list(_modules(framework, shape, tuning))}" if tuning.targets != ("all",) else "'all-linear'"
    return [*settings, f"LoraConfig(r={tuning.rank}, target_modules={modules}{_layers(shape, tuning)})"]


def _modules(framework: Framework, shape: Transformer, tuning: Tuning) -> tuple[str, ...]:
    plain = shape.gated and shape.norm == "rmsnorm" and not (shape.latent or shape.pattern or shape.sparse)
    if not plain or any(target not in _TARGETS for target in tuning.targets):
        raise framework.cannot(
            f"adapters on {', '.join(tuning.targets)} of {shape.name}",
            "names of its modules are not known; use --lora-targets all",
        )
    return tuple(dict.fromkeys(name for target in tuning.targets for name in _TARGETS[target]))


def _layers(shape: Transformer, tuning: Tuning) -> str:
    """Layers with adapters, where those at the start have none."""
    return f", layers_to_transform=range({tuning.frozen_layers}, {shape.layers})" if tuning.frozen_layers else ""


def _optim(framework: Framework, step: TrainingStep) -> str:
    name, state = _OPTIMISERS.get(step.optimiser, ("", None))
    if not name:
        raise framework.cannot(f"the optimizer {step.optimiser}", f"it has adam, {', '.join(_OPTIMISERS)}")
    kept = float(step.optimiser_state) - _MASTER
    if kept < 0.0 or (state is not None and abs(kept - state) > 1e-9):
        raise framework.cannot(
            f"{step.optimiser} with {step.optimiser_state:.4g} bytes a parameter", "it keeps master weights in fp32"
        )
    return name
