/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares a store and a remote: the number of runs that each lacks, and the names of all items
 * that a push would send. */
#include "features/share/remotes/results_private.h"

#include "store/join/run_text.h"

#include <string.h>

#define NAMED_MOST 20000 /* maximum number of runs whose author is read */

struct look {
    struct orch_store *store;
    struct results_place *place;
    struct results_draft *ours, *theirs;
    struct orch_exchanged *out;
    GArray *outgoing; /* may be NULL */
    int64_t named;
};

static void count_author(struct look *look, const struct results_news *news)
{
    int64_t bytes;
    git_odb_object *object = NULL;
    if (look->named++ >= NAMED_MOST || !orch_results_blob_size(look->place, &news->oid, &bytes) ||
        bytes > ORCH_ITEM_RUN_MAX || git_odb_read(&object, look->place->odb, &news->oid) != 0)
        return;
    struct orch_run_text *run =
        orch_run_text_decode(git_odb_object_data(object), git_odb_object_size(object), NULL);
    if (run) {
        const char *who = run->record.who ? run->record.who : "?";
        size_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(look->out->behind_by, who));
        g_hash_table_replace(look->out->behind_by, g_strdup(who), GSIZE_TO_POINTER(count + 1));
    }
    orch_run_text_free(run);
    git_odb_object_free(object);
}

static bool is_here(struct look *look, const struct orch_item_name *name)
{
    struct orch_run *run = orch_store_run(look->store, name->key, NULL);
    bool is =
        run && strcmp(run->key, name->key) == 0 && g_str_has_prefix(run->digest, name->digest);
    orch_run_free(run);
    return is;
}

static bool count_behind(void *ctx, const struct results_news *news, GError **error)
{
    struct look *look = ctx;
    (void)error;
    if (news->name && news->name->kind == ORCH_ITEM_RUN && !is_here(look, news->name)) {
        look->out->behind++;
        count_author(look, news);
    }
    return true;
}

static void add_outgoing(struct look *look, const char *path, int64_t bytes)
{
    struct orch_push_item item = {.bytes = bytes};
    g_strlcpy(item.path, path, sizeof item.path);
    look->out->sent_items++;
    look->out->sent_bytes += bytes;
    if (look->outgoing)
        g_array_append_val(look->outgoing, item);
}

/* Counts an entry that our tree has and theirs lacks. */
static bool count_kept(void *ctx, const struct results_news *news, GError **error)
{
    struct look *look = ctx;
    int64_t bytes = 0;
    (void)error;
    if (news->name && news->name->kind == ORCH_ITEM_RUN)
        look->out->ahead++;
    if (news->name && news->name->kind == ORCH_ITEM_NOTE)
        look->out->ahead_notes++;
    if (look->outgoing) {
        orch_results_blob_size(look->place, &news->oid, &bytes);
        add_outgoing(look, news->path, bytes);
    }
    return true;
}

static enum orch_item_want wants(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    struct look *look = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    git_oid found;
    (void)bytes;
    orch_item_path(name, path);
    if (orch_results_draft_find(look->theirs, path, &found) ||
        orch_results_draft_find(look->ours, path, &found))
        return ORCH_ITEM_SKIP;
    if (name->kind == ORCH_ITEM_RUN)
        look->out->ahead++;
    if (name->kind == ORCH_ITEM_NOTE)
        look->out->ahead_notes++;
    return look->outgoing ? ORCH_ITEM_TAKE : ORCH_ITEM_SKIP;
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    char path[ORCH_ITEM_PATH_CHARS];
    (void)bytes;
    (void)error;
    orch_item_path(name, path);
    add_outgoing(ctx, path, (int64_t)length);
    return true;
}

/* The size is passed with the name, so the file is not read. */
static bool take_file(void *ctx, const struct orch_item_name *name, const char *path, int64_t bytes,
                      GError **error)
{
    char item[ORCH_ITEM_PATH_CHARS];
    (void)path;
    (void)error;
    orch_item_path(name, item);
    add_outgoing(ctx, item, bytes);
    return true;
}

bool orch_results_look(struct orch_store *store, const struct orch_git_exchange *how,
                       struct results_place *place, const git_oid *ours_root,
                       const git_oid *theirs_root, int64_t last_run, struct orch_exchanged *out,
                       GArray *out_outgoing, GError **error)
{
    struct look look = {.store = store,
                        .place = place,
                        .ours = orch_results_draft_new(place, ours_root),
                        .theirs = orch_results_draft_new(place, theirs_root),
                        .out = out,
                        .outgoing = out_outgoing};
    struct orch_item_sink sink = {
        .ctx = &look, .wants = wants, .take = take, .take_file = take_file};
    struct orch_item_choice choice = how->choice;
    choice.after_run_id = last_run;
    out->behind_by = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool ok = git_oid_is_zero(theirs_root) ||
              orch_results_visit_news(place, theirs_root, ours_root, count_behind, &look, error);
    ok = ok && (git_oid_is_zero(ours_root) ||
                orch_results_visit_news(place, ours_root, theirs_root, count_kept, &look, error));
    ok = ok && orch_items_visit(store, &choice, &sink, NULL, error);
    out->sent_runs = out->ahead;
    orch_results_draft_free(look.ours);
    orch_results_draft_free(look.theirs);
    return ok;
}
