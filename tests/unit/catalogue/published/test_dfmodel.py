import shutil
from importlib import resources
from itertools import pairwise
from math import prod
from pathlib import Path

import pytest

from volvelle import Catalogue, DescriptionError, Phase, SourceError, UnknownNameError
from volvelle.catalogue.published.dfmodel import DfModel, MappingRun, dfmodel
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.operations import Unit

FOLDER = Path(str(resources.files("volvelle.catalogue"))) / "data" / "published" / "dfmodel"


@pytest.fixture(scope="module")
def data() -> DfModel:
    return dfmodel()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "dfmodel"))


# -- what is there -----------------------------------------------------------------------------------------------


def test_every_workload_has_80_points_and_every_point_is_another_machine(data: DfModel) -> None:
    assert len(data.design_space) == 320
    for workload in ("LLM", "DLRM", "HPL", "FFT"):
        points = data.points(workload)
        machines = {(point.accelerator, point.topology, point.memory, point.link) for point in points}
        assert len(points) == len(machines) == 80


def test_every_point_names_parts_that_are_described(data: DfModel) -> None:
    for point in data.design_space:
        accelerator = data.accelerator(point.accelerator)
        assert accelerator.price
        assert accelerator.power
        assert data.memory(point.memory).price == pytest.approx(1e-9)
        assert data.link(point.link).rate
        assert prod(data.topology(point.workload, point.topology).dims) == 1024
        assert 0 < point.utilisation < 1
        assert point.apart_utilisation <= point.utilisation * 1.05  # solvers stopped early, now here, now there


def test_peaks_are_those_the_paper_prints(data: DfModel) -> None:
    printed = {"h100": 993e12, "tpu": 275e12, "sn30": 614e12, "wse-2": 7500e12}
    for key, rate in printed.items():
        assert data.accelerator(key).rate == pytest.approx(rate, rel=2e-3)
        assert data.accelerator(key).text_rate == rate


def test_text_and_inputs_of_the_paper_differ_where_they_do(data: DfModel) -> None:
    said = {each.key: (each.rate, each.text_rate) for each in (*data.memories, *data.links) if each.text_rate}
    assert said["ddr"] == (300e9, 200e9)
    assert said["hbm"] == (3072e9, 3000e9)
    assert said["ddr-sn10"] == (100e9, 200e9)
    assert said["pcie"] == (50e9, 25e9)
    assert said["nvlink"] == (450e9, 900e9)


def test_every_study_has_its_runs(data: DfModel) -> None:
    counts = {"table 6": 8, "figure 7": 9, "figure 8": 20, "figure 19": 18, "figure 22": 15, "joint optimisation": 4}
    assert {name: len(data.study(name)) for name in counts} == counts
    missing = [run.source for run in data.runs if run.time is None]
    assert missing == ["LLM/Compare_w_existing/Calculon/fix_PP/8_32_16", "LLM/3d_memory/HBM/0.5"]


def test_serving_has_a_prompt_and_a_token_in_five_layouts_and_steps_of_four_models(data: DfModel) -> None:
    layouts = [run for run in data.serving if run.study == "figure 20"]
    assert len({(run.phase, run.tensor) for run in layouts}) == len(layouts) == 10
    assert all(run.tensor * run.pipeline == 16 for run in data.serving)
    steps = {(run.model, run.tokens) for run in data.serving if run.study == "figure 21"}
    assert {model for model, _ in steps} == {"llama-68m", "llama3-8b", "llama3-70b", "llama3-405b"}
    assert {row.target for row in data.served_rates} <= {model for model, _ in steps}


def layer(run: MappingRun) -> GptLayer:
    heads, width = run.heads, run.head_dim
    if run.study == "figure 22":  # as sources.yaml says, what was run has these two exchanged
        heads, width = width, heads
    return GptLayer(
        name=run.run,
        hidden=run.hidden,
        heads=heads,
        head_dim=width,
        ffn=4 * run.hidden,
        sequence=run.sequence,
        layers=run.layers,
    )


def test_every_run_did_the_work_of_our_own_graph(data: DfModel) -> None:
    for run in data.runs:
        if run.flop is None:
            continue
        build = {18: gpt_layer, 41: gpt_layer_training}[run.kernels]
        workload = build(layer(run))
        flops = sum(workload.flops(phase=phase, unit=unit) for phase in Phase for unit in Unit)
        assert flops * run.global_batch == pytest.approx(run.flop, rel=1e-9), run.source


