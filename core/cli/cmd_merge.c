/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch db merge: merges stores, bundles, and folders of them into this store. */
#include "core/cli/receipt.h"
#include "core/cli/remote.h"
#include "core/pack/pack.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct merge_options {
    const char *artifacts;
};

static const struct orch_option MERGE_OPTIONS[] = {{"artifacts", 0, "all|none|BYTES", ORCH_OPT_TEXT,
                                                    offsetof(struct merge_options, artifacts),
                                                    "largest artifact to copy (default 4MiB)"},
                                                   {0}};

/* ---- arguments --------------------------------------------------------------------------------
 */

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char first[sizeof magic] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_one = fd >= 0 && read(fd, first, sizeof first) == (ssize_t)sizeof first &&
                  memcmp(first, magic, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return is_one;
}

/* Adds a folder's own store, or every store and bundle in the folder. */
static bool add_folder(GPtrArray *files, const char *folder, GError **error)
{
    static const char *const own[] = {"results.db", ".orch/results.db"};
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
        char *path = g_build_filename(folder, own[i], NULL);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
            g_ptr_array_add(files, path);
            return true;
        }
        g_free(path);
    }
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
            (is_database(path) || orch_bundle_is(path)))
            g_ptr_array_add(found, path);
        else
            g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(found, orch_compare_texts);
    for (guint i = 0; i < found->len; i++)
        g_ptr_array_add(files, found->pdata[i]);
    if (!found->len)
        orch_error_set(error, ORCH_ERROR_STORE, "name a store's file, or a bundle",
                       "there is neither a store nor a bundle in '%s'", folder);
    return found->len > 0;
}

static bool add_source(GPtrArray *files, const char *said, GError **error)
{
    if (g_file_test(said, G_FILE_TEST_IS_DIR))
        return add_folder(files, said, error);
    if (access(said, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_IO,
                       "name another store's file, a bundle ('orch export --bundle FILE' writes "
                       "one), or a folder; 'orch pull' takes from a remote",
                       "there is no file or folder '%s'", said);
        return false;
    }
    g_ptr_array_add(files, g_strdup(said));
    return true;
}

/* ---- merging ----------------------------------------------------------------------------------
 */

/* Keeps only the runs of a pack (docs/verify.md); its report and sources are for 'orch verify'. */
static bool leave_pack_file(void *ctx, const char *path, const char *bytes, size_t length,
                            GError **error)
{
    (void)bytes;
    (void)length;
    (void)error;
    if (!orch_pack_is_file(path))
        orch_join_refuse(ctx, "'%s' is none of a store's items", path);
    return true;
}

static struct orch_receipt *merge(struct orch_store *store, const char *path, int64_t artifacts,
                                  GError **error)
{
    bool is_bundle = !is_database(path) && orch_bundle_is(path);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && !is_database(path) && !is_bundle) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "'orch export --bundle FILE' writes a bundle; was it a store? 'orch db "
                       "repair --db FILE' looks for what is left of it",
                       "'%s' is neither a store nor a bundle", path);
        return NULL;
    }
    struct orch_join *join = orch_join_begin(store, path, error);
    if (!join)
        return NULL;
    if (is_bundle ? orch_bundle_join(join, store, path, leave_pack_file, join, error)
                  : orch_join_store(join, path, artifacts, error))
        return orch_join_commit(join, error);
    orch_join_rollback(join);
    return NULL;
}

/* Merges each file separately, so that a failure does not prevent the others. Returns the exit
 * status, or -1 when the only file failed. */
static int merge_all(struct orch_cli *cli, struct orch_store *store, const GPtrArray *files,
                     int64_t artifacts, json_t *list, GError **error)
{
    int status = ORCH_EXIT_OK;
    bool failed = false;
    for (guint i = 0; i < files->len; i++) {
        GError *problem = NULL;
        struct orch_receipt *receipt = merge(store, files->pdata[i], artifacts, &problem);
        if (!receipt && files->len == 1) {
            g_propagate_error(error, problem);
            return -1;
        }
        if (!receipt) {
            orch_cli_warn(cli, "%s", problem->message);
            g_error_free(problem);
            failed = true;
            continue;
        }
        if (!cli->json)
            cli_receipt_print(cli, receipt);
        json_array_append_new(list, cli_receipt_json(receipt));
        status = MAX(status, cli_receipt_status(receipt));
        orch_receipt_free(receipt);
    }
    return failed ? ORCH_EXIT_STORE : status;
}

static int run_merge(struct orch_cli *cli, const void *options, GError **error)
{
    const struct merge_options *o = options;
    int64_t artifacts = 0;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    if (!cli_artifact_bytes(o->artifacts, &artifacts, error))
        return -1;
    for (int i = 0; i < cli->arg_count; i++)
        if (!add_source(files, cli->args[i], error))
            return -1;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_CREATE, error);
    if (!store)
        return -1;
    g_autoptr(json_t) list = json_array();
    int status = merge_all(cli, store, files, artifacts, list, error);
    if (cli->json && status >= 0)
        orch_cli_print_json(json_pack("{s:O}", "merged", list));
    return status;
}

const struct orch_command ORCH_COMMAND_DB_MERGE = {
    .name = "db merge",
    .group = "Maintenance",
    .summary = "add the runs of other stores, bundles or folders of them",
    .usage = "OTHER.db|BUNDLE|DIR...",
    .min_args = 1,
    .max_args = -1,
    .options = MERGE_OPTIONS,
    .option_bytes = sizeof(struct merge_options),
    .about = "Forms the union of ended runs with all that they own: any order and number of merges "
             "give the same store and digest ('orch db info'). A run whose content does not match "
             "its digest is refused, and one whose key exists here with another digest is set "
             "aside; all others are merged. Both cases are reported, and the exit status is 7. "
             "Running trials and private notes are not merged. The other file is not changed.",
    .examples = "  orch db merge ../anna/.orch/results.db   # a classmate's store\n"
                "  orch db merge /media/stick               # every store and bundle in a folder",
    .run = run_merge,
};
