"""Launch settings of training frameworks, written from a layout.

One module a framework, each with ``emit(shape, step, mapping) -> str``. The names of arguments are those of the
framework's own source, recorded in ``data/`` with the commit and file they were read from. A layout that a framework
cannot run as priced is refused with :class:`volvelle.errors.MappingError`, never written down as something near it.
"""
