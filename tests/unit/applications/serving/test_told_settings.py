"""What launch scripts told engines, by the day of a run."""

import pytest

from volvelle.applications.serving.told_settings import as_laid_out, engine_settings, is_of_other_kind, source_of

DEEPSEEK = {
    "source_family": "inferencex",
    "engine": "trtllm",
    "model": "deepseek-v3",
    "chip": "b200",
    "weights": "nvfp4",
    "tp": "8",
    "attention_dp": "1",
    "moe_ep": "1",
    "isl": "8192",
    "osl": "1024",
    "concurrency": "64",
}


@pytest.mark.parametrize(
    ("day", "clients", "degrees"),
    [
        ("2025-11-02", "64", ("1", "8", "8")),  # the script chose data parallelism for that many
        ("2025-11-02", "32", ("8", "1", "1")),
        ("2025-12-15", "64", ("8", "1", "1")),  # from then on a row states it
    ],
)
def test_a_script_that_chose_the_layout_itself_is_believed_over_the_row(
    day: str, clients: str, degrees: tuple[str, str, str]
) -> None:
    stated = {**DEEPSEEK, "measured_on": day, "concurrency": clients}
    found = as_laid_out(stated, engine_settings(stated))
    assert (found["tp"], found["attention_dp"], found["moe_ep"]) == degrees


def test_a_budget_is_that_of_the_day() -> None:
    early, late = ({**DEEPSEEK, "measured_on": day} for day in ("2025-12-15", "2026-02-03"))
    assert engine_settings(early)["token_budget"] == "concurrency+isl+64"
    assert engine_settings(late)["token_budget"].startswith("max(8192;")


def test_a_row_without_a_date_is_asked_with_what_no_date_narrows() -> None:
    assert engine_settings({**DEEPSEEK, "measured_on": ""})["applies_when"] == "otherwise"


def test_runs_that_drafted_tokens_are_told_apart_by_their_sweep() -> None:
    assert is_of_other_kind({**DEEPSEEK, "measured_on": "2026-02-06"})
    assert not is_of_other_kind({**DEEPSEEK, "measured_on": "2026-02-03"})
    assert not is_of_other_kind({**DEEPSEEK, "engine": "nobody's engine"})


def test_sglang_rows_of_another_list_are_runs_of_inferencex_where_it_ran_the_model() -> None:
    listed = {"source_family": "aic-gap-analysis", "engine": "sglang"}
    assert source_of({**listed, "model": "glm-5"}) == "inferencex"
    assert source_of({**listed, "model": "llama3-8b"}) == "aic-gap-analysis"
