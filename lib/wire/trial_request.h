/* SPDX-License-Identifier: MIT */
/* What a running trial is asked for: a file in its folder, which the process that runs it looks
 * for. It needs no process number, so it never reaches another program, and it works where the
 * folder is shared, as between a command and the nodes of a cluster. */
#ifndef ORCH_WIRE_TRIAL_REQUEST_H
#define ORCH_WIRE_TRIAL_REQUEST_H

#include <glib.h>
#include <stdbool.h>

enum orch_trial_request {
    ORCH_REQUEST_CANCEL, /* the runner of the trial looks for it */
    ORCH_REQUEST_PRUNE,  /* the host of a trial without a runner does, as there is nobody else */
};

/** Seconds between two looks of a host. */
#define ORCH_PRUNE_REQUEST_S 5

/** Leaves a request in a trial's folder. `text`: one sentence or name, for the run's reason. */
bool orch_trial_request_write(const char *trial_dir, enum orch_trial_request request,
                              const char *text, GError **error);
/** The text of a request, "" where it cannot be read; NULL when nobody has asked. Caller frees. */
char *orch_trial_request_read(const char *trial_dir, enum orch_trial_request request);

#endif
