"""An MPI trace by what its file is: an anchor of an OTF2 archive, or a CSV of events."""

from pathlib import Path

from volvelle.interchange.mpi_traces.csv_file import read_events
from volvelle.interchange.mpi_traces.otf2_archive import read_otf2
from volvelle.workload.message_passing.trace import MessageTrace


def read_mpi_trace(file: Path) -> MessageTrace:
    """The trace; what makes no sense is refused with its line and a cure."""
    return read_otf2(file) if file.suffix == ".otf2" else read_events(file)
