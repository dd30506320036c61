/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/unzip.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/zip/zip_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_MAX = 10000, OTHERS_MAX = 100, NAME_BYTES_MAX = 200 };
/* The files are compressed already, so an entry that grows beyond this is an attack (ZIP bomb). */
#define GROWTH_ALWAYS ((int64_t)16 << 20)
#define GROWTH_MAX 2

bool orch_zip_is(const char *path)
{
    char bytes[4] = "";
    FILE *file = orch_file_open_stream(path, NULL);
    bool is = file && fread(bytes, 1, 4, file) == 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    if (file)
        fclose(file);
    return is;
}

struct taking {
    const char *path, *suffix, *to;
    int64_t bytes_max;
    const struct orch_zip_entry *entry; /* the matching entry, or NULL */
    GPtrArray *others;
};

static char *shown(const struct orch_zip_entry *entry)
{
    return orch_text_line(
        g_utf8_make_valid(entry->name, (gssize)strnlen(entry->name, NAME_BYTES_MAX)));
}

static bool fail_write(const char *to, GError **error)
{
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", to);
    return false;
}

struct output {
    const char *to;
    FILE *file;
    bool is_broken; /* the error was in writing */
};

static bool write_bytes(void *ctx, const uint8_t *bytes, size_t length, GError **error)
{
    struct output *out = ctx;
    out->is_broken = fwrite(bytes, 1, length, out->file) != length;
    return !out->is_broken || fail_write(out->to, error);
}

static bool write_entry(const struct taking *t, const struct orch_zip *zip, GError **error)
{
    struct output out = {.to = t->to, .file = fopen(t->to, "wbxe")};
    if (!out.file)
        return fail_write(t->to, error);
    bool ok = orch_zip_unpack(zip, t->entry, write_bytes, &out, error);
    if (!ok && !out.is_broken)
        g_prefix_error(error, "cannot read '%s': ", t->path);
    if (fclose(out.file) != 0 && ok)
        ok = fail_write(t->to, error);
    if (!ok)
        unlink(t->to);
    return ok;
}

/* Finds the matching file and lists the others. */
static bool find_entry(struct taking *t, const struct orch_zip *zip, GError **error)
{
    for (guint i = 0; i < zip->entries->len; i++) {
        const struct orch_zip_entry *entry = zip->entries->pdata[i];
        if (!entry->is_file)
            continue;
        if (!g_str_has_suffix(entry->name, t->suffix)) {
            if (t->others->len < OTHERS_MAX)
                g_ptr_array_add(t->others, shown(entry));
        } else if (!t->entry) {
            t->entry = entry;
        } else {
            g_autofree char *first = shown(t->entry), *second = shown(entry);
            orch_error_set(error, ORCH_ERROR_IO, "unpack the archive, and name one of the packs",
                           "'%s' holds both '%s' and '%s'", t->path, first, second);
            return false;
        }
    }
    if (!t->entry)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "there is no '*%s' in '%s'", t->suffix,
                       t->path);
    return t->entry;
}

static bool take(struct taking *t, const struct orch_zip *zip, GError **error)
{
    if (!find_entry(t, zip, error))
        return false;
    if (t->entry->bytes <= (uint64_t)t->bytes_max)
        return write_entry(t, zip, error);
    g_autofree char *name = shown(t->entry);
    orch_error_set(error, ORCH_ERROR_IO, NULL,
                   "'%s' in '%s' unpacks to more than %" G_GINT64_FORMAT " bytes", name, t->path,
                   t->bytes_max);
    return false;
}

bool orch_zip_take(const char *path, const char *suffix, int64_t bytes_max, const char *to,
                   char **out_name, GPtrArray **out_others, GError **error)
{
    g_autoptr(GMappedFile) file = orch_file_map(path, error);
    if (!file)
        return false;
    const size_t packed = g_mapped_file_get_length(file);
    const struct orch_zip_limits limits = {.entries = ENTRIES_MAX, .entry_bytes = G_MAXINT64};
    struct orch_zip *zip =
        orch_zip_open((const uint8_t *)g_mapped_file_get_contents(file), packed, limits, error);
    if (!zip) {
        g_prefix_error(error, "cannot read '%s': ", path);
        return false;
    }
    struct taking t = {.path = path,
                       .suffix = suffix,
                       .to = to,
                       .bytes_max = MIN(bytes_max, GROWTH_ALWAYS + GROWTH_MAX * (int64_t)packed),
                       .others = g_ptr_array_new_with_free_func(g_free)};
    bool ok = take(&t, zip, error);
    if (ok) {
        *out_name = shown(t.entry);
        *out_others = g_ptr_array_ref(t.others);
    }
    g_ptr_array_unref(t.others);
    orch_zip_free(zip);
    return ok;
}
