"""Ways to draft that a search considers beside not drafting, and what its answer says of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from volvelle.applications.serving.instance import Instance
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.interchange.speculation_words import read_speculation
from volvelle.system.cluster import Cluster
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.verbs.serving.speculated import draft_notes
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.drafting import Windows

_WINDOWS = (1, 2, 3, 5)
"""That are considered where the best is asked for."""


def ways_to_draft(given: Sequence[str]) -> tuple[str, ...]:
    """Each way with a window that is said."""
    return tuple(words for one in given for words in _with_windows(one))


def _with_windows(text: str) -> Iterator[str]:
    drafting = read_speculation(text)
    if drafting.window == 0:
        raise DescriptionError(f"{text!r} drafts nothing, and not drafting is always considered; draft at least 1")
    if drafting.window is not None:
        yield text
        return
    place = 2 if drafting.model else 1
    words = text.split(maxsplit=place + 1)  # what follows the window may be a file whose name has spaces
    for window in _WINDOWS:
        yield " ".join([*words[:place], f"{window}", *words[place + 1 :]])


def curves_of(given: Sequence[str]) -> list[Windows]:
    """Acceptance that files say."""
    return [curve for one in given if (curve := read_speculation(one).curve)]


def drafted_questions(
    questions: Sequence[ServingQuestion], words: str, shape: Transformer, cluster: Cluster, catalogue: Catalogue
) -> tuple[ServingQuestion, ...]:
    """The same questions with drafts, but for settings whose steps have no room to verify them."""
    drafted = [question.changed(speculate=words) for question in questions]
    instance = drafted[0].instance(catalogue, shape, cluster)
    found, narrow = [], None
    for question in drafted:
        try:
            replace(instance, settings=question.settings).rules()
        except DescriptionError as error:
            narrow = error
            continue
        found.append(question)
    if narrow is not None and not found:
        raise narrow
    return tuple(found)


def drafting_notes(given: Sequence[str], options: Sequence[tuple[ServingQuestion, Instance]]) -> Iterator[str]:
    """Whether the first of some options drafts, and whose acceptance was assumed."""
    if not given or not options:
        return
    question, _ = options[0]
    drafting = next(((one, instance) for one, instance in options if one.speculate is not None), None)
    if question.speculate is not None:
        yield f"the first drafts tokens ({question.speculate}); how many are accepted is assumed"
    elif drafting is not None:
        yield f"the first does not draft tokens; of those that do, the best drafts by {drafting[0].speculate}"
    else:
        yield f"the first does not draft tokens, nor does any that is shown; considered: {', '.join(given)}"
    if drafting is not None:
        yield from draft_notes(drafting[1])
