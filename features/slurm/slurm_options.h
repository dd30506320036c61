/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial asks of Slurm: options of sbatch from the recipe's `resources` and `slurm`, and from
 * what was measured. */
#ifndef ORCH_FEATURES_SLURM_SLURM_OPTIONS_H
#define ORCH_FEATURES_SLURM_SLURM_OPTIONS_H

#include "features/slurm/slurm_settings.h"

/** Seconds between SIGTERM and the end of --time where the recipe does not say. */
#define ORCH_SLURM_MARGIN_S 60.0

/** The place in the cluster that timings depend on, in the words of a device key: "slurm gpu, 2
 * GPUs a100, 4 threads". Caller frees. */
char *orch_slurm_place(const struct orch_expansion *expansion,
                       const struct orch_experiment *experiment);

/** Time and memory of a trial. */
struct orch_slurm_request {
    double time_s;                       /* 0: the partition's default */
    int64_t memory_bytes;                /* 0: the partition's default */
    const char *time_from, *memory_from; /* "resources.time", "95 % forecast", ...; static */
};
/** `p95_s` and `p95_bytes`: forecasts, NaN and 0 where there are none. */
void orch_slurm_request_make(const struct orch_slurm_settings *settings,
                             const struct orch_experiment *experiment, double p95_s,
                             int64_t p95_bytes, struct orch_slurm_request *out);
/** Takes the larger of each. */
void orch_slurm_request_join(struct orch_slurm_request *request,
                             const struct orch_slurm_request *other);

double orch_slurm_margin_s(const struct orch_slurm_settings *settings, double time_s);

/** Options for sbatch (char *) that do not depend on time and memory: equal for trials that may be
 * elements of one array. `ranks`: of orch_experiment_ranks. Caller unrefs. */
GPtrArray *orch_slurm_options(const struct orch_slurm_settings *settings,
                              const struct orch_experiment *experiment, unsigned ranks);
/** Adds --time, --mem and --signal. */
void orch_slurm_options_add(GPtrArray *options, const struct orch_slurm_settings *settings,
                            const struct orch_slurm_request *request);

/** "00:10:00", "1-02:00:00". Caller frees. */
char *orch_slurm_time_format(double seconds);

/** Indices in ascending order as --array takes them: "0-99,105"; `at_once` > 0 adds "%N". Caller
 * frees. */
char *orch_slurm_ranges(const unsigned *indices, unsigned count, unsigned at_once);

#endif
