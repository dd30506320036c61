/* SPDX-License-Identifier: MIT */
/* A trial's journal, TRIALDIR/journal: event lines appended by its host and readable at any time. A
 * last line without a line end is incomplete and ignored. Reading is repeatable. */
#ifndef ORCH_WIRE_JOURNAL_H
#define ORCH_WIRE_JOURNAL_H

#include "lib/wire/event.h"

struct orch_journal; /* a reader */

/** Opens a journal for reading. A journal that does not exist (yet) counts as empty. Fails with
 * NULL on I/O errors, and with ORCH_ERROR_PROTOCOL if the path is not a regular file. */
struct orch_journal *orch_journal_open(const char *path, GError **error);
/** The same, relative to an open folder. */
struct orch_journal *orch_journal_open_at(int folder, const char *name, GError **error);
void orch_journal_close(struct orch_journal *journal);

/** Reads the next complete event. Returns true with `*out` filled (release it with
 * orch_event_clear), or false without error if there is none yet (a later call sees appended
 * lines). Lines that cannot be decoded are skipped and counted. */
bool orch_journal_next(struct orch_journal *journal, struct orch_event *out, GError **error);

/** Skips to the first line within the last `bytes` bytes, to see only recent events. */
void orch_journal_seek_tail(struct orch_journal *journal, int64_t bytes);

/** Skips lines of metrics without decoding from now on, for readers that do not need points. */
void orch_journal_skip_metrics(struct orch_journal *journal);

/** Lines skipped because they could not be decoded. */
unsigned orch_journal_bad_count(const struct orch_journal *journal);

#endif
