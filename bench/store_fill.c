/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills a store with N small runs, for measuring how queries scale: store_fill FILE N
 * [small|year|timed|curves]. With `year` their keys tell of times all over the last one. With
 * `timed` they are trainings of five networks on four GPUs that declare their cost and record a
 * step time by a made-up law with 5 % of noise. With `curves` they have five parameters and two
 * metrics of 45 points, and the last fifty a metric of 100,000: 100,000 runs are 14 million points.
 */
#include "store/store.h"

#include "lib/base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_RUNS = 50 };

/* A key made `ago_ms` ago: its first 12 digits are the time. */
static void make_key_of(int64_t ago_ms, char key[ORCH_KEY_CHARS])
{
    char time[13];
    orch_key_make(key);
    g_snprintf(time, sizeof time, "%012llx",
               (unsigned long long)(orch_now_ns() / 1000000 - ago_ms));
    memcpy(key, time, 8);
    memcpy(key + 9, time + 8, 4);
}

static bool put_run(struct orch_store *store, int64_t i, int64_t ago_ms, GError **error)
{
    char key[ORCH_KEY_CHARS], fingerprint[ORCH_SHA256_CHARS];
    make_key_of(ago_ms, key);
    orch_sha256(&i, sizeof i, fingerprint);
    g_autofree char *lr = g_strdup_printf("%g", 0.001 * (double)(i % 100 + 1));
    g_autofree char *facts = g_strdup_printf("{\"coords\":{\"lr\":%s}}", lr);
    struct orch_named_text param = {"lr", "real", lr};
    struct orch_named_real result = {"accuracy", 1.0 / (1.0 + (double)(i % 97))};
    struct orch_record record = {.key = key,
                                 .recipe = "fill",
                                 .experiment = "n",
                                 .plugin = "null",
                                 .plugin_version = "1.0.0",
                                 .fingerprint = fingerprint,
                                 .device_key = "bench",
                                 .repeat = (int)(i % 5) + 1,
                                 .attempt = 1,
                                 .state = i % 50 ? "ok" : "failed",
                                 .machine_key = "bench",
                                 .machine_facts = "{}",
                                 .who = "bench",
                                 .started_ns = orch_now_ns(),
                                 .ended_ns = orch_now_ns(),
                                 .wall_ms = 1,
                                 .facts = facts,
                                 .params = &param,
                                 .param_count = 1,
                                 .results = &result,
                                 .result_count = 1};
    return orch_store_record(store, &record, error);
}

static const struct {
    const char *gpu;
    double tflops;
} GPUS[] = {{"Tesla V100-SXM2-16GB", 15.7},
            {"Tesla P100-PCIE-16GB", 9.5},
            {"Tesla T4", 8.1},
            {"NVIDIA A100-SXM4-40GB", 19.5}};
static const struct {
    const char *net;
    double gflops;
} NETS[] = {
    {"resnet18", 1.8}, {"resnet34", 3.7}, {"resnet50", 4.1}, {"vgg16", 15.5}, {"densenet121", 2.9}};

static double noise(int64_t i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return (double)(x >> 11) / 9007199254740992.0;
}

static bool put_timed(struct orch_store *store, int64_t i, GError **error)
{
    char key[ORCH_KEY_CHARS], fingerprint[ORCH_SHA256_CHARS];
    size_t g = (size_t)i % G_N_ELEMENTS(GPUS), n = (size_t)(i / 4) % G_N_ELEMENTS(NETS);
    int64_t batch = 8 * (1 + (i / 20) % 16);
    orch_key_make(key);
    orch_sha256(&i, sizeof i, fingerprint);
    g_autofree char *facts = g_strdup_printf(
        "{\"cost\":{\"network\":\"%s\",\"batch\":%d,\"images\":50000,\"workers\":1,\"epochs\":1.0,"
        "\"precision\":\"fp32\",\"input\":\"3x224x224\",\"training\":1}}",
        NETS[n].net, (int)batch);
    g_autofree char *where = g_strdup_printf("1x %s", GPUS[g].gpu);
    double ms = (8 + 3 * 2 * NETS[n].gflops * (double)batch / (0.5 * GPUS[g].tflops)) *
                (0.95 + 0.1 * noise(i));
    struct orch_named_real result = {"step_time", ms};
    struct orch_metric_row metric = {"step_time", "ms", "min"};
    struct orch_record record = {.key = key,
                                 .recipe = "fill",
                                 .experiment = "n",
                                 .plugin = "null",
                                 .plugin_version = "1.0.0",
                                 .fingerprint = fingerprint,
                                 .device_key = where,
                                 .repeat = 1,
                                 .attempt = 1,
                                 .state = "ok",
                                 .machine_key = "bench",
                                 .machine_facts = "{}",
                                 .who = "bench",
                                 .started_ns = orch_now_ns(),
                                 .ended_ns = orch_now_ns(),
                                 .wall_ms = ms,
                                 .facts = facts,
                                 .results = &result,
                                 .result_count = 1,
                                 .metrics = &metric,
                                 .metric_count = 1};
    return orch_store_record(store, &record, error);
}

