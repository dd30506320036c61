/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills a store with N small runs, for measuring how queries scale: store_fill FILE N [timed]. With
 * `timed` they are trainings of five networks on four GPUs that declare their cost and record a
 * step time by a made-up law with 5 % of noise. */
#include "store/store.h"

#include "lib/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool put_run(struct orch_store *store, int64_t i, GError **error)
{
    char key[ORCH_KEY_CHARS], fingerprint[ORCH_SHA256_CHARS];
    orch_key_make(key);
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
                                 .where_key = "bench",
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
                                 .where_key = where,
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

int main(int argc, char **argv)
{
    if (argc != 3 && !(argc == 4 && strcmp(argv[3], "timed") == 0)) {
        fprintf(stderr, "usage: store_fill FILE N [timed]\n");
        return 2;
    }
    GError *error = NULL;
    struct orch_store *store = orch_store_open(argv[1], ORCH_STORE_CREATE, &error);
    int64_t count = atoll(argv[2]);
    for (int64_t i = 0; store && !error && i < count; i++)
        (argc == 4 ? put_timed : put_run)(store, i, &error);
    if (error)
        fprintf(stderr, "store_fill: %s\n", error->message);
    orch_store_close(store);
    return error != NULL;
}
