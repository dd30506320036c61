/* SPDX-License-Identifier: MIT */
/* Writes a trial's journal: complete lines, appended with a single write() each time. Lines are
 * collected for at most 50 ms or 64 KiB. */
#ifndef ORCH_HOST_JOURNAL_OUT_H
#define ORCH_HOST_JOURNAL_OUT_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct journal_out {
    int fd;
    GString *pending;   /* append complete lines here, then call orch_journal_out_touch */
    int64_t pending_ns; /* monotonic time of the oldest pending line; 0: none */
    int64_t bytes;      /* written so far */
    int failure;        /* errno of the first failed write; 0: none */
};

/** Creates the file, which must not exist, because a trial runs only once. */
bool orch_journal_out_open(struct journal_out *out, const char *path, GError **error);
void orch_journal_out_close(struct journal_out *out);

/** Call after appending lines to `pending`; writes if enough have accumulated. */
void orch_journal_out_touch(struct journal_out *out);
/** Appends one object as a line. */
void orch_journal_out_add(struct journal_out *out, const json_t *object);
/** Appends and writes the first event, that of the start. `child`: the trial's main process; 0:
 * unknown. */
void orch_journal_out_start(struct journal_out *out, const char *key, int64_t started_utc_ns,
                            pid_t child);
/** Writes pending lines. Returns false after a failed write (see `failure`). */
bool orch_journal_out_flush(struct journal_out *out);
/** When to call orch_journal_out_flush at the latest (monotonic ns); INT64_MAX if nothing is
 * pending. */
int64_t orch_journal_out_due(const struct journal_out *out);
/** How long poll() may wait, in milliseconds, until pending lines are due or `due_ns` (monotonic;
 * INT64_MAX: never); -1: without limit. */
int orch_journal_out_wait_ms(const struct journal_out *out, int64_t due_ns);

#endif
