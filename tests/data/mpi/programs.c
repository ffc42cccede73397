/* The programs of examples/mpi for SimGrid's SMPI, where every rank has a processor of its own and clocks are simulated.
 * smpicc -O2 programs.c -lm; smpirun ... a.out PROGRAM FOLDER: writes FOLDER/RANK.csv, columns as volvelle mpi reads them.
 * Computation is stated as operations, with a tenth of unevenness that depends on rank and turn alone. */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;
static int rank, size, requests;
static double from;

static void compute(double operations, int turn) {
  unsigned mixed = (unsigned)(rank * 7919 + turn * 104729 + 1) * 2654435761u;
  smpi_execute_flops(operations * (1.0 + 0.1 * (mixed >> 16) / 65536.0));
}
static void enter(void) { from = MPI_Wtime(); }
static void leave(const char *call, int partner, long bytes, int tag, int request) {
  char whom[16] = "", label[16] = "", asked[16] = "";
  if (partner >= 0) sprintf(whom, "%d", partner);
  if (tag >= 0) sprintf(label, "%d", tag);
  if (request) sprintf(asked, "%d", request);
  fprintf(out, "%d,%s,%s,%ld,%s,world,%s,%.12f,%.12f\n", rank, call, whom, bytes, label, asked, from, MPI_Wtime());
}
static int irecv(void *to, long bytes, int partner, int tag, MPI_Request *request) {
  enter();
  MPI_Irecv(to, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, request);
  leave("irecv", partner, bytes, tag, ++requests);
  return requests;
}
static int isend(void *what, long bytes, int partner, int tag, MPI_Request *request) {
  enter();
  MPI_Isend(what, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, request);
  leave("isend", partner, bytes, tag, ++requests);
  return requests;
}
static void waitall(int count, MPI_Request *all, int *numbers) {
  for (int i = 0; i < count; i++) {
    enter();
    MPI_Wait(&all[i], MPI_STATUS_IGNORE);
    leave("wait", -1, 0, -1, numbers[i]);
  }
}
static void allreduce(void) {
  double own = 1, total;
  enter();
  MPI_Allreduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  leave("allreduce", -1, 8, -1, 0);
}
static void sendrecv(char *what, char *into, long bytes, int to, int sent, int source, int received) {
  MPI_Request all[2];
  int numbers[2];
  numbers[0] = irecv(into, bytes, source, received, &all[0]);
  numbers[1] = isend(what, bytes, to, sent, &all[1]);
  waitall(2, all, numbers);
}

static void halo(void) {
  int sides[2] = {0, 0}, cells = 240;
  MPI_Dims_create(size, 2, sides);
  int row = rank / sides[1], column = rank % sides[1], partner[4];
  partner[0] = row > 0 ? rank - sides[1] : -1;
  partner[1] = row + 1 < sides[0] ? rank + sides[1] : -1;
  partner[2] = column > 0 ? rank - 1 : -1;
  partner[3] = column + 1 < sides[1] ? rank + 1 : -1;
  char *halos = malloc(8 * cells * 8);
  for (int step = 0; step < 40; step++) {
    MPI_Request all[8];
    int numbers[8], count = 0;
    for (int i = 0; i < 4; i++)
      if (partner[i] >= 0) { numbers[count] = irecv(halos + i * 8 * cells, 8 * cells, partner[i], i ^ 1, &all[count]); count++; }
    for (int i = 0; i < 4; i++)
      if (partner[i] >= 0) { numbers[count] = isend(halos + (4 + i) * 8 * cells, 8 * cells, partner[i], i, &all[count]); count++; }
    compute(5.0 * cells * cells, step);
    waitall(count, all, numbers);
    compute(1.0 * cells * cells, step + 1000);
    if (step % 10 == 9) allreduce();
  }
}
static void ring(void) {
  long own = 1024 / size, bytes = own * 512 * 8;
  char *block = calloc(2, bytes);
  double start = 1;
  enter();
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  leave("bcast", 0, 8, -1, 0);
  for (int turn = 0; turn < 3; turn++) {
    for (int step = 0; step + 1 < size; step++) {
      sendrecv(block, block + bytes, bytes, (rank + 1) % size, 7, (rank + size - 1) % size, 7);
      compute(4.0 * own * own * 512, turn * size + step);
    }
    enter();
    MPI_Barrier(MPI_COMM_WORLD);
    leave("barrier", -1, 0, -1, 0);
  }
}
static void conjugate_gradient(void) {
  double unknowns = 60000, edges[4];
  char result[128], *all = calloc(size, 128);
  compute(2 * unknowns, 0);
  allreduce();
  for (int turn = 0; turn < 25; turn++) {
    compute(5 * unknowns, 3 * turn + 1);
    if (rank + 1 < size) sendrecv((char *)edges, (char *)(edges + 1), 8, rank + 1, 1, rank + 1, 2);
    if (rank > 0) sendrecv((char *)(edges + 2), (char *)(edges + 3), 8, rank - 1, 2, rank - 1, 1);
    compute(2 * unknowns, 3 * turn + 2);
    allreduce();
    compute(6 * unknowns, 3 * turn + 3);
    allreduce();
  }
  memset(result, 0, 128);
  enter();
  MPI_Gather(result, 128, MPI_BYTE, all, 128, MPI_BYTE, 0, MPI_COMM_WORLD);
  leave("gather", 0, 128, -1, 0);
}

