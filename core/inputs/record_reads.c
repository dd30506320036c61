/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A digest is taken first, and then the file is compared with what the trial opened: what is
 * recorded is what was read. */
#include "core/inputs/opened.h"

#include "core/inputs/content_digest.h"
#include "core/inputs/scripts.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <dirent.h>
#include <string.h>

/* The record of one run. */
struct keeping {
    const struct orch_ended_trial *trial;
    const struct orch_opened *opened;
    struct orch_file_digests *digests;
    GHashTable *there; /* name of an input that the record had -> its row; both borrowed */
    GHashTable *whole; /* folders of which many files were read, which are done */
    json_t *inputs, *rewritten, *gaps;
    json_t *code; /* digests of Python scripts without comments, by name */
    int64_t left_out;
};

static const char *row_text(const json_t *row, size_t column)
{
    return json_string_value(json_array_get(row, column));
}

/* Words of a plugin and parameters with another run's artifact are no files. */
static bool is_file(const json_t *row)
{
    return json_is_null(json_array_get(row, 1)) && !json_is_true(json_array_get(row, 3));
}

/* The row that the record had for a file, or for a folder above it: one that is named counts with
 * all below it. NULL for none. Borrowed. */
static const json_t *row_of(const struct keeping *k, const char *name)
{
    const json_t *row = g_hash_table_lookup(k->there, name);
    g_autofree char *above = g_strdup(name);
    for (char *slash; !row && (slash = strrchr(above, '/')) && slash > above;) {
        slash[1] = 0;
        row = g_hash_table_lookup(k->there, above);
        *slash = 0;
        row = row ? row : g_hash_table_lookup(k->there, above);
        row = row && is_file(row) ? row : NULL;
    }
    return row;
}

/* Adds a name to a list of names, once. */
static void add_name(json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (g_strcmp0(json_string_value(json_array_get(list, i)), name) == 0)
            return;
    json_array_append_new(list, json_string(name));
}

static bool is_same(const struct keeping *k, const struct orch_opened_file *file)
{
    return orch_opened_is_same(k->opened, file, k->trial->started_ns);
}

static void add_input(struct keeping *k, const char *name, const char *digest,
                      enum orch_digest_extent extent)
{
    char code[ORCH_SHA256_CHARS];
    g_autofree char *absolute = orch_opened_path(k->opened, name);
    json_array_append_new(k->inputs, json_pack("[sns]", name, digest));
    if (orch_script_file_digest(absolute, code))
        json_object_set_new(k->code, name, json_string(code));
    if (extent != ORCH_DIGEST_WHOLE)
        json_array_append_new(
            k->gaps, json_sprintf("%s is too large to be read: compared by size and time", name));
}

static bool has_room(struct keeping *k)
{
    if (json_array_size(k->inputs) < ORCH_READS_MAX)
        return true;
    k->left_out++;
    return false;
}

static void keep_file(struct keeping *k, const struct orch_opened_file *file)
{
    char digest[ORCH_SHA256_CHARS];
    enum orch_digest_extent extent;
    g_autofree char *absolute = orch_opened_path(k->opened, file->name);
    if (!has_room(k))
        return;
    bool is_there = orch_reads_digest(k->digests, absolute, NULL, digest, &extent);
    if (is_there && is_same(k, file))
        add_input(k, file->name, digest, extent);
    else
        add_name(k->rewritten, file->name);
}

/* Compares a file that the record has already with what the trial read. The record has the digest
 * of its content when the trial was planned, of a folder that of all files. */
static void check_recorded(struct keeping *k, const struct orch_opened_file *file,
                           const json_t *row)
{
    char digest[ORCH_SHA256_CHARS];
    enum orch_digest_extent extent;
    const char *then = row_text(row, 2);
    bool is_itself = g_strcmp0(row_text(row, 0), file->name) == 0 && is_file(row);
    g_autofree char *absolute = orch_opened_path(k->opened, file->name);
    bool is_known = is_itself && then && *then &&
                    orch_reads_digest(k->digests, absolute, NULL, digest, &extent) &&
                    extent == ORCH_DIGEST_WHOLE;
    if (!is_same(k, file) || (is_known && strcmp(digest, then) != 0))
        add_name(k->rewritten, file->name);
}

