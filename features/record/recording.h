/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records a program that orch did not start. The run is prepared like a trial (key, active row,
 * source tree, machine), orch-host reads the program's events from this process's standard input,
 * and the journal becomes a run when the program has ended. Such a run is never reused for a trial.
 */
#ifndef ORCH_FEATURES_RECORD_RECORDING_H
#define ORCH_FEATURES_RECORD_RECORDING_H

#include "core/record/collect.h"
#include "core/workspace/workspace.h"

/** The program's description of its run. Everything is borrowed for the call. */
struct orch_recording_spec {
    const char *experiment; /* a valid name with '-' allowed, or NULL: "run" */
    const json_t *params;   /* object of numbers, booleans, texts and lists of these, or NULL */
    const json_t *tags;     /* array of texts, or NULL */
    const char *name;       /* of the run, or NULL */
    const json_t *argv;     /* the program's command line: array of texts, or NULL */
    const json_t *facts;    /* object stored with the run's facts, or NULL */
    int64_t pid;            /* of the program; 0: not known */
};

struct orch_recording {
    char key[ORCH_KEY_CHARS];
    char *trial_dir, *checkpoint_dir, *join_path;
    char *record;
    int64_t started_ns;
    uint64_t seed;
    pid_t host_pid;
};

/** Prepares the run in the workspace's store, which is open for writing, and starts its host.
 * SIGCHLD, SIGINT, SIGTERM and SIGHUP stay blocked afterwards. Returns NULL on error and leaves
 * nothing behind. */
struct orch_recording *orch_recording_begin(struct orch_workspace *workspace,
                                            const struct orch_recording_spec *spec, GError **error);
/** Waits for the program to end, forwarding signals to the host, and records the run. The caller
 * clears `out`. */
bool orch_recording_finish(struct orch_workspace *workspace, struct orch_recording *recording,
                           struct orch_collected *out, GError **error);
void orch_recording_free(struct orch_recording *recording);

#endif
