/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What columns of measurements are called here, in which unit; so that rows from several files, and
 * from runs, mean the same by the same name. */
#ifndef ORCH_PREDICTORS_FEATURE_NAMES_H
#define ORCH_PREDICTORS_FEATURE_NAMES_H

#include <stdbool.h>

struct orch_feature_name {
    const char *name; /* "batch"; NULL ends the table */
    const char *unit; /* "images", "" for a count or a word */
    bool is_number;
    const char *others; /* what files call it, joined by '|', or "" */
    const char *about;
};

/** The table of features, ended by a NULL name. */
const struct orch_feature_name *orch_feature_names(void);
/** The same of what is measured: "step_ms", "img_per_s", ... */
const struct orch_feature_name *orch_target_names(void);
/** By its name; NULL: not in the table. */
const struct orch_feature_name *orch_feature_name_find(const char *name);
/** The feature that files call `name` ("accel": gpu), or NULL: it is none, or has that name. */
const struct orch_feature_name *orch_feature_name_of_other(const char *name);
/** Unit of a feature: of the table, else by the ending of its name ("gpu bandwidth_gbs": GB/s); ""
 * for a count, a ratio or a word. */
const char *orch_feature_unit(const char *name);
/** A hint for a name that is in neither table: "did you mean 'batch'?", else where the names are
 * listed. The caller frees. */
char *orch_feature_name_hint(const char *name);

/** Unit of a target: of the table, else by its ending (_ms, _s, _per_s); "" when neither says. */
const char *orch_target_unit(const char *name);
/** Is it a rate (images_per_s, throughput), not a time? */
bool orch_target_is_rate(const char *name);
/** How many ms the unit of a time is; 1 for what is no time. */
double orch_target_ms(const char *name);
/** Does a column tell the answer? A time or a rate does beside a time or a rate, and so does
 * another value of the target itself (ms_std beside ms). */
bool orch_feature_gives_away(const char *name, const char *target);

#endif