/* ---- folders ----------------------------------------------------------------------------------
 */

/* folder -> GPtrArray of the struct orch_opened_file * read in it, borrowed. */
static GHashTable *by_folder(const GPtrArray *files)
{
    GHashTable *folders =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < files->len; i++) {
        const struct orch_opened_file *file = files->pdata[i];
        g_autofree char *folder = g_path_get_dirname(file->name);
        GPtrArray *there = g_hash_table_lookup(folders, folder);
        if (!there) {
            there = g_ptr_array_new();
            g_hash_table_insert(folders, g_steal_pointer(&folder), there);
        }
        g_ptr_array_add(there, files->pdata[i]);
    }
    return folders;
}

/* The number of files that the trial wrote below a folder. */
static guint count_written_below(const struct orch_opened *opened, const char *folder)
{
    guint count = 0;
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, opened->written);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        count += orch_path_below(name, folder) != NULL;
    return count;
}

static bool is_list_of_written_cut(const struct orch_opened *opened)
{
    return opened->wrote->len > ORCH_WROTE_MAX || opened->both->len > ORCH_WROTE_MAX;
}

/* Keeps a folder of which many files were read as a whole. What the trial wrote there does not
 * count, and a later plan knows that from the names that the record has. */
static void keep_folder(struct keeping *k, const char *folder, const GPtrArray *files)
{
    char digest[ORCH_SHA256_CHARS];
    enum orch_digest_extent extent;
    bool is_whole = true;
    g_autofree char *name = g_strconcat(folder, "/", NULL);
    g_autofree char *absolute = orch_opened_path(k->opened, folder);
    g_autofree char *path = g_strconcat(absolute, "/", NULL);
    g_autoptr(GHashTable) own = orch_own_in_folder(name, k->opened->written);
    if (!has_room(k))
        return;
    bool is_there = orch_reads_digest(k->digests, path, own, digest, &extent);
    for (guint i = 0; i < files->len; i++)
        if (!is_same(k, files->pdata[i])) {
            add_name(k->rewritten, ((const struct orch_opened_file *)files->pdata[i])->name);
            is_whole = false;
        }
    if (own && is_list_of_written_cut(k->opened))
        json_array_append_new(
            k->gaps, json_sprintf("%s is not compared: the run wrote many files there", name));
    else if (is_there && is_whole)
        add_input(k, name, digest, extent);
}

static void keep_reads(struct keeping *k)
{
    const GPtrArray *files = k->opened->read;
    g_autoptr(GHashTable) folders = by_folder(files);
    for (guint i = 0; i < files->len; i++) {
        const struct orch_opened_file *file = files->pdata[i];
        g_autofree char *folder = g_path_get_dirname(file->name);
        const GPtrArray *there = g_hash_table_lookup(folders, folder);
        if (g_hash_table_contains(k->whole, folder))
            continue;
        const json_t *row = row_of(k, file->name);
        if (row)
            check_recorded(k, file, row);
        else if (there->len <= ORCH_READS_OF_FOLDER || strcmp(folder, ".") == 0)
            keep_file(k, file);
        else {
            keep_folder(k, folder, there);
            g_hash_table_add(k->whole, g_steal_pointer(&folder));
        }
    }
}

/* ---- folders that were listed -----------------------------------------------------------------
 */

/* True when a module was read from a folder: Python lists those. */
static bool has_modules(const GPtrArray *files)
{
    for (guint i = 0; i < files->len; i++)
        if (orch_script_language_of(((const struct orch_opened_file *)files->pdata[i])->name) !=
            ORCH_SCRIPT_NONE)
            return true;
    return false;
}

/* True when a file of the folder that ends with `suffix` may have come there after the trial had
 * listed it: it has changed since, and the trial has not read it. */
