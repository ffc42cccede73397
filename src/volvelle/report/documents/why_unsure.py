"""What ``volvelle why-unsure --json`` prints."""

from volvelle.report.documents.document import Document


class DoubtEntry(Document):
    """What a number in doubt brings, and what measuring it would leave."""

    input: str
    first_order: float
    """Share of the variance that it brings alone."""
    total: float
    """With all others together."""
    benchmark: str | None
    """What to run to learn it."""
    minutes: float | None
    half_width_after: float
    """Half of the logarithm of high over low, of four fifths, expected then."""
    settles: float | None
    """Chance that it is then known with a chance above nine tenths which of two layouts is faster."""


class WhyUnsureDocument(Document):
    """Why the time of a step, or which of two layouts is faster, is unsure."""

    model: str
    system: str
    of: str
    seconds: float
    ratio: float | None
    chance: float | None
    half_width: float
    """Half of the logarithm of high over low, of four fifths."""
    samples: int
    shares: list[DoubtEntry]
    rests_on: str
    notes: list[str]
