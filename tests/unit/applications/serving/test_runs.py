"""What measured rows ran."""

from dataclasses import replace

import pytest

from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.measurements import ServingMeasurement, serving_measurements
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.told_settings import engine_settings
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError


def some_run(catalogue: Catalogue, **stated: str) -> ServingRun:
    def fits(row: ServingMeasurement) -> bool:
        return stated.items() <= row.stated.items()

    rows = serving_measurements(kind="closed_loop").rows
    row = next(row for row in rows if row.head.split == "calibration" and fits(row))
    run = run_of(row, catalogue)
    assert isinstance(run, ServingRun)
    return run


@pytest.mark.parametrize(
    ("engine", "model", "places"), [("trtllm", "llama3-8b", 15), ("trtllm", "qwen3-32b", 16), ("vllm", "qwen3-32b", 16)]
)
def test_one_client_of_tensorrt_llm_waits_where_first_tokens_tell_of_it(
    catalogue: Catalogue, engine: str, model: str, places: int
) -> None:
    asked = {"source_family": "aic-gap-analysis", "engine": engine, "model": model, "concurrency": "16"}
    run = some_run(catalogue, **asked)
    assert run.instance.rules(concurrency=16).max_sequences == places
    assert run.shortest == {"osl": 0.9}


@pytest.mark.parametrize(
    ("stated", "ahead"),
    [
        ({"engine": "vllm", "engine_version": "0.12.0", "source_family": "aic-gap-analysis"}, False),
        ({"engine": "vllm", "engine_version": "0.19.0"}, True),
        ({"engine": "sglang"}, True),
        ({"engine": "trtllm"}, True),
    ],
)
def test_steps_are_chosen_ahead_by_engines_whose_host_works_beside_the_chips(
    catalogue: Catalogue, stated: dict[str, str], ahead: bool
) -> None:
    assert some_run(catalogue, **stated).instance.rules(concurrency=4).ahead is ahead


def test_rows_of_sglang_are_runs_of_inferencex_where_it_ran_the_model(catalogue: Catalogue) -> None:
    run = some_run(catalogue, source_family="aic-gap-analysis", engine="sglang", model="qwen3.5-397b-a17b")
    assert run.shortest == {"isl": 0.8, "osl": 0.8}
    assert run.instance.settings.stream_interval > 1


@pytest.mark.parametrize("engine", ["vllm-2024", "nobody's engine"])
def test_an_engine_that_no_source_has_settings_of_is_asked_with_its_defaults_or_refused(
    catalogue: Catalogue, engine: str
) -> None:
    rows = serving_measurements(kind="closed_loop").rows
    cells = {**rows[0].stated, "engine": engine}
    settings = engine_settings(cells)
    assert settings["max_running"] == settings["token_budget"] == "unset"
    asked = replace(rows[0], cells=tuple(cells.items()))
    if engine == "vllm-2024":
        assert isinstance(run_of(asked, catalogue), ServingRun | str)
    else:
        with pytest.raises(DescriptionError, match="nobody's engine"):
            run_of(asked, catalogue)


def test_the_longest_request_is_what_scripts_tell_or_where_steps_were_timed_what_the_checkpoint_allows(
    catalogue: Catalogue,
) -> None:
    told: dict[tuple[str, str], set[int | None]] = {}
    for kind in ("closed_loop", "iterations"):
        for row in serving_measurements(kind=kind).rows[::7]:
            run = run_of(row, catalogue)
            if isinstance(run, ServingRun) and row.measure in ("tpot", "latency"):
                asked = (row.stated.get("source_family", kind), row.stated["engine"].split()[0])
                told.setdefault(asked, set()).add(run.instance.settings.longest)
    assert told["inferencex", "vllm"] == {2048, 9216}
    assert told["iterations", "vllm"] == {40_960}
    assert told["inferencex", "trtllm"] == told["aic-gap-analysis", "vllm"] == {None}
