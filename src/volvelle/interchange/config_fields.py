"""The fields of a Hugging Face ``config.json``, each read with its kind and refused by its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from volvelle.domains import FACTOR, NO_WIDTH
from volvelle.errors import DescriptionError, OutsideDomainError, brief


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFields:
    """The fields of one file, each read with its kind and refused by its name."""

    name: str
    family: str
    fields: Mapping[str, object]

    def _found(self, names: tuple[str, ...]) -> tuple[str, object]:
        """The first of several spellings that the file has, with what it holds; ``null`` counts as absent."""
        return next(((key, self.fields[key]) for key in names if self.fields.get(key) is not None), (names[0], None))

    def whole(self, *names: str, default: int | None = None) -> int:
        """A whole number under one of several spellings."""
        key, value = self._found(names)
        if value is None:
            if default is not None:
                return default
            near = get_close_matches(names[0], [*self.fields], n=2, cutoff=0.7)
            meant = f"; is {' or '.join(map(repr, near))} meant for it?" if near else "; add it"
            raise DescriptionError(
                f"config of {self.name!r}: a {self.family} model needs {' or '.join(map(repr, names))}{meant}"
            )
        return int(NO_WIDTH.read(value, f"config of {self.name!r}: {key}"))

    def share(self, *names: str, default: float = 0.0) -> float:
        """A number that need not be whole."""
        key, value = self._found(names)
        if value is None:
            return default
        return FACTOR.read(value, f"config of {self.name!r}: {key}")

    def truth(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise DescriptionError(f"config of {self.name!r}: {name} is {brief(value)}; it must be true or false")
        return value

    def words(self, name: str, known: Mapping[str, str], count: int) -> list[str] | None:
        """A list that says one of the known words for each of so many layers, each as what it is known for."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, list | str) or len(value) != count:
            raise DescriptionError(f"config of {self.name!r}: {name} is {brief(value)}; it must name {count} layers")
        if not all(str(word) in known for word in value):
            raise self.refuse(name, f"layers are {', '.join(map(repr, known))}")
        return [known[str(word)] for word in value]

    def inner(self, name: str) -> "ConfigFields":
        """The fields under one name."""
        value = self.fields.get(name) or {}
        if not isinstance(value, Mapping):
            raise DescriptionError(f"config of {self.name!r}: {name} is {brief(value)}; it must hold named fields")
        return ConfigFields(name=f"{self.name}: {name}", family=self.family, fields=value)

    def refuse(self, name: str, why: str) -> OutsideDomainError:
        """What to raise where the shape has no word for what the file says."""
        return OutsideDomainError(
            f"config of {self.name!r}: {name} is {brief(self.fields.get(name))}; {why}. Describe the nearest network "
            f"that is expressible by hand, as a Transformer"
        )

    def activation(self, *names: str, default: str, gated: bool) -> Literal["gelu", "relu", "relu2", "swiglu", "geglu"]:
        """The activation, as the shape names it."""
        key, value = self._found(names)
        word = default if value is None else str(value)
        if gated and word in ("silu", "swish"):
            return "swiglu"
        if word.startswith("gelu") or word == "quick_gelu":
            return "geglu" if gated else "gelu"
        if word in ("relu", "relu2") and not gated:
            return "relu" if word == "relu" else "relu2"
        known = "silu and gelu" if gated else "gelu, relu and relu2"
        raise self.refuse(key, f"a {'gated' if gated else 'plain'} feed-forward knows {known}")

    def head_dim(self, heads: int, hidden: int, *, default: int | None = None) -> int:
        """Width of a head: said, the family's own where the key is absent, else an even part of the stream."""
        absent = "head_dim" not in self.fields and default is not None
        if not absent and self.fields.get("head_dim") is None and (heads < 1 or hidden % heads):
            raise DescriptionError(
                f"config of {self.name!r}: a stream of {hidden} does not divide into {heads} heads; "
                f"correct hidden_size or num_attention_heads, or add head_dim"
            )
        return self.whole("head_dim", default=default if absent else hidden // max(heads, 1))

    def kv_heads(self, heads: int, *, default: int | None = None) -> int:
        """Heads of keys and values; the library's own number only where the key is absent altogether."""
        absent = "num_key_value_heads" not in self.fields and default is not None
        return self.whole("num_key_value_heads", default=default if absent else heads)

    def drops(self, *names: str, default: float = 0.0) -> bool:
        """Whether any of these dropouts is on."""
        return any(self.share(name, default=default) > 0.0 for name in names)
