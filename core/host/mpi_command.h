/* SPDX-License-Identifier: MIT */
/* How MPI's processes (ranks) are started, and how one learns its number: the command lines of
 * mpirun and srun, and the environment that they set. */
#ifndef ORCH_HOST_MPI_COMMAND_H
#define ORCH_HOST_MPI_COMMAND_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_mpi_kind {
    ORCH_MPI_NONE,
    ORCH_MPI_OPEN_MPI, /* mpirun of Open MPI */
    ORCH_MPI_HYDRA,    /* mpirun of MPICH and its relatives (Intel MPI, MVAPICH) */
    ORCH_MPI_SRUN,     /* srun, inside of a Slurm allocation */
};

struct orch_mpi_launcher {
    enum orch_mpi_kind kind;
    char *path;       /* of mpirun or srun; the caller frees */
    const char *node; /* Slurm's name of this machine; NULL: not known */
};

/** Finds the launcher (orch_mpi_program) and asks an mpirun for its kind (--version). Returns
 * false, with kind ORCH_MPI_NONE, when there is neither. `out->node` is borrowed from the
 * environment. */
bool orch_mpi_find(struct orch_mpi_launcher *out);
/** The kind of an mpirun that prints this as its version. */
enum orch_mpi_kind orch_mpi_kind_of_version(const char *text);

/** The command that starts `ranks` processes of `program` with one argument on this machine. Root
 * needs permission of Open MPI's. NULL-terminated; the caller frees. */
char **orch_mpi_command(const struct orch_mpi_launcher *launcher, unsigned ranks, bool is_root,
                        const char *program, const char *argument);

/** Variables that identify the process of another MPI job, as name prefixes (NULL-terminated): an
 * environment with them must not reach a launcher. */
extern const char *const orch_mpi_inherited[];

/** Which of the trial's processes this one is. */
struct orch_rank {
    unsigned number, count;             /* 0 to count - 1 */
    unsigned local_number, local_count; /* among those on this machine */
};
/** Reads it from the environment that Open MPI, Hydra or Slurm set. Returns false if there is
 * none. */
bool orch_rank_read(char *const *environment, struct orch_rank *out);

#endif
