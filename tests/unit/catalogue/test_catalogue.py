"""A spread written on any number of the catalogue moves a range of some answer, or loading says why it cannot."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from tests.conftest import small_gpt, small_llama
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, UnderUncertainty, step_costs, transformer
from volvelle.applications.fft.estimator import FftLayout, FftModel, FftProblem
from volvelle.catalogue import loader
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.schema import (
    CalibrationFile,
    ChipFile,
    ClusterFile,
    Datum,
    DimensionFile,
    LinkFile,
    MemoryFile,
    ModelFile,
    ServerFile,
)
from volvelle.economics.cost_breakdown import cost_breakdown
from volvelle.economics.price_book import End
from volvelle.errors import DescriptionError
from volvelle.estimators import step_inputs
from volvelle.estimators.calibration import CONSTANTS
from volvelle.system.inventory import Inventory
from volvelle.workload.families.shape import Experts

Entry = dict[str, Any]
Path_ = tuple[str | int, ...]


def number(value: str | float) -> Entry:
    return {"value": value, "kind": "assumed", "source": "volvelle-assumption"}


def link(name: str, rate: str) -> Entry:
    return {
        "name": name,
        "title": name,
        "rate": number(rate),
        "latency": number("5 us"),
        "efficiency": number("80 %"),
        "setup": number("10 us"),
        "contention": number("2 %"),
        "fill": number("20 us"),
        "energy": number("5 pJ/b"),
        "reduces": True,
        "reduces_source": "volvelle-assumption",
        "reduction_efficiency": number("70 %"),
        "unhidden": number("10 %"),
    }


ENTRIES: Mapping[str, Entry] = {
    "chips/probe.yaml": {
        "name": "probe",
        "title": "A chip that states every number",
        "vendor": "nobody",
        "family": "probes",
        "launched": "2026-01",
        "matrix_rate": {element: number("30 TFLOP/s") for element in ("fp64", "fp32", "tf32", "bf16", "fp8", "int8")},
        "vector_rate": {"fp64": number("50 GFLOP/s"), "fp32": number("200 GFLOP/s")},
        "buffer": number("400 kB"),
        "memories": [
            {"name": "HBM", "capacity": number("1 GB"), "rate": number("200 GB/s")},
            {"name": "DDR", "capacity": number("100 GB"), "rate": number("100 GB/s")},
        ],
        "units": number(108),
        "tile": number(8192),
        "power": number("400 W"),
        "price": {**number("20000 USD"), "date": "2026"},
    },
    "calibrations/probe.yaml": {
        "name": "probe",
        "chip": "probe",
        "constants": {
            "matrix_efficiency": number("80 %"),
            "sustained_clock": number("99 %"),
            "memory_efficiency": number("80 %"),
            "memory_margin": number("5 %"),
            "loss_bytes": number(10),
            "sharded_loss_bytes": number(14),
            "gradient_copy_bytes": number(2),
            "weight_shard_bytes": number(2),
            "gather_copy_bytes": number(2),
            "reduce_copy_bytes": number(4),
            "wide_reduce_copy_bytes": number(6),
            "gradient_add_bytes": number(18),
            "list_gather_time": number("20 us"),
            "list_reduce_time": number("100 us"),
            "list_restore_time": number("80 us"),
            "gemm_k_half": number(200),
            "kernel_launch_time": number("2 us"),
            "host_dispatch_time": number("30 us"),
            "attention_efficiency": number("70 %"),
            "attention_kv_half": number(500),
            "communication_sm_share": number("15 %"),
            "tensor_exposure": number("90 %"),
            "hand_over_exposure": number("80 %"),
            "routing_dispatch": number(5),
            "plain_dispatch": number(1.5),
            "step_error": number(1.0),
            "memory_error": number(1.0),
            "memory_spike": number(1.0),
            "memory_ratio": number("100 %"),
            "memory_alike": number("50 %"),
        },
    },
    "calibrations/probe.fp8.yaml": {
        "name": "probe.fp8",
        "chip": "probe",
        "element": "fp8",
        "constants": {"matrix_efficiency": number("60 %")},
    },
    "links/inner.yaml": link("inner", "300 GB/s"),
    "links/outer.yaml": link("outer", "25 GB/s"),
    "links/host.yaml": link("host", "30 GB/s"),
    "clusters/probe.yaml": {
        "name": "probe",
        "title": "A machine that states every number",
        "chip": "probe",
        "default_count": 2048,
        "count_source": "volvelle-assumption",
        "dimensions": [
            {
                "name": "inside",
                "topology": "switch",
                "size": 8,
                "size_source": "volvelle-assumption",
                "link": "inner",
                "share": number("50 %"),
            },
            {
                "name": "between",
                "topology": "fat-tree",
                "size": "rest",
                "link": "outer",
                "oversubscription": number(2.0),
                "share": number("90 %"),
            },
        ],
        "host_link": "host",
        "server": {"chips": 8, "memory": number("2 TB"), "rate": number("400 TB/s"), "sockets": 2},
        "host_power": number("200 W"),
        "pue": number(1.3),
    },
}
"""One entry of every kind, every number stated, none with a spread: ranges are points until one is written."""


def numbers(value: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Where the numbers of an entry stand."""
    if isinstance(value, dict):
        if "kind" in value and "value" in value:
            yield place
        else:
            for name, inner in value.items():
                yield from numbers(inner, (*place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, (*place, index))


ASKED_OF_HOSTS = ("rate", "efficiency")
"""Of a link to host memory; all else that links have is walked where they join chips."""
PLACES = [
    (file, place)
    for file, entry in ENTRIES.items()
    for place in numbers(entry)
    if file != "links/host.yaml" or place[-1] in ASKED_OF_HOSTS
]
NAMES = [f"{file.removesuffix('.yaml')}:{'.'.join(map(str, place))}" for file, place in PLACES]
CANNOT = {
    "unhidden": "no range rests on what a pipeline hides",
    "energy": "no answer rests on the energy of a link",
    "memory_margin": "it is chosen and not measured",
    "loss_bytes": "its doubt is in the error of memory",
    "sharded_loss_bytes": "its doubt is in the error of memory",
    "gradient_copy_bytes": "its doubt is in the error of memory",
    "weight_shard_bytes": "its doubt is in the error of memory",
    "gather_copy_bytes": "its doubt is in the error of steps",
    "reduce_copy_bytes": "its doubt is in the error of steps",
    "wide_reduce_copy_bytes": "its doubt is in the error of steps",
    "gradient_add_bytes": "its doubt is in the error of steps",
    "list_gather_time": "its doubt is in the error of steps",
    "list_reduce_time": "its doubt is in the error of steps",
    "list_restore_time": "its doubt is in the error of steps",
    "step_error": "it is itself how far an estimate may be off",
    "memory_error": "it is itself how far an estimate may be off",
    "memory_spike": "it is itself how far an estimate may be off",
    "memory_ratio": "it is itself how far an estimate may be off",
    "memory_alike": "it is itself how far an estimate may be off",
}


def written(folder: Path, entries: Mapping[str, Entry]) -> Catalogue:
    for file, entry in entries.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as out:
            YAML(typ="safe", pure=True).dump(entry, out)
    return Catalogue(folder)


def with_spread(file: str, place: Path_, factor: float = 1.2) -> dict[str, Entry]:
    entries = deepcopy(dict(ENTRIES))
    inner: Any = entries[file]
    for step in place:
        inner = inner[step]
    inner["spread"] = {"lognormal": factor}
    return entries


@cache
def steps() -> tuple[tuple[TrainingStep, ParallelMapping], ...]:
    experts = replace(small_llama(), name="experts", experts=Experts(count=128, chosen=2, ffn=512))
    dense = transformer(small_gpt(sequence=1024, position_slots=1024))
    plain = ParallelMapping(tensor=8, data=256, zero=0, offload_optimiser=True)
    wide = transformer(small_gpt(heads=2, kv_heads=2, head_dim=256, sequence=4096, position_slots=4096))
    return (
        # Attention whose products take longer than its exponentials, and than the host.
        (TrainingStep(model=wide, batch=4096), ParallelMapping(tensor=1, data=2048, zero=0, micro_batch=2)),
        (TrainingStep(model=dense, batch=4096), plain),
        (
            TrainingStep(model=dense, batch=4096),
            ParallelMapping(tensor=2, data=1024, micro_batch=4, zero=0, sequence_parallel=False),
        ),
        (TrainingStep(model=transformer(experts), batch=4096), ParallelMapping(tensor=1, data=2048, expert=128)),
        # Experts that the host brings tokens to slower than they work, in two stages.
        (
            TrainingStep(model=transformer(experts), batch=4096),
            ParallelMapping(tensor=1, pipeline=2, data=1024, expert=1, zero=0),
        ),
        *(
            (TrainingStep(model=dense, batch=4096, element=element), plain)
            for element in ("fp64", "fp32", "tf32", "fp8", "int8")
        ),
    )


def widths(catalogue: Catalogue) -> dict[str, float]:
    """High over low less one of every range of every answer."""
    cluster = catalogue.cluster("probe")
    found = {}
    for place, (step, mapping) in enumerate(steps()):
        sure = UnderUncertainty(estimator=ClosedForm(), samples=8)
        bare = replace(step, reserved=0.0, fragmentation=0.0)  # what a framework keeps is in doubt on any machine
        estimate, samples = sure.with_samples(bare, cluster, mapping)
        for name, span in {**estimate.ranges, **step_costs(estimate, cluster, samples=samples).ranges}.items():
            found[f"step {place}: {name}"] = abs(span.high / span.low - 1.0)
    transform = FftModel(samples=8, error=1.0).estimate(
        FftProblem(shape=(2048, 2048, 2048), element="fp64"), cluster, FftLayout(rows=2048, columns=1)
    )
    found["transform: time"] = transform.time_range.high / transform.time_range.low - 1.0
    return found


def test_without_spreads_every_range_is_a_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_inputs, "BUSIEST_EXPERT", replace(step_inputs.BUSIEST_EXPERT, spread=None))
    # Nor is anything known of runs on other chips, which the steps of exotic types leave.
    monkeypatch.setattr(loader, "training_errors", None)
    assert max(widths(written(tmp_path, ENTRIES)).values()) < 1e-12


