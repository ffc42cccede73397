"""The cheapest way to serve a load within limits."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import volvelle
from volvelle import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.applications.serving.goodput import AskedLoad, Trial, largest_share
from volvelle.applications.serving.static_answer import prediction_errors
from volvelle.catalogue import Catalogue
from volvelle.cli import run
from volvelle.errors import ResultsError
from volvelle.interchange.limit_words import read_limits
from volvelle.interchange.load_words import read_load
from volvelle.report.documents.plan_serving import ServingPlanDocument
from volvelle.report.plan_serving.words import layout_text
from volvelle.simulation.compiler import INSTALLED
from volvelle.verbs.plan_serving import kept as kept_module
from volvelle.verbs.plan_serving.candidates import Axes, Group, candidates
from volvelle.verbs.plan_serving.drafts import ways_to_draft
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import GroupScreen, Search, TrialKey
from volvelle.verbs.plan_serving.search import run_search
from volvelle.verbs.plan_serving.spending import spending
from volvelle.verbs.serving.request_lengths import request_lengths

pytestmark = pytest.mark.skipif(not INSTALLED, reason="a search follows some hundred runs, which needs the compiler")
NODE = "dgx-h100/8"
ASKED = {"load": "poisson 20/s", "slo": "p99 ttft 1 s, p99 tpot 30 ms", "input": 1024, "output": 128}
FEW = {"max_batched_tokens": (2048, 8192), "max_seqs": (64, 256)}


@pytest.fixture(scope="module")
def plan() -> ServingPlan:
    return volvelle.plan_serving("llama3-8b", on=NODE, tp=(1, 2), pp=1, **FEW, **ASKED)  # type: ignore[arg-type]


def test_the_first_takes_least_and_keeps_all_limits(plan: ServingPlan) -> None:
    best = plan.best
    assert best is not None
    assert [option.spent for option in plan.options] == sorted(option.spent for option in plan.options)
    for figure in best.chance.figures:
        assert figure.low <= figure.value <= figure.limit.seconds
    assert 0.0 <= best.chance.kept <= best.chance.stable <= 1.0
    assert best.goodput >= 20.0 * best.machine_replicas / best.replicas * 0.98
    assert best.chips == best.replicas * best.instance.layout.chips <= 8


def test_the_command_of_the_first_gives_the_same_answer(plan: ServingPlan, capsys: pytest.CaptureFixture[str]) -> None:
    best = plan.best
    assert best is not None
    assert run([*shlex.split(best.question.command)[1:], "--json"]) == 0
    served = json.loads(capsys.readouterr().out)
    assert served["replicas"] == best.replicas
    assert served["load"]["output_throughput"] == pytest.approx(best.load.throughput)
    assert served["load"]["latencies"]["ttft"]["percentiles"]["p99"] == pytest.approx(best.chance.figures[0].value)
    assert served["serving_cost"]["owned_usd"] == pytest.approx(best.cost.owned)
    assert served["serving_cost"]["rented_usd"] == pytest.approx(best.cost.rented)


def test_one_replica_fewer_would_break_a_limit(plan: ServingPlan) -> None:
    best = plan.best
    assert best is not None
    if best.replicas > 1:
        fewer = (best.replicas - 1) * best.instance.layout.chips
        served = volvelle.serve(
            "llama3-8b",
            on=f"dgx-h100/{fewer}",
            **{name: getattr(best.question, name) for name in ("load", "input", "output", "weights", "kv", "tensor")},
            max_batched_tokens=best.question.max_batched_tokens,
            max_seqs=best.question.max_seqs,
        )
        assert served.load is not None
        latencies = served.load.latencies
        broken = [
            limit for limit in plan.limits if latencies and latencies[limit.latency].percentiles[99.0] > limit.seconds
        ]
        assert not latencies or broken


def test_narrow_formats_are_said_and_the_best_in_16_bits_stands_beside(plan: ServingPlan) -> None:
    assert plan.best is not None
    if not plan.best.full_precision:
        assert any("may change" in note for note in plan.notes)
        assert plan.full_precision is not None
        assert plan.full_precision.full_precision
    only = volvelle.plan_serving("llama3-8b", on=NODE, tp=1, pp=1, weights="bf16", kv="bf16", **FEW, **ASKED)  # type: ignore[arg-type]
    assert only.best is not None
    assert only.best.full_precision


def test_every_option_names_the_runs_that_its_ranges_rest_on(plan: ServingPlan) -> None:
    told = ServingPlanDocument.model_validate(plan).options
    for option, entry in zip(plan.options, told, strict=True):
        errors = prediction_errors(option.instance)
        assert {one.figure: one.error_factor for one in entry.range_basis} == {
            name: errors[name] for name in ("tpot", "ttft")
        }
        assert all(one.outside_calibration for one in entry.range_basis), "no calibration run is of an open load"
    assert any(note.startswith("the first: range of") and "runs of vLLM V1" in note for note in plan.notes)


def test_what_would_change_the_answer_never_lowers_goodput(plan: ServingPlan) -> None:
    names = [change.name for change in plan.changes]
    assert any("memory bandwidth" in name for name in names)
    assert all(change.goodput >= 0.98 for change in plan.changes if "fp8" not in change.name)


def test_more_can_be_spent_least_of(plan: ServingPlan) -> None:
    for purpose in ("chips", "watts"):
        found = volvelle.plan_serving("llama3-8b", on=NODE, tp=1, pp=1, purpose=purpose, **FEW, **ASKED)  # type: ignore[arg-type]
        assert found.spending.purpose == purpose
        assert found.best is not None


def test_several_machines_are_compared_by_what_they_cost() -> None:
    found = volvelle.plan_serving(
        "llama3-8b",
        on=("dgx-h100/8,dgx-a100/8",),
        tp=1,
        pp=1,
        weights="bf16",
        kv="bf16",
        **FEW,
        **ASKED,  # type: ignore[arg-type]
    )
    assert {option.cluster.chip.name for option in found.options} == {"h100-sxm", "a100-sxm4-80gb"}


def searched(question: ServingPlanQuestion, axes: Axes) -> tuple[Search, list[Group]]:
    known = Catalogue()
    cluster = known.cluster(question.on[0])
    load = read_load(question.load)
    search = Search(
        catalogue=known,
        shape=known.model(question.model),
        asked=AskedLoad(load=load, shape=request_lengths(load, question.served), requests=question.requests),
        limits=read_limits(question.slo),
        chip_cost={cluster.name: spending("dollars", [cluster]).of_chip[0]},
    )
    return search, list(candidates(question.served, [cluster], search.shape, axes, known).groups)


@pytest.mark.long
def test_bounds_spare_most_of_500_candidates_and_change_no_winner() -> None:
    axes = Axes(budgets=(1024, 2048, 4096, 8192, 16384), sequences=(16, 32, 64, 128, 256), tensor=(1, 2, 4, 8))
    question = ServingPlanQuestion(
        model="llama3-8b",
        on=(NODE,),
        load="poisson 30/s",
        slo="p99 ttft 1 s, p99 tpot 20 ms",
        input=1024,
        output=128,
        requests=1500,
    )
    search, groups = searched(question, replace(axes, pipeline=(1, 2)))
    bounded = run_search(search, groups, top=3, workers=1)
    brute = run_search(replace(search, bounded=False), groups, top=3, workers=1)
    assert brute.candidates >= 500
    assert bounded.best[0].question == brute.best[0].question
    assert [one.question for one in bounded.best[:3]] == [one.question for one in brute.best[:3]]
    assert bounded.trials < 0.5 * brute.trials


@pytest.mark.parametrize(
    ("load", "slo", "lengths"),
    [
        pytest.param("poisson 30/s", "p99 ttft 1 s, p99 tpot 12 ms", "fixed", marks=pytest.mark.long),
        pytest.param("poisson 30/s", "p90 e2el 2 s, mean tpot 9 ms", "uniform:0.1", marks=pytest.mark.long),
        pytest.param("closed 128", "p95 tpot 20 ms, p90 ttft 1 s", "fixed", marks=pytest.mark.long),
    ],
)
def test_bounds_change_no_winner_among_candidates_that_draft(load: str, slo: str, lengths: str) -> None:
    question = ServingPlanQuestion(
        model="llama3-8b",
        on=(NODE,),
        load=load,
        slo=slo,
        input=1024,
        output=128,
        lengths=lengths,
        requests=800,
        speculate=("eagle 3", "ngram 5 acceptance 0.6", "eagle 3 tree 4x2"),
    )
    axes = replace(question.axes, budgets=(2048, 8192), sequences=(32, 128), tensor=(1, 2, 4), pipeline=(1,))
    search, groups = searched(question, replace(axes, weights=("fp8",)))
    bounded = run_search(search, groups, top=4, workers=1)
    brute = run_search(replace(search, bounded=False), groups, top=4, workers=1)
    assert {one.question.speculate for one in brute.best} > {None}
    assert [one.question for one in bounded.best[:4]] == [one.question for one in brute.best[:4]]
    assert [one.key for one in bounded.best[:4]] == [one.key for one in brute.best[:4]]
    assert bounded.trials < brute.trials
    assert_bounds_hold(search, groups)


def assert_bounds_hold(search: Search, groups: list[Group]) -> None:
    """Twice as large a part as a closed form allows was looked for, and what it rules out was tried."""
    for group in groups:
        screen = GroupScreen(search, group, {})
        for question in group.questions:
            bounds, bound = screen.bounds(question)
            if bounds.possible:
                assert largest_share(screen.tried(question), bound=2.0 * bound).share <= bound, question.command
            else:
                assert not screen.trial(question, 0.01, whole=True).kept, question.command


def test_several_processes_find_what_one_does() -> None:
    question = ServingPlanQuestion(
        model="llama3-8b", on=(NODE,), load="poisson 30/s", slo="p99 ttft 1 s", requests=3200
    )
    search, groups = searched(question, Axes(budgets=(2048, 8192), sequences=(64,), pipeline=(1,)))
    alone, together = (run_search(search, groups, top=2, workers=workers) for workers in (1, 2))
    assert [one.key for one in alone.best[:2]] == [one.key for one in together.best[:2]]
    assert [one.question for one in alone.best[:2]] == [one.question for one in together.best[:2]]


def test_a_search_that_was_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"on": NODE, "tp": (1, 2), "pp": 1, **FEW, **ASKED}
    wrote = kept_module.KeptTrials.add
    count = 0

    def killed(self: kept_module.KeptTrials, trials: dict[TrialKey, Trial]) -> None:
        nonlocal count
        wrote(self, trials)
        count += 1
        if count == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(kept_module.KeptTrials, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        volvelle.plan_serving("llama3-8b", keep=tmp_path, **asked)  # type: ignore[arg-type]
    monkeypatch.undo()
    file = tmp_path / "trials.jsonl"
    before = len(file.read_text().splitlines()) - 1
    assert before > 0
    with file.open("a") as cut:
        cut.write(
            '["volvelle serve llama3-8b',
        )
    resumed = volvelle.plan_serving("llama3-8b", keep=tmp_path, **asked)  # type: ignore[arg-type]
    assert resumed.resumed == before
    fresh = volvelle.plan_serving("llama3-8b", **asked)  # type: ignore[arg-type]
    assert resumed.trials + before == fresh.trials
    assert [option.question for option in resumed.options] == [option.question for option in fresh.options]
    again = volvelle.plan_serving("llama3-8b", keep=tmp_path, **asked)  # type: ignore[arg-type]
    assert again.trials == 0
    with pytest.raises(ResultsError, match="another question"):
        volvelle.plan_serving("llama3-8b", keep=tmp_path, **{**asked, "slo": "p99 ttft 3 s"})  # type: ignore[arg-type]


def test_limits_that_nobody_can_meet_are_an_answer_with_reasons_and_ways_out() -> None:
    found = volvelle.plan_serving(
        "llama3-8b",
        on="dgx-h100/1",
        weights="bf16",
        kv="bf16",
        **FEW,
        **{**ASKED, "slo": "p99 ttft 1 ms, p99 tpot 1 us"},  # type: ignore[arg-type]
    )
    assert not found.feasible
    assert found.dead_end is not None
    assert found.dead_end.nearest is not None
    assert found.dead_end.nearest.excess > 1.0
    assert any("even for a request alone" in reason for reason, _ in found.dead_end.reasons)


def test_ways_out_of_too_much_load_are_commands_that_run() -> None:
    found = volvelle.plan_serving(
        "llama3-8b",
        on="dgx-h100/1",
        weights="bf16",
        kv="bf16",
        **FEW,
        **{**ASKED, "load": "poisson 60/s"},  # type: ignore[arg-type]
    )
    assert found.dead_end is not None
    assert {what.split()[0] for what, _ in found.dead_end.cures} >= {"take", "offer"}
    for _, command in found.dead_end.cures:
        assert run(shlex.split(command)[1:]) == 0, command


def test_a_closed_loop_is_counted_in_clients() -> None:
    found = volvelle.plan_serving(
        "llama3-8b",
        on=NODE,
        tp=1,
        pp=1,
        weights="bf16",
        kv="bf16",
        **FEW,
        **{**ASKED, "load": "closed 64"},  # type: ignore[arg-type]
    )
    assert found.load_unit == "clients"
    assert found.best is not None
    assert found.best.goodput >= 64


def test_experts_are_laid_out_over_groups_and_data_parallel_ranks() -> None:
    known = Catalogue()
    question = ServingPlanQuestion(model="qwen3-30b-a3b", on=(NODE,), load="poisson 30/s", slo="p99 ttft 1 s")
    cluster = known.cluster(NODE)
    found = candidates(question.served, [cluster], known.model(question.model), Axes(), known)
    layouts = {group.layout for group in found.groups}
    assert any(layout.data > 1 for layout in layouts)
    assert any(layout.expert > 1 for layout in layouts)
    assert all(layout.chips <= 8 for layout in layouts)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"load": "at once"}, DescriptionError, "all at once"),
        ({"slo": "ttft 2 s"}, DescriptionError, "limit 1 of 1"),
        ({"purpose": "luck"}, UnknownNameError, "luck"),
        ({"engine": "fastest"}, UnknownNameError, "fastest"),
        ({"weights": "fp9"}, UnknownNameError, "fp9"),
        ({"on": (NODE, NODE)}, DescriptionError, "twice"),
        ({"tp": (2, 2)}, DescriptionError, "give each once"),
        ({"tp": 3}, OutsideDomainError, "no layout"),
        ({"max_seqs": 0}, DescriptionError, "max_seqs"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        volvelle.plan_serving("llama3-8b", **{"on": NODE, **ASKED, **changes})  # type: ignore[arg-type]


def test_the_first_is_launched_by_files_that_say_what_was_chosen(tmp_path: Path) -> None:
    few = {"tp": 1, "pp": 1, "weights": "fp8", "kv": "bf16", "max_batched_tokens": 2048, "max_seqs": 64}
    found = volvelle.plan_serving("llama3-8b", on=NODE, **few, **ASKED, emit="vllm", into=tmp_path)  # type: ignore[arg-type]
    assert {file.name for file in found.files} == {path.name for path in tmp_path.iterdir()}
    told = (tmp_path / "vllm.yaml").read_text()
    assert "max-num-seqs: 64" in told
    assert "max-num-batched-tokens: 2048" in told
    assert "quantization: fp8" in told


DRAFTS = {"tp": 2, "pp": 1, "weights": "fp8", "kv": "fp8", "max_batched_tokens": 8192, "max_seqs": (64, 256)}
TIGHT = {**ASKED, "slo": "p99 ttft 1 s, p99 tpot 7 ms"}


@pytest.fixture(scope="module")
def drafting() -> ServingPlan:
    return volvelle.plan_serving("llama3-8b", on=NODE, speculate=("eagle 3", "eagle 5"), **DRAFTS, **TIGHT)  # type: ignore[arg-type]


def test_every_way_to_draft_is_considered_beside_not_drafting(drafting: ServingPlan) -> None:
    ways = [group.questions[0].speculate for group in drafting.considered.groups]
    assert ways == [None, "eagle 3", "eagle 5"]
    without = volvelle.plan_serving("llama3-8b", on=NODE, **DRAFTS, **TIGHT)  # type: ignore[arg-type]
    assert drafting.candidates == 3 * without.candidates
    assert drafting.best is not None
    assert without.best is None or drafting.best.spent <= without.best.spent


def test_the_command_of_a_first_that_drafts_gives_the_same_answer(
    drafting: ServingPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    best = drafting.best
    assert best is not None
    assert best.question.speculate is not None
    assert "--speculate 'eagle" in best.question.command
    assert run([*shlex.split(best.question.command)[1:], "--json"]) == 0
    served = json.loads(capsys.readouterr().out)
    latencies = served["load"]["latencies"]
    for figure, name in zip(best.chance.figures, ("ttft", "tpot"), strict=True):
        assert latencies[name]["percentiles"]["p99"] == pytest.approx(figure.value)
    assert served["load"]["output_throughput"] == pytest.approx(best.load.throughput)


def test_the_answer_says_whether_the_first_drafts_and_whose_acceptance_is_assumed(drafting: ServingPlan) -> None:
    best = drafting.best
    assert best is not None
    assert f"the first drafts tokens ({best.question.speculate}); how many are accepted is assumed" in drafting.notes
    assert any("published curves of EAGLE heads" in note for note in drafting.notes)
    assert drafting.question.command.count("--speculate") == 2
    told = ServingPlanDocument.model_validate(drafting)
    assert told.options[0].speculate == best.question.speculate
    assert f"drafts: {best.question.speculate}" in layout_text(drafting, best)
    assert {change.name for change in drafting.changes} >= {"memory bandwidth × 1.25"}


def test_a_first_that_does_not_draft_is_said_too() -> None:
    useless = "ngram 5 acceptance 0.01"
    found = volvelle.plan_serving("llama3-8b", on=NODE, speculate=useless, **DRAFTS, **ASKED)  # type: ignore[arg-type]
    assert found.best is not None
    assert found.best.question.speculate is None
    assert any(note.startswith("the first does not draft tokens") for note in found.notes)


def test_kept_trials_with_and_without_drafts_are_told_apart(tmp_path: Path) -> None:
    plain = volvelle.plan_serving("llama3-8b", on=NODE, keep=tmp_path, **DRAFTS, **ASKED)  # type: ignore[arg-type]
    drafted = {"on": NODE, "speculate": "eagle 3", **DRAFTS, **ASKED}
    both = volvelle.plan_serving("llama3-8b", keep=tmp_path, **drafted)  # type: ignore[arg-type]
    assert both.resumed == plain.trials
    assert both.trials > 0
    fresh = volvelle.plan_serving("llama3-8b", **drafted)  # type: ignore[arg-type]
    assert [(one.question, one.share) for one in both.options] == [(one.question, one.share) for one in fresh.options]


def test_trials_by_a_curve_that_has_changed_are_not_taken(tmp_path: Path) -> None:
    curve = tmp_path / "curve.csv"
    asked = {"on": NODE, "speculate": f"eagle 3 curve {curve}", "keep": tmp_path / "kept", **DRAFTS, **ASKED}
    curve.write_text("window,tokens_per_step\n3,2.9\n")
    volvelle.plan_serving("llama3-8b", **asked)  # type: ignore[arg-type]
    curve.write_text("window,tokens_per_step\n3,1.2\n")
    with pytest.raises(ResultsError, match="another question"):
        volvelle.plan_serving("llama3-8b", **asked)  # type: ignore[arg-type]


def test_a_window_that_is_not_said_stands_for_several() -> None:
    assert ways_to_draft(["eagle best", "ngram 4"]) == ("eagle 1", "eagle 2", "eagle 3", "eagle 5", "ngram 4")
    assert ways_to_draft(["draft llama3-8b best tp1"])[-1] == "draft llama3-8b 5 tp1"


def test_steps_that_cannot_verify_all_drafts_are_not_considered() -> None:
    known = Catalogue()
    question = ServingPlanQuestion(
        model="llama3-8b", on=(NODE,), load="poisson 30/s", slo="p99 ttft 1 s", speculate=("eagle 5",)
    )
    axes = replace(question.axes, budgets=(2048,), sequences=(256, 512), tensor=(1,), pipeline=(1,))
    found = candidates(question.served, [known.cluster(NODE)], known.model("llama3-8b"), axes, known)
    assert {len(group.questions) for group in found.groups if group.questions[0].speculate} == {1}


@pytest.mark.parametrize(
    ("speculate", "error", "said"),
    [
        ("eagle 0", DescriptionError, "drafts nothing"),
        (("eagle 3", "eagle 3"), DescriptionError, "give each once"),
        ("guess 3", UnknownNameError, "guess"),
        ("draft nobody 4", UnknownNameError, "nobody"),
        ("draft gpt2 2", DescriptionError, "same family"),
        ("draft llama3-8b 4 tp4", DescriptionError, "tp4"),
    ],
)
def test_drafts_that_make_no_sense_are_refused(speculate: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        volvelle.plan_serving("llama3-8b", on=NODE, speculate=speculate, **DRAFTS, **ASKED)  # type: ignore[arg-type]


def test_a_first_that_drafts_is_launched_by_files_that_say_so(drafting: ServingPlan, tmp_path: Path) -> None:
    assert drafting.best is not None
    words = drafting.question.command
    assert run([*shlex.split(words)[1:], "--emit", "vllm", "--into", str(tmp_path), "--brief"]) == 0
    told = (tmp_path / "vllm.yaml").read_text()
    window = str(drafting.best.question.speculate).split()[1]
    assert f'"num_speculative_tokens": {window}' in told
    assert "in place of DRAFT_HEAD" in told
