/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch db repair`: recovers the readable content of a damaged store into a new one, together with
 * backups, shards and the journals of trials next to it. */
#include "core/cli/cli.h"
#include "core/run/collect.h"
#include "store/repair.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 100 };

struct repair_options {
    const char *to;
};

static const struct orch_option OPTIONS[] = {
    {"to", 0, "FILE", ORCH_OPT_TEXT, offsetof(struct repair_options, to),
     "the new store (default: the damaged file's name with '.repaired')"},
    {0}};

struct repair {
    const char *path; /* the damaged file */
    char *to;
    struct orch_salvage salvage;
    GPtrArray *lost; /* char *: everything that is known to be lost */
    unsigned trials; /* trials found only by their folders */
};

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
static GPtrArray *find_files(const struct repair *r)
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

static bool read_files(struct repair *r, struct orch_store *into, GError **error)
{
    g_autoptr(GPtrArray) files = find_files(r);
    /* The other files have the same runs, and a loss whose key is unknown may be present in another
     * file, so only losses of the damaged file are counted. */
    for (guint i = 0; i < files->len; i++)
        if (!orch_salvage_file(into, files->pdata[i], strcmp(files->pdata[i], r->path) == 0,
                               &r->salvage, error))
            return false;
    if (files->len && !r->salvage.runs && access(r->path, F_OK) != 0)
        g_ptr_array_add(r->lost, g_strdup("all: no run can be read of any of these files"));
    if (files->len)
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, "name it with --db", "there is no store '%s'", r->path);
    return false;
}

static void list_lost(struct repair *r, const GPtrArray *missing)
{
    for (guint i = 0; i < missing->len; i++)
        g_ptr_array_add(r->lost, g_strdup_printf("run %s", (char *)missing->pdata[i]));
    if (r->salvage.nameless)
        g_ptr_array_add(r->lost,
                        g_strdup_printf("%" G_GINT64_FORMAT " run%s whose keys cannot be read",
                                        r->salvage.nameless, r->salvage.nameless == 1 ? "" : "s"));
    for (guint i = 0; i < r->salvage.lost->len; i++)
        g_ptr_array_add(r->lost, g_strdup(r->salvage.lost->pdata[i]));
}

static bool salvage_into(struct repair *r, struct orch_store *into, GError **error)
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
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(path, endings[i], NULL);
        unlink(name);
    }
}

/* Repairs into a temporary file and renames it, so a file with the final name is complete. */
static bool repair(struct repair *r, GError **error)
{
    if (access(r->to, F_OK) == 0) {
        orch_error_set(error, ORCH_ERROR_IO, "choose a name that is not taken with --to",
                       "cannot repair into '%s': it exists already", r->to);
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

/* ---- output -----------------------------------------------------------------------------------
 */

static json_t *lines_json(const GPtrArray *lines)
{
    json_t *list = json_array();
    for (guint i = 0; i < lines->len; i++)
        json_array_append_new(list, json_string(lines->pdata[i]));
    return list;
}

static void print_json(const struct repair *r)
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
        printf("%-12s%s\n", what, line);
    }
    if (lines->len > LINES_MAX)
        printf("%-12sand %u more (--json lists all)\n", what, lines->len - LINES_MAX);
}

static void print_text(const struct repair *r)
{
    const struct orch_salvage *s = &r->salvage;
    const struct {
        const char *what;
        int64_t count;
    } counts[] = {{"runs", s->runs},
                  {"of them purged", s->purged},
                  {"notes", s->notes},
                  {"recipes", s->recipes},
                  {"forecasts", s->forecasts},
                  {"data sets", s->datasets},
                  {"predictors", s->predictors},
                  {"conflicts", s->conflicts},
                  {"trials to be closed by the next run", s->actives + r->trials}};
    print_lines("read", s->sources);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
        if (i == 0 || counts[i].count)
            printf("%-12s%" G_GINT64_FORMAT " %s\n", "taken", counts[i].count, counts[i].what);
    print_lines("lost", r->lost);
    if (!r->lost->len)
        printf("%-12snothing\n", "lost");
}

/* Prints the next steps. The old log and journal must be moved too, because SQLite would replay
 * them into the new file. */
static void say_next(struct orch_cli *cli, const struct repair *r)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    GString *files = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(r->path, endings[i], NULL);
        g_autofree char *quoted = g_shell_quote(name);
        if (access(name, F_OK) == 0)
            g_string_append_printf(files, "%s ", quoted);
    }
    g_autofree char *damaged = g_strconcat(r->path, ".damaged", NULL);
    g_autofree char *folder = g_shell_quote(damaged), *to = g_shell_quote(r->to),
                    *path = g_shell_quote(r->path);
    if (files->len)
        orch_cli_say(cli, "next: mkdir %s && mv %s%s && mv %s %s", folder, files->str, folder, to,
                     path);
    else
        orch_cli_say(cli, "next: mv %s %s", to, path);
    if (r->lost->len)
        orch_cli_say(cli, "then 'orch pull' brings back what others have of the lost runs");
    g_string_free(files, TRUE);
}

static int run_repair(struct orch_cli *cli, const void *options, GError **error)
{
    const struct repair_options *o = options;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return -1;
    struct repair r = {.path = workspace->db_path,
                       .to = o->to ? g_strdup(o->to)
                                   : g_strconcat(workspace->db_path, ".repaired", NULL),
                       .lost = g_ptr_array_new_with_free_func(g_free)};
    orch_salvage_init(&r.salvage);
    bool ok = repair(&r, error);
    if (ok && cli->json)
        print_json(&r);
    else if (ok)
        print_text(&r);
    if (ok)
        say_next(cli, &r);
    int status = !ok ? -1 : r.lost->len ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
    orch_salvage_clear(&r.salvage);
    g_ptr_array_unref(r.lost);
    g_free(r.to);
    return status;
}

const struct orch_command ORCH_COMMAND_DB_REPAIR = {
    .name = "db repair",
    .group = "Maintenance",
    .summary = "recover what can be read of a damaged store into a new one",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct repair_options),
    .about = "The damaged file is not changed: a copy of it is read. Only runs whose rows give the "
             "recorded digest are recovered. What is missing is searched in the backups beside it, "
             "in shards/, and in the folders of unfinished trials.\n\n"
             "Lists what was lost. Exits with 0 when nothing was lost, else with 7.",
    .run = run_repair,
};
