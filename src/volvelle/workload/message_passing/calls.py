"""Calls of MPI that a trace may have, and what each is."""

from enum import IntEnum


class Call(IntEnum):
    """A call; its number stands in the columns of a trace."""

    SEND = 0
    ISEND = 1
    RECV = 2
    IRECV = 3
    WAIT = 4
    BARRIER = 5
    BCAST = 6
    REDUCE = 7
    ALLREDUCE = 8
    GATHER = 9
    ALLGATHER = 10
    SCATTER = 11
    ALLTOALL = 12
    REDUCE_SCATTER = 13
    SCAN = 14

    @property
    def word(self) -> str:
        """As it is written in a file."""
        return self.name.lower()


SENDS = (Call.SEND, Call.ISEND)
RECEIVES = (Call.RECV, Call.IRECV)
POSTED = (Call.ISEND, Call.IRECV)
"""Calls that return before what they ask for is done; a wait ends them."""
FIRST_COLLECTIVE = Call.BARRIER
"""Calls from here on are of a whole group."""
ROOTED = (Call.BCAST, Call.REDUCE, Call.GATHER, Call.SCATTER)
"""Collectives in which one rank gives or gets all."""
SAME_SIZE = (Call.BARRIER, Call.BCAST, Call.REDUCE, Call.ALLREDUCE, Call.SCAN)
"""Collectives whose members all say the same bytes."""
_VARIANTS = {
    "ssend": Call.SEND,
    "bsend": Call.SEND,
    "rsend": Call.SEND,
    "issend": Call.ISEND,
    "gatherv": Call.GATHER,
    "allgatherv": Call.ALLGATHER,
    "scatterv": Call.SCATTER,
    "alltoallv": Call.ALLTOALL,
    "reduce_scatter_block": Call.REDUCE_SCATTER,
}
BY_WORD = {**{call.word: call for call in Call}, **_VARIANTS}
"""Words of files, without MPI_ and in small letters."""


def call_of(word: str) -> Call | None:
    """The call that a word means: ``MPI_Isend``, ``Isend`` and ``isend`` are one; None: there is none."""
    return BY_WORD.get(word.strip().lower().removeprefix("mpi_"))
