/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs as points of a space of parameters, with a number each: what the models of the page (which
 * parameters matter, the surface over two of them) are fitted to. */
#ifndef ORCH_FEATURES_WEB_RUN_POINTS_H
#define ORCH_FEATURES_WEB_RUN_POINTS_H

#include "features/web/internal.h"

#include "lib/space/observed_space.h"

struct run_points {
    GPtrArray *params; /* char *: their names */
    GPtrArray *rows; /* char **: of each point the texts of its parameters; "": it does not have it
                      */
    GArray *values;  /* double: the number of each point */
    size_t runs;     /* that ended well with a number */
    bool is_cut;     /* there are more */
    /* by parameter: runs of one experiment have it or not, as a search's condition decides */
    bool *is_conditional;
};
void orch_web_run_points_clear(struct run_points *points);

/** Returns the parameters that vary among the newest runs, but for seeds: char *. NULL with an
 * error. The caller unrefs. */
GPtrArray *orch_web_varied_params(struct web_call *call, const GArray *ids, GError **error);
/** Reads the first `most` runs of `ids` that ended well with a finite `number`; takes `params` over
 * (char *; NULL: fails with the error that is set). A run lacks a parameter that does not exist
 * under the conditions of its search, whatever is recorded for it. With `by_setting` the repeats of
 * a setting are one point with their mean; a setting of which one failed, was pruned or has no
 * number is none, as in a search. Clear in both cases. */
bool orch_web_run_points_read(struct web_call *call, const GArray *ids, size_t most,
                              const char *number, GPtrArray *params, bool by_setting,
                              struct run_points *out, GError **error);
/** The points as observations of the first `columns` parameters. Borrowed. */
struct orch_observed orch_web_run_points_observed(const struct run_points *points,
                                                  unsigned columns);

#endif
