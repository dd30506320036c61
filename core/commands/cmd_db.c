/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking after a store: what it holds, where it is, whether it is as it was recorded. */
#include "core/cli/cli.h"
#include "core/cli/parts.h"

#include "core/inputs/left_files.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/handle/store_dir.h"

/* ---- what a store holds -------------------------------------------------------------------------
 */

struct left {
    guint runs, files;
    int64_t bytes;
};

struct upkeep {
    const char *path; /* borrowed from the store */
    const char *folder;
    bool is_shared; /* hosts share it, each with a file of its own */
    struct orch_store_info info;
    struct left left;  /* what trials left, until 'orch gc' */
    GPtrArray *shards; /* struct orch_shard *: these files; empty for a store that is not shared */
};

struct upkeep_check {
    GPtrArray *findings;    /* char *: what is not as it was recorded */
    int64_t runs, datasets; /* checked */
};

static void look_at_left(struct orch_store *store, struct left *out)
{
    g_autoptr(GPtrArray) keys = orch_store_dir_list(store, ORCH_STORE_DIR_LEFT);
    for (guint i = 0; i < keys->len; i++) {
        struct orch_left left;
        orch_left_look(store, keys->pdata[i], &left);
        out->runs++;
        out->files += left.count;
        out->bytes += left.bytes;
        orch_left_clear(&left);
    }
}

/* Describes an open store. Clear with upkeep_clear in both cases. */
static bool upkeep_look(struct orch_store *store, struct upkeep *out, GError **error)
{
    *out = (struct upkeep){.path = orch_store_path(store),
                           .folder = orch_store_folder(store),
                           .is_shared = orch_store_is_shared(store)};
    if (!orch_store_info(store, &out->info, error))
        return false;
    out->shards = orch_store_shards(store);
    look_at_left(store, &out->left);
    return true;
}

static void upkeep_clear(struct upkeep *upkeep)
{
    orch_store_info_clear(&upkeep->info);
    if (upkeep->shards)
        g_ptr_array_unref(upkeep->shards);
    *upkeep = (struct upkeep){0};
}

/* Recomputes every digest and looks for damage. False only when the check could not run. Clear
 * with upkeep_check_clear in both cases. */
static bool upkeep_check(struct orch_store *store, struct upkeep_check *out, GError **error)
{
    struct orch_store_info info = {0};
    *out = (struct upkeep_check){.findings = g_ptr_array_new_with_free_func(g_free)};
    if (!orch_store_check(store, out->findings, &out->runs, error))
        return false;
    if (orch_store_info(store, &info, NULL)) { /* unreadable parts are findings already */
        out->datasets = info.datasets;
        orch_store_info_clear(&info);
    }
    return true;
}

static void upkeep_check_clear(struct upkeep_check *check)
{
    if (check->findings)
        g_ptr_array_unref(check->findings);
    *check = (struct upkeep_check){0};
}

static json_t *shards_json(const GPtrArray *shards)
{
    json_t *list = json_array();
    for (guint i = 0; i < shards->len; i++) {
        const struct orch_shard *s = shards->pdata[i];
        g_autofree char *changed = orch_time_format(s->changed_ns, true);
        json_array_append_new(
            list, json_pack("{s:s s:s s:I s:I s:s s:b s:s?}", "host", s->host, "path", s->path,
                            "runs", (json_int_t)s->runs, "file_bytes", (json_int_t)s->file_bytes,
                            "changed", changed, "own", (int)s->is_own, "problem", s->problem));
    }
    return list;
}

static void print_shards(const GPtrArray *shards)
{
    for (guint i = 0; i < shards->len; i++) {
        const struct orch_shard *s = shards->pdata[i];
        g_autofree char *bytes = orch_bytes_format(s->file_bytes);
        g_autofree char *ago = orch_ago_format(s->changed_ns);
        g_autofree char *host = orch_text_plain(g_strdup(*s->host ? s->host : "(from before)"));
        if (s->problem)
            orch_cli_print("shard      %s: %s", host, s->problem);
        else
            orch_cli_print("shard      %s%s: %" G_GINT64_FORMAT " runs, %s, changed %s", host,
                           s->is_own ? " (this host)" : "", s->runs, bytes, ago);
    }
}

static json_t *info_json(const struct upkeep *store)
{
    const struct orch_store_info *info = &store->info;
    return json_pack(
        "{s:s s:i s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:s? s:s? s:s s:b s:i s:I s:o}", "path",
        store->path, "schema", info->schema, "runs", (json_int_t)info->runs, "removed",
        (json_int_t)info->hidden, "active", (json_int_t)info->active, "points",
        (json_int_t)info->metrics, "artifacts", (json_int_t)info->artifacts, "artifact_bytes",
        (json_int_t)info->artifact_bytes, "file_bytes", (json_int_t)info->file_bytes, "datasets",
        (json_int_t)info->datasets, "samples", (json_int_t)info->samples, "conflicts",
        (json_int_t)info->conflicts, "journal_mode", info->journal_mode, "filesystem",
        info->filesystem, "digest", info->digest, "shared", (int)store->is_shared, "left_files",
        (int)store->left.files, "left_bytes", (json_int_t)store->left.bytes, "shards",
        shards_json(store->shards));
}

