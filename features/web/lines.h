/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folds a list of runs into the lines of a lab book: the runs of one setting are a line, and so are
 * attempts of one script that followed each other within an hour. A line stands where its first run
 * stands in the list. */
#ifndef ORCH_FEATURES_WEB_LINES_H
#define ORCH_FEATURES_WEB_LINES_H

#include "store/read/listing.h"

struct web_line {
    guint first, count; /* its runs: positions in struct web_lines' `runs` */
};
struct web_lines {
    GArray *lines; /* struct web_line, in the order of their first runs */
    GArray *runs;  /* int64_t: ids by line, in each line in the order of the list */
};

/** Folds the first `most` runs of `ids` (int64_t); each later one is a line of its own. NULL with
 * an error. */
struct web_lines *orch_web_lines_fold(struct orch_store *store, const GArray *ids, guint most,
                                      GError **error);
void orch_web_lines_free(struct web_lines *lines);

/** One row of the table. */
struct web_row {
    enum { WEB_ROW_RUN, WEB_ROW_LINE, WEB_ROW_MEMBER } kind;
    guint line;
    int64_t run; /* the run, or the first one of the line */
    bool is_open;
};
/** Returns the rows from `offset` on, at most `limit` (struct web_row; the caller unrefs), when the
 * lines that contain a run of `open` (int64_t) show their runs below them. `*out_total` becomes
 * the number of all rows. */
GArray *orch_web_lines_rows(const struct web_lines *lines, const GArray *open, guint offset,
                            guint limit, guint *out_total);

#endif
