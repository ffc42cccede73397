"""Tables of the page on single kernels."""

from volvelle.applications.kernels.application import KERNELS
from volvelle.applications.validation import validate
from volvelle.report.applications.scores_text import validation_markdown
from volvelle.report.sheet import Sheet, markdown_of


def kernel_pages() -> dict[str, str]:
    """Fragments of the page by file name."""
    scored = validate(KERNELS)
    (by_kind,) = KERNELS.findings(scored)
    sheet = Sheet(
        title=by_kind.title,
        columns=(*by_kind.words, *by_kind.numbers),
        rows=by_kind.cells,
        numbers=frozenset(by_kind.numbers),
    )
    groups = validation_markdown(KERNELS, scored)
    return {"kernels-by-kind.md": markdown_of(sheet), "validation-kernels.md": f"{groups}\n"}
