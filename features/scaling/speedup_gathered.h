/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials of an item `speedup`, gathered by setting, and the numbers of its columns. */
#ifndef ORCH_FEATURES_SCALING_SPEEDUP_GATHERED_H
#define ORCH_FEATURES_SCALING_SPEEDUP_GATHERED_H

#include "core/report/items.h"
#include "features/scaling/speedup_columns.h"

/** What one run measured besides the value; NaN: it did not. */
struct orch_speedup_extras {
    double of[ORCH_SPEEDUP_EXTRAS];
};

/** The repeats of one setting. */
struct orch_speedup_setting {
    char *label;
    char *words; /* the label as a sentence has it, without the workers; "": the only group */
    double workers;
    GArray *values;    /* double */
    GArray *extras;    /* struct orch_speedup_extras, one a run */
    bool is_disturbed; /* the values are times or rates, and some run was disturbed */
};

/** The largest bandwidth of one trial of the item's key `link`. */
struct orch_speedup_link {
    double workers, gb_per_s;
};

struct orch_speedup_gathered {
    GArray *settings; /* struct orch_speedup_setting */
    const char *better, *unit;
    unsigned oversubscribed_count; /* trials that are left out */
    bool times_steps;              /* the item names `steps` */
    GArray *links;                 /* struct orch_speedup_link */
};

void orch_speedup_setting_clear(gpointer setting);
/** Adds a trial to its setting. False with the store's error. */
bool orch_speedup_add(struct orch_section_context *a, const struct orch_trials *trials,
                      struct orch_report_trial *trial, const GPtrArray *by,
                      struct orch_speedup_gathered *g, GError **error);

/** Adds the trials of the item's key `link`, which `where` does not filter. False with the store's
 * error. */
bool orch_speedup_add_links(struct orch_section_context *a, struct orch_speedup_gathered *g,
                            GError **error);

/** Returns one worker of the same group; NULL: not measured. */
const struct orch_speedup_setting *orch_speedup_base(const GArray *settings, const char *label);
/** Returns whether other programs disturbed either the setting or its base, but not both. */
bool orch_speedup_is_uneven(const struct orch_speedup_gathered *g,
                            const struct orch_speedup_setting *s);
/** Returns what the columns are computed from. Without a base, or with one that was measured under
 * another load, no column has a number. */
struct orch_speedup_numbers orch_speedup_numbers_of(const struct orch_speedup_gathered *g,
                                                    const struct orch_speedup_setting *s);
/** Returns a column's number with its interval: that of the quotient of both means (Fieller), or of
 * the mean of what each trial timed (Student's t); of a bandwidth, the one that follows from the
 * interval of its time. */
struct orch_spread orch_speedup_spread(const struct orch_speedup_gathered *g,
                                       const struct orch_speedup_setting *s,
                                       const struct orch_speedup_column *column);

#endif
