/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Slurm's accounts say of the forecasts from which a trial's --time and --mem came. The
 * forecast is kept in facts.slurm.forecast of the trial when it is submitted, the comparison in
 * facts.slurm.graded when it is collected. Without accounts there is no comparison. */
#ifndef ORCH_FEATURES_SLURM_SLURM_GRADE_H
#define ORCH_FEATURES_SLURM_SLURM_GRADE_H

#include "lib/base/interval.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/** sacct counts whole seconds, so that a time is known to this. */
#define ORCH_SLURM_ELAPSED_STEP_S 1.0

/** Returns {p5_s, p50_s, p95_s, p95_bytes} without the unknown ones (NaN, 0); JSON null when all
 * are. */
json_t *orch_slurm_forecast_json(struct orch_interval time_s, int64_t p95_bytes);

/** Forecast and account of a trial. */
struct orch_slurm_grade {
    bool has_time, has_memory; /* both the forecast and the account are known */
    struct orch_interval forecast_s;
    double elapsed_s;
    int64_t p95_bytes, max_rss_bytes;
    bool is_time_within;   /* the elapsed time lies in the forecast's 90 % interval */
    bool is_memory_within; /* at most the forecast's 95 % quantile */
    double time_s;         /* --time; 0: the partition's default */
    int64_t memory_bytes;  /* --mem; 0: the partition's default */
};

/** Reads `facts.slurm`. A trial that Slurm started again is not graded, because the account is that
 * of its last start. */
void orch_slurm_grade_read(const json_t *slurm, struct orch_slurm_grade *out);
/** Adds "graded" to `facts.slurm` where there is something to grade. */
void orch_slurm_grade_store(json_t *slurm);

#endif
