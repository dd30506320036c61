/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the first line of a run's text, shared by writing and reading; private to store/. */
#ifndef ORCH_STORE_RUN_TEXT_FIELDS_H
#define ORCH_STORE_RUN_TEXT_FIELDS_H

#include "store/join/run_text.h"
#include "store/write/run_lists.h"

#define RUN_TEXT_FORMAT "orch run 1"

/** Upper bounds of a run's text. Readers refuse more, so writers never produce it. */
enum {
    RUN_TEXT_HEAD_MAX = 16 << 20,  /* bytes of the first line */
    RUN_TEXT_METRIC_MAX = 1 << 20, /* bytes of a metric's line */
    RUN_TEXT_METRICS_MAX = 4096,   /* same limit as for a record */
    RUN_TEXT_ROWS_MAX = 20000,     /* rows of each list in the first line */
};

/** The lists in the first line, besides the fields of the record itself: those of store_row_kinds,
 * then the forecasts. */
enum { RUN_TEXT_FORECASTS = STORE_ROWS, RUN_TEXT_LISTS };
const struct store_row_kind *orch_run_text_list(int list);

extern const struct store_member run_text_record[];

#endif
