"""Figure 20 of the DFModel paper: Llama-3-8B served on 16 SN40L, by tensor and pipeline degree."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from volvelle.catalogue.published.dfmodel import DfModel, ServingRun
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.serving.stages import pass_latency, pass_rate, split_layer_time
from volvelle.workload.elements import element_bytes

_CHIP, _LINK = "sn40l", "sn40l"
_WORD = element_bytes("bf16")


@dataclass(frozen=True, kw_only=True)
class ServedPass:
    """One pass of a served model, nothing overlapped, with the work and the bytes that the study counts."""

    run: ServingRun
    peak: float
    """FLOP/s of a chip."""

    @property
    def work(self) -> float:
        """FLOP of a layer: products, attention, one for every number of other kernels; caches count two a number."""
        run = self.run
        products = 2.0 * run.tokens * self._weights
        attention = 4.0 * run.tokens * run.hidden * run.context
        caches = 4.0 * run.hidden * run.context if run.cached else 0.0
        others = run.tokens * (7.0 * run.hidden + run.ffn + 2.0 * run.heads * run.context)
        return products + attention + caches + others

    @property
    def _weights(self) -> float:
        """Numbers in a layer: four products of attention, two of the feed-forward part."""
        return 4.0 * self.run.hidden**2 + 2.0 * self.run.hidden * self.run.ffn

    @property
    def traffic(self) -> float:
        """Bytes that a layer reads: weights and the keys and values of the prompt; the study's prefill reads none."""
        run = self.run
        return _WORD * (self._weights + 2.0 * run.hidden * run.cached) if run.phase == "decode" else 0.0

    @property
    def exchanged(self) -> float:
        """Bytes of what a layer hands on."""
        return _WORD * self.run.tokens * self.run.hidden

    def _time(self, work: float, traffic: float, exchanged: float, latency: float) -> float:
        run = self.run
        return float(
            split_layer_time(
                work,
                traffic,
                exchanged,
                float(run.tensor),
                compute_rate=run.matrix_share * self.peak,
                memory_rate=run.memory_rate,
                link_rate=run.link_rate,
                latency=latency,
            )
        )

    @cached_property
    def stage(self) -> float:
        """Seconds of the layers of one stage."""
        whole = self._time(self.work, self.traffic, self.exchanged, self.run.link_latency)
        return whole * self.run.layers / self.run.pipeline

    @property
    def transfer(self) -> float:
        """Seconds in which a stage hands over: every chip its share."""
        run = self.run
        share = self.exchanged / run.tensor
        return float(point_to_point_time(share, rate=run.link_rate, latency=run.link_latency))

    @property
    def latency(self) -> float:
        """Seconds of the pass: to the first token of a prompt, or for one token more."""
        return float(pass_latency(self.stage, float(self.run.pipeline), transfer=self.transfer))

    @property
    def tokens_per_second(self) -> float:
        """Of all requests that are in the pipeline."""
        return float(pass_rate(self.stage)) * self.run.tokens

    @property
    def logged_tokens_per_second(self) -> float:
        """The same, as logged."""
        return self.run.rate * self.run.tokens

    @property
    def breakdown(self) -> dict[str, float]:
        """Seconds of the pass by what they are for."""
        run = self.run
        return {
            "compute": run.layers * self._time(self.work, 0.0, 0.0, 0.0),
            "memory": run.layers * self._time(0.0, self.traffic, 0.0, 0.0),
            "network, bytes": run.layers * self._time(0.0, 0.0, self.exchanged, 0.0),
            "network, latency": run.layers * self._time(0.0, 0.0, 0.0, run.link_latency),
            "between stages": (run.pipeline - 1) * self.transfer,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedLayout:
    """A prompt and a token in one layout."""

    prefill: ServedPass
    decode: ServedPass

    @property
    def name(self) -> str:
        """Tensor and pipeline degree."""
        return f"{self.decode.run.tensor}×{self.decode.run.pipeline}"


def served_pass(data: DfModel, run: ServingRun) -> ServedPass:
    """A run of the study on its chip."""
    return ServedPass(run=run, peak=data.accelerator(_CHIP).rate)


def solve_layouts(data: DfModel) -> tuple[ServedLayout, ...]:
    """Figure 20: five layouts, from most tensor to most pipeline parallelism."""
    found = {(run.phase, run.pipeline): served_pass(data, run) for run in data.serving if run.study == "figure 20"}
    stages = sorted(pipeline for phase, pipeline in found if phase == "decode")
    return tuple(ServedLayout(prefill=found["prefill", each], decode=found["decode", each]) for each in stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the paper says of a figure, and whether it comes out."""

    statement: str
    holds: bool
    figures: str

    @property
    def document(self) -> dict[str, Any]:
        """What JSON says of it."""
        return {"statement": self.statement, "holds": self.holds, "figures": self.figures}


def layout_statements(found: tuple[ServedLayout, ...]) -> tuple[Statement, ...]:
    """The four observations of section VIII-A; `found` from most tensor to most pipeline parallelism."""
    wide, deep = found[0], found[-1]
    latencies = [[getattr(one, phase).latency for one in found] for phase in ("prefill", "decode")]
    rates = [[getattr(one, phase).tokens_per_second for one in found] for phase in ("prefill", "decode")]
    longer, faster = (all(each == sorted(each) for each in both) for both in (latencies, rates))
    prefill = [
        1 - (one.prefill.breakdown["memory"] + one.prefill.breakdown["network, latency"]) / one.prefill.latency
        for one in found
    ]
    decode = [
        (one.decode.breakdown["memory"] + one.decode.breakdown["network, latency"]) / one.decode.latency
        for one in found
    ]
    return (
        Statement(
            statement="Increasing TP decreases TTFT and TPOT, and decreases throughput.",
            holds=longer and faster,
            figures=f"TTFT {deep.prefill.latency * 1e3:.1f} → {wide.prefill.latency * 1e3:.1f} ms, "
            f"TPOT {deep.decode.latency * 1e3:.2f} → {wide.decode.latency * 1e3:.2f} ms",
        ),
        Statement(
            statement="Increasing PP increases throughput.",
            holds=faster,
            figures=f"decode {wide.decode.tokens_per_second:,.0f} → {deep.decode.tokens_per_second:,.0f} tokens/s",
        ),
        Statement(
            statement="Increasing PP decreases TTFT and TPOT (as printed; what was logged rises).",
            holds=not longer,
            figures=f"TTFT {wide.prefill.latency * 1e3:.1f} → {deep.prefill.latency * 1e3:.1f} ms",
        ),
        Statement(
            statement="Prefill spends most time on network serialisation and compute.",
            holds=min(prefill) > 0.5,
            figures=f"{100 * min(prefill):.1f} % of it at least",
        ),
        Statement(
            statement="Decode spends most time on memory and network latency.",
            holds=min(decode) > 0.5,
            figures=f"{100 * min(decode):.1f} % of it at least",
        ),
    )


def with_text_links(data: DfModel, one: ServedPass) -> ServedPass:
    """The same pass over links of the rate that the paper prints."""
    return replace(one, run=replace(one.run, link_rate=data.link(_LINK).text_rate or one.run.link_rate))


def layout_document(found: tuple[ServedLayout, ...]) -> dict[str, Any]:
    """What JSON says of Figure 20."""
    rows = []
    for one in found:
        row: dict[str, Any] = {"layout": one.name, "tp": one.decode.run.tensor, "pp": one.decode.run.pipeline}
        for name, each in (("ttft", one.prefill), ("tpot", one.decode)):
            phase = each.run.phase
            row |= {
                f"logged_{name}_ms": each.run.latency * 1e3,
                f"{name}_ms": each.latency * 1e3,
                f"{name}_difference": each.latency / each.run.latency - 1,
                f"logged_{phase}_tokens_per_s": each.logged_tokens_per_second,
                f"{phase}_tokens_per_s": each.tokens_per_second,
                f"{phase}_difference": each.tokens_per_second / each.logged_tokens_per_second - 1,
                f"{phase}_ms_by_part": {part: seconds * 1e3 for part, seconds in each.breakdown.items()},
                f"{phase}_source": each.run.source,
            }
        rows.append(row)
    return {"rows": rows, "statements": [one.document for one in layout_statements(found)]}