typedef struct { double x, y; long at; } point;
static int before(const void *a, const void *b) {
  long left = ((const point *)a)->at, right = ((const point *)b)->at;
  return (left > right) - (left < right);
}
static void irregular(void) {
  int points = 600, count = points * size;
  point *all = malloc(count * sizeof(point));
  unsigned long long state = 7;
  for (int i = 0; i < count; i++) {
    double drawn[2];
    for (int j = 0; j < 2; j++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      drawn[j] = (state >> 11) / 9007199254740992.0;
    }
    all[i].x = drawn[0], all[i].y = drawn[1], all[i].at = 0;
    for (int bit = 0; bit < 10; bit++)
      all[i].at |= ((long)(drawn[0] * 1024) >> bit & 1) << 2 * bit | ((long)(drawn[1] * 1024) >> bit & 1) << (2 * bit + 1);
  }
  qsort(all, count, sizeof(point), before);
  double reach = 2.2 / sqrt(count);
  int *near = calloc(size, sizeof(int)), most = 0;
  for (int i = rank * points; i < (rank + 1) * points; i++)
    for (int j = 0; j < count; j++)
      if (hypot(all[i].x - all[j].x, all[i].y - all[j].y) < reach) near[j / points]++;
  near[rank] = 0;
  for (int i = 0; i < size; i++) most = near[i] > most ? near[i] : most;
  char *came = calloc(size, 8 * most);
  MPI_Request *pending = malloc(2 * size * sizeof(MPI_Request));
  int *numbers = malloc(2 * size * sizeof(int));
  for (int step = 0; step < 20; step++) {
    int posted = 0;
    for (int i = 0; i < size; i++)
      if (near[i]) { numbers[posted] = irecv(came + 8 * most * i, 8 * near[i], i, 3, &pending[posted]); posted++; }
    for (int i = 0; i < size; i++)
      if (near[i]) { numbers[posted] = isend(came, 8 * near[i], i, 3, &pending[posted]); posted++; }
    compute(500.0 * points, step);
    waitall(posted, pending, numbers);
    allreduce();
  }
}

int main(int argc, char **argv) {
  char file[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(file, sizeof file, "%s/%d.csv", argv[2], rank);
  out = fopen(file, "w");
  if (!strcmp(argv[1], "halo")) halo();
  if (!strcmp(argv[1], "ring")) ring();
  if (!strcmp(argv[1], "conjugate_gradient")) conjugate_gradient();
  if (!strcmp(argv[1], "irregular")) irregular();
  fclose(out);
  MPI_Finalize();
  return 0;
}
