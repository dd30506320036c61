/* SPDX-License-Identifier: MIT */
#include "core/host/opened_rows.h"

#include "core/host/opened_files.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROWS_MAX = 70000, MOVES_MAX = 1000, NAMED_MAX = 12 };

/* What a trial did with the file of a name. */
struct row {
    char *name;
    bool was_read, is_own; /* written, and before it was read */
    bool is_written, is_removed, is_opened /* for writing */;
    bool was_moved;         /* its folder was renamed */
    bool has_read, has_own; /* identities */
    struct orch_watch_identity read, own;
};

struct rows {
    const GPtrArray *places;
    GPtrArray *list;       /* struct row *, in the order of the first record */
    GHashTable *by_name;   /* char * -> struct row *, borrowed */
    GHashTable *own_files; /* uint64_t checks of the identities of own files */
    GString *others;       /* rows of what was only looked at or listed */
    GPtrArray *starts;     /* char *: programs that were not observed */
    GPtrArray *rings;      /* char *: programs that use io_uring */
    unsigned bad_names, moves, left_out;
};

static void free_row(gpointer data)
{
    struct row *row = data;
    g_free(row->name);
    g_free(row);
}

/* The name of a path; NULL: it is left out. The caller frees. */
static char *name_of(const struct rows *r, const char *path)
{
    for (guint i = 0; i < r->places->len; i++) {
        const struct opened_place *place = r->places->pdata[i];
        const char *rest = orch_path_within(path, place->path);
        if (rest && !place->name)
            return NULL;
        if (rest && (*rest || *place->name))
            return !*rest         ? g_strdup(place->name)
                   : *place->name ? g_build_filename(place->name, rest, NULL)
                                  : g_strdup(rest);
    }
    return g_strdup(path);
}

/* The row of a name, which is made when there is none. Takes `name` over. NULL: none. */
static struct row *row_of(struct rows *r, char *name)
{
    struct row *row = name ? g_hash_table_lookup(r->by_name, name) : NULL;
    bool is_new = name && !row;
    if (is_new && !g_utf8_validate(name, -1, NULL))
        r->bad_names++;
    else if (is_new && r->list->len >= ROWS_MAX)
        r->left_out++;
    else if (is_new) {
        row = g_new0(struct row, 1);
        row->name = g_steal_pointer(&name);
        g_ptr_array_add(r->list, row);
        g_hash_table_insert(r->by_name, row->name, row);
    }
    g_free(name);
    return row;
}