struct curve {
    int64_t run, at, count;
    bool is_long;
};

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct curve *c = ctx;
    if (c->at == c->count)
        return false;
    int64_t i = c->at++, step = c->is_long ? i : i / 2;
    double far = (double)step / (c->is_long ? 20000 : 9), wobble = noise(c->run * 1000003 + i);
    double loss = 2.3 * exp(-far) + 0.1 + 0.05 * wobble;
    bool is_loss = c->is_long || i % 2 == 0;
    *out = (struct orch_point){.name = c->is_long ? "step_loss"
                                       : is_loss  ? "loss"
                                                  : "val_accuracy",
                               .step = step,
                               .t_ms = 12.5 * (double)step,
                               .value = is_loss ? loss : 1 - loss / 2.5};
    return true;
}

static bool put_curves(struct orch_store *store, int64_t i, bool is_long, GError **error)
{
    static const char *const people[] = {"ada", "grace", "edsger", "barbara"};
    static const char *const experiments[] = {"warmup", "sweep", "ablation", "final"};
    static const struct orch_metric_row metrics[] = {
        {"loss", "", "min"}, {"val_accuracy", "", "max"}, {"step_loss", "", "min"}};
    char key[ORCH_KEY_CHARS], fingerprint[ORCH_SHA256_CHARS];
    orch_key_make(key);
    orch_sha256(&i, sizeof i, fingerprint);
    g_autofree char *lr = g_strdup_printf("%g", 0.001 * (double)(i % 100 + 1));
    g_autofree char *batch = g_strdup_printf("%d", 16 << (i / 100 % 5));
    g_autofree char *seed = g_strdup_printf("%d", (int)(i % 3));
    g_autofree char *net = g_strdup_printf("\"%s\"", NETS[i / 500 % 5].net);
    g_autofree char *facts =
        g_strdup_printf("{\"coords\":{\"lr\":%s,\"batch_size\":%s,\"net\":%s}}", lr, batch, net);
    const struct orch_named_text params[] = {{"batch_size", "int", batch},
                                             {"lr", "real", lr},
                                             {"net", "text", net},
                                             {"optimizer", "text", "\"sgd\""},
                                             {"seed", "int", seed}};
    struct orch_named_real result = {"accuracy", 0.9 - 1e-4 * (double)(i % 997)};
    struct curve curve = {.run = i, .count = is_long ? 100000 : 90, .is_long = is_long};
    int64_t now = orch_now_ns();
    struct orch_record record = {.key = key,
                                 .recipe = "fill",
                                 .experiment = experiments[i / 2500 % 4],
                                 .plugin = "train",
                                 .plugin_version = "1.0.0",
                                 .fingerprint = fingerprint,
                                 .device_key = "1x Tesla V100-SXM2-16GB",
                                 .seed = (uint64_t)i * 7919,
                                 .repeat = (int)(i % 3) + 1,
                                 .attempt = 1,
                                 .state = i % 50 ? "ok" : "failed",
                                 .machine_key = "bench",
                                 .machine_facts = "{\"hostname\":\"bench\"}",
                                 .who = people[i % 4],
                                 .started_ns = now - 90 * INT64_C(1000000000),
                                 .ended_ns = now,
                                 .wall_ms = 90000 + (double)(i % 1000),
                                 .facts = facts,
                                 .params = params,
                                 .param_count = G_N_ELEMENTS(params),
                                 .results = &result,
                                 .result_count = 1,
                                 .metrics = metrics,
                                 .metric_count = G_N_ELEMENTS(metrics),
                                 .next_point = next_point,
                                 .next_ctx = &curve};
    return orch_store_record(store, &record, error);
}

#define YEAR_MS INT64_C(31536000000)

static bool put_any(struct orch_store *store, const char *kind, int64_t i, int64_t count,
                    GError **error)
{
    if (strcmp(kind, "timed") == 0)
        return put_timed(store, i, error);
    if (strcmp(kind, "curves") == 0)
        return put_curves(store, i, i >= count - LONG_RUNS, error);
    bool is_year = strcmp(kind, "year") == 0;
    return put_run(store, i, is_year ? (count - i) * (YEAR_MS / count) : 0, error);
}

int main(int argc, char **argv)
{
    const char *kind = argc == 4 ? argv[3] : "small";
    if (argc < 3 || argc > 4 ||
        (argc == 4 && strcmp(kind, "small") && strcmp(kind, "year") && strcmp(kind, "timed") &&
         strcmp(kind, "curves"))) {
        fprintf(stderr, "usage: store_fill FILE N [small|year|timed|curves]\n");
        return 2;
    }
    GError *error = NULL;
    struct orch_store *store = orch_store_open(argv[1], ORCH_STORE_CREATE, &error);
    int64_t count = atoll(argv[2]);
    for (int64_t i = 0; store && !error && i < count; i++)
        put_any(store, kind, i, count, &error);
    if (error)
        fprintf(stderr, "store_fill: %s\n", error->message);
    orch_store_close(store);
    return error != NULL;
}
