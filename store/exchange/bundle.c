/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bundle: a tar.gz of items. The first entry is the format. Then follow recipes, artifacts, runs,
 * notes and data sets, and then extras, in the order in which they are joined.
 *
 * Against decompression bombs, each item has the limit of its kind, an extra has its own limit, and
 * the total unpacked size is bounded by a ratio to the size of the file (results never compress as
 * well as 100 to 1). A refused entry becomes a line of the receipt and the rest is joined; a
 * damaged archive fails.
 */
#include "store/exchange/bundle_parts.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/tar/tar_read.h"
#include "lib/tar/tar_write.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT_PATH "format"
#define FORMAT_WORDS "orch results "

enum {
    EXTRA_PATH_MAX = 1000,
    EXTRA_BYTES_MAX = 256 << 20,
    ARTIFACT_BYTES_MAX = 1 << 30,
    UNPACKED_RATIO_MAX = 100,
};
#define UNPACKED_ALWAYS (INT64_C(256) << 20)

/* ---- writing ----------------------------------------------------------------------------------
 */

struct writing {
    struct orch_tar_writer *tar;
    bundle_filter_fn filter;
    void *ctx;
    struct bundle_written out;
};

static enum orch_item_want wants(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    const struct writing *w = ctx;
    return !w->filter || w->filter(w->ctx, name, bytes) ? ORCH_ITEM_TAKE : ORCH_ITEM_SKIP;
}

static void count(struct writing *w, const struct orch_item_name *name)
{
    w->out.items++;
    w->out.runs += name->kind == ORCH_ITEM_RUN;
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    struct writing *w = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    orch_item_path(name, path);
    count(w, name);
    return orch_tar_add(w->tar, path, bytes, length, error);
}

static bool take_file(void *ctx, const struct orch_item_name *name, const char *file, int64_t bytes,
                      GError **error)
{
    struct writing *w = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    orch_item_path(name, path);
    if (bytes > ARTIFACT_BYTES_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "add --artifacts 1GiB to leave out larger artifacts",
                       "artifact %.12s is too large for a bundle", name->key);
        return false;
    }
    count(w, name);
    return orch_tar_add_file(w->tar, path, file, bytes, error);
}

/* Returns the path as it is written, or NULL unless it stays below its folder on every system. */
static char *extra_path(const char *name)
{
    struct orch_item_name item;
    char *path = orch_tar_safe_name(name);
    bool ok = path && *path && strlen(path) <= EXTRA_PATH_MAX && !strchr(path, '\\') &&
              strcmp(path, FORMAT_PATH) != 0 && !orch_item_name_parse(path, &item);
    for (const char *at = path; ok && *at; at = g_utf8_next_char(at))
        ok = !g_unichar_iscntrl(g_utf8_get_char(at));
    if (!ok)
        g_clear_pointer(&path, g_free);
    return path;
}

static bool add_extras(struct writing *w, const struct orch_bundle_extra *extras, size_t length,
                       GError **error)
{
    g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof *extras);
    if (length)
        g_array_append_vals(sorted, extras, (guint)length);
    g_array_sort(sorted, orch_compare_texts);
    for (guint i = 0; i < sorted->len; i++) {
        const struct orch_bundle_extra *extra = &g_array_index(sorted, struct orch_bundle_extra, i);
        g_autofree char *path = extra_path(extra->path);
        if (g_strcmp0(path, extra->path) != 0 || extra->length > EXTRA_BYTES_MAX) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                           "cannot put '%s' into a bundle: its path is not valid, or it is larger "
                           "than 256 MiB",
                           extra->path);
            return false;
        }
        if (!orch_tar_add(w->tar, path, extra->bytes, extra->length, error))
            return false;
    }
    return true;
}

bool orch_bundle_write_filtered(struct orch_store *store, const struct orch_item_choice *choice,
                                bundle_filter_fn filter, void *ctx,
                                const struct orch_bundle_extra *extras, size_t extra_count,
                                const char *path, struct bundle_written *out, GError **error)
{
    struct writing w = {.filter = filter, .ctx = ctx};
    const struct orch_item_sink sink = {&w, wants, take, take_file};
    w.tar = orch_tar_create(path, error);
    if (!w.tar)
        return false;
    bool ok = orch_tar_add(w.tar, FORMAT_PATH, ORCH_ITEM_FORMAT, strlen(ORCH_ITEM_FORMAT), error) &&
              orch_items_visit(store, choice, &sink, NULL, error) &&
              add_extras(&w, extras, extra_count, error);
    if (!orch_tar_finish(w.tar, ok, &w.out.bytes, error))
        return false;
    *out = w.out;
    return true;
}

