/* SPDX-License-Identifier: MIT */
/* A trial's journal, TRIALDIR/journal: event lines, appended by its host, read by anyone at any
 * time. A last line without line end is not there yet. Reading it twice gives the same. */
#ifndef ORCH_WIRE_JOURNAL_H
#define ORCH_WIRE_JOURNAL_H

#include "lib/wire/event.h"

struct orch_journal; /* a reader */

/** Opens for reading. A journal that does not exist (yet) is an empty one: NULL only on I/O errors,
 * and with ORCH_ERROR_PROTOCOL when something else than a regular file has its name. */
struct orch_journal *orch_journal_open(const char *path, GError **error);
/** The same in an open folder. */
struct orch_journal *orch_journal_open_at(int folder, const char *name, GError **error);
void orch_journal_close(struct orch_journal *journal);

/** The next whole event. True: `*out` is filled (clear it). False without error: none yet (call
 * again later; appended lines are seen). A line that cannot be decoded is skipped and counted. */
bool orch_journal_next(struct orch_journal *journal, struct orch_event *out, GError **error);

/** Skips to at most `bytes` before the end, at a line's begin: for looking at what is newest. */
void orch_journal_seek_tail(struct orch_journal *journal, int64_t bytes);

/** From now on lines of metrics are passed over unread: for who wants all but the points. */
void orch_journal_skip_metrics(struct orch_journal *journal);

/** Lines skipped because they could not be decoded. */
unsigned orch_journal_bad_count(const struct orch_journal *journal);

#endif
