"""One step of a serving engine: what a batch of prompts and decodes takes on the chips of one instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernel_families import CROSSINGS, FAMILY, Kernels
from volvelle.estimators.serving.engine_constants import Constants, EngineConstants, KernelSet
from volvelle.estimators.serving.products import ServedProduct, head_product, layer_products
from volvelle.laws.kernels.recurrence import delta_rule_work, state_step_time
from volvelle.laws.kv_cache import attended_positions, cached_heads
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.system.chip import Chip
from volvelle.workload.families.attention_forms import SparseIndex
from volvelle.workload.families.layer_kind import LayerKind
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
    """What steps work on, as columns: a row is a step."""

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

    # -- parts ------------------------------------------------------------------------------------------------------

    def parts(self, batch: Batch) -> Mapping[str, Column]:
        """Seconds on the chips by part, through all layers of one stage after another."""
        found: dict[str, Column] = {}
        shape = self.served.shape
        kinds = shape.kinds
        for kind in dict.fromkeys(kinds):
            count = kinds.count(kind)
            for part, time in self._layer(kind, batch).items():
                found[part] = found.get(part, np.zeros(1)) + count * time
        found["head"] = self.head(batch.yields)
        if self.layout.pipeline > 1:
            sent = batch.tokens * shape.hidden * 2.0 / self.layout.tensor
            found["hand-over"] = (self.layout.pipeline - 1.0) * self._exchange(sent, 2.0, "alltoall")
        return found

    def head(self, rows: Column) -> Column:
        """Seconds for the logits of so many sequences."""
        return self._product(rows, head_product(self.served, self.layout))

    def seconds(self, batch: Batch) -> Column:
        """Of the chips."""
        return np.asarray(sum(self.parts(batch).values()))

    def steps(self, batch: Batch) -> Column:
        """Seconds of whole steps: the chips, the launches that they wait for, and the host."""
        return self.whole(batch, chips=self.seconds(batch), launches=self.launching(batch.tokens))

    def whole(self, batch: Batch, *, chips: Column, launches: Column) -> Column:
        """Seconds of steps from those of the chips, of the launches of what is not captured, and of the scheduler."""
        device = np.maximum(chips, np.where(batch.prompt_tokens > 0, launches, 0.0))
        whole = np.maximum(device, self.host) if self.overlapped else device + self.host
        return np.asarray(whole + self.engine.per_sequence * (batch.decodes + batch.prompts))

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
        return engine.host + behind + handed + engine.host_data * float(np.log2(layout.data))

    def launching(self, tokens: Column) -> Column:
        """Seconds that the host takes to launch a step with prompts: all kernels, or those between captured pieces."""
        shape = self.served.shape
        latent = {"attention": "latent attention"} if shape.latent is not None else {}
        parts = [part for kind in shape.kinds for part in (latent.get(kind.mixer, kind.mixer), kind.feed)]
        plain = sum(LAUNCHES.get(part, 0) for part in parts if part not in HEAVY)
        if self.layout.data > 1:
            plain += parts.count("experts") * (BETWEEN_RANKS if self.layout.tensor == 1 else BETWEEN_GROUPS)
        heavy = sum(LAUNCHES.get(part, 0) for part in parts if part in HEAVY)
        each = self.engine.eager_launch
        left = np.where(tokens > self.engine.captured_tokens, 1.0, self.engine.pieces)
        return np.asarray(left * (plain * each + heavy * max(each, self.engine.eager_heavy)))

    # -- layers -----------------------------------------------------------------------------------------------------

    def _layer(self, kind: LayerKind, batch: Batch) -> dict[str, Column]:
        shape = self.served.shape
        rows = {"tokens": batch.tokens, "prompts": batch.prompt_tokens, "decodes": batch.decoded}
        found: dict[str, Column] = {}
        for product in layer_products(self.served, self.layout, kind):
            time = self._product(rows[product.rows], product)
            found[product.part] = found.get(product.part, np.zeros(1)) + time
        if kind.attends:
            found |= self._attention(batch, float(shape.window) if kind.mixer == "local attention" else np.inf)
        elif kind.mixer == "delta net":
            found["recurrence"] = self._recurrence(batch)
        if kind.feed == "experts":
            found |= self._experts(batch.tokens)
        halves = (kind.mixer != "none") + (kind.feed != "none")
        found["norms, rotations, activations"] = self._small(batch.tokens, halves / 2.0)
        if self.layout.tensor > 1:
            size = batch.tokens * shape.hidden * 2.0
            found["all-reduce"] = halves * self._exchange(size, float(self.layout.tensor), "all_reduce")
        return found

    def _attention(self, batch: Batch, reach: float) -> dict[str, Column]:
        shape, split = self.served.shape, self.layout.tensor
        sizes = {"heads": np.asarray(shape.heads / split)}
        latent = "latent " if shape.latent is not None else ""
        if not latent:
            sizes |= {"kv_heads": np.asarray(self._kept_heads), "head_dim": np.asarray(shape.head_dim)}
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
        """Seconds a sequence that attention of one layer takes more in a captured graph."""
        return self._kept_heads * self.engine.pair_time

    @property
    def verified(self) -> int:
        """Tokens that a decode takes in a step."""
        return 1

    @property
    def _attending(self) -> int:
        return sum(kind.attends for kind in self.served.shape.kinds)

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
        plain = {
            "hidden": shape.hidden,
            "inter": experts.ffn,
            "topk": experts.chosen,
            "experts": experts.count,
            "tp": layout.expert_tensor,
            "ep": layout.expert,
            "skew": self.engine.skew,
        }
        sizes = {"tokens": np.maximum(tokens, 1.0) * layout.data}
        sizes |= {name: np.asarray(float(size)) for name, size in plain.items()}
        rate = self.engine.grouping * (self.engine.unpacking if form.widened else 1.0)
        ways = []
        for by in self.kernels.experts[form.kernels]:
            own = {
                **by,
                "memory_efficiency": by["memory_efficiency"] * self.engine.fetching,
                "matrix_efficiency": by["matrix_efficiency"] * rate,
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
        self, family: str, sizes: Mapping[str, Column], by: Constants, form: WeightFormat, burst: Column | None = None
    ) -> Column:
        values = {name: np.asarray(value) for name, value in by.items()}
        return FAMILY[family].time(self._kernels(form, burst), sizes, values)

    def _burst(self, rows: Column) -> Column:
        """Seconds of products in a row: those of one step, for before it the chip mostly reads."""
        shape = self.served.shape
        wide = 2.0 * (shape.heads + shape.kv_heads) * shape.head_dim + (3.0 if shape.gated else 2.0) * shape.ffn
        peak = float(np.max(self.chip.matrix_rate(self.served.dense_format.multiplied_in)))
        return 2.0 * rows * shape.layers * shape.hidden * wide / self.layout.tensor / peak

    def _product(self, rows: Column, product: ServedProduct) -> Column:
        form = product.form
        known = self.kernels.products[form.kernels]
        narrow = self.engine.narrow if form.kernels.startswith("fp8") else 1.0
        by = {
            **known,
            "kernel_launch_time": self.engine.launch,
            "memory_efficiency": known["memory_efficiency"] * self.engine.reading * narrow,
            "matrix_efficiency": known["matrix_efficiency"] * self.engine.multiplying,
        }
        sizes = {"m": np.maximum(rows, 1.0), "n": np.asarray(product.columns), "k": np.asarray(product.depth)}
        return np.where(rows > 0, self._timed("products", sizes, by, form, self._burst(rows)), 0.0)

    def _over_prompts(self, batch: Batch, sizes: Mapping[str, Column], reach: float, family: str) -> Column:
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

    def _of_decodes(self, batch: Batch, sizes: Mapping[str, Column], reach: float, family: str) -> Column:
        sequences = np.maximum(batch.decodes, 1.0)
        past = np.maximum(batch.context / sequences, 1.0) + batch.queries - 1.0
        keys = np.asarray(attended_positions(past, reach=reach))
        by = self.kernels.latent_token if family.startswith("latent") else self.kernels.token
        by = {**by, "kernel_launch_time": self.engine.attention_start}
        # Queries of one sequence see the same keys, as heads that share them do.
        given = {**sizes, "heads": sizes["heads"] * batch.queries, "batch": sequences, "kv": keys}
        if "kv_heads" in sizes:
            apart = np.isfinite(reach) & (sequences * sizes["heads"] > self.engine.windows_beyond)
            unshared = np.where(apart, 1.0, self.engine.unshared)
            given["kv_heads"] = sizes["kv_heads"] + unshared * (sizes["heads"] - sizes["kv_heads"])
        # A captured graph holds launches for the longest context there may be; beside prompts none is captured.
        pairs = np.where(batch.prompt_tokens > 0, 0.0, sequences * self.paired)
        rate = self.engine.attending * (self.engine.narrow_cache if self.served.cache_bytes == 1.0 else 1.0)
        seconds = self._timed(family, given, by, FORMATS["bf16"]) / rate
        return np.where(batch.decodes > 0, seconds + pairs, 0.0)

    def _exchange(self, size: Column, chips: float, kind: str) -> Column:
        own: Sequence[Constants] = self.kernels.all_reduce if kind == "all_reduce" else self.kernels.all_to_all
        ways = own or self.kernels.all_reduce  # a byte crosses the same links
        given = {"bytes": size, "gpus": np.asarray(chips), "crossings": np.asarray(CROSSINGS[kind])}
        times = [self._timed("collectives in a node", given, by, FORMATS["bf16"]) for by in ways]
        return np.where(size > 0, np.minimum.reduce(times) / self.engine.exchanging, 0.0)
