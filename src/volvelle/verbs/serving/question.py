"""A question about serving as a value: the command that asks it, the instance it is about, the same with changes."""

from collections.abc import Collection
from typing import Any

from volvelle.applications.serving.instance import Instance, Settings, instance
from volvelle.applications.serving.speculation.drafter import speculated
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError, UnknownNameError, plainly
from volvelle.interchange.speculation_words import read_speculation
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.questions.machine import SYSTEM
from volvelle.questions.serving import LENGTHS, LOAD, SPECULATE, WEIGHTS, InstanceFields
from volvelle.questions.training import MODEL
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import model_of
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import CACHES, ServedModel, format_named
from volvelle.workload.serving.drafting import Drafting
from volvelle.workload.serving.lengths import LEAST_VARIED, USUAL_LENGTHS, request_lengths_value

_WIDEST = 8
"""Chips that tensor parallelism takes where nothing is said."""
INPUT, OUTPUT = 1024, 128
"""Tokens of a request where nothing is said, as ``vllm bench serve`` has them."""


class ServingQuestion(InstanceFields):
    """A question of ``volvelle serve`` whose names are looked up and whose formats are decided."""

    subcommand = "serve"

    model: str = option(MODEL)
    on: str = option(SYSTEM)
    load: str | None = option(LOAD, default=None)
    lengths: str | None = option(LENGTHS, default=None)
    speculate: str | None = option(SPECULATE, default=None)
    weights: str = option(WEIGHTS, default="bf16")
    published: str = option(Option("", "Format of the weights if the question states none."), default="bf16")

    @property
    def drafting(self) -> Drafting | None:
        """How tokens are drafted; None: they are not."""
        return None if self.speculate is None else read_speculation(self.speculate)

    @property
    def traced(self) -> bool:
        """Whether requests have the lengths of a trace."""
        return self.load is not None and self.load.split()[:1] == ["trace"]

    @property
    def input_tokens(self) -> int:
        """Of a prompt."""
        return INPUT if self.input is None else self.input

    @property
    def output_tokens(self) -> int:
        """Of an answer."""
        return OUTPUT if self.output is None else self.output

    def longest(self, tokens: int) -> int:
        """Return the longest length that is drawn where `tokens` are the mean, or the upper end, of the lengths."""
        if self.load is None or self.traced or (self.lengths is None and tokens < LEAST_VARIED):
            return tokens
        return request_lengths_value(self.lengths or USUAL_LENGTHS).longest(tokens)

    @property
    def longest_request(self) -> int:
        """Return the tokens of the longest request, prompt and answer together; a trace has its own."""
        return self.longest(self.input_tokens) + self.longest(self.output_tokens)

    def typed(self, *, without: Collection[str] = ()) -> list[str]:
        """Return the words of the command; the format of the weights only if it is not the published one."""
        implied = ("weights",) if self.weights == self.published else ()
        return super().typed(without=(*without, *implied))

    @property
    def settings(self) -> Settings:
        """What the engine is told."""
        budget = self.max_batched_tokens
        return Settings(
            token_budget=budget,
            chunk=budget,
            max_sequences=self.max_seqs,
            memory_share=self.si("memory_share"),
            chunks=self.chunked_prefill,
            receive_interval=self.receive_interval or 1,
            batch_wait_steps=self.batch_wait or 0,
            batch_wait_ratio=self.si("batch_wait_ratio") or 0.0,
            stream_interval=self.stream_interval or 1,
            prefix_caching=self.prefix_caching is not False,
        )

    def check_knobs(self, rules: str) -> None:
        """Refuse what only another engine can be told."""
        if self.receive_interval is not None and rules != "sglang":
            raise DescriptionError(
                "a receive interval is what SGLang is told (--scheduler-recv-interval), and others look for requests "
                "at every step; leave --receive-interval away, or ask with --engine sglang"
            )
        if (self.batch_wait is not None or self.batch_wait_ratio is not None) and rules != "trtllm":
            raise DescriptionError(
                "to wait for a fuller step is what TensorRT-LLM can be told (batch_wait_timeout_iters); leave "
                "--batch-wait away, or ask with --engine trtllm"
            )
        if self.batch_wait_ratio is not None and self.batch_wait is None:
            raise DescriptionError("a part of the budget ends a wait for it; give --batch-wait, in steps, too")

    def layout(self, shape: Transformer, cluster: Cluster) -> ServingLayout:
        """Return the degrees of one instance; by default, tensor parallelism fills what `data` leaves of a node."""
        rest = {"pipeline": self.pipeline, "expert": self.expert, "data": self.data}
        if self.tensor is not None:
            return ServingLayout(tensor=self.tensor, **rest)
        node = cluster.dimensions[0].size
        most = min(_WIDEST, node // self.data, cluster.accelerators // (self.pipeline * self.data))
        for tensor in range(max(most, 1), 1, -1):
            layout = ServingLayout(tensor=tensor, **rest)
            if node % tensor == 0 and _possible(layout, shape):
                return layout
        return ServingLayout(tensor=1, **rest)

    def instance(
        self,
        catalogue: Catalogue,
        shape: Transformer,
        cluster: Cluster,
        *,
        window: int | None = None,
        dashes: str = "--",
    ) -> Instance:
        """Return the instance on chips of the machine; it drafts `window` tokens where the question names no window.

        `dashes` stand before ``tp`` and its like in errors; words of a pool have none.
        """
        served = ServedModel(
            shape=shape,
            weights=format_named(self.weights),
            cache=_known("type of a cache", self.kv, CACHES),
        )
        layout = self.layout(shape, cluster)
        found = instance(catalogue, served, cluster.chip.name, layout, self.engine, self.settings)
        self.check_knobs(found.engine.rules)
        _check_place(layout, cluster, dashes)
        drafting = self.drafting
        if drafting is None:
            return found
        if drafting.window is None or window is not None:
            drafting = drafting.with_window(1 if window is None else window)
        draft = model_of(drafting.model, catalogue) if drafting.model else None
        return speculated(found, drafting, catalogue, draft)


def _possible(layout: ServingLayout, shape: Transformer) -> bool:
    try:
        layout.checked(shape)
    except MappingError:
        return False
    return True


def _known(kind: str, given: str, names: Any) -> str:
    """A name as it is written in the package."""
    found = next((name for name in names if plainly(name) == plainly(given)), None)
    if found is None:
        raise UnknownNameError.among(kind, given, names)
    return str(found)


def _check_place(layout: ServingLayout, cluster: Cluster, dashes: str) -> None:
    """Reject an instance that does not fit on the machine."""
    degrees = f"{dashes}tp {layout.tensor} × {dashes}dp {layout.data}"
    if layout.chips > cluster.accelerators:
        raise MappingError(
            f"one instance takes {layout.chips} chips ({degrees} × {dashes}pp {layout.pipeline}), and {cluster.name} "
            f"has {cluster.accelerators}; lower one of them or ask for a larger machine"
        )
    inner = cluster.dimensions[0]
    if layout.tensor * layout.data > inner.size:
        raise OutsideDomainError(
            f"{degrees} reaches beyond the {inner.size} chips of one {inner.name}, and exchanges of a serving step "
            f"between nodes were not measured; stay within {inner.size}, and add stages with {dashes}pp"
        )