static bool got_files(const struct keeping *k, const char *folder, const char *suffix)
{
    struct stat info;
    bool is_new = false;
    const struct orch_file_id *then = g_hash_table_lookup(k->opened->listed, folder);
    g_autofree char *absolute = orch_opened_path(k->opened, folder);
    if (!then || !then->is_known || stat(absolute, &info) != 0 ||
        orch_timespec_ns(info.st_ctim) == then->changed_ns)
        return false;
    g_autoptr(GHashTable) read = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < k->opened->read->len; i++)
        g_hash_table_add(read, ((struct orch_opened_file *)k->opened->read->pdata[i])->name);
    int64_t since_ns = MAX(then->changed_ns, k->trial->started_ns);
    DIR *dir = opendir(absolute);
    for (struct dirent *entry; dir && !is_new && (entry = readdir(dir));) {
        g_autofree char *name = g_build_filename(folder, entry->d_name, NULL);
        is_new = *entry->d_name != '.' && g_str_has_suffix(entry->d_name, suffix) &&
                 !g_hash_table_contains(read, name) &&
                 fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode) &&
                 orch_file_may_have_changed(orch_timespec_ns(info.st_ctim), since_ns);
    }
    if (dir)
        closedir(dir);
    return is_new;
}

/* Of a folder that was listed and from which files were read, the names of all files of these kinds
 * are an input, named by a pattern. Not in the root, where people put files of any purpose. */
static void keep_pattern(struct keeping *k, const char *folder, const char *suffix)
{
    char digest[ORCH_SHA256_CHARS];
    g_autofree char *name = g_strconcat(folder, "/*", suffix, NULL);
    g_autofree char *absolute = orch_opened_path(k->opened, name);
    if (row_of(k, name) || g_hash_table_contains(k->whole, folder) || !has_room(k))
        return;
    if (got_files(k, folder, suffix))
        json_array_append_new(k->gaps, json_sprintf("%s got files while it ran", name));
    else if (orch_reads_digest(k->digests, absolute, NULL, digest, NULL))
        add_input(k, name, digest, ORCH_DIGEST_WHOLE);
}

static void keep_listed(struct keeping *k)
{
    g_autoptr(GHashTable) folders = by_folder(k->opened->read);
    GHashTableIter iter;
    gpointer folder, files;
    g_hash_table_iter_init(&iter, folders);
    while (g_hash_table_iter_next(&iter, &folder, &files)) {
        const GPtrArray *read = files;
        if (strcmp(folder, ".") == 0 || !g_hash_table_contains(k->opened->listed, folder) ||
            count_written_below(k->opened, folder) || has_modules(read))
            continue;
        g_autoptr(GHashTable) suffixes = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < read->len; i++) {
            const char *name = ((const struct orch_opened_file *)read->pdata[i])->name;
            const char *dot = strrchr(name + strlen(folder), '.'), *suffix = dot ? dot : "";
            if (g_hash_table_add(suffixes, (gpointer)(uintptr_t)suffix))
                keep_pattern(k, folder, suffix);
        }
    }
}

/* ---- facts ------------------------------------------------------------------------------------
 */

static void set_names(json_t *facts, const char *key, const GPtrArray *files)
{
    json_t *list = json_array();
    for (guint i = 0; i < MIN(files->len, (guint)ORCH_WROTE_MAX); i++)
        json_array_append_new(
            list, json_string(((const struct orch_opened_file *)files->pdata[i])->name));
    if (json_array_size(list))
        json_object_set_new(facts, key, list);
    else
        json_decref(list);
}

