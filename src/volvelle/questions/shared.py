"""Options that several commands have, each with a meaning of its own: a question adds what differs."""

from volvelle.base.option_kinds import Number, OutputFile
from volvelle.base.question import Option
from volvelle.domains import PROCESSES, RESULTS

PICTURE = OutputFile(endings=(".svg", ".png"))
FIGURE = Option("--figure", "Draw the answer.", kind=PICTURE, group="Output", metavar="FILE")
PLOT = Option("--plot", "Draw the answer.", kind=PICTURE, group="Output", metavar="FILE")
OUT = Option("--out", "Write the answer.", kind=OutputFile(), group="Output")
TIMELINE = Option("--timeline", "Write a timeline for ui.perfetto.dev.", kind=OutputFile(), group="Files")
EMIT = Option("--emit", "Print what launches the answer.", group="Files")
TOP = Option("--top", "Layouts to show.", kind=Number(RESULTS), group="Output")
WORKERS = Option("--workers", "Processes on this machine.", kind=Number(PROCESSES), group="Method", usually="all cores")
ESTIMATORS = Option("--with", "Methods to estimate with.", group="Method")
GROUP = Option("--group", "What belongs together.")
CHECK = Option("--check", "Simulate as well.", group="Method")
PURPOSE_MODEL = Option("--model", "Model.", metavar="MODEL")
