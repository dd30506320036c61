/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Staleness of gradients in asynchronous SGD with a parameter server, from a discrete-event model:
 * nothing is trained. See docs/plugins/staleness.md. */
#include "plugins/staleness/learner_times.h"
#include "plugins/staleness/update_table.h"

/* Updates whose staleness is a point of the metric by update, and of which the mean's working is
 * noted. */
enum { POINTS_MOST = 1000, WORKING_MOST = 20 };

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(
        struct staleness_params, times, ORCH_LIST | ORCH_STRING, .label = "times of gradients",
        .def = "[]",
        .help =
            "seconds of each learner's gradients, e.g. [1 2 3 4, 2.5 5]; empty: by gradient_time"),
    ORCH_PARAM(struct staleness_params, learners, ORCH_INT, .label = "learners", .def = "2",
               .min = "1", .max = "1000", .help = "learners that share the server"),
    ORCH_PARAM(struct staleness_params, speeds, ORCH_LIST | ORCH_REAL,
               .label = "speeds of the learners", .def = "[]", .min = "0.001", .max = "1000",
               .help = "speed of each learner; empty: 1 each"),
    ORCH_PARAM(struct staleness_params, speed_variation, ORCH_REAL, .label = "speed variation",
               .def = "0", .min = "0", .max = "10",
               .help = "coefficient of variation of the learners' speeds (lognormal); 0: none"),
    ORCH_PARAM(struct staleness_params, gradient_time, ORCH_DURATION, .label = "gradient time",
               .def = "1s", .min = "1us", .max = "1000s",
               .help = "mean time of a gradient at speed 1"),
    ORCH_PARAM(struct staleness_params, distribution, ORCH_ENUM, .label = "distribution",
               .def = "constant", .choices = STALENESS_DISTRIBUTIONS,
               .help = "distribution of the time of a gradient"),
    ORCH_PARAM(struct staleness_params, variation, ORCH_REAL, .label = "variation", .def = "0.5",
               .min = "0", .max = "10",
               .help = "distribution lognormal: its coefficient of variation"),
    ORCH_PARAM(struct staleness_params, gradients, ORCH_INT, .label = "gradients", .def = "1000",
               .min = "1", .max = "100000", .help = "gradients to apply; with times: all"),
    ORCH_PARAM(struct staleness_params, mode, ORCH_ENUM, .label = "mode", .def = "asynchronous",
               .choices = STALENESS_MODES,
               .help = "synchronous: one update from a gradient of each learner; bounded: fast "
                       "learners wait (SSP)"),
    ORCH_PARAM(struct staleness_params, bound, ORCH_INT, .label = "bound", .def = "3", .min = "0",
               .max = "100000",
               .help = "mode bounded: gradients by which a learner may be ahead of the slowest"),
    ORCH_PARAM(struct staleness_params, pull_time, ORCH_DURATION, .label = "pull time", .def = "0s",
               .min = "0s", .max = "1000s", .help = "time of a learner's pull of the weights"),
    ORCH_PARAM(struct staleness_params, push_time, ORCH_DURATION, .label = "push time", .def = "0s",
               .min = "0s", .max = "1000s", .help = "time of a learner's push of a gradient"),
    ORCH_PARAM(struct staleness_params, update_time, ORCH_DURATION, .label = "update time",
               .def = "0s", .min = "0s", .max = "1000s", .help = "time of the server's update"),
};

static const struct orch_metric METRICS[] = {
    {.name = "mean_staleness",
     .label = "mean staleness",
     .better = ORCH_BETTER_MIN,
     .help = "updates between the read of the weights and the update, mean"},
    {.name = "max_staleness",
     .label = "largest staleness",
     .better = ORCH_BETTER_MIN,
     .help = "largest staleness of a gradient"},
    {.name = "updates",
     .label = "updates",
     .min = "0",
     .unit = "updates",
     .help = "updates of the weights; a synchronous round has one"},
    {.name = "applied_gradients", .label = "applied gradients", .unit = "gradients"},
    {.name = "end_time",
     .label = "end time",
     .min = "0",
     .unit = "s",
     .help = "simulated time of the last update"},
    {.name = "updates_per_s",
     .label = "updates per second",
     .min = "0",
     .unit = "updates/s",
     .better = ORCH_BETTER_MAX},
    {.name = "gradients_per_s",
     .label = "gradients per second",
     .min = "0",
     .unit = "gradients/s",
     .better = ORCH_BETTER_MAX},
    {.name = "waiting_share",
     .label = "waiting share",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MIN,
     .help = "share of the learners' time in which they wait for the server or for each other"},
    {.name = "max_lead",
     .label = "largest lead",
     .help = "largest number of gradients by which a learner was ahead of the slowest"},
    {.name = "staleness",
     .label = "staleness",
     .step_unit = "update",
     .better = ORCH_BETTER_MIN,
     .help = "staleness of the first 1,000 gradients, in the order of application"},
    {.name = "learner_staleness",
     .label = "learner staleness",
     .step_unit = "learner",
     .better = ORCH_BETTER_MIN,
     .help = "mean staleness of the gradients of learner 1, 2, ..."},
    {.name = "learner_gradients",
     .label = "learner gradients",
     .step_unit = "learner",
     .help = "gradients of each learner"},
    {.name = "staleness_share",
     .label = "staleness share",
     .min = "0",
     .max = "1",
     .step_unit = "stale_updates",
     .help = "share of the gradients with a staleness of 0, 1, ..."},
};

