/* SPDX-License-Identifier: MIT */
/* Writes a trial's journal: whole lines, one write() each time, at the end of the file. Lines are
 * gathered for at most 50 ms or 64 KiB. */
#ifndef ORCH_HOST_JOURNAL_OUT_H
#define ORCH_HOST_JOURNAL_OUT_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct journal_out {
    int fd;
    GString *pending;   /* append whole lines here, then call journal_out_touch */
    int64_t pending_ns; /* monotonic time of the oldest pending line; 0: none */
    int64_t bytes;      /* written so far */
    int failure;        /* errno of the first write that failed; 0: none */
};

/** Creates the file, which must not exist: a trial runs once. */
bool journal_out_open(struct journal_out *out, const char *path, GError **error);
void journal_out_close(struct journal_out *out);

/** Says that lines were appended to `pending`; writes when enough have gathered. */
void journal_out_touch(struct journal_out *out);
/** Appends one object as a line. */
void journal_out_add(struct journal_out *out, const json_t *object);
/** Writes what is pending. False once a write has failed (see `failure`). */
bool journal_out_flush(struct journal_out *out);
/** When to call journal_out_flush at the latest (monotonic ns); INT64_MAX: nothing is pending. */
int64_t journal_out_due(const struct journal_out *out);

#endif
