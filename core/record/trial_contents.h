/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads everything from a trial's folder except the metric points: the first of two passes over the
 * journal, and the files that the trial made. */
#ifndef ORCH_CORE_RECORD_TRIAL_CONTENTS_H
#define ORCH_CORE_RECORD_TRIAL_CONTENTS_H

#include "lib/wire/event.h"
#include "store/store.h"

/* The data of one run record. */
struct gathering {
    json_t *record;    /* made before the trial started */
    json_t *facts;     /* merged with the host's */
    GArray *results;   /* struct orch_named_real, names borrowed from `events` */
    GArray *artifacts; /* struct orch_artifact_row, likewise */
    GPtrArray *texts;  /* owned strings */
    GPtrArray *taken;  /* char *: files of the folder that are artifacts in the store now */
    GString *log;      /* log events, as text */
    json_t *notes;
    GHashTable *reported; /* of metrics the steps of their marks in the journal (GArray of int64_t):
                             points before a mark do not count from its step on */
    char *reason, *stderr_tail;
    char *lost_artifact; /* the first artifact that differs from what the host saw, with the reason;
                            or NULL */
    enum orch_verdict verdict;
    char *state;
    int exit_code, signal;
    int64_t started_ns, ended_ns;
    double wall_ms;
    bool ended;
};

/** `record`, made before the trial started, is taken over. */
void orch_gathering_init(struct gathering *all, json_t *record, int64_t started_ns);
void orch_gathering_clear(struct gathering *all);

/** Adds an artifact, whose object is in the store; it replaces one of the same name. */
void orch_gathering_add_artifact(struct gathering *all, const char *name, const char *sha256,
                                 int64_t bytes);
/** Marks the run as lost for the reason `why`. */
void orch_gathering_drop(struct gathering *all, const char *why);

/** When the journal has no end and no other reason was found: gives as reason what orch-host wrote
 * to `folder`/host.stderr before it ended. `folder` -1: there is none. */
void orch_gather_loss(struct gathering *all, int folder);

/** Reads the open folder of an ended trial and stores its artifacts. If the folder's content is
 * unreadable (for example a pipe in place of the journal), the trial is marked as lost. An error is
 * returned only for failures that a retry may resolve. */
bool orch_gather_journal(struct orch_store *store, struct gathering *all, int folder,
                         GError **error);

#endif