@pytest.mark.parametrize(("file", "place"), PLACES, ids=NAMES)
def test_a_spread_on_any_number_moves_a_range_or_is_refused_with_a_reason(
    tmp_path: Path, file: str, place: Path_
) -> None:
    catalogue = written(tmp_path, with_spread(file, place))
    reason = "no range rests on a host's memory" if "server" in place else CANNOT.get(str(place[-1]))
    if reason is not None:
        with pytest.raises(DescriptionError, match=reason):
            widths(catalogue)
        return
    assert max(widths(catalogue).values()) > 1e-6


@pytest.mark.parametrize("schema", [ChipFile, MemoryFile, LinkFile, ClusterFile, DimensionFile, ServerFile])
def test_the_entries_above_state_every_number_there_is(schema: type[BaseModel]) -> None:
    stated = {str(step) for _, place in PLACES for step in place}
    wanted = {name for name, kind in get_type_hints(schema).items() if kind is Datum or Datum in _inside(kind)}
    assert wanted <= stated


def test_the_calibration_above_states_every_constant() -> None:
    stated = {place[-1] for file, place in PLACES if file == "calibrations/probe.yaml"}
    assert stated == set(CONSTANTS)
    assert Datum in _inside(get_type_hints(CalibrationFile)["constants"])


def _inside(kind: Any) -> set[Any]:
    found = {kind}
    for part in get_args(kind):
        found |= _inside(part)
    return found


