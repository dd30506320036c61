/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as another store's file: a crash, a leak, a hang, a failure without an error, or a
 * store that is not sound afterwards is a fault. Built with -fsanitize=fuzzer it fuzzes; with
 * replay.c it runs the committed corpus as a test. */
#include "store/join/join.h"

#include "lib/base/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(struct orch_store *store)
{
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    if (!orch_store_check(store, findings, NULL, NULL) || findings->len) {
        fprintf(stderr, "%s\n", findings->len ? (char *)findings->pdata[0] : "no check");
        abort();
    }
}

/* Once more adds nothing. */
static void join(struct orch_store *store, const char *path)
{
    for (int again = 0; again < 2; again++) {
        GError *error = NULL;
        struct orch_join *joining = orch_join_begin(store, "fuzz", &error);
        if (!joining)
            abort();
        struct orch_receipt *receipt = NULL;
        if (orch_join_store(joining, path, -1, &error))
            receipt = orch_join_commit(joining, &error);
        else
            orch_join_rollback(joining);
        if ((receipt != NULL) == (error != NULL) || (receipt && again && receipt->added))
            abort();
        orch_receipt_free(receipt);
        g_clear_error(&error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *folder = g_dir_make_tmp("orch-fuzz-XXXXXX", NULL);
    if (!folder)
        abort();
    g_autofree char *path = g_build_filename(folder, "fuzz.db", NULL);
    g_autofree char *into = g_build_filename(folder, "into", "results.db", NULL);
    struct orch_store *store = orch_store_open(into, ORCH_STORE_CREATE, NULL);
    if (!store || !orch_file_write(path, bytes, length, false, NULL))
        abort();
    join(store, path);
    check(store);
    orch_store_close(store);
    orch_tree_remove(folder, NULL);
    return 0;
}