bool orch_bundle_write(struct orch_store *store, const struct orch_item_choice *choice,
                       const struct orch_bundle_extra *extras, size_t extra_count, const char *path,
                       int64_t *out_items, int64_t *out_runs, GError **error)
{
    struct bundle_written written;
    if (!orch_bundle_write_filtered(store, choice, NULL, NULL, extras, extra_count, path, &written,
                                    error))
        return false;
    if (out_items)
        *out_items = written.items;
    if (out_runs)
        *out_runs = written.runs;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static bool refuse_file(const char *path, const char *hint, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO, hint, "cannot read bundle '%s': %s", path, what);
    return false;
}

/* Checks the first entry, which is the format. */
static bool check_format(struct orch_tar *tar, const char *path, GError **error)
{
    static const char hint[] = "make a bundle with 'orch export --bundle'";
    const struct orch_tar_entry *entry;
    char text[64] = "";
    if (!orch_tar_next(tar, &entry, error))
        return false;
    if (!entry || entry->kind != ORCH_TAR_FILE || strcmp(entry->name, FORMAT_PATH) != 0 ||
        entry->size >= (int64_t)sizeof text)
        return refuse_file(path, hint, "it is not a bundle written by orch", error);
    if (!orch_tar_read(tar, text, (size_t)entry->size, error))
        return false;
    if (strcmp(text, ORCH_ITEM_FORMAT) == 0)
        return true;
    return g_str_has_prefix(text, FORMAT_WORDS)
               ? refuse_file(path, "update orch", "its format is newer than this version", error)
               : refuse_file(path, hint, "it is not a bundle written by orch", error);
}

static struct orch_tar *open_bundle(const char *path, GError **error)
{
    struct stat info;
    if (!orch_bundle_is(path)) {
        refuse_file(path, "make a bundle with 'orch export --bundle'",
                    "it does not exist or is not gzip-compressed", error);
        return NULL;
    }
    int64_t packed = stat(path, &info) == 0 ? info.st_size : 0;
    int64_t most = UNPACKED_ALWAYS + UNPACKED_RATIO_MAX * MIN(packed, INT64_C(1) << 50);
    struct orch_tar *tar = orch_tar_open(path, most, error);
    if (tar && !check_format(tar, path, error))
        g_clear_pointer(&tar, orch_tar_close);
    return tar;
}

bool orch_bundle_is(const char *path)
{
    uint8_t bytes[2] = {0};
    FILE *file = orch_file_open_stream(path, NULL);
    bool ok = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
    if (file)
        fclose(file);
    return ok && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

bool orch_bundle_may_write(const char *path, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || orch_bundle_is(path))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "choose another name, such as results.orch",
                   "'%s' already exists, and is neither a bundle nor a pack", path);
    return false;
}

bool orch_pack_is_file(const char *path)
{
    static const char *const names[] = {"pack.json",           "report.json",
                                        "report.html",         "ro-crate-metadata.json",
                                        "statement.dsse.json", NULL};
    return g_strv_contains(names, path) || g_str_has_prefix(path, "source/");
}

struct reading {
    struct orch_tar *tar;
    struct orch_join *join;
    struct orch_store *store;
    orch_bundle_extra_fn extra;
    void *extra_ctx;
    GHashTable *seen; /* paths of extras */
    GString *bytes;   /* bytes of the entry */
    bool is_proved;
    bool store_failed;
};

static void refuse(struct reading *r, const char *name, const char *why)
{
    g_autofree char *valid = g_utf8_make_valid(name, (gssize)strnlen(name, 200));
    orch_join_refuse(r->join, "'%s' %s", orch_text_plain(valid), why);
    r->is_proved = false;
}

/* Reads the entry in pieces, so that memory is allocated for bytes that exist and not for the size
 * that the header claims. */
