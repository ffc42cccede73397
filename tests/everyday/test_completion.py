"""What the Tab key offers: in this process, and in a shell as a person has it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.catalogue.search import KINDS
from volvelle.catalogue.stacks import stack_entries
from volvelle.cli import VERBS, _volvelle, shells
from volvelle.workload.elements import ELEMENT_BYTES

COMMAND = Path(sys.executable).parent
OFFERED = {
    ("est",): ["estimate"],
    ("estimate", "llama3-"): ["llama3-405b", "llama3-70b", "llama3-8b"],
    ("estimate", "Llama3-7"): ["llama3-70b"],
    ("plan", "hp"): ["hpcg", "hpl", "hpl-mxp"],
    ("estimate", "gpt2", "--on", "dgx-h1"): ["dgx-h100"],
    ("estimate", "gpt2", "--on", "dgx-h100/10"): ["dgx-h100/1024"],
    ("cost", "--on", "fron"): ["frontier"],
    ("serve", "llama3-7"): ["llama3-70b"],
    ("serve", "gpt2", "--engine", "s"): ["sglang"],
    ("serve", "gpt2", "--weights", "nv"): ["nvfp4"],
    ("plan", "gpt2", "--stack", "mega"): ["megatron-core", "megatron-deepspeed", "megatron-lm"],
    ("plan", "gpt2", "--element", "bf"): ["bf16"],
    ("estimate", "gpt2", "--recompute", "s"): ["selective"],
    ("estimate", "gpt2", "--micro"): ["--micro-batch"],
    ("plan", "hpl", "--host"): ["--host-memory"],
    ("catalogue", "clusters", "dgx-a"): ["dgx-a100", "dgx-a100-40gb"],
    ("catalogue", "stac"): ["stacks"],
    ("schema", "cro"): ["crosscheck"],
}


def answer(*words: str) -> tuple[list[str], float]:
    """What the command tells a shell, and in how many seconds."""
    environment = {
        **os.environ,
        "_VOLVELLE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("volvelle", *words)),
        "COMP_CWORD": str(len(words)),
    }
    begun = time.perf_counter()
    done = subprocess.run(
        [str(COMMAND / "volvelle")], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()], time.perf_counter() - begun


@pytest.mark.parametrize("words", OFFERED, ids=" ".join)
def test_models_machines_software_and_options_are_completed(words: tuple[str, ...]) -> None:
    assert answer(*words)[0] == OFFERED[words]


def test_names_are_offered_without_loading_what_answers() -> None:
    code = (
        "import sys; from volvelle.cli.shells import offers; offers(['estimate'], 'lla'); "
        "offers(['cost', '--on'], ''); offers(['plan', 'gpt2', '--stack'], ''); offers([], ''); "
        "print([name for name in ('numpy', 'pydantic', 'rich', 'ruamel', 'volvelle.catalogue') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_real_bash_completes_with_the_script() -> None:
    script = """
        eval "$(volvelle completion bash)"
        COMP_WORDS=(volvelle estimate gpt2 --on dgx-b); COMP_CWORD=4
        _volvelle_completion volvelle dgx-b --on
        printf '%s\\n' "${COMPREPLY[@]}"
        complete -p volvelle
    """
    environment = {**os.environ, "PATH": f"{COMMAND}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    *offered, registered = done.stdout.splitlines()
    assert offered == ["dgx-b200", "dgx-b300"]
    assert "-F _volvelle_completion volvelle" in registered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_says_how_to_keep_it(shell: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, "completion", shell)
    assert reply.status == 0
    assert f"# To keep it:      volvelle completion {shell} > " in reply.out
    assert reply.out.startswith("#compdef volvelle" if shell == "zsh" else ("_volvelle", "function _volvelle"))


def test_what_is_offered_is_what_there_is(catalogue: Catalogue) -> None:
    context = click.Context(_volvelle)
    assert [item.value for item in shells.offers([], "") or ()] == list(VERBS) == _volvelle.list_commands(context)
    for room in ("models", "clusters"):
        listed = {item.value for item in shells.offers(["catalogue", room], "") or ()}
        assert listed >= set(catalogue.names(room))
    assert {item.value for item in shells.offers(["plan", "gpt2", "--stack"], "") or ()} == set(stack_entries())
    assert {item.value for item in shells.offers(["plan", "gpt2", "--element"], "") or ()} < set(ELEMENT_BYTES)
    assert {item.value for item in shells.offers(["catalogue"], "") or ()} >= set(KINDS)
