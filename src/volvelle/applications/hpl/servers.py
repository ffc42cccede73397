"""What a TOP500 entry says of its nodes: accelerators and network ports, from the names of servers and networks.

The list states neither. Both are facts of products where a product has one configuration; where it does not, a habit is
assumed, chosen on calibration rows alone.

==========  ==========================================================================================================
what        how it is decided
==========  ==========================================================================================================
nodes       two sockets of the processor named, over the host cores an accelerator has; for servers below, as sold
ports       "dual", "quad" and "octo" rail as stated; for servers below, as sold; else one a node with P100, V100 or
            cards in PCIe slots, and one for two accelerators with newer ones
rate        by the network's name; "InfiniBand" alone: EDR with P100 and V100, HDR with A100, NDR with newer ones
card        servers known to take PCIe cards have them: a lower power limit
==========  ==========================================================================================================
"""

import re
from dataclasses import dataclass

_GIGABIT = 1e9 / 8.0

_SERVERS: tuple[tuple[str, int, int], ...] = (
    (r"DGX-?2", 16, 8),
    (r"DGX.?1", 8, 4),
    (r"DGX (A100|H100|H200|B200)|DGX.*SuperPOD|ND96|NDv4", 8, 8),
    (r"GB200", 4, 4),
    (r"EX ?235[na]|EX ?254n|EX ?255a|XH3000|401Bax", 4, 4),
    (r"Intel Exascale", 6, 8),
    (r"ICE XA|SGI 8600", 4, 4),
    (r"AC922|S922LC", 4, 2),
    (r"XE8545", 4, 1),
    (r"XE9640|XE8640|XD665|SD665-N|SD650|XH2000|GX2560|HPC12G|SR675", 4, 4),
    (r"XE9680|XD670|XD685|N8-E11|G593|HGX H|SYS-821|SR680a|SR780a|NB-D|Relion 2904", 8, 8),
)
"""Pattern, accelerators a node, ports a node; the first that fits counts."""

_CARDS = r"R740|R750|SD530|SR650|Apollo 2000|DL38|R640|C6420|RD452|SA5212|NF5280|NF5588|X6800|C1104|RX2530|XC50"

_RATES: tuple[tuple[str, float], ...] = (
    (r"XDR", 800),
    (r"NDR ?200", 200),
    (r"NDR", 400),
    (r"HDR[- ]?100", 100),
    (r"HDR|ConnectX-6 200", 200),
    (r"EDR", 100),
    (r"FDR", 56),
    (r"QDR", 40),
    (r"Slingshot-11", 200),
    (r"Slingshot", 100),
    (r"BXI", 100),
    (r"Omni|OPA|H-Series", 100),
    (r"Aries", 81.6),
    (r"Tofu", 326.4),
    (r"400|Spectrum-X", 400),
    (r"200", 200),
    (r"100", 100),
    (r"\b50G", 50),
    (r"40G", 40),
    (r"25G", 25),
    (r"10G", 10),
)
_RAILS = ((r"octo", 8), (r"quad|\b4x", 4), (r"dual", 2))
_UNNAMED = {"pascal": 100.0, "volta": 100.0, "ampere": 200.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """A node as the network sees it."""

    accelerators: int
    ports: int
    assumed: tuple[str, ...]


def port_rate(network: str, family: str) -> tuple[float, bool]:
    """Bytes per second of one port, and whether the network's name says so."""
    for pattern, gigabits in _RATES:
        if re.search(pattern, network, re.IGNORECASE):
            return gigabits * _GIGABIT, True
    return _UNNAMED.get(family, 400.0) * _GIGABIT, False


def is_card_server(computer: str) -> bool:
    """Whether a server takes PCIe cards."""
    return re.search(_CARDS, computer) is not None


def node_facts(*, computer: str, processor: str, network: str, family: str, cores: float | None) -> NodeFacts:
    """Accelerators and ports a node; `cores` are the host cores that one accelerator has."""
    assumed = []
    sold = next(((each, ports) for name, each, ports in _SERVERS if re.search(name, computer, re.IGNORECASE)), None)
    if re.search("Aries|Tofu", network):
        each, ports = 1, 1
    elif sold is not None:
        each, ports = sold
    else:
        named = re.search(r"(\d+)C ", processor)
        each = round(2 * int(named[1]) / cores) if named and cores else 4
        each = max(1, min(16, each))
        ports = 1 if family in ("pascal", "volta") or is_card_server(computer) else max(1, each // 2)
        assumed += [f"{each} accelerators a node", f"{ports} ports a node"]
    stated = next((count for name, count in _RAILS if re.search(name, network, re.IGNORECASE)), None)
    if stated is not None:
        ports = stated
    elif "slingshot-10" in network.lower():
        ports = max(1, each // 2)
    return NodeFacts(accelerators=each, ports=ports, assumed=tuple(assumed))
