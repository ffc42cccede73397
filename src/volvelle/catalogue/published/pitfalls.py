"""What the slides of the talk on pitfalls print of its models and of the runs beside them."""

from functools import cache
from importlib import resources

from volvelle.catalogue.published.sources import listed_file
from volvelle.catalogue.sourced_file import Form, Plain, Share, Whole, read_sourced


class Printed(Form):
    """One figure: what the talk's model says, and what was run."""

    model: Plain
    run: Plain


class PrintedTraining(Form):
    """The table of a Llama on one stack."""

    parameters: Plain
    flop: Printed
    seconds: Printed
    tokens_per_second: Printed
    fp32_share: Share
    """Of the peak that products in fp32 reach on a stack, as others measured it."""


class PrintedRate(Form):
    """A benchmark on Aurora."""

    devices: Whole
    rate: Printed


class PitfallsTalk(Form):
    """All that is computed again."""

    training: PrintedTraining
    hpcg: PrintedRate
    hpl: PrintedRate


@cache
def pitfalls_talk() -> PitfallsTalk:
    """The figures of the package."""
    root = resources.files("volvelle.catalogue") / "data" / "published" / "pitfalls"
    found: PitfallsTalk = read_sourced(listed_file(root, "printed.yaml"), PitfallsTalk, name="pitfalls/printed.yaml")
    return found