static bool read_bytes(struct reading *r, int64_t size, GError **error)
{
    enum { PIECE = 1 << 20 };
    g_string_truncate(r->bytes, 0);
    while (size > 0) {
        size_t piece = (size_t)MIN(size, PIECE), before = r->bytes->len;
        g_string_set_size(r->bytes, before + piece);
        if (!orch_tar_read(r->tar, r->bytes->str + before, piece, error))
            return false;
        size -= (int64_t)piece;
    }
    return true;
}

static bool read_item(struct reading *r, const struct orch_tar_entry *entry,
                      const struct orch_item_name *name, GError **error)
{
    enum item_outcome fate;
    int64_t most = orch_item_limit(name->kind);
    if (entry->size > (most < 0 ? ARTIFACT_BYTES_MAX : most)) {
        refuse(r, entry->name, "is larger than allowed");
        return true;
    }
    if (!read_bytes(r, entry->size, error))
        return false;
    r->store_failed = !orch_item_join_outcome(r->join, r->store, name, r->bytes->str, r->bytes->len,
                                              &fate, error);
    r->is_proved = r->is_proved && fate == ITEM_TAKEN;
    return !r->store_failed;
}

static bool read_extra(struct reading *r, const struct orch_tar_entry *entry, GError **error)
{
    g_autofree char *path = extra_path(entry->name);
    const char *why = !path                           ? "is not a valid name for a file in a bundle"
                      : !r->extra                     ? "is not a file that belongs in a bundle"
                      : entry->size > EXTRA_BYTES_MAX ? "is larger than allowed"
                      : !g_hash_table_add(r->seen, g_strdup(path)) ? "is there twice"
                                                                   : NULL;
    if (why) {
        refuse(r, entry->name, why);
        return true;
    }
    if (!read_bytes(r, entry->size, error))
        return false;
    r->store_failed = !r->extra(r->extra_ctx, path, r->bytes->str, r->bytes->len, error);
    return !r->store_failed;
}

static bool read_entry(struct reading *r, const struct orch_tar_entry *entry, GError **error)
{
    struct orch_item_name name;
    if (entry->kind == ORCH_TAR_FOLDER) /* folders are ignored */
        return true;
    if (entry->kind != ORCH_TAR_FILE) {
        refuse(r, entry->name, "is a link or a device");
        return true;
    }
    return orch_item_name_parse(entry->name, &name) ? read_item(r, entry, &name, error)
                                                    : read_extra(r, entry, error);
}

bool orch_bundle_join_verified(struct orch_join *join, struct orch_store *store, const char *path,
                               orch_bundle_extra_fn extra, void *ctx, enum bundle_verification *out,
                               GError **error)
{
    struct reading r = {
        .join = join, .store = store, .extra = extra, .extra_ctx = ctx, .is_proved = true};
    const struct orch_tar_entry *entry = NULL;
    r.tar = open_bundle(path, error);
    r.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r.bytes = g_string_new(NULL);
    bool ok = r.tar != NULL;
    while (ok && (ok = orch_tar_next(r.tar, &entry, error)) && entry)
        ok = read_entry(&r, entry, error);
    *out = !ok && !r.store_failed ? BUNDLE_DAMAGED
           : r.is_proved          ? BUNDLE_VERIFIED
                                  : BUNDLE_UNVERIFIED;
    orch_tar_close(r.tar);
    g_hash_table_unref(r.seen);
    g_string_free(r.bytes, TRUE);
    return ok;
}

bool orch_bundle_join(struct orch_join *join, struct orch_store *store, const char *path,
                      orch_bundle_extra_fn extra, void *ctx, GError **error)
{
    enum bundle_verification worth;
    return orch_bundle_join_verified(join, store, path, extra, ctx, &worth, error);
}

bool orch_bundle_names(const char *path, bundle_name_fn visit, void *ctx, GError **error)
{
    const struct orch_tar_entry *entry = NULL;
    struct orch_item_name name;
    struct orch_tar *tar = open_bundle(path, error);
    bool ok = tar != NULL;
    while (ok && (ok = orch_tar_next(tar, &entry, error)) && entry)
        if (entry->kind == ORCH_TAR_FILE && orch_item_name_parse(entry->name, &name))
            visit(ctx, &name);
    orch_tar_close(tar);
    return ok;
}
