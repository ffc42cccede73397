"""Writes a small OTF2 archive, by its own bindings: two ranks that send both ways, and an all-reduce."""

import sys

import otf2
from otf2.enums import CollectiveOp, GroupType, Paradigm


def main(folder):
    """Two ranks, times in microseconds."""
    with otf2.writer.open(folder, timer_resolution=1_000_000) as trace:
        made = trace.definitions
        root = made.system_tree_node("node")
        regions = {
            name: made.region(name) for name in ("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce", "main")
        }
        locations = [
            made.location(f"main {rank}", group=made.location_group(f"rank {rank}", system_tree_parent=root))
            for rank in range(2)
        ]
        writers = [trace.event_writer_from_location(location) for location in locations]
        made.group("all", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        group = made.group("world", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=locations)
        world = made.comm("MPI_COMM_WORLD", group=group)
        for rank, writer in enumerate(writers):
            other, late = 1 - rank, 100 * rank
            writer.enter(0, regions["main"])
            writer.enter(10 + late, regions["MPI_Irecv"])
            writer.mpi_irecv_request(11 + late, request_id=1)
            writer.leave(12 + late, regions["MPI_Irecv"])
            writer.enter(20 + late, regions["MPI_Isend"])
            writer.mpi_isend(21 + late, other, world, 5, 1000 + rank, 2)
            writer.leave(22 + late, regions["MPI_Isend"])
            writer.enter(30 + late, regions["MPI_Waitall"])
            writer.mpi_irecv(200, other, world, 5, 1000 + other, 1)
            writer.mpi_isend_complete(201, 2)
            writer.leave(210, regions["MPI_Waitall"])
            writer.enter(300 + late, regions["MPI_Allreduce"])
            writer.mpi_collective_begin(301 + late)
            writer.mpi_collective_end(500, CollectiveOp.ALLREDUCE, world, 0xFFFFFFFF, 8, 8)
            writer.leave(501, regions["MPI_Allreduce"])
            writer.leave(600, regions["main"])


if __name__ == "__main__":
    main(sys.argv[1])
