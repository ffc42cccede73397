"""Which files of a published study may be read: those that its ``sources.yaml`` accounts for."""

from functools import cache
from importlib.resources.abc import Traversable

from ruamel.yaml import YAML

from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError, SourceError


def listed_file(root: Traversable, name: str) -> Traversable:
    """A file that `sources.yaml` accounts for."""
    if name not in _listed(root):  # type: ignore[arg-type]
        raise SourceError(f"{name} is not listed in sources.yaml; say there what it holds and where it comes from")
    return root / name


@cache
def _listed(root: Traversable) -> frozenset[str]:
    file = root / "sources.yaml"
    if not file.is_file():
        raise SourceError(f"{str(root)!r} has no sources.yaml; a study without sources is not read")
    stated = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
    files = stated.get("files") if isinstance(stated, dict) else None
    if not isinstance(files, dict):
        raise DescriptionError("sources.yaml lists no files; name each with what it holds")
    if stated.get("reference") not in Catalogue().sources:
        raise SourceError(
            f"sources.yaml cites {stated.get('reference')!r}, which is in no references file of the catalogue; add it"
        )
    bare = sorted(name for name, said in files.items() if not isinstance(said, dict) or not said.get("what"))
    if bare:
        raise SourceError(f"sources.yaml does not say what {', '.join(bare)} holds; add 'what'")
    return frozenset(files)
