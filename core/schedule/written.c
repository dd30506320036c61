/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look lists the folder in which trials start and those below, up to a bound, and keeps the first
 * and the last time at which each new file was seen to be written. When no single trial was running
 * at both times, two trials wrote it. Trials that run side by side may leave that open; then a file
 * that was written again counts when there are fewer written files than trials, so that not each
 * can have its own.
 *
 * Rejected: watching each trial's system calls, which slows programs down and is not allowed
 * everywhere. */
#include "core/schedule/written.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MAX = 4000, DEPTH_MAX = 6, COST_SHARE = 50 };

struct span {
    int64_t from_ns, to_ns;
};

struct file {
    int64_t first_ns, last_ns;
};

struct orch_written {
    struct orch_plan *plan;
    char *folder;
    GArray *spans;     /* struct span, of the trials */
    GHashTable *files; /* path -> struct file * */
    unsigned ended;
    int entries; /* seen by the current look */
    int64_t next_look_ns;
    bool is_reported;
    char *shared; /* found by the current look */
};

struct orch_written *orch_written_new(struct orch_plan *plan)
{
    struct orch_written *written = g_new0(struct orch_written, 1);
    written->plan = plan;
    written->spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    written->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return written;
}

void orch_written_free(struct orch_written *written)
{
    if (!written)
        return;
    g_free(written->folder);
    g_free(written->shared);
    g_array_unref(written->spans);
    g_hash_table_unref(written->files);
    g_free(written);
}

unsigned orch_written_begin(struct orch_written *written, const char *folder)
{
    struct span span = {orch_now_ns() - ORCH_FILE_TIME_LAG_NS, INT64_MAX};
    if (!written->folder)
        written->folder = g_strdup(folder);
    g_array_append_val(written->spans, span);
    return written->spans->len - 1;
}

/* True when one trial ran at both times, so that it may be the only one that wrote the file. */
static bool has_one_writer(const struct orch_written *written, const struct file *file)
{
    for (guint i = 0; i < written->spans->len; i++) {
        const struct span *span = &g_array_index(written->spans, struct span, i);
        if (span->from_ns <= file->first_ns && file->last_ns <= span->to_ns)
            return true;
    }
    return false;
}

/* The part of the path below the work tree; NULL if it lies elsewhere. Borrowed. */
static const char *inside(const struct orch_written *written, const char *path)
{
    return orch_path_below(path, written->plan->workspace->root);
}

static bool is_captured(const struct orch_written *written, const char *path)
{
    const char *relative = inside(written, path);
    GHashTable *files = written->plan->inputs->files.tree_files;
    return files && relative && g_hash_table_contains(files, relative);
}

static void note_file(struct orch_written *written, const char *path, const struct stat *info)
{
    int64_t ns = orch_timespec_ns(info->st_mtim);
    struct file *file = g_hash_table_lookup(written->files, path);
    if (ns < g_array_index(written->spans, struct span, 0).from_ns || is_captured(written, path))
        return;
    if (!file) {
        file = g_new(struct file, 1);
        *file = (struct file){ns, ns};
        g_hash_table_insert(written->files, g_strdup(path), file);
    }
    bool is_again = ns > file->last_ns;
    file->last_ns = ns;
    bool is_few = is_again && g_hash_table_size(written->files) < written->ended;
    if (!written->shared && (is_few || !has_one_writer(written, file)))
        written->shared = g_strdup(path);
}

/* Whether it is the store, which --db puts where the user wants it: "NAME", "NAME-wal", "NAME.d".
 */
static bool is_of_store(const struct orch_written *written, const char *path)
{
    const char *db = written->plan->workspace->db_path;
    const char *rest = g_str_has_prefix(path, db) ? path + strlen(db) : NULL;
    return rest && (!*rest || *rest == '-' || strcmp(rest, ".d") == 0);
}

