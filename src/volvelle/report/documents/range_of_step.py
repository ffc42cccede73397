"""What the range of a step's time rests on, in every document that has one."""

from volvelle.report.documents.document import Document, at


class ModelErrorEntry(Document):
    """How far calibration rows were off that their fit did not see."""

    regime: str
    """Whose rows these are; empty: all."""
    rows: int
    sources: int
    """Publications."""
    bias: float
    """Mean over publications of ln(measured / predicted); shown, not taken out."""
    between: float
    """One standard deviation between publications."""
    within: float
    """One standard deviation within them."""
    reach: float
    """What four fifths of new rows keep to, as a logarithm."""
    tilt: float = 0.0
    """By so much, as a logarithm, the upper side of ln(measured / predicted) reaches further, and the lower less."""
    pooled_rows: int = 0
    """Rows of all regimes above, with which its reach is pooled."""


class RangeOfStep(Document):
    """What the range of a step's time rests on."""

    model_error: ModelErrorEntry | None = at("basis.model_error", None)
    """Calibration rows behind the model's share; None: nothing was measured on such chips."""
    outside_calibration: list[str] = at("basis.outside", [])
    """Ways in which the question leaves what calibration runs tell of; each widens the range."""
    unpriced: list[str] = at("basis.unpriced", [])
    """What the model has that nothing prices; the range is wider by what runs of such models are off."""
    weakest_evidence: str | None = at("basis.weakest_evidence", None)
    """Grade of the weakest number of the machine that it rests on."""
