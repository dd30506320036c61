/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills a store with N small runs, for measuring how queries scale: store_fill FILE N. */
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

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: store_fill FILE N\n");
        return 2;
    }
    GError *error = NULL;
    struct orch_store *store = orch_store_open(argv[1], ORCH_STORE_CREATE, &error);
    int64_t count = atoll(argv[2]);
    for (int64_t i = 0; store && !error && i < count; i++)
        put_run(store, i, &error);
    if (error)
        fprintf(stderr, "store_fill: %s\n", error->message);
    orch_store_close(store);
    return error != NULL;
}
