/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modification times count only where contents are too large to be read: they differ between
 * machines, so that such a trial is run again where it is not yet done. */
#include "core/inputs/content_digest.h"

#include "lib/base/file.h"
#include "lib/base/local_key.h"
#include "lib/base/text.h"
#include "lib/vcs/secret_files.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 32 };

/* A file up to this size counts by its content, a larger one by its size and modification time. */
static const int64_t NAMED_FILE_BYTES = INT64_C(16) << 30, READ_FILE_BYTES = INT64_C(2) << 30;
/* A folder counts by the contents of its files up to these bounds, above them by sizes and times.
 */
enum { FOLDER_FILES = 10000 };
static const int64_t FOLDER_BYTES = INT64_C(4) << 30;

/* "SIZE MTIME"; the caller frees. */
static char *text_of_stat(const struct stat *info)
{
    return g_strdup_printf("%lld %lld.%09ld", (long long)info->st_size,
                           (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
}

static void digest_of_stat(const struct stat *info, char out[65])
{
    g_autofree char *text = text_of_stat(info);
    orch_sha256(text, strlen(text), out);
}

/* ---- what is named ----------------------------------------------------------------------------
 */

/* The list of the files below a folder. */
struct listing {
    const char *root;
    GHashTable *captured;
    struct orch_own_outputs *outputs;
    GPtrArray *lines; /* "PATH SIZE MTIME", or "PATH DIGEST" in the end */
    GPtrArray *paths; /* absolute */
    int64_t bytes;
    bool is_cut;
};

bool orch_input_is_excluded(const char *absolute, const char *root)
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
        orch_own_outputs_has(all->outputs, path, NULL))
        return;
    g_ptr_array_add(all->paths, g_strdup(path));
    g_ptr_array_add(all->lines, text_of_stat(info));
    all->bytes += info->st_size;
}

/* Adds the files below a folder in the order of their names. Links to folders are not followed. */
static void list(struct listing *all, const char *folder, int depth)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            names->len < ORCH_DIGEST_ENTRIES)
            g_ptr_array_add(names, g_strdup(entry->d_name));
    if (dir)
        closedir(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    for (guint i = 0; i < names->len && !all->is_cut; i++) {
        struct stat info;
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        g_autofree char *mark = g_build_filename(path, "pyvenv.cfg", NULL);
        if (lstat(path, &info) != 0 || orch_input_is_excluded(path, all->root))
            continue;
        if (S_ISDIR(info.st_mode) && depth && !g_file_test(mark, G_FILE_TEST_EXISTS))
            list(all, path, depth - 1);
        else if (!S_ISDIR(info.st_mode) && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            add_file(all, path, &info);
        all->is_cut = all->paths->len >= ORCH_DIGEST_ENTRIES;
    }
}

/* A digest of a secret with the key of this machine: a plain one would betray a short secret. */
static char *secret_digest(const char *path)
{
    g_autofree char *text = NULL;
    return orch_file_read(path, 1 << 20, &text, NULL, NULL) ? orch_local_key_digest(text) : NULL;
}

static char *named_file_digest(const char *path, const struct stat *info,
                               struct orch_file_digests *digests,
                               enum orch_digest_extent *out_extent)
{
    char digest[ORCH_SHA256_CHARS];
    if (orch_secret_by_name(path))
        return secret_digest(path);
    if (info->st_size <= NAMED_FILE_BYTES)
        return orch_file_digests_get(digests, path, info, digest, NULL) ? g_strdup(digest) : NULL;
    digest_of_stat(info, digest);
    *out_extent = ORCH_DIGEST_TIMES;
    return g_strdup(digest);
}

static char *named_folder_digest(struct listing *all, const char *folder,
                                 struct orch_file_digests *digests,
                                 enum orch_digest_extent *out_extent)
{
    list(all, folder, DEPTH_MAX);
    bool is_small = all->paths->len <= FOLDER_FILES && all->bytes <= FOLDER_BYTES;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < all->paths->len; i++) {
        char digest[ORCH_SHA256_CHARS];
        const char *path = all->paths->pdata[i];
        bool is_read = is_small && orch_file_digests_get(digests, path, NULL, digest, NULL);
        g_string_append_printf(text, "%s %s\n", path + strlen(folder) + 1,
                               is_read ? digest : (const char *)all->lines->pdata[i]);
    }
    if (!is_small)
        *out_extent = all->is_cut ? ORCH_DIGEST_PART : ORCH_DIGEST_TIMES;
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text->str, text->len, digest);
    return all->paths->len ? g_strdup(digest) : NULL;
}

