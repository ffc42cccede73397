"""Files that launch an answer, shown or named."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from volvelle.interchange.engine_launch.deployment import LaunchFile


def print_launch_files(console: Console, files: Sequence[LaunchFile], folder: Path | None) -> None:
    """Print them, or where they were written."""
    for file in files if folder is None else ():
        console.print(Text(f"\n{file.name}", style="bold"))
        console.out(file.text.rstrip("\n"), highlight=False)
    if folder is not None and files:
        console.print(Text(f"\nwritten to {folder}: {', '.join(file.name for file in files)}"))
