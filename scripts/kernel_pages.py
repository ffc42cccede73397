"""Tables of the page on single kernels."""

from volvelle.applications.kernels.application import KERNELS
from volvelle.applications.validation import validate
from volvelle.report.applications.scores_text import validation_markdown
from volvelle.report.sheet import Sheet, markdown_of


def kernel_pages() -> dict[str, str]:
    """Fragments of the page by file name."""
    scored = validate(KERNELS)
    by_kind, left_out = KERNELS.findings(scored)
    sheet = Sheet(
        title=by_kind.title,
        columns=(*by_kind.words, *by_kind.numbers),
        rows=by_kind.cells,
        numbers=frozenset(by_kind.numbers),
    )
    groups = validation_markdown(KERNELS, scored)
    unseen = "".join(f"{line[0].upper()}{line[1:]}.\n" for line in left_out.lines)
    return {
        "kernels-by-kind.md": markdown_of(sheet),
        "kernels-left-out.md": unseen,
        "validation-kernels.md": f"{groups}\n",
    }
