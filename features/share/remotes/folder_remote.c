/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain folder as a remote: bundles named by the digest of their bytes, each put there by rename
 * and never changed. Any number of members may write at once, through any program that copies
 * files.
 *
 * A store records its state for each folder (one JSON text in the table meta):
 *   seen       the bundles that it joined or wrote; each is read once
 *   proved     those of `seen` whose runs were all new to the store, or that it wrote
 *   recent     those of `proved` that `upto` does not cover yet
 *   upto       every run up to this id is in a bundle of the folder
 *   sent       hash prefixes of the paths of notes, conflicts and data sets in the folder
 *   artifacts  the limit on artifacts at the last push
 *
 * So a push considers the runs after `upto`, except those in `recent`. When a seen bundle has
 * disappeared, `upto` and `sent` are reset and the names in the remaining proved bundles are
 * read, so that lost items are sent again. Without this record all bundles are read; the push sends
 * the same items.
 */
#include "features/share/remotes/folder_remote.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/exchange/bundle_parts.h"
#include "store/handle/meta.h"
#include "store/join/outgoing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".orch"
enum { NAME_CHARS = 64, HASH_CHARS = 16, REMEMBERED_MAX = 16 << 20, LIST_MAX = 50000 };

struct folder {
    struct orch_store *store;
    char *path;       /* canonical path */
    char *meta;       /* its key in the table meta */
    GPtrArray *there; /* char *: the digests in the names of the folder's bundles, sorted */
    GHashTable *seen; /* set of char *, like the sets below */
    GHashTable *proved;
    GHashTable *recent;
    GHashTable *sent;
    GHashTable *names; /* paths of the items in `recent` */
    int64_t upto, artifact_bytes;
    bool is_changed; /* the state differs from the stored one */
};

static char *bundle_path(const struct folder *f, const char *digest)
{
    return g_strdup_printf("%s/%s" ENDING, f->path, digest);
}

/* ---- stored state -----------------------------------------------------------------------------
 */

static GHashTable *new_set(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void read_set(const json_t *state, const char *key, GHashTable *out)
{
    const json_t *list = json_object_get(state, key);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)))
            g_hash_table_add(out, g_strdup(json_string_value(json_array_get(list, i))));
}

static bool recall(struct folder *f, GError **error)
{
    GError *problem = NULL;
    g_autofree char *text = orch_store_remembered(f->store, f->meta, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    g_autoptr(json_t) state =
        text ? orch_json_parse(text, strlen(text), REMEMBERED_MAX, NULL) : NULL;
    read_set(state, "seen", f->seen);
    read_set(state, "proved", f->proved);
    read_set(state, "recent", f->recent);
    read_set(state, "sent", f->sent);
    f->upto = orch_json_int(state, "upto", 0);
    f->artifact_bytes = orch_json_int(state, "artifacts", 0);
    return true;
}

/* The set as a sorted list. A set above the limit is stored as empty; its content is then
 * determined again. */
static json_t *set_json(GHashTable *set)
{
    json_t *list = json_array();
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(set), (GCompareFunc)strcmp);
    if (g_hash_table_size(set) <= LIST_MAX)
        for (const GList *key = keys; key; key = key->next)
            json_array_append_new(list, json_string(key->data));
    return list;
}

static bool remember(struct folder *f, GError **error)
{
    if (!f->is_changed)
        return true;
    if (g_hash_table_size(f->seen) > LIST_MAX) /* then nothing is known about the folder */
        f->upto = 0;
    g_autoptr(json_t) state = json_object();
    json_object_set_new(state, "folder", json_string(f->path));
    json_object_set_new(state, "seen", set_json(f->seen));
    json_object_set_new(state, "proved", set_json(f->proved));
    json_object_set_new(state, "recent", set_json(f->recent));
    json_object_set_new(state, "sent", set_json(f->sent));
    json_object_set_new(state, "upto", json_integer(f->upto));
    json_object_set_new(state, "artifacts", json_integer(f->artifact_bytes));
    g_autofree char *text = orch_json_canonical(state);
    return orch_store_remember(f->store, f->meta, text, error);
}

