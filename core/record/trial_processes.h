/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of trials, found in /proc by the folder in their host's command line and by
 * ORCH_RUN in their environment. */
#ifndef ORCH_CORE_RECORD_TRIAL_PROCESSES_H
#define ORCH_CORE_RECORD_TRIAL_PROCESSES_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/** Kills (SIGKILL) every process of this user that carries ORCH_RUN=key in its environment. Returns
 * how many. */
unsigned orch_kill_leftovers(const char *key);

/** True while a host works in the trial's folder. Continues a host that is stopped. */
bool orch_trial_host_is_alive(const char *trial_dir);

/** For a trial whose runner is dead: continues a stopped host, so that it ends the trial; once the
 * host is gone, kills the processes that the trial left. */
void orch_trial_end_orphans(const char *key, const char *trial_dir);

/** A trial that is looked for. */
struct orch_wanted_trial {
    const char *key, *trial_dir;
    uid_t uid; /* only processes of this user count */
    bool is_found;
};
/** Sets is_found of each trial (struct orch_wanted_trial *) that has a host or a process. Reads
 * /proc once, whatever the number of trials. */
void orch_trials_look_for(GPtrArray *trials);

#endif
