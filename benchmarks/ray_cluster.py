"""A Ray cluster on this machine, for tests and timing: a head and worker nodes, each with processes of its own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import SystemRandom

__all__ = ["LocalCluster"]

_SOON = {
    # Notice within seconds that a node is gone; Ray's own setting takes about half a minute.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "3000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
    # A token left in the home folder by a cluster of another kind would be asked for, and not be given by new nodes.
    "RAY_AUTH_MODE": "disabled",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_NODE = ("--object-store-memory=80000000", "--block", "--min-worker-port=0", "--max-worker-port=0")
_START = 90.0


class LocalCluster:
    """A head without cores, and nodes that can be added and killed."""

    def __init__(self) -> None:
        # Sockets live below it, and their paths may have a hundred characters at most.
        self._place = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp" if Path("/tmp").is_dir() else None))
        ports = _free_ports(3)
        self.address = f"127.0.0.1:{ports[0]}"
        self._nodes: list[subprocess.Popen[bytes]] = []  # the head first
        self._started = 0
        head = ("--head", "--node-ip-address=127.0.0.1", f"--port={ports[0]}", f"--ray-client-server-port={ports[1]}")
        board = ("--include-dashboard=false", f"--dashboard-port={ports[2]}")
        self._start(*head, *board, "--num-cpus=0", f"--temp-dir={self._place}")

    def add_node(self, *, cores: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker node, and wait until it has joined."""
        return self._start(f"--address={self.address}", "--node-ip-address=127.0.0.1", f"--num-cpus={cores}")

    @property
    def nodes(self) -> list[subprocess.Popen[bytes]]:
        """Worker nodes there are."""
        return self._nodes[1:]

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """Take a node away without warning: its daemon, its agents and its workers at one blow."""
        for process in _session(node.pid):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        node.wait()
        self._nodes.remove(node)

    def close(self) -> None:
        """Kill what is left, the head last."""
        for node in self._nodes[::-1]:
            self.kill(node)
        shutil.rmtree(self._place, ignore_errors=True)

    def __enter__(self) -> "LocalCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        agents = ("--dashboard-agent-listen-port=0", "--dashboard-agent-grpc-port=0", "--disable-usage-stats")
        self._started += 1
        file = self._place / f"node-{self._started}.log"
        with file.open("wb") as log:
            node = subprocess.Popen(
                [sys.executable, "-m", "ray.scripts.scripts", "start", *options, *_NODE, *agents],
                env={**os.environ, **_SOON},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._nodes.append(node)
        self._ready(node, file)
        return node

    def _ready(self, node: subprocess.Popen[bytes], log: Path) -> None:
        """Wait until a node is up. One after another: two that start at once may pick the same names for sockets."""
        until = time.monotonic() + _START
        while b"Ray runtime started" not in log.read_bytes():
            if time.monotonic() > until or node.poll() is not None:
                said = log.read_text(errors="replace")[-2000:]
                self.close()
                raise RuntimeError(f"a node of the cluster did not start:\n{said}")
            time.sleep(0.05)


def _session(leader: int) -> list[int]:
    """All processes of a session, the leader first; Ray gives each worker a group of its own, but no session."""
    found = [leader]
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = place.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and int(place.parent.name) != leader:
                found.append(int(place.parent.name))
    return found


def _free_ports(count: int) -> list[int]:
    """Ports nobody listens on, all different, and below those that the system hands out by itself meanwhile."""
    found: list[int] = []
    while len(found) < count:
        port = SystemRandom().randrange(15_000, 30_000)
        with suppress(OSError), socket.create_server(("", port)):
            found += [port] if port not in found else []
    return found
