/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of a store: one file or, on a file system that other hosts can reach, a file for each
 * of them, and the names of these files. */
#include "store/handle/filesystem.h"
#include "store/place/shards.h"

#include "lib/base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_CHARS = 64 };

/* ---- names ------------------------------------------------------------------------------------
 */

/* The first digits of a hash of the machine's id, or "" when it has none. They distinguish machines
 * with the same name. */
static void machine_digits(char out[9])
{
    g_autofree char *id = NULL;
    char sha256[ORCH_SHA256_CHARS];
    gsize length;
    out[0] = 0;
    if (!g_file_get_contents("/etc/machine-id", &id, &length, NULL) || length < 32)
        return;
    g_autofree char *salted = g_strconcat("orch shard ", g_strstrip(id), NULL);
    orch_sha256(salted, strlen(salted), sha256);
    g_strlcpy(out, sha256, 9);
}

/* Reduces a name to letters, digits, '.', '-' and '_', without a leading '.'. */
static char *clean_name(const char *name)
{
    char *clean = g_ascii_strdown(name, HOST_CHARS);
    for (char *c = clean; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("._-", *c))
            *c = '-';
    if (*clean == '.')
        *clean = '-';
    return clean;
}

static char *host_name(void)
{
    const char *given = g_getenv("ORCH_SHARD_HOST");
    if (given && *given)
        return clean_name(given);
    char digits[9];
    machine_digits(digits);
    g_autofree char *clean = clean_name(g_get_host_name());
    return *digits ? g_strconcat(clean, "-", digits, NULL) : g_steal_pointer(&clean);
}

char *orch_store_shards_folder(const char *path)
{
    g_autofree char *folder = orch_store_folder_of(path);
    return g_build_filename(folder, "shards", NULL);
}

/* The names of the files in the folder that are shards. */
GPtrArray *orch_store_shards_list(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".db") && *name != '.')
            g_ptr_array_add(names, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

/* ---- layout -----------------------------------------------------------------------------------
 */

/* The folder's inode: an exported folder has the same inode on the local disk as over the network,
 * and a copy has a different one. */
static char *place_text(const char *folder)
{
    struct stat info;
    return stat(folder, &info) == 0
               ? g_strdup_printf("%" G_GUINT64_FORMAT "\n", (guint64)info.st_ino)
               : g_strdup("");
}

static bool was_made_here(const char *folder)
{
    g_autofree char *file = g_build_filename(folder, ".place", NULL);
    g_autofree char *found = NULL, *now = place_text(folder);
    return orch_file_read(file, 100, &found, NULL, NULL) && strcmp(found, now) == 0;
}

void orch_store_shards_note_place(const char *folder)
{
    g_autofree char *file = g_build_filename(folder, ".place", NULL);
    g_autofree char *now = place_text(folder);
    if (!was_made_here(folder))
        orch_file_write(file, now, strlen(now), false, NULL);
}

/* Checks the file system of the nearest existing parent. */
static bool is_on_network(const char *path)
{
    g_autofree char *at = g_strdup(path);
    bool local = true, network = false;
    struct stat info;
    while (stat(at, &info) != 0 && strlen(at) > 1) {
        char *parent = g_path_get_dirname(at);
        g_free(at);
        at = parent;
    }
    g_free(orch_store_filesystem_name(orch_store_filesystem_magic(at), &local));
    network = !local && orch_store_filesystem_is_shared(orch_store_filesystem_magic(at));
    return network;
}

enum store_layout orch_store_layout_of(const char *path)
{
    const char *setting = g_getenv("ORCH_SHARDS");
    g_autofree char *folder = orch_store_shards_folder(path);
    bool is_requested = setting && strcmp(setting, "1") == 0,
         is_refused = setting && strcmp(setting, "0") == 0;
    if (is_requested || (!is_refused && is_on_network(path)))
        return STORE_SHARDED;
    struct stat info;
    if (stat(folder, &info) != 0)
        return STORE_ONE_FILE;
    g_autoptr(GPtrArray) names = orch_store_shards_list(folder);
    if (!names->len)
        return STORE_ONE_FILE;
    return !is_refused && was_made_here(folder) ? STORE_SHARDED : STORE_TO_FOLD;
}

bool orch_store_exists(const char *path)
{
    if (access(path, F_OK) == 0)
        return true;
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = orch_store_shards_folder(absolute);
    g_autoptr(GPtrArray) names = orch_store_shards_list(folder);
    return names->len > 0;
}

char *orch_store_layout(const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = orch_store_shards_folder(absolute);
    const char *setting = g_getenv("ORCH_SHARDS");
    bool local;
    int64_t magic = orch_store_filesystem_magic(absolute);
    g_autofree char *name = orch_store_filesystem_name(magic, &local);
    switch (orch_store_layout_of(absolute)) {
    case STORE_SHARDED:
        if (setting && strcmp(setting, "1") == 0)
            return g_strdup("a file for each host: ORCH_SHARDS=1 asks for it");
        if (orch_store_filesystem_is_shared(magic))
            return g_strdup_printf("a file for each host: other hosts can reach a %s file system",
                                   name);
        return g_strdup_printf("a file for each host, because '%s' was made here; ORCH_SHARDS=0 "
                               "puts all into one file",
                               folder);
    case STORE_TO_FOLD:
        return g_strdup("one file: the files of the hosts go into it when it is opened");
    default:
        if (local)
            return g_strdup_printf("one file: %s is a local file system", name);
        return g_strdup_printf(
            "one file: %s may be a network file system; ORCH_SHARDS=1 makes a file for each host",
            name);
    }
}

static void add_stale(GPtrArray *out, const char *file)
{
    g_autofree char *journal = g_strconcat(file, "-journal", NULL);
    struct stat info;
    if (stat(journal, &info) == 0 && info.st_size > 0 &&
        orch_now_ns() / INT64_C(1000000000) - info.st_mtim.tv_sec > 60)
        g_ptr_array_add(out, g_steal_pointer(&journal));
}

GPtrArray *orch_store_stale_journals(const char *path)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    g_autofree char *folder = orch_store_shards_folder(absolute);
    g_autoptr(GPtrArray) names = orch_store_shards_list(folder);
    add_stale(out, absolute);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(folder, names->pdata[i], NULL);
        add_stale(out, file);
    }
    return out;
}

char *orch_store_shards_own_file(const char *folder)
{
    g_autofree char *host = host_name();
    g_autofree char *name = g_strconcat(host, ".db", NULL);
    char *path = g_build_filename(folder, name, NULL);
    if (access(path, F_OK) != 0 || access(path, W_OK) == 0 || access(folder, W_OK) != 0)
        return path;
    g_autofree char *other = g_strdup_printf("%s-u%u.db", host, (unsigned)getuid());
    g_free(path);
    return g_build_filename(folder, other, NULL);
}
