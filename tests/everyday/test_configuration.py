"""Files set defaults of options; the answer names what it took from them."""

import json
from pathlib import Path

import pytest

from volvelle.cli import run
from volvelle.cli.configuration import KEYS, PROJECT_FILE

QUESTION = ("estimate", "gpt2", "--batch", "8", "--json")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a project below the user's own configuration folder, and without any file yet."""
    monkeypatch.delenv("VOLVELLE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "volvelle").mkdir(parents=True)
    folder = tmp_path / "project" / "below"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return tmp_path


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert run(words) in (0, 1), capsys.readouterr().err
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_a_default_of_a_file_answers_as_the_option_does(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = answered(capsys, *QUESTION, "--on", "dgx-h100/8", "--stack", "fsdp", "--margin", "10%")
    file = project / "project" / PROJECT_FILE
    file.write_text("system: dgx-h100/8\nstack: fsdp\nmargin: 10%\n")
    configured = answered(capsys, *QUESTION)
    used = configured.pop("configuration")
    assert configured == typed
    assert used == {
        key: {"value": value, "file": str(file)}
        for key, value in (("system", "dgx-h100/8"), ("stack", "fsdp"), ("margin", "10%"))
    }


def test_an_option_replaces_the_default_and_the_project_replaces_the_user(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "home" / "volvelle" / "config.yaml").write_text("system: dgx-a100/8\nstack: nemo\n")
    (project / "project" / PROJECT_FILE).write_text("stack: fsdp\n")
    answer = answered(capsys, *QUESTION)
    assert (answer["system"], answer["stack"]) == ("dgx-a100/8", "fsdp")
    answer = answered(capsys, *QUESTION, "--on", "dgx-h100/8", "--stack", "megatron-core")
    assert (answer["system"], answer["stack"]) == ("dgx-h100/8", "megatron-core")
    assert "configuration" not in answer


def test_the_text_of_an_answer_names_the_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "project" / PROJECT_FILE
    file.write_text("system: dgx-h100/8\nprices: {energy: 0.2 USD/kWh}\n")
    assert run(["cost", "--brief"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"note: system dgx-h100/8, prices.energy 0.2 USD/kWh from {file}" in said


def test_a_question_about_counts_uses_the_kind_of_machine(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "project" / PROJECT_FILE).write_text("system: dgx-h100/64\n")
    assert answered(capsys, "scale", "gpt2", "--to", "8", "--batch", "8", "--json")["system"] == "dgx-h100"


def test_folders_of_a_catalogue_are_found_from_the_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(__file__).resolve().parents[2] / "examples" / "own_catalogue"
    (project / "project" / "machines").symlink_to(own)
    (project / "project" / PROJECT_FILE).write_text("catalogue: [machines]\nsystem: orion-tray/8\n")
    assert answered(capsys, *QUESTION)["system"] == "orion-tray/8"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sistem: dgx-h100/8", "there is no setting 'sistem'; did you mean 'system'?"),
        ("margin: 200 %", "margin: margin is 200 %; it must be a fraction"),
        ("stack: nemo\ncalibration: mine.yaml", "both stack and calibration are set"),
        ("- a", "holds list, not named fields"),
        ("system:", "system has no value"),
    ],
)
def test_a_file_that_makes_no_sense_is_rejected_by_its_name(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (project / "project" / PROJECT_FILE).write_text(text)
    assert run(["estimate", "gpt2", "--on", "dgx-h100/8", "--batch", "8"]) == 2
    err = capsys.readouterr().err
    assert PROJECT_FILE in err
    assert said in " ".join(err.split())


def test_config_shows_which_file_sets_what(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user, file = project / "home" / "volvelle" / "config.yaml", project / "project" / PROJECT_FILE
    user.write_text("stack: nemo\nmargin: 10%\n")
    file.write_text("stack: fsdp\n")
    document = answered(capsys, "config", "--json")
    assert document["files"] == [str(user), str(file)]
    assert document["settings"] == {
        "stack": {"value": "fsdp", "file": str(file)},
        "margin": {"value": "10%", "file": str(user)},
    }
    assert run(["config"]) == 0
    assert f"Not set: {', '.join(key for key in KEYS if key not in ('stack', 'margin'))}." in capsys.readouterr().out
