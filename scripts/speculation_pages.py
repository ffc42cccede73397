"""The picture of gains of speculation that a page shows."""

import volvelle
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import WIDE
from volvelle.report.speculation.pictures import gains_picture

__all__ = ["speculation_pages"]

DRAFTERS = {
    "EAGLE head, 3": "eagle 3",
    "parallel, 5": "parallel 5",
    "n-gram, 4": "ngram 4",
    "8B draft, 4": "draft llama3-8b 4 tp1",
}


def speculation_pages() -> dict[str, str]:
    """By file: gains of some drafters against the batch."""
    answers = {
        name: volvelle.serve(
            "llama3-70b", on="dgx-h100/8", weights="fp8", input=1024, output=256, batch=16, speculate=words
        )
        for name, words in DRAFTERS.items()
    }
    gains = {name: answer.speculation for name, answer in answers.items() if answer.speculation is not None}
    picture = gains_picture(gains, width=WIDE)
    return {} if picture is None else {"speculation-gain.svg": svg(picture)}
