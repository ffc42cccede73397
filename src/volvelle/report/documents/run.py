"""A whole training run, as documents have it."""

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document


class RunEntry(Document):
    """A whole training run by one layout, without failures, checkpoints and restarts."""

    tokens: float
    steps: float
    days: float
    joules: float | None
    usd_owned: float | None
    """The run's share of owning the machine, and its energy."""
    usd_rented: float | None
    """All accelerators rented by the hour."""
    rent: dict[str, float | str] | None
    """Dollars per accelerator-hour, and whose list prices these are, from when."""
    ettr: float | None
    """Effective training time ratio where it is interrupted as other clusters are."""
    days_with_failures: float
    """Days with failures, checkpoints and restarts."""
    ranges: dict[str, Range]
