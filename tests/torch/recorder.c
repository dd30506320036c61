/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/torch/recorder.h"

#include "plugins/common/training/training.h"

#include <string.h>
#include <unistd.h>

static struct recorder *of(const struct orch_host *host)
{
    return host->ctx;
}

static void on_metric(const struct orch_host *host, const char *name, int64_t step, double value)
{
    struct recorder *r = of(host);
    GArray *series = g_hash_table_lookup(r->series, name);
    if (!series) {
        series = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(r->series, g_strdup(name), series);
    }
    g_array_append_val(series, value);
    if (r->on_number)
        r->on_number(r, name, step, value);
}

static void on_result(const struct orch_host *host, const char *name, double value)
{
    struct recorder *r = of(host);
    g_hash_table_insert(r->results, g_strdup(name), g_memdup2(&value, sizeof value));
    if (r->on_number)
        r->on_number(r, name, -1, value);
}

static void on_progress(const struct orch_host *host, double done, double total)
{
    if (done > total)
        g_error("progress: %g of %g epochs are done", done, total);
    of(host)->progress_calls++;
    of(host)->done = done;
}

static void on_phase(const struct orch_host *host, const char *name)
{
    (void)host;
    (void)name;
}

static void on_artifact(const struct orch_host *host, const char *name, const char *path)
{
    if (access(path, R_OK) != 0)
        g_error("artifact '%s': there is no file '%s'", name, path);
    g_string_append_printf(of(host)->artifacts, "%s ", name);
}

static void on_note(const struct orch_host *host, const char *text)
{
    g_string_append_printf(of(host)->notes, "%s\n", text);
}

static void on_fail(const struct orch_host *host, const char *text)
{
    g_string_assign(of(host)->failure, text);
}

static bool on_cancelled(const struct orch_host *host)
{
    const struct recorder *r = of(host);
    return (r->cancel_after && r->progress_calls >= r->cancel_after) ||
           (r->cancel_at > 0 && r->done > r->cancel_at);
}

static uint64_t on_derive_seed(const struct orch_host *host, const char *stream)
{
    return g_str_hash(stream) + of(host)->seed * G_GUINT64_CONSTANT(0x9E3779B97F4A7C15);
}

static void on_slot(const struct orch_host *host, struct orch_slot *out)
{
    (void)host;
    out->threads = 1;
}

static const char *on_checkpoint_dir(const struct orch_host *host)
{
    return of(host)->checkpoints;
}

static void on_input(const struct orch_host *host, const char *name, const char *sha256)
{
    if (strlen(sha256) != 64)
        g_error("input '%s': '%s' is no SHA-256", name, sha256);
    g_string_append_printf(of(host)->inputs, "%s ", name);
}

static bool on_smoke(const struct orch_host *host)
{
    return of(host)->is_smoke;
}

static const char *on_file_digest(const struct orch_host *host, const char *path)
{
    (void)host;
    (void)path;
    return "0000000000000000000000000000000000000000000000000000000000000000";
}

void recorder_init(struct recorder *r)
{
    *r =
        (struct recorder){.host = {.struct_bytes = sizeof r->host,
                                   .ctx = r,
                                   .metric = on_metric,
                                   .result = on_result,
                                   .progress = on_progress,
                                   .phase = on_phase,
                                   .artifact = on_artifact,
                                   .note = on_note,
                                   .fail = on_fail,
                                   .cancelled = on_cancelled,
                                   .derive_seed = on_derive_seed,
                                   .checkpoint_dir = on_checkpoint_dir,
                                   .input = on_input,
                                   .slot = on_slot,
                                   .smoke = on_smoke,
                                   .file_digest = on_file_digest},
                          .results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                          .series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                          (GDestroyNotify)g_array_unref),
                          .notes = g_string_new(NULL),
                          .failure = g_string_new(NULL),
                          .artifacts = g_string_new(NULL),
                          .inputs = g_string_new(NULL)};
}

void recorder_clear(struct recorder *r)
{
    g_hash_table_unref(r->results);
    g_hash_table_unref(r->series);
    g_string_free(r->notes, TRUE);
    g_string_free(r->failure, TRUE);
    g_string_free(r->artifacts, TRUE);
    g_string_free(r->inputs, TRUE);
}

int recorder_train(struct recorder *r, const struct orch_training *training,
                   const struct orch_training_parts *parts)
{
    void *state = NULL;
    int status = orch_training_open(training, &r->host, &state);
    if (status != ORCH_OK)
        return status;
    status =
        parts ? orch_training_run_with(state, &r->host, parts) : orch_training_run(state, &r->host);
    orch_training_close(state);
    return status;
}

double recorder_result(const struct recorder *r, const char *name)
{
    const double *value = g_hash_table_lookup(r->results, name);
    if (!value)
        g_error("no result '%s'", name);
    return *value;
}

guint recorder_points(const struct recorder *r, const char *name)
{
    const GArray *series = g_hash_table_lookup(r->series, name);
    return series ? series->len : 0;
}

double recorder_point(const struct recorder *r, const char *name, guint at)
{
    if (at >= recorder_points(r, name))
        g_error("no point %u of '%s'", at, name);
    return g_array_index((GArray *)g_hash_table_lookup(r->series, name), double, at);
}
