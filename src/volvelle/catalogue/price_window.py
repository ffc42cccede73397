"""Offers that still count: none is a year older than the newest."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Offer = TypeVar("Offer")


def newest(offers: Sequence[Offer], *, date: Callable[[Offer], str]) -> list[Offer]:
    """Return the offers of the last twelve months that have any; dates are like ``2026-08`` or ``2026-08-31``."""
    if not offers:
        return []
    year, month = (int(part) for part in max(date(offer) for offer in offers)[:7].split("-"))
    return [offer for offer in offers if date(offer)[:7] >= f"{year - 1:04d}-{month:02d}"]
