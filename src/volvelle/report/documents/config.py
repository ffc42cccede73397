"""The document of ``volvelle config``."""

from collections.abc import Mapping
from typing import Any

from volvelle.report.documents.document import Document


class SettingEntry(Document):
    """A default, and the file that sets it."""

    value: Any
    file: str


class ConfigDocument(Document):
    """Configuration files that exist, and the defaults that they set."""

    files: tuple[str, ...]
    settings: Mapping[str, SettingEntry]
