"""A folder in which a search keeps its trials, so that one that was killed goes on where it was."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from volvelle.applications.serving.goodput import AskedLoad, Trial
from volvelle.errors import ResultsError
from volvelle.studies.sweep.manifest import model_fingerprint
from volvelle.system.cluster import Cluster
from volvelle.verbs.plan_serving.screening import TrialKey
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.drafting import Windows
from volvelle.workload.serving.limits import LatencyLimit

_FILE = "trials.jsonl"


def question_fingerprint(
    shape: Transformer,
    clusters: Sequence[Cluster],
    asked: AskedLoad,
    limits: Sequence[LatencyLimit],
    curves: Sequence[Windows] = (),
) -> str:
    """The same for the same model, machines, requests, limits, and curves of acceptance, whose files may change."""
    digest = sha256()
    requests = asked.part(1.0)
    told = (asdict(shape), [(one.name, one.chip, one.dimensions) for one in clusters], asked.requests, asked.seed)
    digest.update(repr((told, asked.load, list(map(str, limits)), list(curves))).encode())
    for column in (requests.arrival, requests.input_tokens, requests.output_tokens, requests.hash_ids):
        digest.update(column.tobytes())
    return digest.hexdigest()[:16]


class KeptTrials:
    """Trials of one question, written as they are made."""

    def __init__(self, folder: Path, *, fingerprint: str, folders: tuple[str, ...] = ()) -> None:
        self._file = folder / _FILE
        header = {"question": fingerprint, "model": model_fingerprint(folders)}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not self._file.exists():
                self._file.write_text(json.dumps(header) + "\n", "utf-8")
        except OSError as error:
            raise ResultsError(f"trials cannot be kept in {str(folder)!r}: {error.strerror}") from None
        self.known: dict[TrialKey, Trial] = {}
        whole = self._file.read_text("utf-8").rpartition("\n")[0]
        first, *lines = whole.split("\n")
        if _parsed(first) != header:
            raise ResultsError(
                f"{str(folder)!r} keeps trials of another question, or of another version of the model; give an empty "
                "folder"
            )
        for line in lines:
            row = _parsed(line)
            if not isinstance(row, list) or len(row) != 6:
                raise ResultsError(f"{str(self._file)!r} is damaged at {line[:60]!r}; give an empty folder")
            name, share, figures, excess, throughput, tpot = row
            self.known[name, share] = Trial(
                share=share, figures=tuple(figures), excess=excess, throughput=throughput, tpot=tpot
            )
        # A line that was cut short when its writer was killed.
        self._file.write_text(whole + "\n", "utf-8")
        self.found = len(self.known)
        """Trials that an earlier run had made."""

    def add(self, trials: dict[TrialKey, Trial]) -> None:
        """Write trials down."""
        rows = [
            [name, share, list(one.figures), one.excess, one.throughput, one.tpot]
            for (name, share), one in trials.items()
        ]
        with self._file.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))


def _parsed(line: str) -> object:
    try:
        found: object = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found
