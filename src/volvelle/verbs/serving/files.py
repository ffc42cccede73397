"""Files that launch what was asked about, and the benchmark of it: for vLLM, SGLang, TensorRT-LLM and Dynamo."""

from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from volvelle.applications.serving.instance import Instance
from volvelle.catalogue import Catalogue
from volvelle.catalogue.checkpoints import checkpoint_named, checkpoint_of
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.interchange.engine_launch.deployment import BenchedLoad, Deployment, LaunchFile
from volvelle.interchange.load_words import read_load
from volvelle.system.cluster import Cluster
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.lengths import (
    USUAL_LENGTHS,
    LengthsAround,
    LengthsUpTo,
    request_lengths_value,
)
from volvelle.workload.serving.loads import AbstractSteadyRate, AtOnce, Closed, Ramp, Recorded

Target = Literal["vllm", "sglang", "trtllm", "dynamo"]
TARGETS: tuple[Target, ...] = get_args(Target)
"""What files can be written for."""
_ROUNDS, _OPEN = 10, 2000
"""Requests of a benchmark: of each client, or of a load without them."""
_MARGIN, _WHOLE = 16, 64
"""Tokens that a tokeniser may add to a prompt that was made of words, and what lengths are rounded up to."""


def launch_files(
    emit: str, question: ServingQuestion, instance: Instance, cluster: Cluster, *, checkpoint: str | None = None
) -> tuple[LaunchFile, ...]:
    """Files for a target, like ``vllm`` or ``vllm@0.19.0``; refuses what that version cannot run as it was timed."""
    target, _, version = emit.lower().partition("@")
    if target not in TARGETS:
        raise UnknownNameError.among("target of --emit", target, TARGETS)
    rules = instance.engine.rules
    if target not in ("dynamo", rules):
        raise MappingError(
            f"{instance.engine.title} was timed, and files for {target} would launch another engine; ask with "
            f"--engine {target}, or for --emit {rules}"
        )
    if instance.engine.name.endswith(("-2023", "-2024")) or instance.engine.kernels != rules:
        raise MappingError(
            f"{instance.engine.title} is not an engine whose options are recorded; ask with --engine {rules}"
        )
    deployment = deployment_of(question, instance, cluster, checkpoint=checkpoint)
    module = import_module(f"volvelle.interchange.engine_launch.{target}")
    files: tuple[LaunchFile, ...] = module.emit(deployment, version)
    return files


def write_files(files: tuple[LaunchFile, ...], folder: Path) -> None:
    """Write them, scripts so that they run."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        path = folder / file.name
        path.write_text(file.text, "utf-8")
        if file.runs:
            path.chmod(0o755)


def deployment_of(
    question: ServingQuestion, instance: Instance, cluster: Cluster, *, checkpoint: str | None = None
) -> Deployment:
    """What is launched, with every setting that the answer rests on."""
    rules, memory, told = instance.rules(), instance.memory, instance.settings
    shape = instance.served.shape
    return Deployment(
        model=shape.name,
        checkpoint=_checkpoint(question, instance, checkpoint),
        checkpoint_weights=instance.served.weights if checkpoint is not None else shape.published_weights or "bf16",
        mixture=shape.experts is not None,
        rules=instance.engine.rules,
        layout=instance.layout,
        node=cluster.dimensions[0].size,
        replicas=cluster.accelerators // instance.layout.chips,
        weights=instance.served.weights,
        cache=instance.served.cache,
        token_budget=rules.token_budget,
        chunk=rules.chunk,
        max_sequences=rules.max_sequences,
        block=rules.block_tokens,
        memory_share=memory.share,
        longest=_longest(question, shape),
        chunks=rules.chunks,
        prefix_caching=told.prefix_caching,
        stream_interval=told.stream_interval,
        receive_interval=told.receive_interval,
        batch_wait_steps=told.batch_wait_steps,
        batch_wait_ratio=told.batch_wait_ratio,
        drafting=None if instance.speculation is None else instance.speculation.drafting,
        draft_checkpoint=_draft_checkpoint(instance),
        load=_load(question),
        chip=instance.chip.name,
        asked=question.command,
    )


def _checkpoint(question: ServingQuestion, instance: Instance, given: str | None) -> str:
    if given is not None:
        if not given.strip() or given.startswith("-") or not given.isprintable():
            raise DescriptionError(f"the checkpoint is {given!r}; give a name on the hub or a folder")
        return given
    found = checkpoint_named(question.model, instance.served.shape.name, Catalogue())
    if found is None:
        raise DescriptionError(
            f"no checkpoint of {instance.served.shape.name} on the hub is known; name what the engine shall load with "
            f"--checkpoint"
        )
    return found


def _draft_checkpoint(instance: Instance) -> str:
    """Of a draft model; nothing where no model drafts."""
    drafts = instance.speculation
    if drafts is None or not drafts.drafting.model or drafts.served is None:
        return ""
    name = drafts.served.shape.name
    found = checkpoint_of(name, Catalogue())
    if found is None:
        raise DescriptionError(f"no checkpoint of {name}, which drafts, on the hub is known; take another to launch")
    return found


def _lengths(question: ServingQuestion) -> tuple[Literal["fixed", "uniform", "around"], float]:
    """Return how lengths are drawn, and by which ratio; those of a batch are fixed."""
    if question.load is None:
        return "fixed", 0.0
    lengths = request_lengths_value(question.lengths or USUAL_LENGTHS)
    if isinstance(lengths, LengthsUpTo):
        return "uniform", lengths.ratio
    return ("around", lengths.ratio) if isinstance(lengths, LengthsAround) else ("fixed", 0.0)


def _longest(question: ServingQuestion, shape: Transformer) -> int | None:
    """Return the tokens of the longest request, at most the context of the model; None: a trace decides."""
    if question.traced:
        return None
    tokens = -(-(question.longest_request + _MARGIN) // _WHOLE) * _WHOLE
    return min(tokens, shape.context) if shape.context else tokens


def _load(question: ServingQuestion) -> BenchedLoad:
    """The load of a benchmark: what was asked, or the batch as clients that send one request each."""
    kind, ratio = _lengths(question)
    sizes = {"input_tokens": question.input_tokens, "output_tokens": question.output_tokens}
    told = {"lengths": kind, "ratio": ratio, "seed": question.seed, **sizes}
    if question.load is None:
        batch = question.batch or 1
        return BenchedLoad(requests=batch, clients=batch, **told)  # type: ignore[arg-type]
    load, asked = read_load(question.load), question.requests
    if isinstance(load, Closed):
        return BenchedLoad(requests=asked or _ROUNDS * load.clients, clients=load.clients, **told)  # type: ignore[arg-type]
    many = asked or _OPEN
    if isinstance(load, AbstractSteadyRate):
        return BenchedLoad(requests=many, rate=load.rate, burstiness=load.burstiness, **told)  # type: ignore[arg-type]
    if isinstance(load, Ramp):
        return BenchedLoad(requests=many, rate=load.start_rate, end_rate=load.end_rate, **told)  # type: ignore[arg-type]
    if isinstance(load, AtOnce):
        return BenchedLoad(requests=many, **told)  # type: ignore[arg-type]
    assert isinstance(load, Recorded), "loads are of these kinds"
    return BenchedLoad(requests=asked or len(load.recorded), recorded=question.load.split(maxsplit=1)[1], **told)  # type: ignore[arg-type]
