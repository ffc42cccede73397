"""How the site is built: MyST Markdown, the furo theme, equations as MathML so that no page needs a network."""

import json
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import volvelle

HERE = Path(__file__).resolve().parent

project = "Volvelle"
author = "The Volvelle authors"
project_copyright = author
version = release = volvelle.__version__
language = "en"

extensions = ["myst_parser"]
exclude_patterns = ["_build", "_generated"]
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


def setup(app: Sphinx) -> None:
    """Browsers draw MathML themselves: no script, no font, nothing fetched."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
