/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs as points of a space of parameters, with a number each: what the models of the page (which
 * parameters matter, the surface over two of them) are fitted to. */
#ifndef ORCH_FEATURES_WEB_RUN_POINTS_H
#define ORCH_FEATURES_WEB_RUN_POINTS_H

#include "features/web/internal.h"

#include "lib/space/param_space.h"

struct run_points {
    GPtrArray *params; /* char *: "param.NAME" */
    GPtrArray *rows;   /* char **: of each run the texts of its parameters */
    GArray *values;    /* double: the number of each run */
    size_t most;       /* runs that are taken, the newest ones */
    bool is_cut;       /* there are more */
};
void orch_web_run_points_clear(struct run_points *points);
/** Reads the first `most` runs of `ids` that ended ok with a finite `number`; takes `params` over
 * (NULL: fails with the error that is set). Clear in both cases. */
bool orch_web_run_points_read(struct web_call *call, const GArray *ids, size_t most,
                              const char *number, GPtrArray *params, struct run_points *out,
                              GError **error);
/** Returns the range of a parameter as a search would write it, such as "loguniform(1e-4, 1)";
 * "words": its values are no numbers; NULL when it has one value, or too many words. The caller
 * frees. */
char *orch_web_run_points_range(const struct run_points *points, guint param);
/** Makes the space of the parameters that have a range, and their names (borrowed) in `out_names`.
 * `*out_units` (caller frees) becomes a row of unit coordinates for each run; NAN: the run has no
 * value. NULL with an error. */
struct orch_space *orch_web_run_points_space(const struct run_points *points, GPtrArray *out_names,
                                             double **out_units, GError **error);

#endif
