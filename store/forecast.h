/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What forecasts of trials are made from, and the forecasts themselves with what came of them. */
#ifndef ORCH_STORE_FORECAST_H
#define ORCH_STORE_FORECAST_H

#include "store/store.h"

/** A run that ended ok, as far as a forecast looks at it. */
struct orch_timing {
    int64_t run_id;
    char *experiment, *plugin_version, *fingerprint;
    char *who;          /* NULL: not told */
    double wall_s;      /* from a microsecond to a century */
    int64_t co_runners; /* trials beside it when it started */
    bool is_disturbed;  /* other programs kept the CPUs busy (lib/wire/disturbed.h) */
    json_t *cost;       /* what its plugin declared, or NULL */
    GPtrArray *names;   /* const char *: of its parameters, interned (g_intern_string) */
    GPtrArray *values;  /* char *: their canonical JSON texts */
};
void orch_timing_free(struct orch_timing *timing);

/** Which timings are wanted: the newest runs of a plugin at a place (where_key). */
struct orch_timing_query {
    const char *plugin, *where_key;
    const char *experiment; /* its runs come first; other experiments of the plugin are looked for
                               among the newest 2,000 runs */
    unsigned limit;         /* at most so many of each kind */
};
/** struct orch_timing *, each run once; the caller unrefs. */
GPtrArray *orch_store_timings(struct orch_store *store, const struct orch_timing_query *query,
                              GError **error);

/** A forecast as it is kept: seconds of wall time. */
struct orch_forecast_row {
    const char *fingerprint, *machine, *model, *tier;
    const char *run_key; /* the run that it was made for */
    int64_t made_ns;
    double p5_s, p50_s, p95_s;
};
bool orch_store_put_forecast(struct orch_store *store, const struct orch_forecast_row *row,
                             GError **error);

/** The newest forecast that was made for a run, ended or not. False: there is none (no error), or
 * an error. `out->tier` and `model` live as long as the process, or are NULL; the other texts are
 * NULL. */
bool orch_store_forecast_of(struct orch_store *store, const char *run_key,
                            struct orch_forecast_row *out, GError **error);

/** A forecast whose run has ended ok. */
struct orch_grade {
    char *run_key, *tier, *model, *experiment, *where_key;
    char *network; /* that the run declared, or NULL */
    double p5_s, p50_s, p95_s, wall_s;
    int64_t made_ns;
    bool is_disturbed; /* other programs kept the CPUs busy while the run ran */
};
void orch_grade_free(struct orch_grade *grade);
/** All of them, oldest first: struct orch_grade *; the caller unrefs. */
GPtrArray *orch_store_grades(struct orch_store *store, GError **error);

#endif
