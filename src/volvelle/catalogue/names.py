"""What entries of the catalogue are called: by itself, by others, and what to say of a name that is none."""

import re
from collections.abc import Callable
from importlib.resources.abc import Traversable

from volvelle.catalogue.aliases import accelerator_alias, accelerator_aliases, hub_model, short_chip_name
from volvelle.catalogue.schema import ROOMS
from volvelle.errors import UnknownNameError, brief, plainly
from volvelle.input_limits import read_text

_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_MACHINES = 6
"""Machines with a chip that are named."""


class EntryNames:
    """Names of the entries in some folders, those of the first before the others'."""

    def __init__(self, roots: tuple[Traversable, ...]) -> None:
        self._roots = roots

    def all(self, room: str) -> tuple[str, ...]:
        """Of a room."""
        if room not in ROOMS:
            raise UnknownNameError.among("room of the catalogue", room, ROOMS)
        found = {
            entry.name.removesuffix(".yaml")
            for root in self._roots
            if (root / room).is_dir()
            for entry in (root / room).iterdir()
            if entry.name.endswith(".yaml")
        }
        return tuple(sorted(found))

    def stated(self, room: str, name: str, field: str) -> str:
        """What an entry's file says in one line of its margin, read without the rest."""
        file = next(file for root in self._roots if (file := root / room / f"{name}.yaml").is_file())
        lines = read_text(file).splitlines()
        return next((line.partition(":")[2].strip().strip("'\"") for line in lines if line.startswith(f"{field}:")), "")

    def own(self, room: str, name: str) -> str | None:
        """The catalogue's own name of an entry, by that name, title or name on the hub; None: of no or of several.

        Case and punctuation do not count: ``DGX_H100`` is dgx-h100, ``Llama 3 70B`` llama3-70b.
        """
        known, plain = self.all(room), plainly(name)
        if name in known or not plain:
            return name if name in known else None
        calls: tuple[Callable[[str], str], ...] = (str, lambda own: self.stated(room, own, "title"))
        for called in calls:
            alike = [own for own in known if plainly(called(own)) == plain]
            if len(alike) == 1:
                return alike[0]
        found = hub_model(name) if room == "models" else short_chip_name(plain) if room == "chips" else None
        return found if found in known else None

    def known(self, room: str, name: str, count: str = "") -> str:
        """The own name of an entry that must be there; of a cluster, with a number of accelerators."""
        found = self.own(room, name)
        if found is not None:
            return found
        if room == "models" and _HUB_ID.fullmatch(name):
            raise UnknownNameError(
                f"the catalogue has no model {brief(name)}, and nothing is fetched from the hub; save the config.json "
                "beside its weights there, and give that file in place of the name"
            )
        chip = self._chip(name) if room == "clusters" else None
        if chip is not None:
            machines = self.machines_with(chip)
            if not machines:
                raise UnknownNameError(f"{chip} is a chip that no cluster here has; describe one in a folder of yours")
            having = f"machines that have it: {', '.join(machines[:_MACHINES])}"
            raise UnknownNameError(f"{chip} is a chip; {having}; ask for {machines[0]}/{count or 'N'}")
        raise UnknownNameError.among(ROOMS[room][0], name, self.all(room), listed_by=f"volvelle catalogue {room}")

    def machines_with(self, chip: str) -> tuple[str, ...]:
        """Clusters whose accelerators are of a chip, the usual one first."""
        having = [name for name in self.all("clusters") if self.stated("clusters", name, "chip") == chip]
        usual = {alias.cluster for alias in accelerator_aliases() if alias.chip == chip}
        return tuple(sorted(having, key=lambda name: name not in usual))

    def _chip(self, name: str) -> str | None:
        """The chip that somebody names, as the catalogue or as others do."""
        alias = accelerator_alias(name)
        others = alias is not None and re.fullmatch(alias.match, name.strip(), re.IGNORECASE)
        return self.own("chips", name) or (alias.chip if alias is not None and others else None)
