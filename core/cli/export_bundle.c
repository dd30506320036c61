/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/export_bundle.h"

#include "core/cli/remote.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/** Totals of what is, or would be, exported. */
struct tally {
    struct orch_cli *cli;
    json_t *items; /* under --json */
    bool is_told;  /* list each item by name */
    int64_t items_count, runs, bytes;
};

/* ---- selection of runs ------------------------------------------------------------------------
 */

/* Appends a value in quotes, in the syntax of filters. */
static void append_value(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, "%s = '", name);
    for (; *value; value++) {
        if (*value == '\'')
            g_string_append_c(out, '\'');
        g_string_append_c(out, *value);
    }
    g_string_append_c(out, '\'');
}

static bool append_argument(struct orch_cli *cli, struct orch_store *store, const char *word,
                            GString *out, GError **error)
{
    static const struct orch_variant as_written;
    if (out->len)
        g_string_append(out, " or ");
    if (g_str_has_suffix(word, ".recipe")) {
        struct orch_expansion *expansion = orch_cli_recipe(cli, word, &as_written, error);
        if (!expansion)
            return false;
        append_value(out, "recipe", expansion->name);
        orch_expansion_free(expansion);
        return true;
    }
    struct orch_run *run = orch_store_run(store, word, error);
    if (!run)
        return false;
    append_value(out, "key", run->key);
    orch_run_free(run);
    return true;
}

static void append_condition(GString *out, const char *name, const char *value)
{
    if (value && out->len)
        g_string_append(out, " and ");
    if (value)
        append_value(out, name, value);
}

/* Combines the selection into one filter; `*out` NULL: every run. */
static bool choose_runs(struct orch_cli *cli, const struct export_bundle *what,
                        struct orch_store *store, struct orch_where **out, GError **error)
{
    g_autoptr(GString) named = g_string_new(NULL), text = g_string_new(NULL);
    for (int i = 0; i < cli->arg_count; i++)
        if (!append_argument(cli, store, cli->args[i], named, error))
            return false;
    if (what->where) { /* check --where by itself first, so that the columns in an error are those
                          of the user's text */
        struct orch_where *alone = orch_where_parse(what->where, error);
        if (!alone)
            return false;
        orch_where_free(alone);
        g_string_append_printf(text, "(%s)", what->where);
    }
    append_condition(text, "recipe", what->recipe);
    append_condition(text, "experiment", what->experiment);
    if (named->len)
        g_string_append_printf(text, "%s(%s)", text->len ? " and " : "", named->str);
    *out = text->len ? orch_where_parse(text->str, error) : NULL;
    return !text->len || *out;
}

/* ---- items to export ------------------------------------------------------------------------ */

static enum orch_item_want take_all(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    (void)ctx, (void)name, (void)bytes;
    return ORCH_ITEM_TAKE;
}

static void tell(struct tally *tally, const struct orch_item_name *name, int64_t bytes)
{
    char path[ORCH_ITEM_PATH_CHARS];
    orch_item_path(name, path);
    tally->items_count++;
    tally->runs += name->kind == ORCH_ITEM_RUN;
    tally->bytes += bytes;
    if (!tally->is_told)
        return;
    if (tally->items)
        json_array_append_new(tally->items,
                              json_pack("{s:s s:I}", "path", path, "bytes", (json_int_t)bytes));
    else
        printf("%s\t%" G_GINT64_FORMAT "\n", path, bytes);
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    (void)bytes, (void)error;
    tell(ctx, name, (int64_t)length);
    return true;
}

static bool take_file(void *ctx, const struct orch_item_name *name, const char *path, int64_t bytes,
                      GError **error)
{
    (void)path, (void)error;
    tell(ctx, name, bytes);
    return true;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static void print_done(struct orch_cli *cli, const struct export_bundle *what,
                       const struct tally *tally)
{
    if (cli->json) {
        json_t *object =
            json_pack("{s:s s:I s:I s:I}", "bundle", what->path, "runs", (json_int_t)tally->runs,
                      "items", (json_int_t)tally->items_count, "bytes", (json_int_t)tally->bytes);
        if (tally->items)
            json_object_set(object, "contents", tally->items);
        orch_cli_print_json(object);
        return;
    }
    g_autofree char *bytes = orch_bytes_format(tally->bytes);
    orch_cli_say(cli, "%s'%s': %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT " item%s, %s%s",
                 what->dry_run ? "would go into " : "", what->path, tally->runs,
                 tally->runs == 1 ? "" : "s", tally->items_count,
                 tally->items_count == 1 ? "" : "s", bytes,
                 what->dry_run ? " before compression; nothing was written" : "");
}

static bool write_or_list(const struct export_bundle *what, struct orch_store *store,
                          const struct orch_item_choice *choice, struct tally *tally,
                          GError **error)
{
    if (what->dry_run) {
        const struct orch_item_sink sink = {tally, take_all, take, take_file};
        return orch_items_tell(store, choice, &sink, NULL, error);
    }
    if (!orch_bundle_write(store, choice, NULL, 0, what->path, &tally->items_count, &tally->runs,
                           error))
        return false;
    char sha256[ORCH_SHA256_CHARS];
    return orch_file_sha256(what->path, sha256, &tally->bytes, error);
}

bool cli_may_write_bundle(const char *path, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || orch_bundle_is(path))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "choose a name that is not taken, such as results.orch",
                   "'%s' is there already, and is neither a bundle nor a pack", path);
    return false;
}

bool export_bundle(struct orch_cli *cli, const struct export_bundle *what, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_item_choice choice = {.datasets = what->datasets};
    struct orch_where *where = NULL;
    struct tally tally = {.cli = cli, .is_told = what->dry_run};
    if (!store || (!what->dry_run && !cli_may_write_bundle(what->path, error)) ||
        !cli_artifact_bytes(what->artifacts, &choice.artifact_bytes, error) ||
        !choose_runs(cli, what, store, &where, error))
        return false;
    choice.where = where;
    tally.items = cli->json && what->dry_run ? json_array() : NULL;
    bool ok = write_or_list(what, store, &choice, &tally, error);
    if (ok)
        print_done(cli, what, &tally);
    if (ok && !tally.runs)
        orch_cli_warn(cli, "no run is in it ('orch ls' lists the runs)");
    json_decref(tally.items);
    orch_where_free(where);
    return ok;
}
