/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as text: one object a run.
 *
 * The first line is a JSON object with all of the run but its points, and its digest; then for each
 * metric, by name, a line {"metric":NAME,"unit":U,"better":B,"points":N} and N lines
 * [step,t_ms,value], steps rising (null: NaN). Numbers are the shortest text that reads back. The
 * same run gives the same bytes. docs/sharing.md has every field.
 */
#ifndef ORCH_STORE_RUN_TEXT_H
#define ORCH_STORE_RUN_TEXT_H

#include "store/join.h"

/** The largest text of a run, in bytes. */
#define ORCH_RUN_TEXT_MAX (256 << 20)

/** A run read from text; what the record points to lives as long as it does. */
struct orch_run_text {
    struct orch_record record; /* next_point streams from the text, once */
    char digest[ORCH_SHA256_CHARS];
    struct orch_run_forecast *forecasts;
    size_t forecast_count;
    void *kept; /* opaque */
};

/** The text of a stored run. The caller frees. */
GString *orch_run_text_encode(struct orch_store *store, int64_t run_id, GError **error);
/** The text of a record that is not in a store (for a conflict's row). Streams its points. */
GString *orch_run_text_of_record(const struct orch_record *record, const char *digest,
                                 GError **error);
/** Reads a text of at most ORCH_RUN_TEXT_MAX bytes, which must outlive the result. NULL with
 * ORCH_ERROR_RECIPE naming the line: not a run's text, unknown format, a field of the wrong type,
 * a depth or count beyond its limit. Digests are not judged here: the join does. */
struct orch_run_text *orch_run_text_decode(const char *text, size_t length, GError **error);
void orch_run_text_free(struct orch_run_text *run);

#endif
