/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims in a folder: each change of a resource is a file claims/RESOURCE.GENERATION.json. The
 * highest generation is the current one; an empty file means that the claim was released.
 *
 * The compare-and-swap is link(2) of a finished file to the name of the next generation: it is
 * atomic on every file system, including NFS, and fails when another process was first. (A lock
 * file would have to be broken when its owner dies, and breaking it is a race as well; renaming
 * over one file name does not show who was first.) A taker with an outdated view of the folder may
 * find a low number free because it was cleaned up, so it looks again afterwards and withdraws when
 * there is a higher one. Times are those of the file server: a claim is made at the file's mtime,
 * and its text contains only its duration, so members' clocks do not matter.
 */
#include "features/share/remotes/claims_private.h"

#include "lib/base/error.h"
#include "lib/base/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GENERATION_MAX INT64_C(999999999999999999)
#define SUFFIX ".json"
/* Files that expired this long ago are deleted; no view of the folder is that old. */
#define OVER_NS (INT64_C(86400) * 1000000000)

struct place {
    char *folder; /* .../claims */
};

static char *file_of(const struct place *place, const char *resource, int64_t generation)
{
    return g_strdup_printf("%s/%s.%" G_GINT64_FORMAT SUFFIX, place->folder, resource, generation);
}

/* Parses "RESOURCE.GENERATION.json" strictly. */
static bool parse_name(const char *name, char out_resource[ORCH_SHA256_CHARS],
                       int64_t *out_generation)
{
    size_t length = strlen(name);
    if (length <= 64 + 1 + strlen(SUFFIX) || length > 64 + 1 + 18 + strlen(SUFFIX) ||
        name[64] != '.' || !g_str_has_suffix(name, SUFFIX))
        return false;
    memcpy(out_resource, name, 64);
    out_resource[64] = 0;
    size_t digits = strspn(name + 65, "0123456789");
    *out_generation = g_ascii_strtoll(name + 65, NULL, 10);
    return orch_sha256_is_valid(out_resource) && digits == length - 65 - strlen(SUFFIX) &&
           name[65] != '0';
}

/* ---- reading the folder ------------------------------------------------------------------------
 */

struct generation {
    char resource[ORCH_SHA256_CHARS];
    int64_t number;
};

/* The highest generation of each resource: resource -> struct generation *. */
static GHashTable *scan(const struct place *place, GError **error)
{
    DIR *folder = opendir(place->folder);
    if (!folder) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", place->folder);
        return NULL;
    }
    GHashTable *highest = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    const struct dirent *entry;
    while ((entry = readdir(folder)) && g_hash_table_size(highest) < CLAIMS_MAX) {
        struct generation found;
        if (!parse_name(entry->d_name, found.resource, &found.number))
            continue;
        struct generation *known = g_hash_table_lookup(highest, found.resource);
        if (known) {
            known->number = MAX(known->number, found.number);
            continue;
        }
        known = g_new(struct generation, 1);
        *known = found;
        g_hash_table_insert(highest, known->resource, known);
    }
    closedir(folder);
    return highest;
}

/* Creates a file with this text in the folder. Returns its path and the server's time of it, or
 * NULL with an error. The caller frees the path and removes the file. */
static char *make_file(const struct place *place, const char *text, int64_t *out_now_ns,
                       GError **error)
{
    char *path = g_strdup_printf("%s/tmp-XXXXXX", place->folder);
    int fd = g_mkstemp_full(path, O_WRONLY | O_CLOEXEC, 0644);
    struct stat info;
    /* after a short write the next one says why: no space, over a quota */
    bool ok = fd >= 0 && orch_write_all(fd, text, strlen(text)) && fsync(fd) == 0 &&
              fstat(fd, &info) == 0;
    int failure = errno;
    if (fd >= 0)
        close(fd);
    if (ok) {
        *out_now_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
        return path;
    }
    orch_error_set_errno(error, ORCH_ERROR_IO, failure, "cannot write in '%s'", place->folder);
    if (fd >= 0)
        unlink(path);
    g_free(path);
    return NULL;
}

/* Reads an entry's claim. When the file is not a plain file or not a claim, the resource is free.
 * `*out_ended_ns` is the time since when the claim has not counted. */
static void read_entry(const struct place *place, struct claims_entry *entry, int64_t generation,
                       int64_t *out_ended_ns)
{
    g_autofree char *path = file_of(place, entry->resource, generation);
    g_autofree char *text = NULL;
    size_t length;
    struct stat info;
    *out_ended_ns = INT64_MAX;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > CLAIMS_TEXT_MAX)
        return;
    int64_t made_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    *out_ended_ns = made_ns;
    if (!info.st_size || !orch_file_read(path, CLAIMS_TEXT_MAX, &text, &length, NULL))
        return;
    entry->claim = orch_claims_parse(entry->resource, text, length);
    if (!entry->claim)
        return;
    int64_t holds_ns = entry->claim->expires_ns - entry->claim->made_ns;
    entry->claim->made_ns = made_ns;
    entry->claim->expires_ns = made_ns + MIN(holds_ns, (int64_t)(2e9 * orch_claim_seconds()));
    *out_ended_ns = entry->claim->expires_ns;
}