/* ---- bundles in the folder --------------------------------------------------------------------
 */

/* The digest in the name of a bundle; NULL when the file is not a bundle. */
static char *digest_of(const char *name)
{
    g_autofree char *digest = g_strndup(name, NAME_CHARS);
    return orch_sha256_is_valid(digest) && strcmp(name + strlen(digest), ENDING) == 0
               ? g_steal_pointer(&digest)
               : NULL;
}

static bool list_there(struct folder *f, GError **error)
{
    GError *problem = NULL;
    GDir *dir = g_dir_open(f->path, 0, &problem);
    if (!dir) {
        orch_error_set(error, ORCH_ERROR_IO, "check the folder's name and its permissions",
                       "cannot read folder '%s': %s", f->path, problem->message);
        g_clear_error(&problem);
        return false;
    }
    for (const char *name; (name = g_dir_read_name(dir));) {
        char *digest = digest_of(name);
        if (digest)
            g_ptr_array_add(f->there, digest);
    }
    g_dir_close(dir);
    g_ptr_array_sort(f->there, orch_compare_texts);
    return true;
}

/* When a bundle has disappeared, or larger artifacts are to be sent than before, the content of the
 * folder is determined again. */
static void start_anew_where_needed(struct folder *f, int64_t artifact_bytes)
{
    g_autoptr(GHashTable) there = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < f->there->len; i++)
        g_hash_table_add(there, f->there->pdata[i]);
    GHashTableIter iter;
    gpointer digest;
    bool has_gone = false;
    g_hash_table_iter_init(&iter, f->seen);
    while (g_hash_table_iter_next(&iter, &digest, NULL)) {
        if (g_hash_table_contains(there, digest))
            continue;
        has_gone = true;
        g_hash_table_remove(f->recent, digest);
        g_hash_table_remove(f->proved, digest);
        g_hash_table_iter_remove(&iter);
    }
    bool more = f->artifact_bytes >= 0 &&
                (artifact_bytes < 0 || artifact_bytes > f->artifact_bytes) && f->upto;
    if (!has_gone && !more)
        return;
    f->is_changed = true;
    f->upto = 0;
    g_hash_table_remove_all(f->sent);
    g_hash_table_iter_init(&iter, f->proved);
    while (g_hash_table_iter_next(&iter, &digest, NULL))
        g_hash_table_add(f->recent, g_strdup(digest));
}

static void hash_of(const struct orch_item_name *name, char out[HASH_CHARS + 1])
{
    char path[ORCH_ITEM_PATH_CHARS], sha256[ORCH_SHA256_CHARS];
    orch_item_path(name, path);
    orch_sha256(path, strlen(path), sha256);
    g_strlcpy(out, sha256, HASH_CHARS + 1);
}

static void add_name(void *ctx, const struct orch_item_name *name)
{
    struct folder *f = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    orch_item_path(name, path);
    g_hash_table_add(f->names, g_strdup(path));
}

static bool is_whole(const char *path, const char *digest)
{
    struct stat info;
    char sha256[ORCH_SHA256_CHARS];
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           orch_file_sha256(path, sha256, NULL, NULL) && strcmp(sha256, digest) == 0;
}

/* Reads the names in the bundles that `upto` does not cover. */
static void read_recent(struct folder *f)
{
    GHashTableIter iter;
    gpointer digest;
    g_hash_table_iter_init(&iter, f->recent);
    while (g_hash_table_iter_next(&iter, &digest, NULL)) {
        g_autofree char *path = bundle_path(f, digest);
        if (is_whole(path, digest)) /* an unreadable bundle counts as missing */
            orch_bundle_names(path, add_name, f, NULL);
    }
}

