/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One simulation: writes what SimGrid's smpirun reads into the working folder, starts it, and reads
 * the steps that it prints. */
#ifndef ORCH_PLUGINS_SIMCLUSTER_SMPIRUN_H
#define ORCH_PLUGINS_SIMCLUSTER_SMPIRUN_H

#include "plugins/common/comm/algorithms.h"
#include "plugins/simcluster/platform_file.h"
#include "plugins/simcluster/sim_plan.h"

#include <stdbool.h>

struct simulation {
    const char *platform; /* path of the platform file */
    const GArray *hosts;  /* struct platform_host */
    const GArray *places; /* guint: the host of each worker */
    const struct sim_plan *plan;
    const struct orch_comm_algorithm *algorithm;
    int64_t steps;
    bool overlap;
    bool (*is_cancelled)(const void *context);
    const void *context;
};

struct simulated_step { /* seconds */
    double step_s;      /* from the end of the step before to the last worker's end */
    double busy_s;      /* of the communication thread, waiting for other workers included: mean */
    double exposed_s;   /* of this after the end of the backward pass: mean over the workers */
};

enum simulation_end { SIMULATION_OK, SIMULATION_FAILED, SIMULATION_CANCELLED };

/** Why no simulation can run here: smpirun or the worker's program is missing. Returns NULL where
 * both are there. Caller frees. */
char *orch_simulation_missing(void);

/** Runs the simulation in the current folder and waits for its end; kills it when it is cancelled.
 * `out_steps` has room for simulation->steps zeroed
 * elements. Fails with ORCH_ERROR_TRIAL and SimGrid's own last
 * lines, which name file and line where the platform is at fault. */
enum simulation_end orch_simulation_run(const struct simulation *simulation,
                                        struct simulated_step *out_steps, GError **error);

#endif