/* A text in UTF-8 as one of JSON. */
static void append_text(GString *out, const char *text)
{
    const char *c = text;
    while ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\' && *c != 0x7f)
        c++;
    if (!*c) {
        g_string_append_c(out, '"');
        g_string_append(out, text);
        g_string_append_c(out, '"');
        return;
    }
    g_autoptr(json_t) value = json_string(text);
    char *escaped = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append(out, escaped ? escaped : "\"\"");
    free(escaped);
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void take_read(struct rows *r, struct row *row, const struct orch_watch_identity *identity)
{
    uint64_t check = identity ? orch_watch_check(identity) : 0;
    if (row->was_read)
        return;
    if (!row->is_written && identity && g_hash_table_contains(r->own_files, &check))
        row->is_own = row->is_written = true; /* the trial wrote it under another name */
    row->was_read = true;
    row->has_read = identity != NULL;
    row->read = identity ? *identity : row->read;
}

static void take_write(struct rows *r, struct row *row, const struct orch_watch_identity *identity)
{
    if (!row->is_written)
        row->is_own = !row->was_read;
    row->is_written = true;
    row->is_removed = identity && identity->inode == 0;
    row->has_own = identity && !row->is_removed;
    if (!row->has_own)
        return;
    row->own = *identity;
    uint64_t check = orch_watch_check(identity);
    g_hash_table_add(r->own_files, g_memdup2(&check, sizeof check));
}

static void take_touch(struct row *row, const struct orch_watch_identity *identity)
{
    if (row->is_written || !identity)
        return;
    row->has_own = true;
    row->own = *identity;
}

/* What the trial had written below the folder lies below its new name, too; what it had not written
 * is gone by its own hand. */
static void take_move(struct rows *r, const char *from_path, const char *to_path)
{
    g_autofree char *from = name_of(r, from_path);
    g_autofree char *to = name_of(r, to_path);
    guint count = r->list->len;
    if (r->moves++ >= MOVES_MAX || !from || !to)
        return;
    for (guint i = 0; i < count; i++) {
        struct row *row = r->list->pdata[i];
        const char *rest = orch_path_below(row->name, from);
        if (rest && !row->is_written)
            row->is_written = row->is_removed = true;
        else if (rest && !row->is_removed) {
            row->was_moved = true; /* and may have been written again */
            struct row *moved = row_of(r, g_build_filename(to, rest, NULL));
            if (moved)
                take_write(r, moved, row->has_own ? &row->own : NULL);
        }
    }
}

static void take_other(struct rows *r, const char *kind, char *name)
{
    if (name && g_utf8_validate(name, -1, NULL)) {
        g_string_append_printf(r->others, "%s[\"%s\",", r->others->len ? "," : "", kind);
        append_text(r->others, name);
        g_string_append(r->others, ",{}]");
    }
    g_free(name);
}

static void take(void *ctx, const struct orch_watch_entry *entry)
{
    struct rows *r = ctx;
    struct row *row = NULL;
    switch (entry->kind) {
    case ORCH_WATCH_READ:
        if (entry->identity && !entry->identity->inode)
            return; /* no regular file */
        if ((row = row_of(r, name_of(r, entry->path))))
            take_read(r, row, entry->identity);
        return;
    case ORCH_WATCH_WRITE:
        if ((row = row_of(r, name_of(r, entry->path)))) {
            take_write(r, row, entry->identity);
            row->is_opened = entry->is_opened;
        }
        return;
    case ORCH_WATCH_TOUCH:
        if ((row = row_of(r, name_of(r, entry->path))))
            take_touch(row, entry->identity);
        return;
    case ORCH_WATCH_LOOK:
        take_other(r, "s", name_of(r, entry->path));
        return;
    case ORCH_WATCH_LIST:
        take_other(r, "d", name_of(r, entry->path));
        return;
    case ORCH_WATCH_MOVE:
        if (entry->to)
            take_move(r, entry->path, entry->to);
        return;
    case ORCH_WATCH_START:
        g_ptr_array_add(r->starts, g_path_get_basename(entry->path));
        return;
    case ORCH_WATCH_RING:
        g_ptr_array_add(r->rings, g_path_get_basename(entry->path));
        return;
    default:
        return;
    }
}

/* A check of which file it is, whatever it holds. */
static uint64_t file_check(const struct orch_watch_identity *identity)
{
    return orch_watch_check(
        &(struct orch_watch_identity){.device = identity->device, .inode = identity->inode});
}

/* What the trial wrote under one name has changed under its other names (hard links), too. */
static void take_other_names(const struct rows *r)
{
    g_autoptr(GHashTable) written =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < r->list->len; i++) {
        const struct row *row = r->list->pdata[i];
        uint64_t check = file_check(&row->own);
        if (row->is_opened && row->has_own)
            g_hash_table_insert(written, g_memdup2(&check, sizeof check), r->list->pdata[i]);
    }
    for (guint i = 0; g_hash_table_size(written) && i < r->list->len; i++) {
        struct row *row = r->list->pdata[i];
        uint64_t check = file_check(&row->read);
        const struct row *other = g_hash_table_lookup(written, &check);
        if (!other || !row->has_read || row->is_written)
            continue;
        row->is_written = row->is_opened = row->has_own = true;
        row->own = other->own;
    }
}

/* ---- real paths -------------------------------------------------------------------------------
 */

/* Folders without links. Files come by folders, so that the last one is kept. */
struct reals {
    const char *folder;
    char *real_folder;
    GHashTable *by_folder; /* char * -> char * or NULL */
    GString *path;         /* of a row */
    GString *above;        /* the folder of `path` */
    const char *real_above;
    bool is_plain; /* `above` has no links but those of `folder` */
};

static char *real_of(const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = g_strdup(real);
    free(real);
    return copy;
}

