/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the programs of Slurm, and asks the cluster for its limits. */
#ifndef ORCH_FEATURES_SLURM_SLURM_COMMAND_H
#define ORCH_FEATURES_SLURM_SLURM_COMMAND_H

#include <glib.h>
#include <stdbool.h>

/** Runs `argv` (argv[0] is searched in PATH) without the SLURM_ variables of a job that this
 * process may be part of. Returns its exit status, or -1 with an error when it cannot be started
 * (ORCH_ERROR_NOT_FOUND) or gave no answer in time (ORCH_ERROR_IO), with both texts NULL.
 * The caller frees `*out` and `*err`, what it wrote. */
int orch_slurm_run(const char *const *argv, char **out, char **err, GError **error);

/** The first line of what a program of Slurm complained of, without its own prefix. Caller frees.
 */
char *orch_slurm_complaint(const char *err);

struct orch_slurm_limits {
    unsigned array_size; /* MaxArraySize: the upper bound, exclusive, of an array's indices */
};
/** Asks the controller; false with an error when it does not answer. */
bool orch_slurm_limits_ask(struct orch_slurm_limits *out, GError **error);

#endif
