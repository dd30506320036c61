/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modification times count only where contents are too large to be read: they differ between
 * machines, so that such a trial is run again where it is not yet done. */
#include "core/inputs/named_files.h"

#include "lib/base/file.h"
#include "lib/base/local_key.h"
#include "lib/base/text.h"
#include "lib/vcs/secrets.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 32 };

/* The list of the files below a folder. */
struct listing {
    const char *root;
    GHashTable *captured;
    struct orch_run_spans *spans;
    GPtrArray *lines; /* "PATH SIZE MTIME", or "PATH DIGEST" in the end */
    GPtrArray *paths; /* absolute */
    int64_t bytes;
    bool is_cut;
};

bool orch_named_is_outside_of_inputs(const char *absolute, const char *root)
{
    static const char *const system[] = {"/usr/",       "/bin/",  "/sbin/", "/lib/",
                                         "/lib64/",     "/proc/", "/sys/",  "/dev/",
                                         "/nix/store/", "/etc/",  "/snap/", NULL};
    static const char *const inside[] = {
        "/.git/",          "/.orch/",        "/site-packages/",      "/__pycache__/",
        "/dist-packages/", "/node_modules/", "/.ipynb_checkpoints/", NULL};
    g_autofree char *path = g_strconcat(absolute, "/", NULL);
    bool is_below = orch_path_below(absolute, root);
    bool is_users =
        is_below || g_str_has_prefix(path, "/dev/shm/"); /* files in memory, no devices */
    for (int i = 0; system[i] && !is_users; i++)
        if (g_str_has_prefix(path, system[i]))
            return true;
    for (int i = 0; inside[i]; i++)
        if (strstr(is_below ? path + strlen(root) : path, inside[i]))
            return true;
    return strncmp(root, path, strlen(path)) == 0 || strcmp(root, absolute) == 0 ||
           strcmp(absolute, "/") == 0;
}

static bool is_captured(const struct listing *all, const char *path)
{
    const char *relative = orch_path_below(path, all->root);
    return all->captured && relative && g_hash_table_contains(all->captured, relative);
}

static void add_file(struct listing *all, const char *path, const struct stat *info)
{
    if (is_captured(all, path) || orch_secret_by_name(path) ||
        orch_run_spans_wrote(all->spans, path, NULL))
        return;
    g_ptr_array_add(all->paths, g_strdup(path));
    g_ptr_array_add(all->lines,
                    g_strdup_printf("%lld %lld.%09ld", (long long)info->st_size,
                                    (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec));
    all->bytes += info->st_size;
}

/* Adds the files below a folder in the order of their names. Links to folders are not followed. */
static void list(struct listing *all, const char *folder, int depth)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            names->len < ORCH_NAMED_ENTRIES)
            g_ptr_array_add(names, g_strdup(entry->d_name));
    if (dir)
        closedir(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    for (guint i = 0; i < names->len && !all->is_cut; i++) {
        struct stat info;
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        g_autofree char *mark = g_build_filename(path, "pyvenv.cfg", NULL);
        if (lstat(path, &info) != 0 || orch_named_is_outside_of_inputs(path, all->root))
            continue;
        if (S_ISDIR(info.st_mode) && depth && !g_file_test(mark, G_FILE_TEST_EXISTS))
            list(all, path, depth - 1);
        else if (!S_ISDIR(info.st_mode) && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            add_file(all, path, &info);
        all->is_cut = all->paths->len >= ORCH_NAMED_ENTRIES;
    }
}

/* A digest of a secret with the key of this machine: a plain one would betray a short secret. */
static char *secret_digest(const char *path)
{
    g_autofree char *text = NULL;
    return orch_file_read(path, 1 << 20, &text, NULL, NULL) ? orch_local_key_digest(text) : NULL;
}

static char *digest_of_file(const char *path, const struct stat *info,
                            struct orch_file_digests *digests, enum orch_named_extent *out_extent)
{
    char digest[ORCH_SHA256_CHARS];
    if (orch_secret_by_name(path))
        return secret_digest(path);
    if (info->st_size <= ORCH_NAMED_FILE_BYTES)
        return orch_file_digests_get(digests, path, digest, NULL) ? g_strdup(digest) : NULL;
    g_autofree char *text = g_strdup_printf("%lld %lld.%09ld", (long long)info->st_size,
                                            (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
    orch_sha256(text, strlen(text), digest);
    *out_extent = ORCH_NAMED_TIMES;
    return g_strdup(digest);
}

static char *digest_of_folder(struct listing *all, const char *folder,
                              struct orch_file_digests *digests, enum orch_named_extent *out_extent)
{
    list(all, folder, DEPTH_MAX);
    bool is_small =
        all->paths->len <= ORCH_NAMED_FOLDER_FILES && all->bytes <= ORCH_NAMED_FOLDER_BYTES;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < all->paths->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        const char *path = all->paths->pdata[i];
        bool is_read = is_small && orch_file_digests_get(digests, path, digest, NULL);
        g_string_append_printf(text, "%s %s\n", path + strlen(folder) + 1,
                               is_read ? digest : (const char *)all->lines->pdata[i]);
    }
    if (!is_small)
        *out_extent = all->is_cut ? ORCH_NAMED_PART : ORCH_NAMED_TIMES;
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text->str, text->len, digest);
    return all->paths->len ? g_strdup(digest) : NULL;
}

char *orch_named_digest(const char *absolute, const char *root, GHashTable *captured,
                        struct orch_run_spans *spans, struct orch_file_digests *digests,
                        enum orch_named_extent *out_extent)
{
    struct stat info;
    *out_extent = ORCH_NAMED_WHOLE;
    if (orch_named_is_outside_of_inputs(absolute, root) || stat(absolute, &info) != 0)
        return NULL;
    if (S_ISREG(info.st_mode))
        return digest_of_file(absolute, &info, digests, out_extent);
    if (!S_ISDIR(info.st_mode))
        return NULL;
    struct listing all = {.root = root, .captured = captured, .spans = spans};
    all.lines = g_ptr_array_new_with_free_func(g_free);
    all.paths = g_ptr_array_new_with_free_func(g_free);
    char *digest = digest_of_folder(&all, absolute, digests, out_extent);
    g_ptr_array_unref(all.lines);
    g_ptr_array_unref(all.paths);
    return digest;
}
