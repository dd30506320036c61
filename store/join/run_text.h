/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text format of a run: one JSON object, then its points.
 *
 * The first line is a JSON object with everything but the points, and the digest. Then follow for
 * each metric, sorted by name, a line {"metric":NAME,"unit":U,"better":B,"points":N} and N lines
 * [step,t_ms,value] by ascending step (null: NaN). Numbers have the shortest text that parses to
 * the same value. The same run always gives the same bytes. docs/store.md describes every field.
 */
#ifndef ORCH_STORE_RUN_TEXT_H
#define ORCH_STORE_RUN_TEXT_H

#include "store/join/join.h"

/** The largest text of a run, in bytes. */
#define ORCH_RUN_TEXT_MAX (256 << 20)

/** A run parsed from text. Everything that the record points to lives as long as this struct. */
struct orch_run_text {
    struct orch_record record; /* next_point streams from the text and can be read once */
    char digest[ORCH_SHA256_CHARS];
    struct orch_run_forecast *forecasts;
    size_t forecast_count;
    void *kept; /* opaque */
};

/** The text of a stored run. The caller frees. */
GString *orch_run_text_encode(struct orch_store *store, int64_t run_id, GError **error);
/** The text of a record that is not in a store (for a row of `conflict`). Streams its points. */
GString *orch_run_text_of_record(const struct orch_record *record, const char *digest,
                                 GError **error);
/** Parses a text of at most ORCH_RUN_TEXT_MAX bytes, which must outlive the result. Returns NULL
 * with ORCH_ERROR_RECIPE, which names the line, when it is not a run's text, has an unknown format
 * or a field of the wrong type, or exceeds a limit on depth or counts. The digest is not verified
 * here; the join does that. */
struct orch_run_text *orch_run_text_decode(const char *text, size_t length, GError **error);
void orch_run_text_free(struct orch_run_text *run);

#endif