static const char *find_real(struct reals *reals)
{
    gpointer known = NULL;
    if (g_hash_table_lookup_extended(reals->by_folder, reals->above->str, NULL, &known))
        return known;
    char *real = real_of(reals->above->str);
    g_hash_table_insert(reals->by_folder, g_strdup(reals->above->str), real);
    return real;
}

/* The name of a row as it would be without links below the folder. The caller frees. */
static char *plain_path(const struct reals *reals, const char *name)
{
    return *name == '/' || !reals->real_folder ? g_strdup(reals->path->str)
                                               : g_build_filename(reals->real_folder, name, NULL);
}

/* Makes `path` that of a row, and looks at its folder. */
static void enter(struct reals *reals, const struct row *row)
{
    g_string_assign(reals->path, *row->name == '/' ? "" : reals->folder);
    if (*row->name != '/')
        g_string_append_c(reals->path, '/');
    g_string_append(reals->path, row->name);
    gsize length = (gsize)(strrchr(reals->path->str, '/') - reals->path->str);
    if (length == reals->above->len && memcmp(reals->path->str, reals->above->str, length) == 0)
        return;
    g_string_assign(reals->above, "");
    g_string_append_len(reals->above, reals->path->str, (gssize)length);
    reals->real_above = find_real(reals);
    g_autofree char *plain = plain_path(reals, row->name);
    reals->is_plain = reals->real_above && strlen(plain) > strlen(reals->real_above) &&
                      g_str_has_prefix(plain, reals->real_above) &&
                      !strchr(plain + strlen(reals->real_above) + 1, '/');
}

/* The path without links of the file of the entered row, where its name has some and still leads to
 * what was read. The caller frees. */
static char *real_path(const struct reals *reals, const struct row *row)
{
    struct stat info;
    if (!row->has_read || !reals->real_above || lstat(reals->path->str, &info) != 0 ||
        (reals->is_plain && !S_ISLNK(info.st_mode)))
        return NULL;
    const char *base = strrchr(reals->path->str, '/') + 1;
    g_autofree char *plain = plain_path(reals, row->name);
    g_autofree char *real = S_ISLNK(info.st_mode) ? real_of(reals->path->str)
                                                  : g_build_filename(reals->real_above, base, NULL);
    bool is_other = real && strcmp(real, plain) != 0;
    if (is_other && stat(real, &info) == 0 && info.st_dev == row->read.device &&
        info.st_ino == row->read.inode)
        return g_steal_pointer(&real);
    return NULL;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static void append_identity(GString *out, const char *name,
                            const struct orch_watch_identity *identity)
{
    g_string_append_printf(out,
                           "\"%s\":[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                           name, (int64_t)identity->device, (int64_t)identity->inode,
                           identity->size, identity->mtime_ns, identity->ctime_ns);
}

static bool is_gone(const struct reals *reals, const struct row *row)
{
    struct stat info;
    return row->is_removed || (row->was_moved && lstat(reals->path->str, &info) != 0);
}

/* True when a file that the trial read, and then opened for writing or renamed, lies where it was
 * and holds what it held. `row` gets what it is now. */
static bool is_back(const struct reals *reals, struct row *row)
{
    struct orch_watch_identity now;
    struct stat info;
    if (!row->is_written || row->is_own || !row->has_read || stat(reals->path->str, &info) != 0)
        return false;
    now = orch_watch_identity_of(&info);
    if (now.device != row->read.device || now.inode != row->read.inode ||
        now.size != row->read.size || now.mtime_ns != row->read.mtime_ns ||
        (row->is_opened && now.ctime_ns != row->read.ctime_ns)) /* times can be set back */
        return false;
    row->own = now;
    row->has_own = true;
    row->is_written = row->is_removed = row->was_moved = false;
    return true;
}

/* [kind, name, details]. The members of details are sorted, as in canonical JSON. */
static void append_row(GString *out, struct reals *reals, struct row *row)
{
    enter(reals, row);
    const char *comma = "";
    g_autofree char *real = real_path(reals, row);
    bool is_changed = row->is_written && !is_back(reals, row);
    g_string_append_printf(out, "[\"%s\",", row->is_own ? "w" : is_changed ? "u" : "r");
    append_text(out, row->name);
    g_string_append(out, ",{");
    if (is_gone(reals, row))
        g_string_append(out, "\"own\":null");
    else if (row->has_own)
        append_identity(out, "own", &row->own);
    comma = out->str[out->len - 1] == '{' ? "" : ",";
    if (row->has_read) {
        g_string_append(out, comma);
        append_identity(out, "read", &row->read);
        comma = ",";
    }
    if (real && g_utf8_validate(real, -1, NULL)) {
        g_string_append_printf(out, "%s\"real\":", comma);
        append_text(out, real);
    }
    g_string_append(out, "}]");
}

static void add_count(json_t *gaps, uint64_t count, const char *one, const char *many)
{
    if (count)
        json_array_append_new(
            gaps, json_sprintf("%" G_GUINT64_FORMAT " %s", count, count == 1 ? one : many));
}

static void add_names(json_t *gaps, const GPtrArray *names, const char *before, const char *behind)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint count = 0;
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = g_utf8_make_valid(names->pdata[i], -1);
        if (!g_hash_table_add(seen, names->pdata[i]) || ++count > NAMED_MAX)
            continue;
        g_autofree char *text = g_strconcat(before, name, behind, NULL);
        json_array_append_new(gaps, json_string(text));
    }
    if (count > NAMED_MAX)
        add_count(gaps, count - NAMED_MAX, "more such program", "more such programs");
}

