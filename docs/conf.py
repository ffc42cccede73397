"""How the site is built: MyST Markdown, the furo theme, equations as MathML so that no page needs a network."""

import json
from pathlib import Path

import click
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import volvelle
from volvelle.cli import _volvelle

HERE = Path(__file__).resolve().parent

project = "Volvelle"
author = "The Volvelle authors"
project_copyright = author
version = release = volvelle.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_click"]
exclude_patterns = ["_build", "_generated"]
templates_path = ["_templates"]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False
# `this` in a docstring is a name of ours where there is one, else code.
default_role = "py:obj"
# Quotes and dots may be curled, but two hyphens begin an option.
smartquotes_action = "qe"
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "substitution"]
myst_heading_anchors = 3
# Figures that prose quotes are made by scripts/generate_pages.py, so that they cannot go stale.
myst_substitutions = json.loads((HERE / "_generated" / "figures.json").read_text("utf-8"))

html_theme = "furo"
html_title = f"Volvelle {version}"
html_static_path = ["_static"]
html_css_files = ["volvelle.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "friendly"
highlight_language = "text"


def _inline(translator: nodes.NodeVisitor, node: nodes.Element) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator: nodes.NodeVisitor, node: nodes.Element) -> None:
    translator.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def _load_verbs(group: click.Group) -> None:
    """Import every command below a group: sphinx-click takes a group that has some commands to have no others."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        group.add_command(command, name)
        if isinstance(command, click.Group):
            _load_verbs(command)


def setup(app: Sphinx) -> None:
    """Browsers draw MathML themselves: no script, no font, nothing fetched."""
    _load_verbs(_volvelle)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
