"""Whatever is wrong with a trace, it is answered or refused in a line: no crash, no hang, no gigabyte."""

import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.everyday.trace_mutation import EXTREMES, mutated
from volvelle import Catalogue
from volvelle.errors import VolvelleError
from volvelle.verbs.replay import replay

MACHINE = Catalogue().cluster("dgx-h100/8")
INPUTS = 1000
_SECONDS = 10.0
_BYTES = 2**30
_ASK = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
from volvelle.errors import VolvelleError
from volvelle.verbs.replay import replay
start = time.process_time()
try:
    answer = replay(sys.argv[1], on="dgx-h100/8", clock=1e9)
    told = f"{{answer.count}} operations"
except VolvelleError as error:
    told = str(error)
# Of this program alone: what getrusage says begins with what the process had before it ran it.
most = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([told, time.process_time() - start, most]))
"""


@pytest.mark.parametrize("part", range(10))
def test_a_thousand_damaged_traces_are_answered_or_refused_with_the_file(part: int, tmp_path: Path) -> None:
    refused = 0
    for seed in range(part * INPUTS // 10, (part + 1) * INPUTS // 10):
        name, data = mutated(seed)
        file = tmp_path / name
        file.write_bytes(data)
        start = time.process_time()
        try:
            answer = replay(file, on=MACHINE, clock=1e9)
            assert answer.time >= 0.0, seed
            json.dumps(answer.to_dict(), allow_nan=False)
        except VolvelleError as error:
            refused += 1
            told = str(error)
            assert name in told or "spans" in told, (seed, told)
            assert re.search(r"; |: |, ", told), (seed, told)
        assert time.process_time() - start < _SECONDS, seed
    assert refused > 20  # the inputs are really damaged


def marked(place: int, what: str) -> object:
    """Every other one here, all by scripts/test long: each shows that a reader ends, and there are several a kind."""
    return pytest.param(what, marks=() if place % 2 == 0 else pytest.mark.long)


@pytest.mark.parametrize("what", [marked(place, what) for place, what in enumerate(EXTREMES)])
def test_extremes_end_within_ten_seconds_and_a_gigabyte(what: str, tmp_path: Path) -> None:
    name, made = EXTREMES[what]
    file = tmp_path / name
    file.write_bytes(made())
    code = _ASK.format(most=_BYTES + 2**29)  # the interpreter with NumPy maps half a gigabyte that it does not use
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told, seconds, kilobytes = json.loads(done.stdout)
    assert seconds < _SECONDS, told
    assert kilobytes * 1024 < _BYTES, told
    assert "operations" in told or name in told


def test_a_file_that_memory_has_no_room_for_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as opened:
        opened.truncate(2**40)  # takes no room on the disk
    start = time.process_time()
    with pytest.raises(VolvelleError, match="MiB can be read here"):
        replay(file, on="dgx-h100/8")
    assert time.process_time() - start < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < 8 * _BYTES
