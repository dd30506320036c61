/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch db repair`: recovers the readable content of a damaged store into a new one, together with
 * backups, shards and the journals of trials next to it. */
#include "core/cli/cli.h"
#include "core/record/collect.h"
#include "lib/base/error.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "store/repair/repair.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- the new store ------------------------------------------------------------------------------
 */

struct orch_rescue {
    char *path; /* the damaged file, which is not changed */
    char *to;   /* the new store */
    struct orch_salvage salvage;
    GPtrArray *lost; /* char *: everything that is known to be lost */
    unsigned trials; /* trials found only by their folders */
};

/* A database, and the files that SQLite keeps next to it. */
static const char *const ENDINGS[] = {"", "-wal", "-shm", "-journal"};

/* Adds a folder's files whose names begin with `begin` and contain `word` after it. */
static void add_files(GPtrArray *files, const char *folder, const char *begin, const char *word)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_prefix(name, begin) && strstr(name + strlen(begin), word) &&
            !strstr(name, ".salvage-") && !g_str_has_suffix(name, "-wal") &&
            !g_str_has_suffix(name, "-shm") && !g_str_has_suffix(name, "-journal"))
            g_ptr_array_add(found, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(found, orch_compare_texts);
    for (guint i = 0; i < found->len; i++)
        g_ptr_array_add(files, found->pdata[i]);
}

/* Returns the damaged file, then the files that may have what it lost. */
static GPtrArray *find_files(const struct orch_rescue *r)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = g_path_get_dirname(r->path);
    g_autofree char *name = g_path_get_basename(r->path);
    g_autofree char *beside = orch_store_folder_of(r->path);
    g_autofree char *shards = g_build_filename(beside, "shards", NULL);
    g_autofree char *begin = g_strconcat(name, ".", NULL);
    if (access(r->path, F_OK) == 0)
        g_ptr_array_add(files, g_strdup(r->path));
    add_files(files, folder, begin, "backup");
    add_files(files, shards, "", ".db");
    return files;
}

static bool read_files(struct orch_rescue *r, struct orch_store *into, GError **error)
{
    g_autoptr(GPtrArray) files = find_files(r);
    /* The other files have the same runs, and a loss whose key is unknown may be present in another
     * file, so only losses of the damaged file are counted. */
    for (guint i = 0; i < files->len; i++)
        if (!orch_salvage_file(into, files->pdata[i], strcmp(files->pdata[i], r->path) == 0,
                               &r->salvage, error))
            return false;
    if (files->len && !r->salvage.runs && access(r->path, F_OK) != 0)
        g_ptr_array_add(r->lost, g_strdup("all: no run can be read from these files"));
    if (files->len)
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, "name the store with --db", "there is no store '%s'",
                   r->path);
    return false;
}

static void list_lost(struct orch_rescue *r, const GPtrArray *missing)
{
    for (guint i = 0; i < missing->len; i++)
        g_ptr_array_add(r->lost, g_strdup_printf("run %s", (char *)missing->pdata[i]));
    if (r->salvage.nameless)
        g_ptr_array_add(r->lost,
                        g_strdup_printf("%" G_GINT64_FORMAT " run%s whose keys cannot be read",
                                        r->salvage.nameless, orch_plural(r->salvage.nameless)));
    for (guint i = 0; i < r->salvage.lost->len; i++)
        g_ptr_array_add(r->lost, g_strdup(r->salvage.lost->pdata[i]));
}

static bool salvage_into(struct orch_rescue *r, struct orch_store *into, GError **error)
{
    if (!read_files(r, into, error) || !orch_recover_folders(into, &r->trials, r->lost, error))
        return false;
    g_autoptr(GPtrArray) missing = orch_salvage_missing(into, &r->salvage, error);
    if (!missing)
        return false;
    list_lost(r, missing);
    return true;
}

static void remove_store(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ENDINGS); i++) {
        g_autofree char *name = g_strconcat(path, ENDINGS[i], NULL);
        unlink(name);
    }
}

/* Writes a temporary file and renames it, so a file with the final name is complete. */
static bool write_new(struct orch_rescue *r, GError **error)
{
    if (access(r->to, F_OK) == 0) {
        orch_error_set(error, ORCH_ERROR_IO, "choose another name with --to", "'%s' already exists",
                       r->to);
        return false;
    }
    g_autofree char *temporary = orch_temporary_name(r->to);
    struct orch_store *into = orch_salvage_open(temporary, r->path, error);
    bool ok = into && salvage_into(r, into, error);
    orch_store_close(into);
    if (ok && rename(temporary, r->to) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", r->to);
        ok = false;
    }
    remove_store(temporary);
    return ok;
}

/* Recovers the store at `path` into the new file `to` (NULL: `path` with ".repaired"). False with
 * an error when `to` exists, there is nothing to read, or `to` cannot be written. Clear with
 * rescue_clear in both cases. */
static bool rescue_store(const char *path, const char *to, struct orch_rescue *out, GError **error)
{
    *out = (struct orch_rescue){.path = g_strdup(path),
                                .to = to ? g_strdup(to) : g_strconcat(path, ".repaired", NULL),
                                .lost = g_ptr_array_new_with_free_func(g_free)};
    orch_salvage_init(&out->salvage);
    return write_new(out, error);
}

static void rescue_clear(struct orch_rescue *rescue)
{
    orch_salvage_clear(&rescue->salvage);
    g_ptr_array_unref(rescue->lost);
    g_free(rescue->path);
    g_free(rescue->to);
    *rescue = (struct orch_rescue){0};
}

/* The files of the damaged store to move away before the new one takes its place: the database,
 * and its log and journal, which SQLite would replay into the new file. char *; the caller unrefs.
 */
static GPtrArray *rescue_old_files(const struct orch_rescue *rescue)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < G_N_ELEMENTS(ENDINGS); i++) {
        char *name = g_strconcat(rescue->path, ENDINGS[i], NULL);
        if (access(name, F_OK) == 0)
            g_ptr_array_add(files, name);
        else
            g_free(name);
    }
    return files;
}

/* ---- the command --------------------------------------------------------------------------------
 */

enum { LINES_MAX = 100 };

struct repair_options {
    const char *to;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct repair_options, to, TEXT, "to", .value = "FILE",
                .help = "the new store (default: add '.repaired' to the name)"),
    {0}};

/* ---- output -----------------------------------------------------------------------------------
 */

static json_t *lines_json(const GPtrArray *lines)
{
    json_t *list = json_array();
    for (guint i = 0; i < lines->len; i++)
        json_array_append_new(list, json_string(lines->pdata[i]));
    return list;
}

static void print_json(const struct orch_rescue *r)
{
    const struct orch_salvage *s = &r->salvage;
    orch_cli_print_json(json_pack(
        "{s:s s:I s:I s:I s:I s:I s:I s:I s:I s:I s:o s:o}", "repaired", r->to, "runs",
        (json_int_t)s->runs, "purged", (json_int_t)s->purged, "notes", (json_int_t)s->notes,
        "recipes", (json_int_t)s->recipes, "forecasts", (json_int_t)s->forecasts, "datasets",
        (json_int_t)s->datasets, "predictors", (json_int_t)s->predictors, "conflicts",
        (json_int_t)s->conflicts, "trials", (json_int_t)(s->actives + r->trials), "sources",
        lines_json(s->sources), "lost", lines_json(r->lost)));
}

static void print_lines(const char *what, const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len && i < LINES_MAX; i++) {
        g_autofree char *line = orch_text_plain(g_strdup(lines->pdata[i]));
        orch_cli_print("%-12s%s", what, line);
    }
    if (lines->len > LINES_MAX)
        orch_cli_print("%-12sand %u more (--json lists all)", what, lines->len - LINES_MAX);
}

static void print_text(const struct orch_rescue *r)
{
    const struct orch_salvage *s = &r->salvage;
    const struct {
        const char *what;
        int64_t count;
    } counts[] = {{"runs", s->runs},
                  {"of them without points (purged)", s->purged},
                  {"notes", s->notes},
                  {"recipes", s->recipes},
                  {"forecasts", s->forecasts},
                  {"data sets", s->datasets},
                  {"predictors", s->predictors},
                  {"conflicts", s->conflicts},
                  {"unfinished trials", s->actives + r->trials}};
    print_lines("read", s->sources);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
        if (i == 0 || counts[i].count)
            orch_cli_print("%-12s%" G_GINT64_FORMAT " %s", "taken", counts[i].count,
                           counts[i].what);
    print_lines("lost", r->lost);
    if (!r->lost->len)
        orch_cli_print("%-12snothing", "lost");
}

/* Prints the next steps. The old log and journal must be moved too, because SQLite would replay
 * them into the new file. */
static void print_next(struct orch_cli *cli, const struct orch_rescue *r)
{
    g_autoptr(GPtrArray) old = rescue_old_files(r);
    g_autoptr(GString) files = g_string_new(NULL);
    for (guint i = 0; i < old->len; i++) {
        g_autofree char *quoted = g_shell_quote(old->pdata[i]);
        g_string_append_printf(files, "%s ", quoted);
    }
    g_autofree char *damaged = g_strconcat(r->path, ".damaged", NULL);
    g_autofree char *folder = g_shell_quote(damaged), *to = g_shell_quote(r->to),
                    *path = g_shell_quote(r->path);
    if (files->len)
        orch_cli_info(cli, "to use the new store: mkdir %s && mv %s%s && mv %s %s", folder,
                      files->str, folder, to, path);
    else
        orch_cli_info(cli, "to use the new store: mv %s %s", to, path);
    if (r->lost->len)
        orch_cli_info(cli, "then 'orch pull' brings back the lost runs that others have");
}

static int run_repair(struct orch_cli *cli, const void *options, GError **error)
{
    const struct repair_options *o = options;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return -1;
    struct orch_rescue rescue;
    bool ok = rescue_store(workspace->db_path, o->to, &rescue, error);
    if (ok && cli->json)
        print_json(&rescue);
    else if (ok)
        print_text(&rescue);
    if (ok)
        print_next(cli, &rescue);
    int status = !ok ? -1 : rescue.lost->len ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    rescue_clear(&rescue);
    return status;
}

const struct orch_command ORCH_COMMAND_DB_REPAIR = {
    .name = "db repair",
    .group = "Maintain",
    .summary = "copy what is still readable in a damaged store into a new store",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct repair_options),
    .about = "Copies every run that is not damaged into a new file. The damaged file is not "
             "changed. Missing runs are also looked for in backups beside the damaged file and in "
             "the folders of unfinished trials.\n"
             "\n"
             "The output lists what was lost. The exit status is 0 when nothing was lost, else 7.",
    .run = run_repair,
};
