"""Measured rows of two pools: what ran, or why that is not known, and what the model says of it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from volvelle.applications.serving.instance import Instance, Settings, instance
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.runs import LARGEST_SHARE, ServingRun, layout_of, served_model, shortest
from volvelle.applications.serving.split.cache_transfer import TransferLink, link_between
from volvelle.applications.serving.split.split_answer import WorkerPool, split_answer
from volvelle.catalogue import Catalogue
from volvelle.simulation.batching.metrics import Metrics
from volvelle.workload.serving.loads import Closed

KIND = "disaggregated"
UNKNOWN = "workers unknown"
"""Why a row cannot be asked that does not say how many workers each pool has."""
_MACHINES = {
    "h100-sxm": "dgx-h100",
    "h200-sxm": "dgx-h200",
    "b200": "dgx-b200",
    "gb200": "gb200-nvl72",
    "gb300": "gb300-nvl72",
}
"""Machines whose links join the pools of a row, by its chip."""
_POOLS = ("prefill", "decode")
_SEED = 1
_TIMES, _FEWEST_TIMES, _MOST = 10, 3, 6000
"""Requests that are followed, in times the clients: ten, as were measured, but fewer of many clients, down to three."""


def split_run(row: ServingMeasurement, catalogue: Catalogue) -> ServingRun | str:
    """What a row of two pools ran, or why it cannot be asked."""
    return _run(row.cells, catalogue)


@lru_cache(maxsize=4096)
def _run(cells: tuple[tuple[str, str], ...], catalogue: Catalogue) -> ServingRun | str:
    stated = dict(cells)
    if not all(stated.get(f"{pool}_workers") for pool in _POOLS):
        return UNKNOWN
    if stated["chip"] not in _MACHINES:
        return f"no machine of {stated['chip']} is known whose links join two pools"
    found = served_model(KIND, stated, {}, catalogue)
    if isinstance(found, str):
        return found
    served = found
    assumed: list[str] = []
    instances: dict[str, Instance] = {}
    needed = float(stated["isl"]) + float(stated["osl"])
    for pool in _POOLS:
        own = {name.removeprefix(f"{pool}_"): value for name, value in stated.items() if name.startswith(f"{pool}_")}
        own["chips"] = str(_whole(own, "tp") * _whole(own, "attention_dp"))
        layout, told = layout_of(KIND, own, served)
        assumed += told
        settings = _settings(stated, decodes=pool == "decode")
        one = instance(catalogue, served, stated["chip"], layout, stated["engine"], settings)
        if not one.fits(needed):
            one = replace(one, settings=replace(settings, memory_share=LARGEST_SHARE))
        if not one.fits(needed):
            return one.why_not(needed)
        instances[pool] = one
    sizes = {name: float(stated[name]) for name in ("isl", "osl", "prefill_workers", "decode_workers")}
    if stated.get("concurrency"):
        sizes["concurrency"] = float(stated["concurrency"])
    else:
        ranks = _whole(stated, "decode_workers") * instances["decode"].layout.data
        sizes["concurrency"] = float(_whole(stated, "decode_batch_size") * ranks)
        assumed.append("as many clients are taken as the batches of all decode workers hold")
    return ServingRun(
        instance=instances["decode"],
        prefill=instances["prefill"],
        kind=KIND,
        shortest=shortest(stated),
        sizes=sizes,
        assumed=tuple(dict.fromkeys(assumed)),
    )


def _whole(cells: Mapping[str, str], name: str) -> int:
    return int(float(cells.get(name) or 1))


def _settings(stated: Mapping[str, str], *, decodes: bool) -> Settings:
    """Launch files are not published with the rows: an engine's defaults, and the batch that is stated."""
    batch = stated.get("decode_batch_size")
    budget = max(8192, _whole(stated, "isl")) if stated["engine"] == "trtllm" else None  # prompts are not cut there
    return Settings(
        token_budget=budget,
        max_sequences=int(float(batch)) if decodes and batch else None,
        prefix_caching=False,
    )


def split_answers(run: ServingRun) -> Mapping[str, float]:
    """Time to the first token, with the transfer, and time a token."""
    prefill, decode = run.prefill, run.instance
    assert prefill is not None, "a run of two pools has one that computes prompts"
    first = WorkerPool(instance=prefill, workers=int(run.sizes["prefill_workers"]))
    second = WorkerPool(instance=decode, workers=int(run.sizes["decode_workers"]))
    clients = int(run.sizes["concurrency"])
    found = split_answer(
        first,
        second,
        Closed(clients=clients),
        run.stated_lengths,
        link=_link(Catalogue(), decode, first.chips + second.chips),
        requests=min(_TIMES * clients, max(_FEWEST_TIMES * clients, _MOST)),
        seed=_SEED,
        rates=False,
        after_warm_up=False,
    )
    metrics = found.outcome
    assert isinstance(metrics, Metrics), "clients wait for their answers"
    return {"ttft": metrics.ttft.mean, "tpot": metrics.tpot.mean}


@lru_cache(maxsize=256)
def _link(catalogue: Catalogue, one: Instance, chips: int) -> TransferLink:
    machine = catalogue.cluster(f"{_MACHINES[one.chip.name]}/{chips}")
    return link_between(machine, machine, chips=chips)