/* Notes how the trial left the files that it wrote, unless somebody else has replaced them. */
static void set_left_as(const struct keeping *k, const GPtrArray *files, json_t *left_as)
{
    for (guint i = 0; i < MIN(files->len, (guint)ORCH_WROTE_MAX); i++) {
        struct stat info;
        const struct orch_opened_file *file = files->pdata[i];
        g_autofree char *path = orch_opened_path(k->opened, file->name);
        bool is_its_own = stat(path, &info) == 0 &&
                          (!file->own.is_known || file->own.inode == orch_file_id_of(&info).inode);
        if (is_its_own)
            json_object_set_new(left_as, file->name,
                                json_pack("[II]", (json_int_t)info.st_size,
                                          (json_int_t)orch_timespec_ns(info.st_mtim)));
    }
}

static void add_gaps(struct keeping *k)
{
    const GPtrArray *gaps = k->opened->gaps;
    for (guint i = 0; i < gaps->len; i++)
        json_array_append_new(k->gaps, json_string(gaps->pdata[i]));
}

/* Adds the names to those that the scheduler has found. */
static void set_rewritten(const struct keeping *k)
{
    const json_t *found = json_object_get(k->trial->facts, ORCH_FACT_REWRITTEN);
    g_autoptr(json_t) all = found ? json_copy((json_t *)(uintptr_t)found) : json_array();
    for (size_t i = 0; i < json_array_size(k->rewritten); i++)
        add_name(all, json_string_value(json_array_get(k->rewritten, i)));
    if (json_array_size(all))
        json_object_set(k->trial->facts, ORCH_FACT_REWRITTEN, all);
}

static void set_facts(struct keeping *k)
{
    json_t *facts = k->trial->facts;
    g_autoptr(json_t) left_as = json_object();
    json_t *watched = json_pack("{s:I}", "read", (json_int_t)k->opened->read->len);
    if (k->left_out)
        json_array_append_new(k->gaps, json_sprintf("%lld more files that it read are not compared",
                                                    (long long)k->left_out));
    if (json_array_size(k->gaps))
        json_object_set(watched, ORCH_WATCHED_GAPS, k->gaps);
    json_object_set_new(facts, ORCH_FACT_WATCHED, watched);
    set_names(facts, ORCH_FACT_WROTE, k->opened->wrote);
    set_names(facts, ORCH_FACT_READ_AND_WRITTEN, k->opened->both);
    set_left_as(k, k->opened->wrote, left_as);
    set_left_as(k, k->opened->both, left_as);
    if (json_object_size(left_as))
        json_object_set(facts, ORCH_FACT_LEFT_AS, left_as);
    if (json_object_size(k->code))
        json_object_set(facts, ORCH_FACT_READ_CODE, k->code);
    set_rewritten(k);
}

static void keep(const struct orch_ended_trial *trial, const struct orch_opened *opened,
                 struct orch_file_digests *digests)
{
    json_t *there = json_object_get(trial->record, "inputs");
    g_autoptr(json_t) inputs = there ? json_incref(there) : json_array();
    g_autoptr(json_t) rewritten = json_array(), code = json_object(), gaps = json_array();
    g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) whole = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct keeping k = {.trial = trial,
                        .opened = opened,
                        .digests = digests,
                        .there = rows,
                        .whole = whole,
                        .inputs = inputs,
                        .rewritten = rewritten,
                        .gaps = gaps,
                        .code = code};
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        json_t *row = json_array_get(inputs, i);
        if (row_text(row, 0))
            g_hash_table_insert(rows, (gpointer)(uintptr_t)row_text(row, 0), row);
    }
    add_gaps(&k);
    keep_reads(&k);
    keep_listed(&k);
    json_object_set(trial->record, "inputs", inputs);
    set_facts(&k);
}

void orch_reads_keep(const struct orch_ended_trial *trial, const struct orch_opened *opened,
                     int folder, struct orch_file_digests *digests)
{
    struct orch_opened read;
    if (!opened) {
        orch_opened_read(folder, &read);
        orch_reads_keep(trial, &read, folder, digests);
        orch_opened_clear(&read);
        return;
    }
    if (opened->why)
        json_object_set_new(trial->facts, ORCH_FACT_UNWATCHED, json_string(opened->why));
    if (opened->folder)
        keep(trial, opened, digests);
}
