/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch export --bundle': results in one file, to send or copy. */
#include "core/cli/named.h"
#include "core/cli/parts.h"

#include "features/share/bundle_export.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"

struct bundle_options {
    const char *bundle;
    const char *artifacts; /* a value for orch_artifact_bytes_parse */
    const char **datasets;
    bool dry_run;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct bundle_options, bundle, TEXT, "bundle", .value = "FILE",
                .help = "write the runs into one file for 'orch db merge'"),
    ORCH_OPTION(struct bundle_options, artifacts, TEXT, "artifacts", .value = "all|none|BYTES",
                .help = "with --bundle: largest artifact to include (default 4MiB)"),
    ORCH_OPTION(struct bundle_options, datasets, LIST, "measurements", .value = "NAME",
                .help = "with --bundle: include this imported table of measurements"),
    ORCH_OPTION(struct bundle_options, dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "with --bundle: list its contents; write nothing"),
    {0}};

/* ---- output -----------------------------------------------------------------------------------
 */

static void print_json(const struct bundle_options *o, const struct orch_bundle_sum *sum)
{
    json_t *object =
        json_pack("{s:s s:I s:I s:I}", "bundle", o->bundle, "runs", (json_int_t)sum->runs, "items",
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

static void print_text(struct orch_cli *cli, const struct bundle_options *o,
                       const struct orch_bundle_sum *sum)
{
    for (guint i = 0; sum->list && i < sum->list->len; i++) {
        const struct orch_bundle_item *item = sum->list->pdata[i];
        orch_cli_print("%s\t%" G_GINT64_FORMAT "", item->path, item->bytes);
    }
    g_autofree char *bytes = orch_bytes_format(sum->bytes);
    orch_cli_info(cli, "%s'%s': %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT " file%s, %s%s",
                  o->dry_run ? "would go into " : "", o->bundle, sum->runs, orch_plural(sum->runs),
                  sum->items, orch_plural(sum->items), bytes,
                  o->dry_run ? " before compression; nothing was written" : "");
}

static bool export_named(struct orch_cli *cli, const struct bundle_options *o,
                         struct orch_store *store, const struct orch_bundle_request *request,
                         GError **error)
{
    struct orch_bundle_sum sum = {0};
    bool ok = orch_bundle_export(store, request, o->dry_run, &sum, error);
    if (ok && cli->json)
        print_json(o, &sum);
    else if (ok)
        print_text(cli, o, &sum);
    if (ok && !sum.runs)
        orch_cli_warn(cli, "the bundle has no run ('orch ls' lists the runs)");
    orch_bundle_sum_clear(&sum);
    return ok;
}

static bool export_bundle(struct orch_cli *cli, const struct bundle_options *o,
                          const struct orch_selection *selection, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_cli_named named = {0};
    struct orch_bundle_request request = {.path = o->bundle, .datasets = o->datasets};
    bool ok = store && (o->dry_run || orch_bundle_may_write(o->bundle, error)) &&
              orch_artifact_bytes_parse(o->artifacts, &request.artifact_bytes, error) &&
              orch_cli_named_read(cli, store, &named, error);
    if (ok) {
        request.selection = (struct orch_selection){
            .where = selection->where,
            .recipe = selection->recipe,
            .experiment = selection->experiment,
            .any_recipes = (const char *const *)(void *)named.recipes->pdata,
            .any_runs = (const char *const *)(void *)named.runs->pdata};
        ok = export_named(cli, o, store, &request, error);
    }
    orch_cli_named_clear(&named);
    return ok;
}

/* ---- the part of 'orch export' ------------------------------------------------------------------
 */

static bool is_asked(const void *options)
{
    const struct bundle_options *o = options;
    return o->bundle || o->artifacts || o->datasets || o->dry_run;
}

static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    (void)cli;
    const struct bundle_options *o = options;
    static const char hint[] = "see 'orch help export'";
    if (!o->bundle)
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "options '--artifacts', '--measurements' and '--dry-run' need '--bundle'");
    else if (subject->not_alone)
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--bundle' excludes %s",
                       subject->not_alone);
    return o->bundle && !subject->not_alone;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)json;
    return export_bundle(cli, options, subject->selection, error);
}

const struct orch_command_part ORCH_PART_EXPORT_BUNDLE = {
    .command = "export",
    .options = OPTIONS,
    .option_bytes = sizeof(struct bundle_options),
    .about = "\n"
             "\n"
             "--bundle writes the runs with their recipes, artifacts and public notes into one "
             "file, which 'orch db merge' adds to another store.",
    .examples = "  orch export --bundle mine.orch --where 'who = ada'",
    .is_alone = true,
    .is_asked = is_asked,
    .look = look,
    .show = show,
};
