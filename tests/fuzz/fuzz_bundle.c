/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as what a bundle unpacks to: a crash, a leak, a hang, a file outside the store's
 * folder, or a store that does not check afterwards is a fault. Inputs are plain tars (the
 * compression is zlib's, and a fuzzer does not find through it); their packed form is made here.
 * Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "lib/base/file.h"
#include "store/exchange/bundle.h"
#include "tests/fuzz/scratch.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void write_packed(const char *path, const uint8_t *bytes, size_t length)
{
    gzFile file = gzopen(path, "wb1");
    if (!file || (length && gzwrite(file, bytes, (unsigned)length) != (int)length) ||
        gzclose(file) != Z_OK)
        abort();
}

static bool take_extra(void *ctx, const char *path, const char *bytes, size_t length,
                       GError **error)
{
    (void)ctx, (void)error;
    if (*path == '/' || !g_utf8_validate(path, -1, NULL) || (length && !bytes))
        abort();
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *bundle = g_build_filename(scratch_folder(), "fuzz.orch", NULL);
    g_autofree char *folder = g_build_filename(scratch_folder(), "store", NULL);
    g_autofree char *db = g_build_filename(folder, "results.db", NULL);
    write_packed(bundle, bytes, length);
    GError *error = NULL;
    struct orch_store *store = orch_store_open(db, ORCH_STORE_CREATE, NULL);
    struct orch_join *join = store ? orch_join_begin(store, bundle, NULL) : NULL;
    if (!join)
        abort();
    bool ok = orch_bundle_join(join, store, bundle, take_extra, NULL, &error);
    if (ok == (error != NULL) || (error && !g_utf8_validate(error->message, -1, NULL)))
        abort();
    struct orch_receipt *receipt = orch_join_commit(join, NULL); /* what came before a fault, too */
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs;
    if (!receipt || !orch_store_check(store, findings, &runs, NULL) || findings->len)
        abort();
    orch_receipt_free(receipt);
    orch_store_close(store);
    g_clear_error(&error);
    orch_tree_remove(folder, NULL);
    return 0;
}
