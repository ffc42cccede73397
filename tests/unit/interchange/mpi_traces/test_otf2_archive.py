"""Archives of OTF2 are read by its library, or the message says what to install."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle.errors import DescriptionError, MissingExtraError
from volvelle.interchange.mpi_traces import otf2_archive
from volvelle.interchange.mpi_traces.any_trace import read_mpi_trace
from volvelle.interchange.mpi_traces.otf2_archive import otf2_python
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import matched


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    python = otf2_python()
    if python is None:
        if os.environ.get("VOLVELLE_MPI") == "required":
            pytest.fail("there is no Python with otf2; run scripts/mpi")
        pytest.skip("there is no Python with otf2; scripts/mpi brings it")
    folder = tmp_path / "archive"
    subprocess.run([python, "-I", str(ROOT / "tests/data/mpi/write_otf2.py"), str(folder)], check=True)
    return folder / "traces.otf2"


def test_messages_and_collectives_of_an_archive_are_events(archive: Path) -> None:
    trace = read_mpi_trace(archive)
    calls = [Call.IRECV, Call.ISEND, Call.WAIT, Call.WAIT, Call.ALLREDUCE]
    assert [Call(call) for call in trace.call] == 2 * calls
    assert trace.partner[:2].tolist() == [1, 1]
    assert trace.size[:2].tolist() == [1001, 1000]
    assert trace.start[:5] == pytest.approx([1e-5, 2e-5, 3e-5, 2.1e-4, 3e-4])
    assert trace.end[2:5] == pytest.approx([2.1e-4, 2.1e-4, 5.01e-4])
    assert matched(trace).instances == 1


def test_an_archive_that_is_cut_is_refused(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:20])
    with pytest.raises(
        DescriptionError, match=r"cannot be read by OTF2's library, which said: .*; give the anchor file"
    ):
        read_mpi_trace(archive)


def test_without_the_library_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "traces.otf2").write_bytes(b"")
    monkeypatch.setattr(otf2_archive, "otf2_python", lambda: None)
    with pytest.raises(MissingExtraError, match=r"volvelle\[otf2\].* or apt-get install python3-otf2"):
        read_mpi_trace(tmp_path / "traces.otf2")


def test_an_anchor_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="give the anchor file of an archive"):
        read_mpi_trace(tmp_path / "none.otf2")
