/* SPDX-License-Identifier: MIT */
/* One line per file: digest, inode, size, mtime and ctime, path. Each line is appended with a
 * single write, so several processes may append; the last line of a path counts; invalid lines are
 * skipped. If the file exceeds its limit, it is rewritten with its newer half. */
#include "lib/base/file_digests.h"

#include "lib/base/ident.h"
#include "lib/base/shared_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_BYTES_MAX = 4 << 20 };
/* Not cached if changed this recently, because it may change again without a new time stamp. */
static const int64_t RACY_NS = INT64_C(2000000000);

static char *cache_path(void)
{
    return g_build_filename(g_get_user_cache_dir(), "orch", "digests", NULL);
}

/* " INODE SIZE MTIME CTIME PATH", which must match for a cached digest to be valid. */
static char *identity_of(const struct stat *info, const char *path)
{
    return g_strdup_printf(" %llu %lld %lld.%09ld %lld.%09ld %s", (unsigned long long)info->st_ino,
                           (long long)info->st_size, (long long)info->st_mtim.tv_sec,
                           info->st_mtim.tv_nsec, (long long)info->st_ctim.tv_sec,
                           info->st_ctim.tv_nsec, path);
}

struct orch_file_digests {
    char *cache, *text; /* path and content of the file */
    GHashTable *known;  /* identity -> digest; both in `text`, or in `added` */
    GPtrArray *added;
    bool is_read;
};

struct orch_file_digests *orch_file_digests_open(void)
{
    struct orch_file_digests *digests = g_new0(struct orch_file_digests, 1);
    digests->cache = cache_path();
    digests->known = g_hash_table_new(g_str_hash, g_str_equal);
    digests->added = g_ptr_array_new_with_free_func(g_free);
    return digests;
}

static void read_cache(struct orch_file_digests *digests)
{
    size_t length = 0;
    if (digests->is_read)
        return;
    digests->is_read = true;
    if (!orch_file_read(digests->cache, 4 * CACHE_BYTES_MAX, &digests->text, &length, NULL))
        return;
    for (char *line = digests->text, *end;
         (end = memchr(line, '\n', (size_t)(digests->text + length - line))); line = end + 1) {
        *end = 0;
        if (strlen(line) > 64)
            g_hash_table_insert(digests->known, line + 64, line);
    }
}

void orch_file_digests_close(struct orch_file_digests *digests)
{
    if (!digests)
        return;
    g_hash_table_unref(digests->known);
    g_ptr_array_unref(digests->added);
    g_free(digests->cache);
    g_free(digests->text);
    g_free(digests);
}

static bool look_up(const struct orch_file_digests *digests, const char *identity,
                    char out[ORCH_SHA256_CHARS])
{
    const char *line = g_hash_table_lookup(digests->known, identity);
    g_autofree char *digest = line ? g_strndup(line, 64) : NULL;
    if (!digest || !orch_sha256_is_valid(digest))
        return false;
    memcpy(out, digest, ORCH_SHA256_CHARS);
    return true;
}

/* Drops the older half. */
static void shorten(const char *cache)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(cache, 4 * CACHE_BYTES_MAX, &text, &length, NULL)) {
        unlink(cache); /* unreadable or far above its limit: start over */
        return;
    }
    const char *half = memchr(text + length / 2, '\n', length - length / 2);
    size_t skip = half ? (size_t)(half + 1 - text) : length;
    orch_file_write(cache, text + skip, length - skip, false, NULL);
}

static void remember(const char *cache, const char *identity, const char *digest)
{
    g_autofree char *folder = g_path_get_dirname(cache);
    if (strchr(identity, '\n') || !orch_dir_make(folder, NULL))
        return;
    int fd = orch_shared_open(AT_FDCWD, cache, cache, O_WRONLY | O_CREAT | O_APPEND, 0600,
                              geteuid(), NULL);
    if (fd < 0)
        return;
    /* the leading line end terminates an incomplete line of another process */
    g_autofree char *line = g_strconcat("\n", digest, identity, "\n", NULL);
    struct stat info;
    bool is_long = write(fd, line, strlen(line)) > 0 && fstat(fd, &info) == 0 &&
                   info.st_size > CACHE_BYTES_MAX;
    close(fd);
    if (is_long)
        shorten(cache);
}

/* Keeps a digest in memory, for files that are named several times. */
static void keep(struct orch_file_digests *digests, const char *identity, const char *digest)
{
    char *line = g_strconcat(digest, identity, NULL);
    g_ptr_array_add(digests->added, line);
    g_hash_table_insert(digests->known, line + 64, line);
}

bool orch_file_digests_get(struct orch_file_digests *digests, const char *path,
                           const struct stat *info, char out[ORCH_SHA256_CHARS], GError **error)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    struct stat before, after;
    if (!info && stat(absolute, &before) != 0)
        return orch_file_sha256(absolute, out, NULL, error); /* sets the error */
    g_autofree char *identity = identity_of(info ? info : &before, absolute);
    read_cache(digests);
    if (look_up(digests, identity, out))
        return true;
    if (!orch_file_sha256(absolute, out, NULL, error) || stat(absolute, &after) != 0)
        return false;
    g_autofree char *identity_after = identity_of(&after, absolute);
    int64_t changed = (int64_t)after.st_mtim.tv_sec * 1000000000 + after.st_mtim.tv_nsec;
    if (strcmp(identity, identity_after) == 0 && orch_now_ns() - changed > RACY_NS) {
        remember(digests->cache, identity, out);
        keep(digests, identity, out);
    }
    return true;
}
