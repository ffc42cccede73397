"""Files that launch a served model: one module an engine, each with ``emit(deployment, version) -> files``.

Names of options are those of the engine's own source, recorded in ``data/`` by version with the commit and files they
were read from. An option that the version does not have, or a layout that the engine cannot run as it was timed, is
refused with :class:`volvelle.errors.MappingError`, never written down as something near it.
"""
