"""What was written of a step, and what the format could not say of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTrace:
    """Files of a folder."""

    folder: str
    files: int
    ranks: int
    """That have a program of their own."""
    nodes: int
    """In all files together."""
    unsaid: tuple[str, ...]
    """What the format cannot say, or says otherwise."""
