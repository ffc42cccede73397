"""Record what an MPI program of mpi4py does, as a CSV of events that `volvelle mpi` reads.

    from mpi_recorder import record

    with record("trace.csv.gz") as comm:  # in place of MPI.COMM_WORLD
        comm.Sendrecv(...)

This file needs mpi4py alone: copy it beside the program. Rank 0 writes the file when the block ends. Partners are ranks
of the world, whatever the communicator; what is called and cannot be recorded is counted in the head of the file.
Seconds of computation before a call are those of the processor, so that ranks that share a core are told apart.
"""

import gzip
import pickle
from collections import Counter
from contextlib import contextmanager
from time import thread_time

from mpi4py import MPI

COLUMNS = ("rank", "call", "partner", "bytes", "tag", "group", "request", "start", "end", "compute")
_SILENT = ("Get_rank", "Get_size", "Get_group", "Free", "Get_name", "Set_name", "Get_topology", "Is_inter", "py2f")


@contextmanager
def record(file, comm=MPI.COMM_WORLD):
    """A communicator that writes down what is called on it."""
    log = _Log(comm)
    yield RecordedComm(comm, log, 0)
    log.write(file)


class _Log:
    """The events of one rank."""

    def __init__(self, world):
        self.world, self.rank = world, world.Get_rank()
        self.rows, self.unrecorded, self.requests = [], Counter(), 0
        self.groups = [("world", tuple(range(world.Get_size())))]
        world.Barrier()
        self.origin, self.busy = MPI.Wtime(), thread_time()

    def enter(self):
        return MPI.Wtime() - self.origin, thread_time() - self.busy

    def leave(self, entered, call, partner="", size=0, tag="", group=0, request=""):
        end = MPI.Wtime() - self.origin
        self.rows.append(
            [self.rank, call, partner, size, tag, self.groups[group][0], request, entered[0], end, max(entered[1], 0.0)]
        )
        self.busy = thread_time()
        return self.rows[-1]

    def add(self, row, call, **changed):
        """One more event of the same call, without time of its own."""
        copy = dict(zip(COLUMNS, row, strict=True), call=call, start=row[8], end=row[8], compute=0.0, **changed)
        self.rows.append([copy[name] for name in COLUMNS])
        return self.rows[-1]

    def new_group(self, members):
        name = f"{len(self.groups)}.{min(members)}"
        self.groups.append((name, tuple(members)))
        return len(self.groups) - 1

    def write(self, file):
        told = self.world.gather((self.rows, self.groups, self.unrecorded), root=0)
        if self.rank:
            return
        groups = {name: members for _, known, _ in told for name, members in known}
        unrecorded = sum((counter for _, _, counter in told), Counter())
        with (gzip.open if str(file).endswith(".gz") else open)(file, "wt", encoding="utf-8") as opened:
            opened.write(f"# ranks: {len(told)}\n")
            for name, members in groups.items():
                if name != "world":
                    opened.write(f"# group {name}: {' '.join(map(str, members))}\n")
            for name, count in sorted(unrecorded.items()):
                opened.write(f"# not recorded: {name} {count}\n")
            opened.write(",".join(COLUMNS) + "\n")
            for rows, _, _ in told:
                for row in rows:
                    times = ",".join(f"{seconds:.9f}" for seconds in row[7:])
                    opened.write(",".join(map(str, row[:7])) + f",{times}\n")


class RecordedRequest:
    """A request whose end is written down too."""

    def __init__(self, request, row, comm):
        self.request, self.row, self.comm = request, row, comm

    def Wait(self):
        self.Waitall([self])

    def wait(self):
        entered, status = self.comm.log.enter(), MPI.Status()
        found = self.request.wait(status)
        self._ended(entered, status, first=True)
        return found

    @staticmethod
    def Waitall(requests):
        """Wait for all of them: one event for each, the first of which takes the time."""
        if not requests:
            return
        entered = requests[0].comm.log.enter()
        statuses = [MPI.Status() for _ in requests]
        MPI.Request.Waitall([each.request for each in requests], statuses)
        for place, (each, status) in enumerate(zip(requests, statuses, strict=True)):
            each._ended(entered, status, first=place == 0)

    def _ended(self, entered, status, *, first):
        log = self.comm.log
        if self.row[1] == "irecv":
            self.row[2], self.row[4] = self.comm.members[status.Get_source()], status.Get_tag()
            self.row[3] = status.Get_count(MPI.BYTE)
        if first:
            log.leave(entered, "wait", request=self.row[6])
        else:
            log.add(log.rows[-1], "wait", request=self.row[6])