char *orch_named_digest(const char *absolute, const char *root, GHashTable *captured,
                        struct orch_own_outputs *outputs, struct orch_file_digests *digests,
                        enum orch_digest_extent *out_extent)
{
    struct stat info;
    *out_extent = ORCH_DIGEST_WHOLE;
    if (orch_input_is_excluded(absolute, root) || stat(absolute, &info) != 0)
        return NULL;
    if (S_ISREG(info.st_mode))
        return named_file_digest(absolute, &info, digests, out_extent);
    if (!S_ISDIR(info.st_mode))
        return NULL;
    struct listing all = {.root = root, .captured = captured, .outputs = outputs};
    all.lines = g_ptr_array_new_with_free_func(g_free);
    all.paths = g_ptr_array_new_with_free_func(g_free);
    char *digest = named_folder_digest(&all, absolute, digests, out_extent);
    g_ptr_array_unref(all.lines);
    g_ptr_array_unref(all.paths);
    return digest;
}

/* ---- what was read ----------------------------------------------------------------------------
 */

GHashTable *orch_own_in_folder(const char *folder, GHashTable *paths)
{
    GHashTable *own = NULL;
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, paths);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        const char *name = g_str_has_prefix(path, folder) ? (char *)path + strlen(folder) : "/";
        if (strchr(name, '/'))
            continue;
        own = own ? own : g_hash_table_new(g_str_hash, g_str_equal);
        g_hash_table_add(own, (gpointer)(uintptr_t)name);
    }
    return own;
}

static bool read_file_digest(struct orch_file_digests *digests, const char *path,
                             const struct stat *info, bool is_content, char out[65],
                             enum orch_digest_extent *out_extent)
{
    if (is_content && info->st_size <= READ_FILE_BYTES)
        return orch_file_digests_get(digests, path, info, out, NULL);
    digest_of_stat(info, out);
    *out_extent = ORCH_DIGEST_TIMES;
    return true;
}

struct found {
    struct stat info;
    char name[];
};

static int by_name(gconstpointer a, gconstpointer b)
{
    const struct found *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The files directly in a folder (struct found *), by their names, and their size. */
static GPtrArray *files_in(const char *folder, GHashTable *own, int64_t *out_bytes)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat info;
        if (*entry->d_name == '.' || orch_secret_by_name(entry->d_name) ||
            (own && g_hash_table_contains(own, entry->d_name)) ||
            fstatat(dirfd(dir), entry->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode))
            continue;
        size_t bytes = strlen(entry->d_name) + 1;
        struct found *file = g_malloc(sizeof *file + bytes);
        file->info = info;
        memcpy(file->name, entry->d_name, bytes);
        g_ptr_array_add(files, file);
        *out_bytes += info.st_size;
    }
    if (dir)
        closedir(dir);
    g_ptr_array_sort(files, by_name);
    return files;
}

/* The digest of the names of the files in a folder that end with `suffix`. */
static bool names_digest(const char *pattern, const char *suffix, GHashTable *own, char out[65])
{
    int64_t bytes = 0;
    g_autofree char *folder = g_path_get_dirname(pattern);
    g_autoptr(GPtrArray) files = files_in(folder, own, &bytes);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < files->len; i++) {
        const struct found *file = files->pdata[i];
        if (g_str_has_suffix(file->name, suffix))
            g_string_append_printf(text, "%s\n", file->name);
    }
    orch_sha256(text->str, text->len, out);
    return text->len > 0;
}

static bool read_folder_digest(struct orch_file_digests *digests, const char *folder,
                               GHashTable *own, char out[65], enum orch_digest_extent *out_extent)
{
    int64_t bytes = 0;
    g_autoptr(GPtrArray) files = files_in(folder, own, &bytes);
    bool is_content = files->len <= FOLDER_FILES && bytes <= FOLDER_BYTES;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < files->len; i++) {
        char digest[ORCH_SHA256_CHARS] = "";
        const struct found *file = files->pdata[i];
        g_autofree char *path = g_strconcat(folder, file->name, NULL);
        read_file_digest(digests, path, &file->info, is_content, digest, out_extent);
        g_string_append_printf(text, "%s %s\n", file->name, digest);
    }
    orch_sha256(text->str, text->len, out);
    return files->len > 0;
}

bool orch_reads_digest(struct orch_file_digests *digests, const char *absolute, GHashTable *own,
                       char out[65], enum orch_digest_extent *out_extent)
{
    enum orch_digest_extent ignored;
    enum orch_digest_extent *extent = out_extent ? out_extent : &ignored;
    const char *star = strrchr(absolute, '*');
    *extent = ORCH_DIGEST_WHOLE;
    if (star && star[-1] == '/')
        return names_digest(absolute, star + 1, own, out);
    if (g_str_has_suffix(absolute, "/"))
        return read_folder_digest(digests, absolute, own, out, extent);
    struct stat info;
    return stat(absolute, &info) == 0 && S_ISREG(info.st_mode) &&
           read_file_digest(digests, absolute, &info, true, out, extent);
}
