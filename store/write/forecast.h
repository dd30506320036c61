/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timings that forecasts of trials are computed from, and the stored forecasts with the
 * measured outcome. */
#ifndef ORCH_STORE_FORECAST_H
#define ORCH_STORE_FORECAST_H

#include "lib/base/interval.h"
#include "store/store.h"

/** The columns of a run that ended ok which forecasts use. */
struct orch_timing {
    int64_t run_id;
    char *experiment, *plugin_version, *fingerprint;
    char *device_key;   /* or NULL */
    char *who;          /* NULL: unknown */
    double wall_s;      /* between a microsecond and a century */
    int64_t ended_ns;   /* UTC */
    int64_t co_runners; /* number of other trials running when it started */
    bool is_disturbed;  /* other programs kept the CPUs busy (lib/wire/foreign_cpu_fact.h) */
    char *library;      /* "libtorch 2.11.0" (lib/wire/library_fact.h), or NULL: none or unknown */
    json_t *cost;       /* what its plugin declared, or NULL */
    GPtrArray *names;   /* const char *: of its parameters, interned (g_intern_string) */
    GPtrArray *values;  /* char *: their canonical JSON texts */
};

/** Selects timings: the newest runs of a plugin on a device (device_key). */
struct orch_timing_query {
    const char *plugin, *device_key;
    const char *executor; /* its name: device_key is a place there, facts.EXECUTOR.place of the
                             runs; NULL: device_key is a device */
    bool any_threads; /* also runs of the same processor on another number of threads; those of a
                         GPU have none */
    const char *experiment; /* its runs come first; the newest 2,000 runs are searched for other
                               experiments of the plugin */
    unsigned limit;         /* maximum for each of the two groups */
};
/** struct orch_timing *, each run at most once; the caller unrefs. */
GPtrArray *orch_store_timings(struct orch_store *store, const struct orch_timing_query *query,
                              GError **error);

/** A forecast as stored, in seconds of wall time. */
struct orch_forecast_row {
    const char *fingerprint, *machine, *model, *tier;
    const char *run_key; /* the run that it was made for */
    int64_t made_ns;
    struct orch_interval time_s;
    bool is_beyond;  /* of a setting outside of what had been measured */
    bool is_renewed; /* computed again while the run that had planned with an earlier forecast was
                        under way */
};
bool orch_store_put_forecast(struct orch_store *store, const struct orch_forecast_row *row,
                             GError **error);

/** The newest forecast for a run, whether that has ended or not. Returns false when there is none
 * (no error set) or with an error. `out->tier` and `model` live as long as the process, or are
 * NULL; the other texts are NULL. */
bool orch_store_forecast_of(struct orch_store *store, const char *run_key,
                            struct orch_forecast_row *out, GError **error);

/** A forecast whose run has ended ok. */
struct orch_ended_forecast {
    char *run_key, *tier, *model, *experiment, *device_key;
    char *network; /* as the run declared it, or NULL */
    struct orch_interval time_s;
    double wall_s;
    int64_t made_ns;
    bool is_disturbed; /* other programs kept the CPUs busy while the run ran */
    bool is_beyond, is_renewed;
};
void orch_ended_forecast_free(struct orch_ended_forecast *grade);
/** All forecasts whose run ended ok, oldest first: struct orch_ended_forecast *; the caller unrefs.
 */
GPtrArray *orch_store_grades(struct orch_store *store, GError **error);

/** Notes that so many trials were promised to end within the limits of a run of a recipe, and so
 * many did: a private note of kind "promise", whose target is STORE_PROMISE and the recipe. */
#define STORE_PROMISE "promise:"
bool orch_store_put_promise(struct orch_store *store, const char *recipe, unsigned promised,
                            unsigned ended, GError **error);
/** Counts the promises of this store, and those that held. */
bool orch_store_promises(struct orch_store *store, unsigned *out_count, unsigned *out_held,
                         GError **error);

#endif