def test_logged_utilisation_is_work_over_time_and_peak(data: DfModel) -> None:
    for run in data.runs:
        if run.time is None or run.flop is None or run.utilisation is None:
            continue
        rate = 2.0 * run.cores * run.lane_width * run.stage_width * run.clock
        assert run.flop / (run.time * run.chips * rate) == pytest.approx(run.utilisation, rel=1e-6), run.source
        assert prod(run.dims) == run.chips == (run.tensor or 1) * (run.pipeline or 1) * (run.data or 1), run.source


def test_table_6_is_in_the_logs_to_two_per_cent(data: DfModel) -> None:
    times = {run.run: run.time for run in data.study("table 6")}
    order = ["kbk_8x1", "existing_8x1", "dfmodel_8x1", "dfmodel_4x2"]
    printed = [ratio.performance for ratio in data.ratios if ratio.workload == "table 6"]
    steps = [(times[a] or 0) / (times[b] or 1) for a, b in pairwise(order)]
    assert [*steps, (times[order[0]] or 0) / (times[order[-1]] or 1)] == pytest.approx(printed, rel=0.02)


def test_every_file_is_listed_and_small(data: DfModel) -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 100_000
    listed = (FOLDER / "sources.yaml").read_text("utf-8")
    assert [file.name for file in FOLDER.glob("*.csv") if f"\n  {file.name}:" not in listed] == []
    assert "dfmodel" in Catalogue().references


def test_names_that_are_not_there_are_told_from_those_that_are(data: DfModel) -> None:
    for ask, words in (
        (lambda: data.accelerator("h10"), "no accelerator of DFModel 'h10'; did you mean 'h100'"),
        (lambda: data.memory("hbn"), "did you mean 'hbm'"),
        (lambda: data.link("pcy"), "did you mean 'pcie'"),
        (lambda: data.workload("gpt3"), "did you mean"),
        (lambda: data.topology("LLM", "4d_torus"), "no topology of LLM of DFModel '4d_torus'"),
        (lambda: data.study("figure 9"), "no study of DFModel 'figure 9'"),
    ):
        with pytest.raises(UnknownNameError, match=words):
            ask()


# -- no source, no load ------------------------------------------------------------------------------------------


def change(folder: Path, name: str, before: str, after: str) -> None:
    file = folder / name
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), "utf-8")


def test_a_study_without_sources_is_not_read(copy: Path) -> None:
    (copy / "sources.yaml").unlink()
    with pytest.raises(SourceError, match=r"no sources.yaml"):
        dfmodel(copy)


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("sources.yaml", "reference: dfmodel", "reference: nobody", "cites 'nobody', which is in no references file"),
        ("sources.yaml", "  links.csv:", "  bonds.csv:", "links.csv is not listed in sources.yaml"),
        ("sources.yaml", 'what: "Ratios printed in the paper."', 'what: ""', "does not say what ratios.csv holds"),
        ("links.csv", "*/DSE/system/*/*_pcie", "", "links.csv, line 2 names no source"),
    ],
)
def test_a_figure_without_a_source_is_not_read(copy: Path, name: str, before: str, after: str, words: str) -> None:
    change(copy, name, before, after)
    with pytest.raises(SourceError, match=words):
        dfmodel(copy)


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("sources.yaml", "files:", "filed:", "sources.yaml lists no files"),
        ("memories.csv", "rate_gbs", "speed", "has the columns speed too many and lacks rate_gbs"),
        (
            "memories.csv",
            "300,200",
            "fast,200",
            "memories.csv, line 2: rate_gbs is 'fast'; it must be of the kind float",
        ),
        ("accelerators.csv", "1056", "", "accelerators.csv, line 2: cores is ''; it must be of the kind int"),
        ("topologies.csv", "ring/ring", "ring/rope", "kinds is 'ring/rope'"),
        ("design_space.csv", "LLM,10", "LMM,10", "workload is 'LMM'"),
        ("ratios.csv", "LLM,RDU vs GPU/TPU,", "LLM,", "ratios.csv, line 2 has not as many cells"),
    ],
)
def test_a_cell_of_the_wrong_kind_is_refused_with_its_line(
    copy: Path, name: str, before: str, after: str, words: str
) -> None:
    change(copy, name, before, after)
    with pytest.raises(DescriptionError, match=words):
        dfmodel(copy)


def test_a_missing_or_empty_file_is_refused(copy: Path) -> None:
    (copy / "ratios.csv").write_text("workload,comparison,performance,per_dollar,per_watt,source\n", "utf-8")
    with pytest.raises(DescriptionError, match=r"ratios.csv has no rows"):
        dfmodel(copy)
    (copy / "runs.csv").unlink()
    with pytest.raises(DescriptionError, match=r"runs.csv is missing"):
        dfmodel(copy)