/* ---- pull -------------------------------------------------------------------------------------
 */

static void count_seen(struct folder *f, const char *digest, bool is_proved)
{
    g_hash_table_add(f->seen, g_strdup(digest));
    if (is_proved) {
        g_hash_table_add(f->proved, g_strdup(digest));
        g_hash_table_add(f->recent, g_strdup(digest));
    }
    f->is_changed = true;
}

static bool join_one(struct folder *f, struct orch_join *join, const char *digest, GError **error)
{
    g_autofree char *path = bundle_path(f, digest);
    GError *problem = NULL;
    enum bundle_verification worth;
    if (!is_whole(path, digest)) {
        orch_join_refuse(
            join, "%.12s" ENDING ": incomplete or damaged; the next command tries this file again",
            digest);
        return true;
    }
    if (orch_bundle_join_verified(join, f->store, path, NULL, NULL, &worth, &problem)) {
        count_seen(f, digest, worth == BUNDLE_VERIFIED);
        return true;
    }
    if (worth != BUNDLE_DAMAGED) {
        g_propagate_error(error, problem);
        return false;
    }
    g_autofree char *what = g_strdup_printf("%.12s" ENDING, digest);
    orch_join_refuse_error(join, what, problem);
    g_clear_error(&problem);
    count_seen(f, digest, false); /* its bytes match its name, so it will not change */
    return true;
}

static bool join_new(struct folder *f, struct orch_exchanged *out, GError **error)
{
    struct orch_join *join = NULL;
    for (guint i = 0; i < f->there->len; i++) {
        const char *digest = f->there->pdata[i];
        if (g_hash_table_contains(f->seen, digest))
            continue;
        if ((!join && !(join = orch_join_begin(f->store, f->path, error))) ||
            !join_one(f, join, digest, error)) {
            orch_join_rollback(join);
            return false;
        }
    }
    return !join || (out->receipt = orch_join_commit(join, error));
}

/* ---- push -------------------------------------------------------------------------------------
 */

/** The items that the folder lacks. */
struct lacking {
    struct folder *folder;
    int64_t items, runs, notes;
};

static bool is_lacking(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    struct lacking *lacking = ctx;
    char path[ORCH_ITEM_PATH_CHARS], hash[HASH_CHARS + 1];
    (void)bytes;
    orch_item_path(name, path);
    hash_of(name, hash);
    if (g_hash_table_contains(lacking->folder->names, path) ||
        g_hash_table_contains(lacking->folder->sent, hash))
        return false;
    lacking->items++;
    lacking->runs += name->kind == ORCH_ITEM_RUN;
    lacking->notes += name->kind == ORCH_ITEM_NOTE;
    return true;
}

static enum orch_item_want only_count(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    is_lacking(ctx, name, bytes);
    return ORCH_ITEM_SKIP;
}

static bool count_lacking(struct folder *f, const struct orch_item_choice *choice,
                          struct lacking *out, int64_t *out_last_run, GError **error)
{
    *out = (struct lacking){.folder = f};
    const struct orch_item_sink sink = {.ctx = out, .wants = only_count};
    read_recent(f);
    return orch_items_visit(f->store, choice, &sink, out_last_run, error);
}

static bool put_there(struct folder *f, const struct orch_item_choice *choice,
                      struct orch_exchanged *out, GError **error)
{
    char key[ORCH_KEY_CHARS], digest[ORCH_SHA256_CHARS];
    orch_key_make(key); /* a unique name that is not taken for a bundle */
    g_autofree char *part = g_strdup_printf("%s/.%s.part", f->path, key);
    struct lacking lacking = {.folder = f};
    struct bundle_written written;
    if (!orch_bundle_write_filtered(f->store, choice, is_lacking, &lacking, NULL, 0, part, &written,
                                    error))
        return false;
    if (!orch_file_sha256(part, digest, NULL, error)) {
        unlink(part);
        return false;
    }
    g_autofree char *path = bundle_path(f, digest);
    if (rename(part, path) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        unlink(part);
        return false;
    }
    count_seen(f, digest, true);
    out->sent_items = written.items;
    out->sent_runs = written.runs;
    out->sent_bytes = written.bytes;
    return true;
}

