"""One step of a serving engine: what a batch of prompts and decodes takes on the chips of one instance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernel_families import CROSSINGS, FAMILY, Kernels, Sizes
from volvelle.estimators.serving.engine_constants import USUAL_LONGEST, Constants, EngineConstants, KernelSet
from volvelle.estimators.serving.products import Layers, ProductGroup, all_layers
from volvelle.laws.kernels.recurrence import delta_rule_work, state_step_time
from volvelle.laws.kv_cache import attended_positions, cached_heads
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import Number
from volvelle.system.chip import Chip
from volvelle.workload.families.attention_forms import SparseIndex
from volvelle.workload.served_model import FORMATS, ServedModel, WeightFormat

Column = NDArray[np.float64]
LAUNCHES = {"attention": 5, "local attention": 5, "latent attention": 12, "delta net": 24, "mlp": 2, "experts": 16}
"""Kernels that a host launches for a part of a layer, where they are not captured."""
BETWEEN_RANKS, BETWEEN_GROUPS = 8, 24
"""More of them for experts that ranks of data parallelism share: each a chip, or each several that share its tokens."""
HEAVY = ("delta net", "latent attention")
"""Parts whose kernels take the host longer: how long pieces are, or how keys unfold, is worked out in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What steps work on, as columns: a row is a step. Rates of a chip may be columns beside them."""

    prompt_tokens: Column = field(default_factory=lambda: np.zeros(1))
    """Of all prompts together."""
    prompts: Column = field(default_factory=lambda: np.zeros(1))
    past: Column = field(default_factory=lambda: np.zeros(1))
    """Tokens of these prompts that were worked on before, together."""
    decodes: Column = field(default_factory=lambda: np.zeros(1))
    """Sequences that get a token each."""
    context: Column = field(default_factory=lambda: np.zeros(1))
    """Tokens that these have already, together."""
    yielding: Column | None = None
    """Sequences that yield a token in the step; None: decodes, and every prompt."""
    queries: Column | float = 1.0
    """Tokens that each decode computes: one, or all that are verified of its drafts and the one before them."""

    @property
    def decoded(self) -> Column:
        """Tokens of all decodes."""
        return self.decodes * self.queries

    @property
    def tokens(self) -> Column:
        """All that go through the products."""
        return self.prompt_tokens + self.decoded

    @property
    def yields(self) -> Column:
        """Rows of logits."""
        return self.prompts + self.decoded if self.yielding is None else self.yielding


@lru_cache(maxsize=4096)
def _launches(served: ServedModel, layout: ServingLayout) -> tuple[int, int]:
    """Kernels of a step that is not captured, and among them those that take the host longer."""
    latent = {"attention": "latent attention"} if served.shape.latent is not None else {}
    parts = Counter(part for kind in served.shape.kinds for part in (latent.get(kind.mixer, kind.mixer), kind.feed))
    plain = sum(LAUNCHES.get(part, 0) * count for part, count in parts.items() if part not in HEAVY)
    if layout.data > 1:
        plain += parts["experts"] * (BETWEEN_RANKS if layout.tensor == 1 else BETWEEN_GROUPS)
    return plain, sum(LAUNCHES.get(part, 0) * parts[part] for part in HEAVY)


_NORMS = 2.0
"""Of a layer, each after an exchange between chips where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """Steps of one model on one kind of chip, laid out one way, by one engine."""

    served: ServedModel
    layout: ServingLayout
    chip: Chip
    kernels: KernelSet
    engine: EngineConstants = field(default_factory=EngineConstants)
    ahead: bool = True
    """Whether the next step is scheduled while one runs."""
    longest: float = USUAL_LONGEST
    """Tokens of the longest request that captured graphs are made for."""
    filled: bool = False
    """Whether as many micro-batches as stages are in flight: a step then takes as long as at the slowest one's pace."""

    # -- parts ------------------------------------------------------------------------------------------------------

    def parts(self, batch: Batch) -> Mapping[str, Column]:
        """Seconds on the chips by part, through all layers of one stage after another."""
        return {**self.beside(batch), **self.attention(batch)}

    def beside(self, batch: Batch) -> dict[str, Column]:
        """All parts but attention: what the tokens of a step decide, however many were read before."""
        layers, shape, uneven = self.layers, self.served.shape, self._uneven
        prompts, yields = batch.prompt_tokens, batch.yields
        rows = {"tokens": batch.tokens, "prompts": prompts, "decodes": batch.decoded, "yields": yields}
        found: dict[str, Column] = {}
        for group in layers.products:
            for part, time in zip(group.parts, self._products(rows, group), strict=True):
                paced = time * (self._waiting if part == "head" else uneven)
                found[part] = found[part] + paced if part in found else paced
        if layers.recurrent:
            found["recurrence"] = uneven * layers.recurrent * self._recurrence(batch)
        if layers.experts:
            found |= {part: uneven * layers.experts * time for part, time in self._experts(batch.tokens).items()}
        found["norms, rotations, activations"] = self._small(batch.tokens, uneven * layers.halves / 2.0)
        if self.layout.tensor > 1:
            size, chips = batch.tokens * (shape.hidden * 2.0), float(self.layout.tensor)
            found["all-reduce"] = uneven * layers.halves * self._exchange(size, chips, "all_reduce")
            if shape.qk_norm_over_heads:  # the mean squares of queries and of keys, in 32 bits
                squares = self._exchange(batch.tokens * 8.0, chips, "all_reduce")
                found["all-reduce"] += uneven * self._attending * squares
        if self.layout.pipeline > 1:
            sent = batch.tokens * shape.hidden * 2.0 / self.layout.tensor
            found["hand-over"] = (self.layout.pipeline - 1.0) * self._exchange(sent, 2.0, "alltoall")
        return found

    def attention(self, batch: Batch) -> dict[str, Column]:
        """Parts that go over what was read before."""
        found: dict[str, Column] = {}
        for reach, layers in self.layers.reaches:
            for part, time in self._attention(batch, reach).items():
                paced = self._uneven * layers * time
                found[part] = found[part] + paced if part in found else paced
        return found

    @property
    def layers(self) -> Layers:
        """What all layers have."""
        return all_layers(self.served, self.layout)

    def head(self, rows: Column) -> Column:
        """Seconds for the logits of so many sequences."""
        return np.asarray(self._waiting * self._products({"yields": rows}, self.layers.head)[0])

    @property
    def _waiting(self) -> int:
        """Stages that take as long as one does for what it alone has, the head or its host's work on a batch."""
        return self.layout.pipeline if self.filled else 1

    @property
    def _uneven(self) -> float:
        """Layers of the fullest stage, over those of a mean one, where it sets the pace."""
        layers = self.served.shape.layers
        return self._waiting * -(-layers // self._waiting) / layers

    def seconds(self, batch: Batch) -> Column:
        """Of the chips."""
        return np.asarray(sum(self.parts(batch).values()))

    def steps(self, batch: Batch) -> Column:
        """Seconds of whole steps: the chips, the launches that they wait for, and the host."""
        return self.whole(batch, chips=self.seconds(batch))

    def whole(self, batch: Batch, *, chips: Column, launches: Column | None = None) -> Column:
        """Seconds of steps from those of the chips, of the launches of what is not captured, and of the scheduler."""
        launches = self.launching(batch.tokens) if launches is None else launches
        device = np.maximum(chips, np.where(batch.prompt_tokens > 0, launches, 0.0))
        sequences = batch.decodes + batch.prompts
        host = self.host + self.host_sequence * sequences
        whole = np.maximum(device, host) if self.overlapped else device + host
        return np.asarray(whole + self.engine.per_sequence * sequences)

    @property
    def overlapped(self) -> bool:
        """Whether the scheduler works while the chips do."""
        return self.engine.host_overlapped and self.ahead

    @property
    def host(self) -> float:
        """Seconds of the scheduler a step."""
        layout, engine = self.layout, self.engine
        handed = engine.host_rank * float(np.log2(layout.chips / layout.data))
        behind = 0.0 if self.ahead else engine.host_behind
        return self._waiting * (engine.host + behind + handed + engine.host_data * float(np.log2(layout.data)))

    @property
    def host_sequence(self) -> float:
        """Seconds of the scheduler a sequence of a step, beside the chips."""
        of_stages = self.engine.stage_sequence if self._waiting > 1 else 0.0
        return self._waiting * (self.engine.host_sequence + of_stages)

    def launching(self, tokens: Column) -> Column:
        """Seconds that the host takes to launch a step with prompts: all kernels, or those between captured pieces."""
        plain, heavy = _launches(self.served, self.layout)
        each = self.engine.eager_launch
        left = np.where(tokens > self.engine.captured_tokens, 1.0, self.engine.pieces)
        return np.asarray(left * (plain * each + heavy * max(each, self.engine.eager_heavy)))

    # -- layers -----------------------------------------------------------------------------------------------------

    def _attention(self, batch: Batch, reach: float) -> dict[str, Column]:
        shape, split = self.served.shape, self.layout.tensor
        sizes: dict[str, Number] = {"heads": shape.heads / split}
        latent = "latent " if shape.latent is not None else ""
        if not latent:
            sizes |= {"kv_heads": self._kept_heads, "head_dim": float(shape.head_dim)}
        found = {}
        if shape.sparse is not None:
            reach = float(shape.sparse.chosen)
            found["index scores"] = self._index(batch, shape.sparse)
        return found | {
            "attention over prompts": self._over_prompts(batch, sizes, reach, f"{latent}attention over a prompt"),
            "attention of decodes": self._of_decodes(batch, sizes, reach, f"{latent}attention of one token"),
        }

    def _index(self, batch: Batch, index: SparseIndex) -> Column:
        """Scores of all keys by the index, whose keys take a byte an element and a scale."""
        rate = self._wide.memory_rate * self.kernels.token["memory_efficiency"]
        read = (batch.context + batch.past + batch.prompt_tokens) * (index.dim + 4.0) / rate
        prompts = np.maximum(batch.prompts, 1.0)
        pairs = batch.prompt_tokens * (batch.past + batch.prompt_tokens / 2.0) / prompts + batch.context * batch.queries
        work = 2.0 * pairs * index.heads * index.dim / (self.kernels.prompt["matrix_efficiency"] * self._wide.peak)
        return np.where(batch.tokens > 0, read + work + 3.0 * self.engine.launch, 0.0)

    def _recurrence(self, batch: Batch) -> Column:
        """Of a delta net: one step of every decode, and prompts chunk by chunk."""
        net = self.served.shape.delta_net
        assert net is not None, "a layer of a delta net has one"
        heads, start = net.value_heads / self.layout.tensor, self.engine.attention_start
        state = {"key_dim": net.key_dim, "value_dim": net.value_dim}
        rate = self._wide.memory_rate * self.engine.state_reading
        # A state is read once, and one is written for every token that may be the last to be accepted.
        moved = batch.decodes * (1.0 + batch.queries) / 2.0
        step = state_step_time(moved, heads, **state, memory_rate=rate, start=start)
        work = delta_rule_work(batch.prompt_tokens, heads, **state, chunk=net.chunk)
        scan = work / (self._wide.peak * self.engine.scan_efficiency) + start
        return np.where(batch.decodes > 0, step, 0.0) + np.where(batch.prompt_tokens > 0, scan, 0.0)

    @property
    def _wide(self) -> Kernels:
        """What the chip does in 16 bits."""
        return self._kernels(FORMATS["bf16"], None)

    @property
    def _kept_heads(self) -> float:
        """Heads of keys, or latents, that a chip keeps."""
        shape = self.served.shape
        return 1.0 if shape.latent is not None else float(cached_heads(shape.kv_heads, self.layout.tensor))

    @property
    def paired(self) -> float:
        """Seconds a sequence that attention of one layer takes more in a captured graph: more for longer requests."""
        return self._kept_heads * self.engine.pair_time * self.longest / USUAL_LONGEST

    @property
    def verified(self) -> int:
        """Tokens that a decode takes in a step."""
        return 1

    @property
    def _attending(self) -> int:
        return sum(layers for _, layers in self.layers.reaches)

    @property
    def pairing(self) -> float:
        """Seconds a sequence that attention of all layers takes more in a captured graph."""
        return self._attending * self.paired

    @property
    def starting(self) -> float:
        """Seconds that attention of all layers takes to start."""
        return self._attending * self.engine.attention_start

    def on(self, chip: Chip) -> "Iteration":
        """The same on another chip."""
        return replace(self, chip=chip)

    def _experts(self, tokens: Column) -> dict[str, Column]:
        shape, layout = self.served.shape, self.layout
        experts, form = shape.experts, self.served.expert_format.on(self.kernels.experts)
        assert experts is not None, "a layer of experts has some"
        plain: Sizes = {
            "hidden": shape.hidden,
            "inter": experts.ffn,
            "topk": experts.chosen,
            "experts": experts.count,
            "tp": layout.expert_tensor,
            "ep": layout.expert,
            "skew": self.engine.skew,
            "unpacking": self.engine.unpacking if form.widened else 1.0,
        }
        sizes: Sizes = {"tokens": np.maximum(tokens, 1.0) * layout.data, **plain}
        ways = []
        for by in self.kernels.experts[form.kernels]:
            own = {
                **by,
                "memory_efficiency": by["memory_efficiency"] * self.engine.fetching,
                "matrix_efficiency": by["matrix_efficiency"] * self.engine.grouping,
            }
            ways.append(self._timed("experts", sizes, own, form))
        found = {"experts": np.where(tokens > 0, np.minimum.reduce(ways) + self.engine.expert_start, 0.0)}
        if layout.data > 1:
            ranks = float(layout.tensor * layout.data)
            size = tokens * (ranks if self.engine.gathers else experts.chosen) * shape.hidden * 2.0
            found["dispatch and combine"] = 2.0 * self._exchange(size, ranks, "alltoall")
        return found

    # -- kernels ----------------------------------------------------------------------------------------------------

    def _small(self, tokens: Column, share: float) -> Column:
        """Kernels that only go over the stream, of a share of a layer; a norm in each half may be one with others."""
        joined = _NORMS if self.engine.joins_norms and self.layout.tensor > 1 else 0.0
        launched = (self.engine.small_kernels - joined) * self.engine.launch
        moved = self.engine.passes * tokens * self.served.shape.hidden * 2.0 / self._wide.memory_rate
        return np.where(tokens > 0, share * (launched + moved), 0.0)

    def _kernels(self, form: WeightFormat, burst: Column | None) -> Kernels:
        return Kernels(
            chip=self.chip,
            element=form.multiplied_in,
            cache_bytes=self.served.cache_bytes,
            weight_bytes=form.bytes,
            burst=burst,
        )

    def _timed(
        self, family: str, sizes: Sizes, by: Constants, form: WeightFormat, burst: Column | None = None
    ) -> Column:
        return FAMILY[family].time(self._kernels(form, burst), sizes, by)

    def _products(self, tokens: Mapping[str, Column], group: ProductGroup) -> Column:
        """Seconds of all products of a group, through all layers."""
        form = group.form
        known = self.kernels.products[form.kernels]
        narrow = self.engine.narrow if form.kernels.startswith("fp8") else 1.0
        by = {
            **known,
            "kernel_launch_time": self.engine.launch,
            "memory_efficiency": known["memory_efficiency"] * self.engine.reading * narrow,
            "matrix_efficiency": known["matrix_efficiency"] * self.engine.multiplying,
        }
        rows = np.array([tokens[name] for name in group.rows])
        # A chip's clock falls while products follow each other: those of one step, for before it it mostly reads.
        burst = rows * (self._multiplied / self.chip.matrix_rate(self.served.dense_format.multiplied_in))
        columns, depth, layers = group.beside(rows)
        sizes = {"m": np.maximum(rows, 1.0), "n": columns, "k": depth}
        return np.where(rows > 0, layers * self._timed("products", sizes, by, form, burst), 0.0)

    @property
    def _multiplied(self) -> float:
        """FLOP of the products of all layers for a token, on one chip."""
        shape = self.served.shape
        wide = 2.0 * (shape.heads + shape.kv_heads) * shape.head_dim + (3.0 if shape.gated else 2.0) * shape.ffn
        return 2.0 * shape.layers * shape.hidden * wide / self.layout.tensor

    def _over_prompts(self, batch: Batch, sizes: Sizes, reach: float, family: str) -> Column:
        if not np.any(batch.prompt_tokens):
            return np.zeros(np.shape(batch.prompt_tokens))
        prompts = np.maximum(batch.prompts, 1.0)
        query = np.maximum(batch.prompt_tokens / prompts, 1.0)
        past = batch.past / prompts
        if np.isfinite(reach):  # a query sees the window before it: as if the prompt were cut into windows
            past = np.minimum(past + query / 2.0, reach) - np.minimum(query, reach) / 2.0
            past = np.maximum(past, 0.0)
            prompts = prompts * np.maximum(1.0, query / reach)
            query = np.minimum(query, reach)
        by = self.kernels.latent_prompt if family.startswith("latent") else self.kernels.prompt
        by = {**by, "kernel_launch_time": self.engine.attention_start}
        given = {**sizes, "batch": prompts, "query": query, "past": past}
        seconds = self._timed(family, given, by, FORMATS["bf16"]) / self.engine.attending
        return np.where(batch.prompt_tokens > 0, seconds, 0.0)

    def _of_decodes(self, batch: Batch, sizes: Sizes, reach: float, family: str) -> Column:
        if not np.any(batch.decodes):
            return np.zeros(np.shape(batch.decodes))
        sequences = np.maximum(batch.decodes, 1.0)
        past = np.maximum(batch.context / sequences, 1.0) + batch.queries - 1.0
        keys = np.asarray(attended_positions(past, reach=reach))
        by = self.kernels.latent_token if family.startswith("latent") else self.kernels.token
        by = {**by, "kernel_launch_time": self.engine.attention_start}
        # Queries of one sequence see the same keys, as heads that share them do.
        given = {**sizes, "heads": sizes["heads"] * batch.queries, "batch": sequences, "kv": keys}
        if "kv_heads" in sizes:
            unshared: Number = self.engine.unshared
            if np.isfinite(reach):
                unshared = np.where(sequences * sizes["heads"] > self.engine.windows_beyond, 1.0, unshared)
            given["kv_heads"] = sizes["kv_heads"] + unshared * (sizes["heads"] - sizes["kv_heads"])
        # A captured graph holds launches for the longest context there may be; beside prompts none is captured.
        pairs = np.where(batch.prompt_tokens > 0, 0.0, sequences * self.paired)
        rate = self.engine.attending * (self.engine.narrow_cache if self.served.cache_bytes == 1.0 else 1.0)
        seconds = self._timed(family, given, by, FORMATS["bf16"]) / rate
        return np.where(batch.decodes > 0, seconds + pairs, 0.0)

    def _exchange(self, size: Column, chips: float, kind: str) -> Column:
        own: Sequence[Constants] = self.kernels.all_reduce if kind == "all_reduce" else self.kernels.all_to_all
        ways = own or self.kernels.all_reduce  # a byte crosses the same links
        given: Sizes = {"bytes": size, "gpus": chips, "crossings": CROSSINGS[kind]}
        times = [self._timed("collectives in a node", given, by, FORMATS["bf16"]) for by in ways]
        return np.where(size > 0, np.minimum.reduce(times) / self.engine.exchanging + self.engine.exchange_start, 0.0)
