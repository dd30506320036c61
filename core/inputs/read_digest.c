/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/read_digest.h"

#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "lib/vcs/secrets.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* A larger folder counts by the sizes and times of its files. */
enum { FOLDER_FILES_MAX = 10000 };
static const int64_t FOLDER_BYTES_MAX = INT64_C(4) << 30;

static void digest_of_stat(const struct stat *info, char out[65])
{
    g_autofree char *text = g_strdup_printf("%lld %lld.%09ld", (long long)info->st_size,
                                            (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
    orch_sha256(text, strlen(text), out);
}

static bool digest_of_file(struct orch_file_digests *digests, const char *path, bool is_content,
                           char out[65])
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    if (is_content && info.st_size <= ORCH_READS_BYTES)
        return orch_file_digests_get(digests, path, out, NULL);
    digest_of_stat(&info, out);
    return true;
}

/* The names of the files directly in a folder, sorted, and their size. */
static GPtrArray *files_in(const char *folder, int64_t from_ns, int64_t to_ns, int64_t *out_bytes)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat info;
        g_autofree char *path = g_build_filename(folder, entry->d_name, NULL);
        if (*entry->d_name == '.' || orch_secret_by_name(entry->d_name) || stat(path, &info) != 0 ||
            !S_ISREG(info.st_mode) ||
            (from_ns <= orch_timespec_ns(info.st_mtim) && orch_timespec_ns(info.st_mtim) <= to_ns))
            continue;
        g_ptr_array_add(names, g_strdup(entry->d_name));
        *out_bytes += info.st_size;
    }
    if (dir)
        closedir(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

/* The digest of the names of the files in a folder that end with `suffix`. */
static bool digest_of_names(const char *pattern, const char *suffix, int64_t from_ns, int64_t to_ns,
                            char out[65])
{
    int64_t bytes = 0;
    g_autofree char *folder = g_path_get_dirname(pattern);
    g_autoptr(GPtrArray) names = files_in(folder, from_ns, to_ns, &bytes);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        if (g_str_has_suffix(names->pdata[i], suffix))
            g_string_append_printf(text, "%s\n", (char *)names->pdata[i]);
    orch_sha256(text->str, text->len, out);
    return text->len > 0;
}

bool orch_reads_digest(struct orch_file_digests *digests, const char *absolute, int64_t from_ns,
                       int64_t to_ns, char out[65])
{
    const char *star = strrchr(absolute, '*');
    if (star && star[-1] == '/')
        return digest_of_names(absolute, star + 1, from_ns, to_ns, out);
    if (!g_str_has_suffix(absolute, "/"))
        return digest_of_file(digests, absolute, true, out);
    int64_t bytes = 0;
    g_autoptr(GPtrArray) names = files_in(absolute, from_ns, to_ns, &bytes);
    bool is_content = names->len <= FOLDER_FILES_MAX && bytes <= FOLDER_BYTES_MAX;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        char digest[ORCH_SHA256_CHARS] = "";
        g_autofree char *path = g_build_filename(absolute, names->pdata[i], NULL);
        digest_of_file(digests, path, is_content, digest);
        g_string_append_printf(text, "%s %s\n", (char *)names->pdata[i], digest);
    }
    orch_sha256(text->str, text->len, out);
    return names->len > 0;
}