@pytest.mark.parametrize(
    ("file", "place"), [("clusters/probe.yaml", ("default_count",)), ("clusters/probe.yaml", ("dimensions", 0, "size"))]
)
def test_what_is_counted_has_no_spread(tmp_path: Path, file: str, place: Path_) -> None:
    entries = deepcopy(dict(ENTRIES))
    inner: Any = entries[file]
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = {**number(8), "spread": {"lognormal": 1.2}}
    with pytest.raises(DescriptionError, match="is counted, so it is a bare number without a spread"):
        written(tmp_path, entries).cluster("probe")


def test_parameters_of_a_model_have_no_spread(tmp_path: Path, catalogue: Catalogue) -> None:
    entry = catalogue.model_file("llama3-8b").model_dump(mode="json", exclude_none=True)
    assert Datum in get_type_hints(ModelFile).values()
    entry["parameters"]["spread"] = {"lognormal": 1.1}
    with pytest.raises(DescriptionError, match="parameters cannot have a spread: learned numbers are counted"):
        written(tmp_path, {"models/llama3-8b.yaml": entry}).model("llama3-8b")


# -- prices ------------------------------------------------------------------------------------------------------


def prices() -> Entry:
    file = Catalogue().prices_file()
    found: Entry = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
    return found


PRICES = list(numbers(prices()))


def bills(catalogue: Catalogue) -> dict[str, float]:
    """What buying, powering and owning machines costs at the low and at the high end of all prices."""
    book, found = PriceBook(catalogue), {}
    probe = catalogue.cluster("probe")
    for name, cluster in (("as stated", probe), ("hosts unknown", replace(probe, host_power=None))):
        for end in (End.LOW, End.HIGH):
            for model in (book.parts, book.market):
                # Parts price a chip of more logic too, which the market does not sell.
                logic = 1.5 if model == book.parts else 1.0
                inventory = replace(Inventory.of(cluster), logic=logic)
                bill = cost_breakdown(inventory, model(cluster, at=end), book.terms(at=end))
                label = f"{name}, {model.__name__}, {end.value}"
                found |= {f"{label}: capex": float(bill.capex), f"{label}: power": float(bill.power)}
                found[f"{label}: ownership"] = float(bill.tco)
    return found


@pytest.mark.parametrize("place", PRICES, ids=[".".join(map(str, place)) for place in PRICES])
def test_a_wider_interval_of_any_price_moves_the_ends_of_a_bill(tmp_path: Path, place: Path_) -> None:
    usual = bills(written(tmp_path / "usual", ENTRIES))
    book = prices()
    inner: Any = book
    for step in place:
        inner = inner[step]
    inner["spread"] = {"lognormal": 1.01}
    moved = bills(written(tmp_path / "moved", {**ENTRIES, "prices/parts.yaml": book}))
    assert any(abs(moved[name] / value - 1.0) > 1e-9 for name, value in usual.items())
