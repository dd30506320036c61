/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/run_groups.h"

#include "lib/base/error.h"
#include "lib/base/reals.h"
#include "plugins/onnxrun/run_times.h"

#include <string.h>

/* Copies inputs `first` and following into the batch. The last input fills what a last batch
 * leaves open. Returns how many inputs were copied. */
static int64_t fill_batch(struct onnxrun_array *batch, const struct onnxrun_array *inputs,
                          int64_t first)
{
    const int64_t each = onnxrun_each(inputs), size = batch->shape[0];
    const int64_t count = MIN(size, inputs->shape[0] - first);
    for (int64_t i = 0; i < size; i++)
        memcpy(batch->data + i * each, inputs->data + (first + MIN(i, count - 1)) * each,
               sizeof(float) * (size_t)each);
    return count;
}

/* Appends the rows of a batch to the outputs of the group, which are made with the first batch. */
static bool keep_rows(const struct onnxrun_trial *t, struct onnxrun_group *group, int index,
                      const struct onnxrun_array *got, int64_t first, int64_t count, GError **error)
{
    struct onnxrun_array *all = &group->outputs[index];
    if (got->rank < 1 || got->shape[0] != t->batch.shape[0] || got->count < 1) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "every output must have one row for each input",
                       "'%s': the first axis of output '%s' is not the batch of %" G_GINT64_FORMAT,
                       t->file->path, t->file->outputs[index], t->batch.shape[0]);
        return false;
    }
    const int64_t each = onnxrun_each(got);
    if (!all->data) {
        *all = *got;
        all->shape[0] = group->inputs.shape[0];
        all->count = each * all->shape[0];
        all->data = g_try_new(float, all->count);
    }
    if (!all->data || onnxrun_each(all) != each) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "lower 'count'", "output '%s' of '%s' %s",
                       t->file->outputs[index], t->file->path,
                       all->data ? "has another size in each batch" : "does not fit in memory");
        return false;
    }
    memcpy(all->data + first * each, got->data, sizeof(float) * (size_t)(each * count));
    return true;
}

static bool run_group(struct onnxrun_trial *t, struct onnxrun_group *group, GError **error)
{
    struct onnxrun_array outputs[ONNXRUN_OUTPUTS_MAX] = {0};
    const int64_t total = group->inputs.shape[0];
    bool ok = true;
    for (int64_t first = 0; ok && first < total && !t->host->cancelled(t->host);) {
        const int64_t count = fill_batch(&t->batch, &group->inputs, first);
        ok = t->engine->run(t->session, &t->batch, outputs, error);
        for (int i = 0; ok && i < t->file->output_count; i++)
            ok = keep_rows(t, group, i, &outputs[i], first, count, error);
        first += count;
        t->host->progress(t->host, (double)first, (double)total);
    }
    return ok;
}

bool orch_onnxrun_groups_run(struct onnxrun_trial *t, GError **error)
{
    for (guint i = 0; i < t->groups->len; i++)
        if (!run_group(t, &g_array_index(t->groups, struct onnxrun_group, i), error))
            return false;
    return true;
}

/* ---- latency ------------------------------------------------------------------------------ */

/* Value at share `q` of sorted values. */
static double quantile(const double *sorted, int64_t count, double q)
{
    return sorted[(int64_t)(q * (double)(count - 1) + 0.5)];
}

static void report_latency(const struct onnxrun_trial *t, double *times, int64_t count)
{
    const struct orch_host *host = t->host;
    const double median = orch_reals_median(times, (size_t)count);
    host->result(host, "latency", median * 1e3);
    host->result(host, "latency_low", quantile(times, count, 0.1) * 1e3);
    host->result(host, "latency_high", quantile(times, count, 0.9) * 1e3);
    host->result(host, "throughput", (double)t->batch.shape[0] / median);
}

/* One batch by the engine. */
static bool run_engine(void *ctx, GError **error)
{
    struct onnxrun_trial *t = ctx;
    struct onnxrun_array outputs[ONNXRUN_OUTPUTS_MAX];
    return t->engine->run(t->session, &t->batch, outputs, error);
}

bool orch_onnxrun_latency_measure(struct onnxrun_trial *t, GError **error)
{
    const struct onnxrun_group *last =
        &g_array_index(t->groups, struct onnxrun_group, t->groups->len - 1);
    fill_batch(&t->batch, &last->inputs, 0);
    g_autoptr(GArray) times = orch_onnxrun_times(t, run_engine, t, error);
    if (!times)
        return false;
    for (guint i = 0; i < times->len; i++)
        t->host->metric(t->host, "run_latency", i + 1, g_array_index(times, double, i) * 1e3);
    if (times->len)
        report_latency(t, (double *)(void *)times->data, times->len);
    return true;
}