static enum orch_item_want note_sent(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    struct folder *f = ctx;
    char hash[HASH_CHARS + 1];
    (void)bytes;
    hash_of(name, hash);
    g_hash_table_add(f->sent, g_strdup(hash));
    return ORCH_ITEM_SKIP;
}

static enum orch_item_want note_owned(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    bool is_owned = name->kind == ORCH_ITEM_RECIPE || name->kind == ORCH_ITEM_ARTIFACT;
    return is_owned ? note_sent(ctx, name, bytes) : ORCH_ITEM_SKIP;
}

/* Records that the whole store is in the folder: what the new runs own, and the items that follow
 * the last run (notes, conflicts and data sets). */
static bool count_all_sent(struct folder *f, struct orch_item_choice choice, int64_t last_run,
                           GError **error)
{
    const struct orch_item_sink owned = {.ctx = f, .wants = note_owned};
    const struct orch_item_sink rest = {.ctx = f, .wants = note_sent};
    guint before = g_hash_table_size(f->sent);
    choice.after_run_id = f->upto;
    if (!orch_items_visit(f->store, &choice, &owned, NULL, error))
        return false;
    choice.after_run_id = last_run;
    if (!orch_items_visit(f->store, &choice, &rest, NULL, error))
        return false;
    if (f->upto != last_run || g_hash_table_size(f->recent) ||
        g_hash_table_size(f->sent) != before || f->artifact_bytes != choice.artifact_bytes)
        f->is_changed = true;
    f->upto = last_run;
    f->artifact_bytes = choice.artifact_bytes;
    g_hash_table_remove_all(f->recent);
    return true;
}

static bool push(struct folder *f, const struct orch_item_choice *choice,
                 struct orch_exchanged *out, GError **error)
{
    struct orch_item_choice rest = *choice;
    struct lacking lacking;
    int64_t last_run;
    rest.after_run_id = MAX(choice->after_run_id, f->upto);
    if (!count_lacking(f, &rest, &lacking, &last_run, error) ||
        (lacking.items && !put_there(f, &rest, out, error)))
        return false;
    bool is_all = !choice->where && !choice->after_run_id;
    return !is_all || count_all_sent(f, *choice, last_run, error);
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static void forget_known(const GArray *pairs, GHashTable *runs)
{
    for (guint i = 0; i < pairs->len; i++) {
        const struct orch_pair *pair = &g_array_index(pairs, struct orch_pair, i);
        struct orch_item_name name = {.kind = ORCH_ITEM_RUN};
        char path[ORCH_ITEM_PATH_CHARS];
        g_strlcpy(name.key, pair->key, sizeof name.key);
        g_strlcpy(name.digest, pair->digest, sizeof name.digest);
        orch_item_path(&name, path);
        g_hash_table_remove(runs, path);
    }
}

static void add_run(void *ctx, const struct orch_item_name *name)
{
    char path[ORCH_ITEM_PATH_CHARS];
    orch_item_path(name, path);
    if (name->kind == ORCH_ITEM_RUN)
        g_hash_table_add(ctx, g_strdup(path));
}

/* Counts the runs in bundles that were not joined yet and that the store lacks. */
static bool count_behind(struct folder *f, int64_t *out, GError **error)
{
    g_autoptr(GHashTable) runs = new_set();
    for (guint i = 0; i < f->there->len; i++) {
        const char *digest = f->there->pdata[i];
        g_autofree char *path = bundle_path(f, digest);
        if (g_hash_table_contains(f->seen, digest) || !is_whole(path, digest))
            continue;
        orch_bundle_names(path, add_run, runs, NULL);
        orch_bundle_names(path, add_name, f, NULL); /* these items are not lacking */
    }
    if (g_hash_table_size(runs)) {
        const struct orch_outgoing all = {0};
        g_autoptr(GArray) pairs = orch_outgoing_pairs(f->store, &all, NULL, error);
        if (!pairs)
            return false;
        forget_known(pairs, runs);
    }
    *out = g_hash_table_size(runs);
    return true;
}

static bool look(struct folder *f, const struct orch_item_choice *choice,
                 struct orch_exchanged *out, GError **error)
{
    struct orch_item_choice rest = *choice;
    struct lacking lacking;
    rest.after_run_id = MAX(choice->after_run_id, f->upto);
    if (!count_behind(f, &out->behind, error) || !count_lacking(f, &rest, &lacking, NULL, error))
        return false;
    out->ahead = lacking.runs;
    out->ahead_notes = lacking.notes;
    return true;
}

/* ---- entry points -----------------------------------------------------------------------------
 */

static bool open_folder(struct folder *f, const char *path, GError **error)
{
    char *real = realpath(path, NULL);
    char sha256[ORCH_SHA256_CHARS];
    if (!real) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open folder '%s'", path);
        return false;
    }
    f->path = g_strdup(real);
    free(real);
    orch_sha256(f->path, strlen(f->path), sha256);
    f->meta = g_strdup_printf("folder.%.16s", sha256);
    return recall(f, error) && list_there(f, error);
}

