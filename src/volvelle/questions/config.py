"""The question of ``volvelle config``."""

from volvelle.base.question import Question


class ConfigQuestion(Question):
    """Show which configuration file sets which default.

    Defaults come from the configuration file of the user and from volvelle.yaml in the current folder or a folder
    above it, which comes first. Both are YAML. Keys: system, stack, calibration, margin, catalogue (a folder or a list
    of folders), and prices (rent, energy, gpu, interest, life, use). An option of the command replaces a default. The
    environment variable VOLVELLE_CONFIG names another file, or is "never".
    """

    subcommand = "config"
    summary = "Show which configuration file sets which default."
    examples = ("", "--json")
