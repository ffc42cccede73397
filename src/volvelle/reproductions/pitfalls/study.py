"""The talk's table of a Llama on one stack, and its HPCG and HPL of Aurora, by the package's own models.

The table prints no shape, length, batch or element type. Tokens follow from it (seconds times tokens a second, the same
for model and run); the element type from its rate, which is the one that products in fp32 reach. Shapes are Llama's by
its own rules, with as many layers as come nearest to the parameters that are printed.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from volvelle.applications.registry import application
from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.pitfalls import PitfallsTalk, Printed, PrintedRate
from volvelle.quantities import percent
from volvelle.report.sheet import Sheet
from volvelle.reproductions.item import Columns, Document, Item, Number, sheet_of
from volvelle.reproductions.pitfalls.hpcg_uq import hpcg_uq_item
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.named import model_of
from volvelle.workload.families.shape import Transformer
from volvelle.workload.families.transformer import transformer

ITEMS = ("training", "hpcg", "hpcg-uq", "hpl")
STACK = "aurora-stacks/1"
HIDDEN = (1536, 2048, 2560)
"""Widths of a Llama of such a size; the middle one is the reading that the table is computed by."""
SEQUENCES = (1024, 2048, 4096)
READING = (2048, 2048)
"""Width and length of that reading."""
_HEAD, _MULTIPLE = 128, 256
"""Columns of a head, and what Llama rounds its feed-forward of 8/3 of the width up to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """A figure as the talk prints it, and as it comes out here."""

    figure: str
    reading: str
    talk: float
    run: float
    ours: float
    low: float | None = None
    high: float | None = None

    def fields(self) -> dict[str, object]:
        """As plain values, with the differences."""
        return {**asdict(self), "to_talk": self.ours / self.talk - 1.0, "to_run": self.ours / self.run - 1.0}


_COLUMNS: Columns = {
    "figure": "figure",
    "reading": "reading",
    "talk": Number("talk", ".5g"),
    "run": Number("run", ".5g"),
    "here": Number("ours", ".5g"),
    "low": Number("low", ".4g"),
    "high": Number("high", ".4g"),
    "to talk": Number("to_talk", "+1%"),
    "to run": Number("to_run", "+1%"),
}


def pitfalls_item(talk: PitfallsTalk, name: str, catalogue: Catalogue | None = None) -> Item:
    """One piece of the talk."""
    known = catalogue or Catalogue()
    if name == "training":
        return _training(talk, known)
    return hpcg_uq_item(talk.hpcg, known) if name == "hpcg-uq" else _benchmark(name, getattr(talk, name), known)