static void look(struct orch_written *written, const char *folder, int depth)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        static const char *const skipped[] = {"node_modules", "__pycache__", NULL};
        struct stat info;
        if (*entry->d_name == '.' || g_strv_contains(skipped, entry->d_name))
            continue;
        if (++written->entries > ENTRIES_MAX)
            break;
        g_autofree char *path = g_build_filename(folder, entry->d_name, NULL);
        if (lstat(path, &info) != 0 || is_of_store(written, path))
            continue;
        if (S_ISREG(info.st_mode))
            note_file(written, path, &info);
        else if (S_ISDIR(info.st_mode) && depth)
            look(written, path, depth - 1);
    }
    if (dir)
        closedir(dir);
}

char *orch_written_end(struct orch_written *written, unsigned number, bool is_last)
{
    int64_t begin_ns = orch_mono_ns();
    g_array_index(written->spans, struct span, number).to_ns = orch_now_ns();
    written->ended++;
    if (written->is_reported || (begin_ns < written->next_look_ns && !is_last))
        return NULL;
    written->entries = 0;
    look(written, written->folder, DEPTH_MAX);
    int64_t now_ns = orch_mono_ns();
    written->next_look_ns = now_ns + COST_SHARE * (now_ns - begin_ns);
    if (!written->shared)
        return NULL;
    written->is_reported = true;
    size_t n = strlen(written->folder);
    bool is_below = strncmp(written->shared, written->folder, n) == 0;
    return g_strdup(is_below ? written->shared + n + 1 : written->shared);
}

/* ---- files that git neither tracks nor ignores ------------------------------------------------
 */

/* True for an ignored path and all below it. `ignored`: as orch_vcs_ignored lists them, as a set.
 */
static bool is_ignored(GHashTable *ignored, const char *path)
{
    g_autofree char *part = g_strdup(path);
    for (char *slash = part; slash; slash = strrchr(part, '/')) {
        if (slash != part)
            *slash = '\0';
        if (g_hash_table_contains(ignored, part))
            return true;
    }
    return false;
}

/* The paths of orch_vcs_ignored as a set; NULL when they are not known. */
static GHashTable *ignored_paths(const struct orch_written *written)
{
    struct orch_vcs *vcs = written->plan->workspace->vcs;
    g_autoptr(GPtrArray) list = vcs ? orch_vcs_ignored(vcs, NULL) : NULL;
    GHashTable *set = list ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    for (guint i = 0; list && i < list->len; i++)
        g_hash_table_add(set, g_strdup(list->pdata[i]));
    return set;
}

bool orch_written_is_ignored(const struct orch_written *written, const char *path)
{
    g_autoptr(GHashTable) ignored = ignored_paths(written);
    g_autofree char *absolute = orch_path_absolute(path, written->folder);
    const char *below = orch_path_below(absolute, written->plan->workspace->root);
    return ignored && below && is_ignored(ignored, below);
}

static bool has_captured(GHashTable *files, const char *folder)
{
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        if (g_str_has_prefix(path, folder))
            return true;
    return false;
}

/* The file's topmost folder in which nothing was captured, "/out/", else the file: "/model.pt". */
static char *ignore_line(GHashTable *files, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        g_autofree char *folder = g_strndup(path, (gsize)(slash + 1 - path));
        if (!has_captured(files, folder))
            return g_strconcat("/", folder, NULL);
    }
    return g_strconcat("/", path, NULL);
}

unsigned orch_written_untracked(const struct orch_written *written, char **out_first,
                                char **out_line)
{
    unsigned count = 0;
    const char *first = NULL;
    GHashTable *files = written->plan->inputs->files.tree_files;
    g_autoptr(GHashTable) ignored =
        files && g_hash_table_size(written->files) ? ignored_paths(written) : NULL;
    if (!ignored)
        return 0;
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, written->files);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        const char *relative = inside(written, path);
        if (!relative || is_ignored(ignored, relative) || access(path, F_OK) != 0)
            continue;
        first = !first || strcmp(relative, first) < 0 ? relative : first;
        count++;
    }
    if (count) {
        *out_first = g_strdup(first);
        *out_line = ignore_line(files, first);
    }
    return count;
}
