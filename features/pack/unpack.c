/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/unpack.h"

#include "features/pack/listed.h"
#include "features/pack/pack.h"
#include "features/pack/statement.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 100000, PROBLEMS_MAX = 200 };
#define HTML_BYTES_MAX ((size_t)64 << 20)
#define EXTRA_BYTES_MAX ((int64_t)1 << 30)

/* The state while files are received. */
struct taking {
    struct orch_pack *pack;
    int64_t bytes;
};

static void problem(struct orch_pack *pack, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void problem(struct orch_pack *pack, const char *format, ...)
{
    if (pack->problems->len >= PROBLEMS_MAX)
        return;
    va_list args;
    va_start(args, format);
    g_ptr_array_add(pack->problems, g_strdup_vprintf(format, args));
    va_end(args);
}

const json_t *orch_pack_member(const struct orch_pack *pack, const char *name)
{
    return json_object_get(pack->json, name);
}

void orch_pack_free(struct orch_pack *pack)
{
    if (!pack)
        return;
    if (pack->folder)
        orch_tree_remove(pack->folder, NULL);
    g_free(pack->folder);
    g_free(pack->db);
    json_decref(pack->json);
    json_decref(pack->report);
    g_free(pack->html);
    g_free(pack->text);
    g_free(pack->signed_by);
    g_free(pack->statement);
    g_hash_table_unref(pack->files);
    g_hash_table_unref(pack->trees);
    orch_receipt_free(pack->receipt);
    g_ptr_array_unref(pack->problems);
    g_free(pack);
}

/* ---- taking its files --------------------------------------------------------------------------
 */

/* A second line of defence: the bundle's reader has already rejected paths that leave the folder.
 */
static bool path_is_safe(const char *path)
{
    for (const char *p = path; *p; p++)
        if (g_ascii_iscntrl(*p) || *p == '\\')
            return false;
    return orch_tree_path_is_valid(path);
}

static bool keep_source(struct orch_pack *pack, const char *path, const char *bytes, size_t length,
                        GError **error)
{
    g_autofree char *full = g_build_filename(pack->folder, path, NULL);
    g_autofree char *folder = g_path_get_dirname(full);
    GError *reason = NULL;
    if (orch_dir_make(folder, &reason) && orch_file_write(full, bytes, length, false, &reason))
        return true;
    if (g_file_test(folder, G_FILE_TEST_IS_DIR) && !g_file_test(full, G_FILE_TEST_IS_DIR)) {
        g_propagate_error(error, reason); /* a local disk error, not a fault of the pack */
        return false;
    }
    problem(pack, "'%s' has the same path as another file", path);
    g_clear_error(&reason);
    return true;
}

static bool take_file(void *ctx, const char *path, const char *bytes, size_t length, GError **error)
{
    struct taking *taking = ctx;
    struct orch_pack *pack = taking->pack;
    taking->bytes += (int64_t)length;
    if (!path_is_safe(path) || g_hash_table_size(pack->files) >= FILES_MAX ||
        taking->bytes > EXTRA_BYTES_MAX) {
        g_autofree char *shown = g_strescape(path, NULL);
        problem(pack, "'%.200s' has an unsafe path or exceeds the size limits", shown);
        return true;
    }
    if (g_hash_table_contains(pack->files, path)) {
        problem(pack, "'%s' occurs twice in the pack", path);
        return true;
    }
    char *digest = g_malloc0(ORCH_SHA256_CHARS);
    orch_sha256(bytes, length, digest);
    g_hash_table_insert(pack->files, g_strdup(path), digest);
    if (strcmp(path, "pack.json") == 0 && length <= ORCH_PACK_JSON_MAX)
        pack->text = g_strndup(bytes, length);
    else if (strcmp(path, ORCH_STATEMENT_FILE) == 0 && length <= ORCH_PACK_JSON_MAX)
        pack->statement = g_strndup(bytes, length);
    else if (strcmp(path, "report.html") == 0 && length <= HTML_BYTES_MAX)
        pack->html = g_strndup(bytes, length);
    else if (strcmp(path, "report.json") == 0)
        pack->report = orch_json_parse(bytes, length, ORCH_PACK_JSON_MAX, NULL);
    else if (g_str_has_prefix(path, "source/"))
        return keep_source(pack, path, bytes, length, error);
    return true;
}

/* ---- checking ----------------------------------------------------------------------------------
 */

static void check_files(struct orch_pack *pack)
{
    const json_t *list = orch_pack_member(pack, "files");
    g_autoptr(GHashTable) listed = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *path = orch_json_text(row, "path", "");
        const char *there = g_hash_table_lookup(pack->files, path);
        g_hash_table_add(listed, (gpointer)(uintptr_t)path);
        if (!there)
            problem(pack, "file '%s' is missing", path);
        else if (strcmp(there, orch_json_text(row, "sha256", "")) != 0)
            problem(pack,
                    "file '%s' has changed since it was packed: its SHA-256 is %.16s..., but the "
                    "pack's list has %.16s...",
                    path, there, orch_json_text(row, "sha256", "nothing"));
        else
            pack->files_good++;
    }
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, pack->files);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        if (!g_hash_table_contains(listed, path) && strcmp(path, "pack.json") != 0 &&
            strcmp(path, ORCH_STATEMENT_FILE) != 0)
            problem(pack, "file '%s' is not in the pack's list of files", (char *)path);
}

