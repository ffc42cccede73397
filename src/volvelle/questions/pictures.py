"""Options that draw an answer."""

from volvelle.base.option_kinds import OutputFile
from volvelle.base.question import Option

PICTURE = OutputFile(endings=(".svg", ".png"))
FIGURE = Option("--figure", "Draw the answer.", kind=PICTURE, group="Output", metavar="FILE")
