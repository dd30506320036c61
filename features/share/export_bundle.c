/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/export_bundle.h"

#include "core/results/run_named.h"
#include "features/share/bundle_export.h"
#include "lib/base/text.h"

static bool name_recipe(struct orch_cli *cli, const char *path, GPtrArray *recipes, GError **error)
{
    static const struct orch_variant as_written;
    struct orch_expansion *expansion = orch_cli_recipe(cli, path, &as_written, error);
    if (expansion)
        g_ptr_array_add(recipes, g_strdup(expansion->name));
    orch_expansion_free(expansion);
    return expansion != NULL;
}

static bool name_run(struct orch_store *store, const char *word, GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) found = orch_named_runs(store, &word, 1, error);
    if (found)
        g_ptr_array_add(runs, g_strdup(((const struct orch_run *)found->pdata[0])->key));
    return found != NULL;
}

bool orch_cli_export_named_read(struct orch_cli *cli, struct orch_store *store,
                                struct orch_cli_export_named *out, GError **error)
{
    *out = (struct orch_cli_export_named){g_ptr_array_new_with_free_func(g_free),
                                          g_ptr_array_new_with_free_func(g_free)};
    for (int i = 0; i < cli->arg_count; i++)
        if (!(g_str_has_suffix(cli->args[i], ".recipe")
                  ? name_recipe(cli, cli->args[i], out->recipes, error)
                  : name_run(store, cli->args[i], out->runs, error)))
            return false;
    g_ptr_array_add(out->recipes, NULL);
    g_ptr_array_add(out->runs, NULL);
    return true;
}

void orch_cli_export_named_clear(struct orch_cli_export_named *named)
{
    g_clear_pointer(&named->recipes, g_ptr_array_unref);
    g_clear_pointer(&named->runs, g_ptr_array_unref);
}

/* ---- output -----------------------------------------------------------------------------------
 */

static void print_json(const struct orch_cli_export_bundle *what, const struct orch_bundle_sum *sum)
{
    json_t *object =
        json_pack("{s:s s:I s:I s:I}", "bundle", what->path, "runs", (json_int_t)sum->runs, "items",
                  (json_int_t)sum->items, "bytes", (json_int_t)sum->bytes);
    json_t *list = sum->list ? json_array() : NULL;
    for (guint i = 0; list && i < sum->list->len; i++) {
        const struct orch_bundle_item *item = sum->list->pdata[i];
        json_array_append_new(
            list, json_pack("{s:s s:I}", "path", item->path, "bytes", (json_int_t)item->bytes));
    }
    if (list)
        json_object_set_new(object, "contents", list);
    orch_cli_print_json(object);
}

static void print_text(struct orch_cli *cli, const struct orch_cli_export_bundle *what,
                       const struct orch_bundle_sum *sum)
{
    for (guint i = 0; sum->list && i < sum->list->len; i++) {
        const struct orch_bundle_item *item = sum->list->pdata[i];
        orch_cli_print("%s\t%" G_GINT64_FORMAT "", item->path, item->bytes);
    }
    g_autofree char *bytes = orch_bytes_format(sum->bytes);
    orch_cli_info(cli, "%s'%s': %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT " item%s, %s%s",
                  what->dry_run ? "would go into " : "", what->path, sum->runs,
                  orch_plural(sum->runs), sum->items, orch_plural(sum->items), bytes,
                  what->dry_run ? " before compression; nothing was written" : "");
}

static bool export_named(struct orch_cli *cli, const struct orch_cli_export_bundle *what,
                         struct orch_store *store, const struct orch_bundle_request *request,
                         GError **error)
{
    struct orch_bundle_sum sum = {0};
    bool ok = orch_bundle_export(store, request, what->dry_run, &sum, error);
    if (ok && cli->json)
        print_json(what, &sum);
    else if (ok)
        print_text(cli, what, &sum);
    if (ok && !sum.runs)
        orch_cli_warn(cli, "no run is in it ('orch ls' lists the runs)");
    orch_bundle_sum_clear(&sum);
    return ok;
}

bool orch_cli_export_bundle(struct orch_cli *cli, const struct orch_cli_export_bundle *what,
                            GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_cli_export_named named = {0};
    struct orch_bundle_request request = {.path = what->path, .datasets = what->datasets};
    bool ok = store && (what->dry_run || orch_bundle_may_write(what->path, error)) &&
              orch_artifact_bytes_parse(what->artifacts, &request.artifact_bytes, error) &&
              orch_cli_export_named_read(cli, store, &named, error);
    if (ok) {
        request.selection = (struct orch_selection){
            .where = what->where,
            .recipe = what->recipe,
            .experiment = what->experiment,
            .any_recipes = (const char *const *)(void *)named.recipes->pdata,
            .any_runs = (const char *const *)(void *)named.runs->pdata};
        ok = export_named(cli, what, store, &request, error);
    }
    orch_cli_export_named_clear(&named);
    return ok;
}