class RecordedComm:
    """A communicator of mpi4py that writes down sends, receives and collectives; all else is handed on."""

    def __init__(self, comm, log, group):
        self.comm, self.log, self.group = comm, log, group
        self.members = log.groups[group][1]

    def __getattr__(self, name):
        if not name.startswith("_") and name not in _SILENT and callable(getattr(self.comm, name)):
            self.log.unrecorded[name] += 1
        return getattr(self.comm, name)

    def Get_rank(self):
        return self.comm.Get_rank()

    def Get_size(self):
        return self.comm.Get_size()

    rank, size = property(Get_rank), property(Get_size)

    # -- one to one ----------------------------------------------------------------------------------------------------

    def Send(self, buf, dest, tag=0):
        entered = self.log.enter()
        self.comm.Send(buf, dest, tag)
        self._leave(entered, "send", dest, _bytes(buf), tag)

    def send(self, obj, dest, tag=0):
        entered = self.log.enter()
        self.comm.send(obj, dest, tag)
        self._leave(entered, "send", dest, len(pickle.dumps(obj)), tag)

    def Recv(self, buf, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
        entered, status = self.log.enter(), MPI.Status()
        self.comm.Recv(buf, source, tag, status)
        self._leave(entered, "recv", status.Get_source(), status.Get_count(MPI.BYTE), status.Get_tag())

    def recv(self, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
        entered, status = self.log.enter(), MPI.Status()
        found = self.comm.recv(None, source, tag, status)
        self._leave(entered, "recv", status.Get_source(), len(pickle.dumps(found)), status.Get_tag())
        return found

    def Isend(self, buf, dest, tag=0):
        entered = self.log.enter()
        request = self.comm.Isend(buf, dest, tag)
        return RecordedRequest(request, self._leave(entered, "isend", dest, _bytes(buf), tag, self._request()), self)

    def Irecv(self, buf, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
        entered = self.log.enter()
        request = self.comm.Irecv(buf, source, tag)
        row = self._leave(entered, "irecv", source if source >= 0 else "", _bytes(buf), tag, self._request())
        return RecordedRequest(request, row, self)

    def Sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=MPI.ANY_SOURCE, recvtag=MPI.ANY_TAG):
        requests = [self.Irecv(recvbuf, source, recvtag), self.Isend(sendbuf, dest, sendtag)]
        RecordedRequest.Waitall(requests)

    def _request(self):
        self.log.requests += 1
        return self.log.requests

    def _leave(self, entered, call, partner, size, tag, request=""):
        world = "" if partner == "" else self.members[partner]
        return self.log.leave(entered, call, world, size, tag, self.group, request)

    # -- all together --------------------------------------------------------------------------------------------------

    def _collective(self, name, size, arguments, root="", **named):
        entered = self.log.enter()
        found = getattr(self.comm, name)(*arguments, **named)
        call = name.lower().removesuffix("v").removesuffix("_block")
        partner = "" if root == "" else self.members[root]
        self.log.leave(entered, call, partner, size, "", self.group)
        return found

    def Barrier(self):
        self._collective("Barrier", 0, ())

    barrier = Barrier

    def Bcast(self, buf, root=0):
        self._collective("Bcast", _bytes(buf), (buf, root), root)

    def Reduce(self, sendbuf, recvbuf, op=MPI.SUM, root=0):
        self._collective("Reduce", _bytes(sendbuf), (sendbuf, recvbuf, op, root), root)

    def Allreduce(self, sendbuf, recvbuf, op=MPI.SUM):
        own = recvbuf if sendbuf is MPI.IN_PLACE else sendbuf
        self._collective("Allreduce", _bytes(own), (sendbuf, recvbuf, op))

    def Scan(self, sendbuf, recvbuf, op=MPI.SUM):
        self._collective("Scan", _bytes(sendbuf), (sendbuf, recvbuf, op))

    def Gather(self, sendbuf, recvbuf, root=0):
        self._collective("Gather", _bytes(sendbuf), (sendbuf, recvbuf, root), root)

    def Scatter(self, sendbuf, recvbuf, root=0):
        self._collective("Scatter", _bytes(recvbuf), (sendbuf, recvbuf, root), root)

    def Allgather(self, sendbuf, recvbuf):
        self._collective("Allgather", _bytes(sendbuf), (sendbuf, recvbuf))

    def Alltoall(self, sendbuf, recvbuf):
        self._collective("Alltoall", _bytes(sendbuf), (sendbuf, recvbuf))

    def Reduce_scatter_block(self, sendbuf, recvbuf, op=MPI.SUM):
        self._collective("Reduce_scatter_block", _bytes(sendbuf), (sendbuf, recvbuf, op))

    def bcast(self, obj, root=0):
        found = self._collective("bcast", 0, (obj, root), root)
        self.log.rows[-1][3] = len(pickle.dumps(found))
        return found

    def allreduce(self, obj, op=MPI.SUM):
        return self._collective("allreduce", len(pickle.dumps(obj)), (obj, op))

    # -- communicators of fewer ----------------------------------------------------------------------------------------

    def Split(self, color=0, key=0):
        made = self.comm.Split(color, key)
        return RecordedComm(made, self.log, self.log.new_group(made.allgather(self.log.rank)))


def _bytes(buf):
    if isinstance(buf, (tuple, list)):
        buf = buf[0]
    return memoryview(buf).nbytes
