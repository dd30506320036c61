/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch db merge: merges stores, bundles, and folders of them into this store. */
#include "features/share/receipt.h"

#include "features/share/bundle_export.h"
#include "features/share/merge.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/exchange/bundle.h"

struct merge_options {
    const char *artifacts;
};

static const struct orch_option MERGE_OPTIONS[] = {
    ORCH_OPTION(struct merge_options, artifacts, TEXT, "artifacts", .value = "all|none|BYTES",
                .help = "largest artifact to copy (default 4MiB)"),
    {0}};

/* Merges each file separately, so that a failure does not prevent the others. Returns the exit
 * status, or -1 when the only file failed. */
static int merge_all(struct orch_cli *cli, struct orch_store *store, const GPtrArray *files,
                     int64_t artifacts, json_t *list, GError **error)
{
    int status = ORCH_EXIT_OK;
    bool failed = false;
    for (guint i = 0; i < files->len; i++) {
        GError *problem = NULL;
        struct orch_receipt *receipt =
            orch_merge_file(store, files->pdata[i], artifacts, orch_pack_is_file, &problem);
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
            orch_cli_receipt_print(cli, receipt);
        json_array_append_new(list, orch_cli_receipt_json(receipt));
        status = MAX(status, orch_cli_receipt_status(receipt));
        orch_receipt_free(receipt);
    }
    return failed ? ORCH_EXIT_STORE : status;
}

static int run_merge(struct orch_cli *cli, const void *options, GError **error)
{
    const struct merge_options *o = options;
    int64_t artifacts = 0;
    if (!orch_artifact_bytes_parse(o->artifacts, &artifacts, error))
        return -1;
    g_autoptr(GPtrArray) files = orch_merge_files(cli->args, cli->arg_count, error);
    struct orch_store *store = files ? orch_cli_store(cli, ORCH_STORE_CREATE, error) : NULL;
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
    .group = "Maintain",
    .summary = "add the runs of other stores and bundles ('orch export --bundle')",
    .usage = "OTHER.db|BUNDLE|DIR...",
    .min_args = 1,
    .max_args = -1,
    .options = MERGE_OPTIONS,
    .option_bytes = sizeof(struct merge_options),
    .about = "Adds the ended runs of the other stores, with their artifacts and with notes that "
             "were made public. The other stores are not changed. A damaged run, or one whose key "
             "belongs to another run here, is not merged but reported; the exit status is then 7.",
    .examples = "  orch db merge ../anna/.orch/results.db   # a classmate's store\n"
                "  orch db merge /media/stick               # every store and bundle in a folder",
    .run = run_merge,
};