static const struct orch_artifact ARTIFACTS[] = {
    {.name = "updates", .help = "CSV: every update with its staleness"},
    {.name = "histogram", .help = "CSV: gradients by staleness"},
};

static int fail(const struct orch_host *host, GError *error)
{
    host->fail(host, error->message);
    g_error_free(error);
    return ORCH_FAILED;
}

static int check(const void *params, const struct orch_host *host)
{
    struct orch_staleness_settings settings;
    GError *error = NULL;
    const bool ok = orch_staleness_settings_make(params, 0, &settings, &error);
    orch_staleness_settings_clear(&settings);
    return ok ? ORCH_OK : fail(host, error);
}

/* ---- report -----------------------------------------------------------------------------------
 */

static double report_staleness(const struct orch_staleness_run *run, const struct orch_host *host)
{
    double sum = 0;
    int64_t most = 0, lead = 0;
    for (guint i = 0; i < run->updates->len; i++) {
        const struct orch_staleness_update *u =
            &g_array_index(run->updates, struct orch_staleness_update, i);
        sum += (double)orch_staleness_of(u);
        most = MAX(most, orch_staleness_of(u));
        lead = MAX(lead, u->lead);
        if (i < POINTS_MOST)
            host->metric(host, "staleness", i + 1, (double)orch_staleness_of(u));
    }
    const double mean = sum / run->updates->len;
    host->result(host, "mean_staleness", mean);
    host->result(host, "max_staleness", (double)most);
    host->result(host, "max_lead", (double)lead);
    return mean;
}

static void report_times(const struct orch_staleness_run *run, const struct orch_host *host)
{
    const double end_s = (double)run->end_ns / 1e9;
    host->result(host, "updates", (double)run->versions);
    host->result(host, "applied_gradients", run->updates->len);
    host->result(host, "end_time", end_s);
    host->result(host, "updates_per_s", (double)run->versions / end_s);
    host->result(host, "gradients_per_s", run->updates->len / end_s);
    host->result(host, "waiting_share", run->waiting_s / (run->waiting_s + run->learning_s));
}

static void report_learners(const struct orch_staleness_run *run, int learners,
                            const struct orch_host *host)
{
    g_autofree double *sums = g_new0(double, learners), *counts = g_new0(double, learners);
    for (guint i = 0; i < run->updates->len; i++) {
        const struct orch_staleness_update *u =
            &g_array_index(run->updates, struct orch_staleness_update, i);
        sums[u->learner] += (double)orch_staleness_of(u);
        counts[u->learner]++;
    }
    for (int i = 0; i < learners; i++) {
        host->metric(host, "learner_gradients", i + 1, counts[i]);
        if (counts[i] > 0)
            host->metric(host, "learner_staleness", i + 1, sums[i] / counts[i]);
        if (counts[i] > 0 && run->updates->len <= WORKING_MOST) {
            g_autofree char *text = orch_staleness_by_learner(run, i);
            host->note(host, text);
        }
    }
}

static bool write_table(const GString *csv, const char *name, const struct orch_host *host,
                        GError **error)
{
    g_autofree char *file = g_strconcat(name, ".csv", NULL);
    if (!g_file_set_contents(file, csv->str, (gssize)csv->len, error))
        return false;
    host->artifact(host, name, file);
    return true;
}

static bool report(const struct orch_staleness_run *run, int learners, const struct orch_host *host,
                   GError **error)
{
    g_autoptr(GArray) counts = orch_staleness_counts(run);
    g_autoptr(GString) updates = orch_staleness_table(run);
    g_autoptr(GString) histogram = orch_staleness_histogram(counts);
    const double mean = report_staleness(run, host);
    report_times(run, host);
    report_learners(run, learners, host);
    for (guint i = 0; i < counts->len; i++)
        host->metric(host, "staleness_share", i,
                     (double)g_array_index(counts, int64_t, i) / run->updates->len);
    if (run->updates->len <= WORKING_MOST) {
        g_autofree char *text = orch_staleness_working(run, mean);
        host->note(host, text);
    }
    return write_table(updates, "updates", host, error) &&
           write_table(histogram, "histogram", host, error);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct staleness_params *p = params;
    struct orch_staleness_settings settings;
    struct orch_staleness_run run = {0};
    GError *error = NULL;
    (void)state;
    bool ok =
        orch_staleness_settings_make(p, host->derive_seed(host, "learners"), &settings, &error);
    if (ok) {
        if (host->smoke(host))
            settings.model.gradients = 2 * p->learners;
        orch_staleness_simulate(&settings.model, &run);
        ok = report(&run, settings.model.learners, host, &error);
    }
    orch_staleness_clear(&run);
    orch_staleness_settings_clear(&settings);
    return ok ? ORCH_OK : fail(host, error);
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "staleness",
    .version = "1.0.0",
    .summary = "staleness of gradients with a parameter server, simulated",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct staleness_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