static void check_runs(struct orch_pack *pack, struct orch_store *store)
{
    const json_t *list = orch_pack_member(pack, "runs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *key = orch_json_text(row, "key", ""),
                   *digest = orch_json_text(row, "digest", "");
        bool is_key = strlen(key) == ORCH_KEY_CHARS - 1;
        struct orch_run *run = is_key ? orch_store_run(store, key, NULL) : NULL;
        if (!run)
            problem(pack, "run %s is in the pack's list, but not in the pack", key);
        else if (strcmp(run->digest, digest) != 0)
            problem(pack, "run %s has digest %.16s..., but the pack's list has %.16s...", key,
                    run->digest, digest);
        else
            pack->runs_good++;
        orch_run_free(run);
    }
    if (pack->receipt->added > (int64_t)json_array_size(list))
        problem(pack, "the pack holds %lld runs, but its list has %zu",
                (long long)pack->receipt->added, json_array_size(list));
    for (guint i = 0; i < pack->receipt->problems->len; i++)
        problem(pack, "%s", (char *)pack->receipt->problems->pdata[i]);
}

static bool declares(const struct orch_pack *pack, const char *who)
{
    const json_t *list = orch_pack_member(pack, "collaborators");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (g_strcmp0(json_string_value(json_array_get(list, i)), who) == 0)
            return true;
    return orch_who_is_same(orch_json_text(pack->json, "who", NULL), who);
}

/* Checks that the author of each run is the packer or a named collaborator. */
static void check_names(struct orch_pack *pack, struct orch_store *store)
{
    struct orch_run_query query = {.with_hidden = true};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, NULL);
    g_autoptr(GHashTable) others = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (!declares(pack, run->who) && g_hash_table_add(others, run->who))
            problem(pack,
                    "runs made by %s are in the pack of %s, but the pack does not name this author",
                    run->who, orch_json_text(pack->json, "who", "nobody"));
    }
}

/* Reads the list of a tree; NULL when it is malformed or not in git's order of paths. */
static GPtrArray *read_tree(const json_t *rows)
{
    GPtrArray *files = orch_tree_files_new();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *path = json_string_value(json_array_get(row, 0));
        const char *oid = json_string_value(json_array_get(row, 2));
        json_int_t mode = json_integer_value(json_array_get(row, 1));
        if (path && oid && mode > 0 && mode <= 0160000 &&
            orch_tree_files_add(files, path, (unsigned)mode, oid))
            continue;
        g_ptr_array_unref(files);
        return NULL;
    }
    return files;
}

/* Checks that the packed files of a tree match its blob ids. */
static void check_blobs(struct orch_pack *pack, const char *tree, const GPtrArray *files)
{
    for (guint i = 0; i < files->len; i++) {
        const struct orch_tree_file *file = files->pdata[i];
        g_autofree char *path = g_strdup_printf("source/%s/%s", tree, file->path);
        if (!g_hash_table_contains(pack->files, path))
            continue;
        g_autofree char *full = g_build_filename(pack->folder, path, NULL);
        char *bytes = NULL, id[ORCH_OBJECT_ID_CHARS];
        size_t length = 0;
        if (!orch_file_read(full, EXTRA_BYTES_MAX, &bytes, &length, NULL))
            continue;
        orch_blob_id(bytes, length, strlen(file->oid), id);
        if (strcmp(id, file->oid) != 0)
            problem(pack,
                    "'%s' differs from the file in its source tree: the file's blob is %.12s, the "
                    "tree has %.12s",
                    path, id, file->oid);
        g_free(bytes);
    }
}