/* ---- all --------------------------------------------------------------------------------------
 */

static void clear(struct rows *r, struct reals *reals)
{
    g_string_free(r->others, TRUE);
    g_ptr_array_unref(r->list);
    g_ptr_array_unref(r->starts);
    g_ptr_array_unref(r->rings);
    g_hash_table_unref(r->by_name);
    g_hash_table_unref(r->own_files);
    g_hash_table_unref(reals->by_folder);
    g_string_free(reals->path, TRUE);
    g_string_free(reals->above, TRUE);
    g_free(reals->real_folder);
}

static void add_gaps(json_t *gaps, const struct rows *r, const struct orch_watch_gaps *counts)
{
    add_names(gaps, r->starts, "started '", "' unobserved");
    add_names(gaps, r->rings, "'", "' may open files by io_uring, which is not observed");
    add_count(gaps, counts->lost, "program did not load orch-watch.so",
              "programs did not load orch-watch.so");
    add_count(gaps, counts->left_out + r->left_out, "file did not fit", "files did not fit");
    add_count(gaps, counts->unwatched, "folder did not fit", "folders did not fit");
    add_count(gaps, r->bad_names, "name is not UTF-8", "names are not UTF-8");
    add_count(gaps, counts->unnamed, "path is too long or unknown",
              "paths are too long or unknown");
    add_count(gaps, r->moves > MOVES_MAX ? r->moves - MOVES_MAX : 0, "folder was renamed later",
              "folders were renamed later");
}

char *orch_opened_rows(const struct orch_watch_memory *memory, const GPtrArray *places,
                       const char *folder, json_t *gaps)
{
    struct rows r = {.places = places,
                     .list = g_ptr_array_new_with_free_func(free_row),
                     .by_name = g_hash_table_new(g_str_hash, g_str_equal),
                     .own_files = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                     .others = g_string_new(NULL),
                     .starts = g_ptr_array_new_with_free_func(g_free),
                     .rings = g_ptr_array_new_with_free_func(g_free)};
    struct reals reals = {.folder = folder,
                          .real_folder = real_of(folder),
                          .by_folder =
                              g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                          .path = g_string_new(NULL),
                          .above = g_string_new(NULL)};
    struct orch_watch_gaps counts = orch_watch_memory_gaps(memory);
    GString *out = g_string_new("[");
    orch_watch_memory_visit(memory, take, &r);
    take_other_names(&r);
    for (guint i = 0; i < r.list->len; i++) {
        struct row *row = r.list->pdata[i];
        if (!row->was_read && !row->is_written)
            continue;
        if (out->len > 1)
            g_string_append_c(out, ',');
        append_row(out, &reals, row);
    }
    g_string_append_printf(out, "%s%s]", out->len > 1 && r.others->len ? "," : "", r.others->str);
    add_gaps(gaps, &r, &counts);
    clear(&r, &reals);
    return g_string_free(out, FALSE);
}