static void clean(const struct place *place, const char *resource, int64_t last)
{
    for (int64_t generation = last; generation > 0 && generation > last - 3; generation--) {
        g_autofree char *path = file_of(place, resource, generation);
        unlink(path);
    }
}

static bool list(void *self, GHashTable *known, GPtrArray *out, int64_t *out_now_ns, GError **error)
{
    const struct place *place = self;
    (void)known; /* files are cheap to read again */
    g_autofree char *touched = make_file(place, "", out_now_ns, error);
    if (!touched)
        return false;
    unlink(touched);
    g_autoptr(GHashTable) highest = scan(place, error);
    if (!highest)
        return false;
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, highest);
    while (g_hash_table_iter_next(&iter, NULL, &data)) {
        const struct generation *found = data;
        struct claims_entry *entry = g_new0(struct claims_entry, 1);
        int64_t ended_ns;
        memcpy(entry->resource, found->resource, sizeof entry->resource);
        entry->token = g_strdup_printf("%" G_GINT64_FORMAT, found->number);
        read_entry(place, entry, found->number, &ended_ns);
        if (ended_ns < *out_now_ns - OVER_NS)
            clean(place, found->resource, found->number);
        g_ptr_array_add(out, entry);
    }
    return true;
}

/* ---- changing ----------------------------------------------------------------------------------
 */

/* True when link(2) created the name. NFS can report failure when the server's success was lost;
 * then the file has two names. */
static bool link_new(const char *from, const char *to, int *out_errno)
{
    struct stat info;
    if (link(from, to) == 0)
        return true;
    *out_errno = errno;
    return stat(from, &info) == 0 && info.st_nlink == 2;
}

static bool swap_one(const struct place *place, struct claims_change *change, GError **error)
{
    int64_t number = change->old_token ? g_ascii_strtoll(change->old_token, NULL, 10) + 1 : 1;
    int64_t now_ns;
    int failure = 0;
    if (number > GENERATION_MAX) {
        orch_error_set(error, ORCH_ERROR_IO,
                       "remove this claim's files there while nobody runs the trial",
                       "'%s': claim '%s' was changed too often (its number is %s)", place->folder,
                       change->resource, change->old_token);
        return false;
    }
    g_autofree char *made = make_file(place, change->text ? change->text : "", &now_ns, error);
    if (!made)
        return false;
    g_autofree char *path = file_of(place, change->resource, number);
    change->done = link_new(made, path, &failure);
    unlink(made);
    if (!change->done && failure != EEXIST) {
        if (failure == EPERM || failure == EOPNOTSUPP || failure == ENOSYS)
            orch_error_set(error, ORCH_ERROR_IO, "use --part K/N, which needs no claims",
                           "claims need hard links, which the file system of '%s' does not have",
                           place->folder);
        else
            orch_error_set_errno(error, ORCH_ERROR_IO, failure, "cannot make '%s'", path);
        return false;
    }
    if (!change->done)
        return true;
    g_autoptr(GHashTable) highest = scan(place, error);
    const struct generation *last = highest ? g_hash_table_lookup(highest, change->resource) : NULL;
    if (!last || last->number > number) {
        unlink(path);
        change->done = false;
        return highest != NULL;
    }
    change->new_token = g_strdup_printf("%" G_GINT64_FORMAT, number);
    clean(place, change->resource, number - 2); /* leaves one generation for concurrent readers */
    return true;
}

static bool swap(void *self, struct claims_change *changes, unsigned count, GError **error)
{
    bool ok = true;
    for (unsigned i = 0; i < count; i++)
        changes[i].done = false;
    for (unsigned i = 0; ok && i < count; i++)
        ok = swap_one(self, &changes[i], error);
    return ok;
}

static void free_place(void *self)
{
    struct place *place = self;
    g_free(place->folder);
    g_free(place);
}

struct orch_claims *orch_claims_open_folder(const char *folder, const char *who, GError **error)
{
    struct place *self = g_new0(struct place, 1);
    struct claims_place place = {
        .self = self, .is_own_clock = true, .list = list, .swap = swap, .free = free_place};
    self->folder = g_build_filename(folder, "claims", NULL);
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        orch_error_set(error, ORCH_ERROR_IO, "check that the disk or share is mounted",
                       "'%s' is not a folder", folder);
    else if (orch_dir_make(self->folder, error))
        return orch_claims_new(&place, who);
    free_place(self);
    return NULL;
}