static bool exchange(struct folder *f, enum orch_exchange_way way,
                     const struct orch_item_choice *choice, struct orch_exchanged *out,
                     GError **error)
{
    start_anew_where_needed(f, choice->artifact_bytes);
    if (way == ORCH_EXCHANGE_LOOK)
        return look(f, choice, out, error);
    if (!join_new(f, out, error))
        return false;
    /* joined bundles are recorded even when the folder cannot be written */
    GError *problem = NULL;
    bool sent =
        way == ORCH_EXCHANGE_PULL ? look(f, choice, out, &problem) : push(f, choice, out, &problem);
    bool kept = remember(f, sent ? error : NULL);
    if (problem)
        g_propagate_error(error, problem);
    return sent && kept;
}

bool orch_folder_exchange(struct orch_store *store, const char *folder, enum orch_exchange_way way,
                          const struct orch_item_choice *choice, struct orch_exchanged *out,
                          GError **error)
{
    struct folder f = {
        .store = store,
        .there = g_ptr_array_new_with_free_func(g_free),
        .seen = new_set(),
        .proved = new_set(),
        .recent = new_set(),
        .sent = new_set(),
        .names = new_set(),
    };
    *out = (struct orch_exchanged){.attempts = 1};
    bool ok = open_folder(&f, folder, error) && exchange(&f, way, choice, out, error);
    if (!ok)
        orch_exchanged_clear(out);
    g_ptr_array_unref(f.there);
    GHashTable *const sets[] = {f.seen, f.proved, f.recent, f.sent, f.names};
    for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
        g_hash_table_unref(sets[i]);
    g_free(f.path);
    g_free(f.meta);
    return ok;
}

bool orch_folder_is(const char *path)
{
    static const char *const of_git[] = {".git", "HEAD"};
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    g_autofree char *work_tree = g_build_filename(path, of_git[0], NULL);
    g_autofree char *head = g_build_filename(path, of_git[1], NULL);
    g_autofree char *objects = g_build_filename(path, "objects", NULL);
    return stat(work_tree, &info) != 0 && (stat(head, &info) != 0 || stat(objects, &info) != 0);
}

void orch_exchanged_clear(struct orch_exchanged *exchanged)
{
    orch_receipt_free(exchanged->receipt);
    g_clear_pointer(&exchanged->behind_by, g_hash_table_unref);
    *exchanged = (struct orch_exchanged){0};
}
