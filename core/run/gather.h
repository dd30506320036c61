/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial's folder tells of it, besides the metric points: the first of the two passes over
 * the journal, and the files that the trial made. */
#ifndef ORCH_CORE_RUN_GATHER_H
#define ORCH_CORE_RUN_GATHER_H

#include "lib/wire/event.h"
#include "store/store.h"

/* All that becomes one record. */
struct gathering {
    json_t *record;    /* as made before the start */
    json_t *facts;     /* merged with the host's */
    GArray *results;   /* struct orch_named_real, names borrowed from `events` */
    GArray *artifacts; /* struct orch_artifact_row, likewise */
    GPtrArray *texts;  /* owned strings */
    GString *log;      /* log events, as text */
    json_t *notes;
    char *reason, *stderr_tail;
    char *lost_artifact; /* the first one that is not what the host saw, and why; or NULL */
    enum orch_verdict verdict;
    char *state;
    int exit_code, signal;
    int64_t started_ns, ended_ns;
    double wall_ms;
    bool ended;
};

/** `record` is taken over: what is known of the trial since before it started. */
void gathering_init(struct gathering *all, json_t *record, int64_t started_ns);
void gathering_clear(struct gathering *all);

/** Reads the open folder of an ended trial and keeps its artifacts. What the trial left in a state
 * in which it cannot be read (a pipe for a journal, say) costs that trial its verdict; an error is
 * something that another try may mend. */
bool gather(struct orch_store *store, struct gathering *all, int folder, const char *trial_dir,
            GError **error);

#endif