static void check_trees(struct orch_pack *pack)
{
    const char *tree;
    json_t *rows;
    json_object_foreach((json_t *)(uintptr_t)orch_pack_member(pack, "trees"), tree, rows)
    {
        GPtrArray *files = read_tree(rows);
        g_autofree char *id = files ? orch_tree_files_id(files) : NULL;
        if (!files || strcmp(id, tree) != 0) {
            problem(pack, "tree %.40s does not match its list of files (%.12s)", tree,
                    id ? id : "the pack has no list of files");
            if (files)
                g_ptr_array_unref(files);
            continue;
        }
        pack->trees_good++;
        check_blobs(pack, tree, files);
        g_hash_table_insert(pack->trees, g_strdup(tree), files);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static struct orch_pack *pack_new(GError **error)
{
    g_autofree char *folder = orch_temporary_folder("verify", error);
    if (!folder)
        return NULL;
    struct orch_pack *pack = g_new0(struct orch_pack, 1);
    char *real = realpath(folder, NULL);
    pack->folder = g_strdup(real ? real : folder);
    free(real);
    pack->db = g_build_filename(pack->folder, "store", "results.db", NULL);
    pack->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    pack->trees =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    pack->problems = g_ptr_array_new_with_free_func(g_free);
    return pack;
}

static bool join_all(struct orch_pack *pack, struct orch_store *store, const char *path,
                     GError **error)
{
    struct taking taking = {.pack = pack};
    struct orch_join *join = orch_join_begin(store, path, error);
    if (!join)
        return false;
    if (!orch_bundle_join(join, store, path, take_file, &taking, error)) {
        orch_join_rollback(join);
        return false;
    }
    pack->receipt = orch_join_commit(join, error);
    return pack->receipt != NULL;
}

static bool read_json(struct orch_pack *pack, const char *path, GError **error)
{
    size_t length = pack->text ? strlen(pack->text) : 0;
    pack->json = pack->text ? orch_json_parse(pack->text, length, ORCH_PACK_JSON_MAX, NULL) : NULL;
    if (!pack->text)
        orch_error_set(error, ORCH_ERROR_IO, "'orch db merge' merges a bundle of runs",
                       "'%s' is not a pack: it has no pack.json", path);
    else if (!pack->json || strcmp(orch_json_text(pack->json, "kind", ""), ORCH_PACK_KIND) != 0)
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "'%s' is not a pack: its pack.json cannot be read", path);
    else if (orch_json_int(pack->json, "format", 0) != ORCH_PACK_FORMAT)
        orch_error_set(error, ORCH_ERROR_IO, "update orch: a newer version of orch made this pack",
                       "'%s' is a pack of format %lld, but this orch reads format %d", path,
                       (long long)orch_json_int(pack->json, "format", 0), ORCH_PACK_FORMAT);
    else
        return true;
    return false;
}

struct orch_pack *orch_pack_open(const char *path, GError **error)
{
    if (access(path, R_OK) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
        return NULL;
    }
    if (!orch_bundle_is(path)) {
        orch_error_set(error, ORCH_ERROR_IO, "'orch pack RECIPE FILE' makes a pack",
                       "'%s' is not a pack", path);
        return NULL;
    }
    struct orch_pack *pack = pack_new(error);
    struct orch_store *store = pack ? orch_store_open(pack->db, ORCH_STORE_CREATE, error) : NULL;
    bool ok = store && join_all(pack, store, path, error) && read_json(pack, path, error);
    if (ok) {
        orch_sha256(pack->text, strlen(pack->text), pack->digest);
        check_files(pack);
        check_runs(pack, store);
        check_names(pack, store);
        check_trees(pack);
        if (!pack->report)
            problem(pack, "report.json is missing or cannot be read");
    }
    orch_store_close(store);
    if (!ok)
        g_clear_pointer(&pack, orch_pack_free);
    return pack;
}

char *orch_pack_recipe(const struct orch_pack *pack, char **out_root, GError **error)
{
    const json_t *recipe = orch_pack_member(pack, "recipe");
    const char *tree = orch_json_text(recipe, "tree", ORCH_PACK_NO_TREE);
    g_autofree char *path =
        g_strdup_printf("source/%s/%s", tree, orch_json_text(recipe, "path", ""));
    if (!g_hash_table_contains(pack->files, path)) {
        orch_error_set(error, ORCH_ERROR_CHECK, NULL, "the pack has no recipe '%s'", path);
        return NULL;
    }
    *out_root = g_build_filename(pack->folder, "source", tree, NULL);
    return g_build_filename(pack->folder, path, NULL);
}

bool orch_pack_contains(const struct orch_pack *pack, const char *path)
{
    return orch_path_below(path, pack->folder);
}
