"""References by their keys: files are cut into entries, and an entry is parsed when it is first asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from volvelle.catalogue.schema import Reference
from volvelle.errors import SourceError


class References(Mapping[str, Reference]):
    """All references; parsing them all would take longer than an estimate."""

    def __init__(self, texts: Iterable[str], parse: Callable[[str, str], Reference]) -> None:
        self._texts: dict[str, str] = {}
        self._parsed: dict[str, Reference] = {}
        self._parse = parse
        for text in texts:
            key = ""
            for line in text.splitlines(keepends=True):
                if line[:1].isalnum():  # a key stands at the margin, its fields do not
                    key = line.split(":")[0]
                    if key in self._texts:
                        raise SourceError(f"two references have the key {key}; rename one")
                    self._texts[key] = line
                elif key:
                    self._texts[key] += line

    def __getitem__(self, key: str) -> Reference:
        if key not in self._parsed:
            self._parsed[key] = self._parse(key, self._texts[key])
        return self._parsed[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