static void print_info(const struct upkeep *store)
{
    const struct orch_store_info *info = &store->info;
    g_autofree char *file = orch_bytes_format(info->file_bytes);
    g_autofree char *artifacts = orch_bytes_format(info->artifact_bytes);
    g_autofree char *left = orch_bytes_format(store->left.bytes);
    orch_cli_print("store      %s", store->path);
    printf("schema     %d (this orch: %d)\n", info->schema, ORCH_STORE_SCHEMA);
    printf("runs       %" G_GINT64_FORMAT " ended, %" G_GINT64_FORMAT " removed, %" G_GINT64_FORMAT
           " running\n",
           info->runs, info->hidden, info->active);
    printf("points     %" G_GINT64_FORMAT "\n", info->metrics);
    orch_cli_print("artifacts  %" G_GINT64_FORMAT ", %s", info->artifacts, artifacts);
    if (store->left.runs)
        orch_cli_print("left       %u file%s by %u run%s, %s ('orch gc' removes them)",
                       store->left.files, orch_plural(store->left.files), store->left.runs,
                       orch_plural(store->left.runs), left);
    printf("tables     %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " rows\n", info->datasets,
           info->samples);
    if (info->conflicts)
        printf("set apart  %" G_GINT64_FORMAT
               " from other stores: a run here has the same key and other content\n",
               info->conflicts);
    orch_cli_print("file       %s on %s, journal %s", file,
                   info->filesystem ? info->filesystem : "?",
                   info->journal_mode ? info->journal_mode : "?");
    print_shards(store->shards);
    orch_cli_print("digest     %s", info->digest);
}

static int run_info(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct upkeep upkeep = {0};
    bool ok = store && upkeep_look(store, &upkeep, error);
    if (ok && cli->json)
        orch_cli_print_json(info_json(&upkeep));
    else if (ok)
        print_info(&upkeep);
    upkeep_clear(&upkeep);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_DB_INFO = {
    .name = "db info",
    .group = "Maintain",
    .family = "the store: info, check, backup, merge, migrate, repair",
    .summary = "show where the store is, and what it holds",
    .usage = "",
    .max_args = 0,
    .about = "Also shows the store's digest: equal digests mean equal results.",
    .run = run_info,
};

static json_t *check_json(const struct upkeep_check *check, json_t *of_parts)
{
    json_t *list = json_array();
    for (guint i = 0; i < check->findings->len; i++)
        json_array_append_new(list, json_string(check->findings->pdata[i]));
    json_t *all = json_pack("{s:I s:I s:o}", "runs", (json_int_t)check->runs, "datasets",
                            (json_int_t)check->datasets, "findings", list);
    json_object_update(all, of_parts);
    return all;
}

static void print_check(const struct upkeep_check *check)
{
    for (guint i = 0; i < check->findings->len; i++)
        orch_cli_print("%s", (char *)check->findings->pdata[i]);
    if (!check->findings->len)
        orch_cli_print("all well: %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT
                       " table%s of measurements, every digest as recorded",
                       check->runs, orch_plural(check->runs), check->datasets,
                       orch_plural(check->datasets));
}

static int run_check(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct upkeep_check check = {0};
    g_autoptr(json_t) of_parts = cli->json ? json_object() : NULL;
    bool ok = store && upkeep_check(store, &check, error);
    const struct orch_subject subject = {.store = store, .faults = check.findings};
    ok = ok && orch_cli_parts_show(cli, &subject, of_parts, error);
    if (ok && cli->json)
        orch_cli_print_json(check_json(&check, of_parts));
    else if (ok)
        print_check(&check);
    int status = !ok ? -1 : check.findings->len ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    upkeep_check_clear(&check);
    return status;
}

const struct orch_command ORCH_COMMAND_DB_CHECK = {
    .name = "db check",
    .group = "Maintain",
    .summary = "recompute every digest (checksum) and look for damage",
    .usage = "",
    .max_args = 0,
    .about = "The exit status is 7 when something differs from what was recorded.",
    .run = run_check,
};

static int run_backup(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (!store || !orch_store_backup(store, cli->args[0], error))
        return -1;
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s}", "backup", cli->args[0]));
    else
        orch_cli_print("%s", cli->args[0]);
    orch_cli_info(cli, "the copy '%s' holds all runs; artifacts stay in '%s/objects'", cli->args[0],
                  orch_store_folder(store));
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_DB_BACKUP = {
    .name = "db backup",
    .group = "Maintain",
    .summary = "copy the store's file, also while runs write to it",
    .usage = "FILE",
    .min_args = 1,
    .max_args = 1,
    .run = run_backup,
};

static int run_migrate(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error); /* opening migrates */
    struct upkeep upkeep = {0};
    bool ok = store && upkeep_look(store, &upkeep, error);
    if (ok && cli->json)
        orch_cli_print_json(json_pack("{s:i}", "schema", upkeep.info.schema));
    else if (ok)
        printf("schema %d\n", upkeep.info.schema);
    upkeep_clear(&upkeep);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_DB_MIGRATE = {
    .name = "db migrate",
    .group = "Maintain",
    .summary = "upgrade a store of an older orch",
    .usage = "",
    .max_args = 0,
    .about = "First, a backup is made beside the store's file.",
    .run = run_migrate,
};
