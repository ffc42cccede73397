"""The command that serves, run as a person runs it."""

import json
import subprocess
import sys

import jsonschema
import pytest

from tests.end_to_end.test_command import volvelle

QUESTION = ("serve", "llama3-70b", "--on", "dgx-h100/8", "--weights", "fp8", "--input", "1024", "--output", "256")


def test_a_batch_is_explained_within_eighty_columns() -> None:
    done = volvelle(*QUESTION, "--batch", "16")
    assert done.returncode == 0, done.stderr
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 80
    for words in ("TTFT", "TPOT", "output tokens/s", "bound by", "first token goes", "What a chip holds", "interval"):
        assert words in done.stdout


def test_a_load_is_told_as_clients_measure_it() -> None:
    done = volvelle(*QUESTION, "--load", "closed 8")
    assert done.returncode == 0, done.stderr
    for words in ("TTFT", "TPOT", "ITL", "E2EL", "median", "p99", "requests/s", "preemptions", "limited by"):
        assert words in done.stdout


def test_json_follows_its_published_schema() -> None:
    schema = json.loads(volvelle("schema", "serve").stdout)
    for more in (
        ("--batch", "16"),
        ("--load", "closed 8"),
        ("--load", "poisson 1000/s"),
        ("--weights", "bf16", "--tp", "1"),
    ):
        done = volvelle(*QUESTION, *more, "--json")
        found = json.loads(done.stdout)
        jsonschema.validate(found, schema)
        assert done.returncode == (0 if found["feasible"] else 1)
        assert (found["static"] or found["load"]) is not None or found["violations"]
        if found["static"] is not None:
            decode = sum(part["seconds"] for part in found["static"]["decode"])
            assert decode == pytest.approx(found["static"]["tpot"])


@pytest.mark.long
def test_a_brief_answer_fits_a_screen() -> None:
    for more in (("--batch", "16"), ("--load", "closed 8"), ("--weights", "bf16", "--tp", "1")):
        lines = volvelle(*QUESTION, *more, "--brief").stdout.splitlines()
        assert 4 < len(lines) <= 24
        assert max(len(line.rstrip()) for line in lines) <= 80


def test_a_batch_is_answered_without_what_follows_loads() -> None:
    code = (
        "import sys\nfrom volvelle.cli import run\n"
        f"assert run({[*QUESTION, '--batch', '16']!r}) == 0\n"
        "assert not {'numba', 'volvelle.simulation.compiler', 'scipy', 'altair'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
