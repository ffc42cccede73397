"""Tables of the page on HPCG, transforms and recommendation models: what was asked for, found, and missed most."""

from collections.abc import Iterable, Sequence
from statistics import median

from volvelle.applications.dlrm.constants import dlrm_model_error, dlrm_stacks
from volvelle.applications.fft.constants import fft_model_error, travelled_by
from volvelle.applications.hpcg.fit import fit_hpcg, hpcg_constants
from volvelle.applications.hpcg.rows import hpcg_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.model_error import ModelError
from volvelle.applications.registry import application
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate
from volvelle.catalogue import Catalogue
from volvelle.quantities import FLOP_PER_SECOND, SECONDS, Quantity, show
from volvelle.report.applications.fitted_text import shown_constant
from volvelle.report.applications.scores_text import validation_markdown

__all__ = ["benchmark_pages"]

_VALIDATIONS: dict[str, tuple[str, Quantity, float]] = {
    "hpcg": ("HPCG", FLOP_PER_SECOND, 0.08),
    "fft": ("transforms", SECONDS, 0.20),
    "dlrm": ("recommendation models", SECONDS, 0.20),
}
"""What each is called and measured in, and the median error of held-out rows that was asked for at most."""
_UNCLAIMED = ("hpl-mxp", "stencil")
"""Of these too few systems are held out to claim an accuracy."""
_RANGE = (0.7, 0.9)
"""Share of held-out rows that was asked for in a range that is meant to hold four fifths."""
_SHOWN = 12


def benchmark_pages() -> dict[str, str]:
    """Fragments of the page by file name."""
    found = {word: validate(application(word)) for word in _VALIDATIONS}
    files = {
        "benchmark-targets.md": _targets(found),
        "benchmark-ranges.md": _ranges(found),
        "benchmark-doubts.md": _doubts(),
        "hpcg-constants.md": _hpcg(),
    }
    for word, rows in found.items():
        files[f"validation-{word}.md"] = (
            f"{validation_markdown(application(word), rows)}\n\n{_misses(rows, _VALIDATIONS[word][1])}"
        )
    for word in _UNCLAIMED:
        kind = application(word).quantity
        assert kind is not None, "both are measured in a unit"
        rows = validate(application(word))
        files[f"validation-{word}.md"] = f"{validation_markdown(application(word), rows)}\n\n{_misses(rows, kind)}"
    return files


def _targets(found: dict[str, RowValidation]) -> str:
    low, high = _RANGE
    rows = []
    for word, (name, _, bar) in _VALIDATIONS.items():
        score = found[word].overall("heldout")
        error, coverage = score.median_abs_error, score.coverage
        of = f"{name}, {score.rows} held-out rows"
        rows.append((of, f"median error ≤ {bar:.0%}", f"{error:.1%}", _verdict(error <= bar)))
        held = _verdict(low <= coverage <= high)
        rows.append((of, f"{low:.0%} … {high:.0%} in the 80 % range", f"{coverage:.0%}", held))
    return _table(("what", "asked for", "found", ""), rows, numbers=(2,))


def _ranges(found: dict[str, RowValidation]) -> str:
    """How often ranges hold, and how wide they are, on machines like those fitted and on others."""
    rows = []
    for word, (name, *_) in _VALIDATIONS.items():
        held = [each for each in found[word].rows if each.head.split == "heldout"]
        for like, words in ((True, "like those fitted"), (False, "unlike")):
            some = [each for each in held if like != bool(each.outside_calibration)]
            if some:
                width = median((each.high or 1.0) / (each.low or 1.0) for each in some)
                inside = sum(bool(each.inside) for each in some)
                rows.append((name, words, str(len(some)), str(inside), f"{inside / len(some):.0%}", f"{width:.2f}"))
    heads = ("what", "machines", "held-out rows", "in range", "share", "high over low, median")
    return _table(heads, rows, numbers=(2, 3, 4, 5))


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def _misses(found: RowValidation, kind: Quantity) -> str:
    held = [each for each in found.worst_first() if each.head.split == "heldout"][:_SHOWN]
    rows = [
        (
            each.head.row_id,
            each.label,
            show(each.measured, kind),
            show(each.predicted, kind),
            f"{each.error:+.0%}",
            "yes" if each.inside else "no",
        )
        for each in held
    ]
    heads = ("row", "what", "measured", "predicted", "error", "in range")
    return f"**Held-out rows furthest off**\n\n{_table(heads, rows, numbers=(2, 3, 4))}"


def _doubts() -> str:
    machines = [Catalogue().cluster(name) for name in ("v100-pcie-nccl", "v100-pcie-staged", "v100-pcie-mpi")]
    doubts: list[tuple[str, ModelError]] = [
        (f"transforms over {travelled_by(one)}", fft_model_error(one)) for one in machines
    ]
    doubts += [("transforms otherwise", fft_model_error())]
    doubts += [(f"recommendation models, {stack}", dlrm_model_error(stack)) for stack in dlrm_stacks()]
    rows = [
        (
            name,
            *(f"{value:.3g}" for value in (doubt.inside, doubt.chip, doubt.doubling, doubt.link)),
            ", ".join(doubt.chips),
            " to ".join(map(str, dict.fromkeys(doubt.counts))),
        )
        for name, doubt in doubts
    ]
    heads = ("model", "like fitted runs", "another chip", "a doubling of chips", "another link", "fitted on", "chips")
    return _table(heads, rows, numbers=(1, 2, 3, 4))


def _hpcg() -> str:
    fit = fit_hpcg(calibration_rows(hpcg_measurements(), shipped=True))
    rows = [(each.of, each.name, shown_constant(each.fitted, each.kind)) for each in hpcg_constants(fit)]
    return f"{_table(('of', 'constant', 'fitted'), rows, numbers=(2,))}\nFitted to {fit.runs} calibration runs.\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int]) -> str:
    rule = ("---:" if place in numbers else "---" for place in range(len(heads)))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, tuple(rule), *rows))
