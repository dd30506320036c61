/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial of a conformance check: runs `orch-host TRIALDIR` in a scratch folder and reads its
 * journal. It needs no store, recipe or source tree. */
#ifndef ORCH_FEATURES_PLUGINS_CONFORM_TRIAL_H
#define ORCH_FEATURES_PLUGINS_CONFORM_TRIAL_H

#include "lib/wire/event.h"
#include "lib/wire/manifest.h"

#include <glib.h>

/** What to run. Borrowed. */
struct conform_request {
    const char *host;    /* program orch-host */
    const char *scratch; /* an existing folder, in which the trial makes its own */
    const struct orch_manifest *manifest;
    const json_t *params;
    uint64_t seed;
    bool smoke;
    int ranks;             /* of a compiled plugin that needs MPI; else ignored */
    double cancel_after_s; /* 0: not cancelled */
    double limit_s;
    double grace_s;
};

/** The outcome of the trial. */
struct conform_report {
    enum orch_verdict verdict;
    char *verdict_word, *reason, *stderr_tail; /* or NULL */
    int signal;                                /* the signal that ended the plugin; 0: none */
    GHashTable *points;                        /* "name:step" -> double * */
    GHashTable *results;                       /* name -> double * */
    GHashTable *artifacts;                     /* set of names */
    bool was_cancelled; /* it was still running when it was to be cancelled */
    double wall_s;
    double stop_s; /* seconds from the cancel request to the end */
};

/** Runs the trial to its end. NULL when it could not be started or its journal has no end. */
struct conform_report *orch_conform_trial_run(const struct conform_request *request,
                                              GError **error);
void orch_conform_report_free(struct conform_report *report);

#endif
