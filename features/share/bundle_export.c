/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/bundle_export.h"

#include "core/recipe/option_value.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "store/exchange/bundle.h"

#include <string.h>

bool orch_artifact_bytes_parse(const char *text, int64_t *out, GError **error)
{
    *out = ORCH_ARTIFACT_BYTES_DEFAULT;
    if (!text)
        return true;
    bool is_all = strcmp(text, "all") == 0;
    if (is_all || strcmp(text, "none") == 0) {
        *out = is_all ? -1 : 0;
        return true;
    }
    if (orch_option_bytes(text, out))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --artifacts 4MiB, all or none",
                   "option '--artifacts': '%s' is not a size", text);
    return false;
}

/* ---- the list of a dry run --------------------------------------------------------------------
 */

static void free_item(gpointer pointer)
{
    struct orch_bundle_item *item = pointer;
    g_free(item->path);
    g_free(item);
}

static enum orch_item_want take_all(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    (void)ctx, (void)name, (void)bytes;
    return ORCH_ITEM_TAKE;
}

static void count(struct orch_bundle_sum *sum, const struct orch_item_name *name, int64_t bytes)
{
    char path[ORCH_ITEM_PATH_CHARS];
    struct orch_bundle_item *item = g_new0(struct orch_bundle_item, 1);
    orch_item_path(name, path);
    *item = (struct orch_bundle_item){g_strdup(path), bytes};
    g_ptr_array_add(sum->list, item);
    sum->items++;
    sum->runs += name->kind == ORCH_ITEM_RUN;
    sum->bytes += bytes;
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    (void)bytes, (void)error;
    count(ctx, name, (int64_t)length);
    return true;
}

static bool take_file(void *ctx, const struct orch_item_name *name, const char *path, int64_t bytes,
                      GError **error)
{
    (void)path, (void)error;
    count(ctx, name, bytes);
    return true;
}

static bool list_items(struct orch_store *store, const struct orch_item_choice *choice,
                       struct orch_bundle_sum *out, GError **error)
{
    const struct orch_item_sink sink = {out, take_all, take, take_file};
    out->list = g_ptr_array_new_with_free_func(free_item);
    return orch_items_visit(store, choice, &sink, NULL, error);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static bool write_items(struct orch_store *store, const struct orch_item_choice *choice,
                        const char *path, struct orch_bundle_sum *out, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    return orch_bundle_write(store, choice, NULL, 0, path, &out->items, &out->runs, error) &&
           orch_file_sha256(path, sha256, &out->bytes, error);
}

bool orch_bundle_export(struct orch_store *store, const struct orch_bundle_request *request,
                        bool dry_run, struct orch_bundle_sum *out, GError **error)
{
    struct orch_where *condition = NULL;
    *out = (struct orch_bundle_sum){0};
    if (!orch_selection_whole_condition(&request->selection, &condition, error))
        return false;
    const struct orch_item_choice choice = {.artifact_bytes = request->artifact_bytes,
                                            .where = condition,
                                            .datasets = request->datasets};
    bool ok = dry_run ? list_items(store, &choice, out, error)
                      : write_items(store, &choice, request->path, out, error);
    orch_where_free(condition);
    return ok;
}

void orch_bundle_sum_clear(struct orch_bundle_sum *sum)
{
    if (sum->list)
        g_ptr_array_unref(sum->list);
    *sum = (struct orch_bundle_sum){0};
}