def llama_of(parameters: float, hidden: int, sequence: int, catalogue: Catalogue) -> Transformer:
    """A Llama of that width by its own rules, with the layers that come nearest to so many parameters."""
    ffn = -(-8 * hidden // (3 * _MULTIPLE)) * _MULTIPLE
    heads = hidden // _HEAD
    shape = replace(
        model_of("llama-7b", catalogue),
        name=f"llama of {parameters:.3g} parameters",
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=_HEAD,
        ffn=ffn,
        sequence=sequence,
    )
    one, two = (transformer(replace(shape, layers=layers)).parameters() for layers in (1, 2))
    return replace(shape, layers=max(1, 1 + round((parameters - one) / (two - one))))


def _training(talk: PitfallsTalk, catalogue: Catalogue) -> Item:
    told = talk.training
    tokens = round(told.seconds.model * told.tokens_per_second.model)
    hidden, sequence = READING
    shape = llama_of(told.parameters, hidden, sequence, catalogue)

    def asked(model: Transformer, element: str, **machine: str) -> Answer:
        changes = {f"calibration.{name}": value for name, value in machine.items()}
        batch = tokens // model.sequence
        return estimate(
            model, on=STACK, batch=batch, element=element, set=changes or None, anyway=True, catalogue=catalogue
        )

    share = percent(told.fp32_share, 0)
    answers = {
        f"fp32 at {share}": asked(shape, "fp32", matrix_efficiency=share),
        "fp32": asked(shape, "fp32"),
        "bf16": asked(shape, "bf16"),
    }
    first = next(iter(answers.values()))
    lines = [_line("FLOP, T", "products", told.flop, first.flops, scale=1e-12)]
    for reading, answer in answers.items():
        spread = answer.ranges["time"]
        time = answer.estimate.time
        lines.append(_line("time, s", reading, told.seconds, time, low=spread.low, high=spread.high))
        ends = (tokens / spread.high, tokens / spread.low)
        lines.append(_line("tokens/s", reading, told.tokens_per_second, tokens / time, low=ends[0], high=ends[1]))
    shapes = list(_shapes(told.parameters, tokens, told.flop, catalogue))
    document: Document = {
        "tokens": tokens,
        "parameters": first.parameters,
        "rate_of_talk": told.flop.model / told.seconds.model,
        "rate_of_run": told.flop.model / told.seconds.run,
        "rows": [line.fields() for line in lines],
        "shapes": shapes,
    }
    flops = [float(str(row["flop"])) for row in shapes]
    return Item(
        name="training",
        title="A Llama of 1.46 B parameters on one stack of Ponte Vecchio",
        lead=(
            f"Tokens follow from the table: {tokens:,}, for model and run alike. Not printed, and taken here: "
            f"{shape.layers} layers of {shape.hidden} ({first.parameters / 1e9:.3f} B parameters), {shape.sequence} "
            f"tokens a sequence, {tokens // shape.sequence} sequences one at a time. The talk's "
            f"{document['rate_of_talk'] * 1e-12:.1f} TFLOP/s are what products in fp32 reach on a stack, not in bf16. "
            f"Other shapes of this size have {min(flops) * 1e-12:,.0f} to {max(flops) * 1e-12:,.0f} TFLOP. The run's "
            f"own FLOP are fewer than six for every parameter and token: how they were counted is not said. "
            f"Products are counted with full scores of attention; {share} is what others measured in fp32, else "
            "constants are the catalogue's."
        ),
        sheets=(
            sheet_of("The talk's table", document["rows"], _COLUMNS),
            sheet_of(
                "FLOP by shapes that the slide allows",
                shapes,
                {
                    "width": Number("hidden", "d"),
                    "layers": Number("layers", "d"),
                    "sequence": Number("sequence", "d"),
                    "parameters, B": Number("parameters", ".3f", 1e9),
                    "TFLOP": Number("flop", ",.0f", 1e12),
                    "to talk": Number("to_talk", "+1%"),
                    "to run": Number("to_run", "+1%"),
                },
            ),
        ),
        document=document,
    )


def _shapes(parameters: float, tokens: int, printed: Printed, catalogue: Catalogue) -> Iterator[dict[str, object]]:
    for hidden in HIDDEN:
        for sequence in SEQUENCES:
            shape = llama_of(parameters, hidden, sequence, catalogue)
            answer = estimate(shape, on=STACK, batch=1, element="fp32", anyway=True, catalogue=catalogue)
            flop = answer.flops * tokens / sequence
            yield {
                "hidden": hidden,
                "layers": shape.layers,
                "sequence": sequence,
                "parameters": answer.parameters,
                "flop": flop,
                "to_talk": flop / printed.model - 1.0,
                "to_run": flop / printed.run - 1.0,
            }


def _line(
    figure: str, reading: str, printed: Printed, ours: float, *, scale: float = 1.0, low: float = 0.0, high: float = 0.0
) -> PrintedLine:
    return PrintedLine(
        figure=figure,
        reading=reading,
        talk=printed.model * scale,
        run=printed.run * scale,
        ours=ours * scale,
        low=low * scale if high else None,
        high=high * scale if high else None,
    )


def _benchmark(word: str, printed: PrintedRate, catalogue: Catalogue) -> Item:
    """HPCG or HPL as ``volvelle plan`` has it on as many modules of Aurora."""
    model = application(word)
    system = catalogue.cluster(f"aurora/{printed.devices}")
    asked = model.space(system, catalogue, model.plan_question(on=system))
    best = model.planner(asked).rank(asked.candidates, asked.system, top=1).first
    rate = best.figures()["rate"]
    assert rate.range is not None, "both models give a range"
    values = {"centre": rate.value} | ({"mean": best.facts["mean_rate"]} if "mean_rate" in best.facts else {})
    ends = {"low": rate.range.low, "high": rate.range.high}
    lines = [_line("PFLOP/s", name, printed.rate, value, scale=1e-15, **ends) for name, value in values.items()]
    rows = [line.fields() for line in lines]
    sheet: Sheet = sheet_of(f"{word.upper()} of Aurora", rows, _COLUMNS)
    return Item(
        name=word,
        title=f"{word.upper()} on {printed.devices:,} modules of Aurora",
        lead="The talk does not print the inputs of its own model; those here are the catalogue's.",
        sheets=(sheet,),
        document={"devices": printed.devices, "rows": rows},
    )
