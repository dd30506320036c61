/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Canonical names and units of measurement columns, so that rows from different files and from runs
 * use the same name for the same thing. */
#ifndef ORCH_PREDICTORS_FEATURE_NAMES_H
#define ORCH_PREDICTORS_FEATURE_NAMES_H

#include <stdbool.h>

struct orch_feature_name {
    const char *name; /* "batch"; NULL ends the table */
    const char *unit; /* "images"; "" for a count or a word */
    bool is_number;
    const char *others; /* alternative names in files, joined by '|', or "" */
    const char *about;
};

/** The table of features, ended by a NULL name. */
const struct orch_feature_name *orch_feature_names(void);
/** The same for measured quantities: "step_ms", "img_per_s", ... */
const struct orch_feature_name *orch_target_names(void);
/** Finds a feature by its canonical name; NULL if there is none. */
const struct orch_feature_name *orch_feature_name_find(const char *name);
/** Finds the feature with the alternative name `name` ("accel": gpu); NULL if there is none. */
const struct orch_feature_name *orch_feature_name_of_other(const char *name);
/** True for a column of GPUs' names. */
bool orch_feature_is_gpu(const char *name);
/** True for a column of networks' names. */
bool orch_feature_is_net(const char *name);
/** True for a column of numbers of GPUs. */
bool orch_feature_is_gpu_count(const char *name);
/** True for a column of versions of software. */
bool orch_feature_is_software(const char *name);
/** True for a feature that was derived or looked up ("gpu year", "white roofline_ms"). */
bool orch_feature_is_derived(const char *name);
/** Unit of a feature, from the table or from the ending of its name ("gpu bandwidth_gbs": GB/s); ""
 * for a count, a ratio or a word. */
const char *orch_feature_unit(const char *name);
/** A hint for an unknown name: "did you mean 'batch'?", or where the names are listed. Caller
 * frees. */
char *orch_feature_name_hint(const char *name);

/** Unit of a target, from the table or from its ending (_ms, _s, _per_s); "" if unknown. */
const char *orch_target_unit(const char *name);
/** True for a rate (images_per_s, throughput), false for a time. */
bool orch_target_is_rate(const char *name);
/** Milliseconds in the target's unit of time; 1 if it is not a time. */
double orch_target_ms(const char *name);
/** True if a column reveals the target: a time or rate beside a time or rate, or another statistic
 * of the target itself (ms_std beside ms). */
bool orch_feature_reveals(const char *name, const char *target);

#endif
