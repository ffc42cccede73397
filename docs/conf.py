"""How the site is built: MyST Markdown, the furo theme, equations as MathML so that no page needs a network."""

import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import volvelle

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from in_place import on_the_site

project = "Volvelle"
author = "The Volvelle authors"
project_copyright = author
version = release = volvelle.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
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
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

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


def _without_marks(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Marks tell scripts/generate_pages.py what to write in place; a reader of the site need not get them."""
    source[0] = on_the_site(source[0])


def setup(app: Sphinx) -> None:
    """Browsers draw MathML themselves: no script, no font, nothing fetched."""
    app.connect("source-read", _without_marks)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
