/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pull and push of the group's results.
 *
 * The local refs/orch/results is the union of everything that was ever accepted, whatever a remote
 * contains now. A pull joins the entries of the remote's tree that ours lacks, commits the store,
 * writes the tree of the union and then updates the ref. A push adds the items that the store has
 * and the tree lacks, with the remote's commit among the parents, and pushes without force; when
 * another member pushed first, it fetches, joins and tries again. Each step leaves a state from
 * which the next exchange can continue: objects without a ref are garbage, and a store that is
 * ahead of the ref meets known runs.
 *
 * The store records "COMMIT NUMBER": all its runs up to that id are in that commit's tree, and all
 * of that tree was joined. While the ref has that commit, only newer runs are considered; otherwise
 * (another clone, another store, an interrupted exchange) everything is compared.
 */
#include "features/share/remotes/results_private.h"
#include "store/handle/store_dir.h"

#include "store/handle/meta.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/** The store's record of its last exchange. */
struct results_mark {
    git_oid commit;   /* all runs up to `last_run` are in its tree */
    int64_t last_run; /* run id in this store */
};

#define ATTEMPTS_MAX 60
#define MARK "exchange.mark"

struct exchange {
    struct orch_store *store;
    const struct orch_git_exchange *how;
    struct orch_exchanged *out;
    struct results_place *place;
    git_oid ours, theirs;           /* commits; zero: none */
    git_oid ours_root, theirs_root; /* the trees of the commits */
    struct results_mark mark;
    bool is_damaged; /* `theirs` descends from our history, but its tree is not a tree of results */
    bool is_marked;  /* `ours` is the commit that the store recorded */
    GHashTable *sent;        /* path -> git_oid *: items that no tree had; created once */
    int64_t last_considered; /* the largest run id that was considered */
};

/* ---- stored state -------------------------------------------------------------------------------
 */

static bool read_mark(struct exchange *x, GError **error)
{
    GError *problem = NULL;
    g_autofree char *text = orch_store_remembered(x->store, MARK, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    memset(&x->mark, 0, sizeof x->mark);
    if (text && strlen(text) > GIT_OID_HEXSZ + 1 &&
        git_oid_fromstrn(&x->mark.commit, text, GIT_OID_HEXSZ) == 0)
        orch_int_parse(text + GIT_OID_HEXSZ + 1, &x->mark.last_run);
    return true;
}

static bool write_mark(struct exchange *x, const git_oid *commit, int64_t last_run, GError **error)
{
    char id[GIT_OID_HEXSZ + 1];
    if (git_oid_equal(&x->mark.commit, commit) && x->mark.last_run == last_run)
        return true;
    g_autofree char *text =
        g_strdup_printf("%s %" G_GINT64_FORMAT, git_oid_tostr(id, sizeof id, commit), last_run);
    x->mark = (struct results_mark){.commit = *commit, .last_run = last_run};
    return orch_store_remember(x->store, MARK, text, error);
}

/* Name of the record of the last exchange with a remote: "exchange.at.REF". */
static char *time_name(const struct results_place *place)
{
    return g_strconcat("exchange.at.", place->tracking + strlen(RESULTS_REMOTES), NULL);
}

/* ---- receipts -----------------------------------------------------------------------------------
 */

static struct orch_receipt_row *row_like(struct orch_receipt *receipt,
                                         const struct orch_receipt_row *row)
{
    for (guint i = 0; i < receipt->rows->len; i++) {
        struct orch_receipt_row *mine = receipt->rows->pdata[i];
        if (g_strcmp0(mine->who, row->who) == 0 && g_strcmp0(mine->recipe, row->recipe) == 0 &&
            g_strcmp0(mine->experiment, row->experiment) == 0)
            return mine;
    }
    return NULL;
}

/* Adds the receipt of another attempt and frees it. */
static void add_receipt(struct orch_exchanged *out, struct orch_receipt *more)
{
    struct orch_receipt *sum = out->receipt;
    if (!sum) {
        out->receipt = more;
        return;
    }
    for (guint i = more->rows->len; i-- > 0;) {
        struct orch_receipt_row *row = more->rows->pdata[i], *mine = row_like(sum, row);
        if (mine) {
            mine->added += row->added;
            mine->known += row->known;
        } else {
            g_ptr_array_add(sum->rows, g_ptr_array_steal_index(more->rows, i));
        }
    }
    sum->added += more->added;
    sum->known += more->known;
    sum->conflicts += more->conflicts;
    sum->purged += more->purged;
    sum->conflicts_here = more->conflicts_here;
    while (more->remarks->len)
        g_ptr_array_add(sum->remarks, g_ptr_array_steal_index(more->remarks, 0));
    sum->recipes += more->recipes;
    sum->notes += more->notes;
    sum->tombstones += more->tombstones;
    sum->restored += more->restored;
    sum->foreign_tombstones += more->foreign_tombstones;
    sum->forecasts += more->forecasts;
    sum->datasets += more->datasets;
    sum->artifacts += more->artifacts;
    sum->artifact_bytes += more->artifact_bytes;
    if (more->refused > sum->refused) { /* the same invalid entries are met again in each attempt */
        GPtrArray *swap = sum->problems;
        sum->problems = more->problems;
        more->problems = swap;
        sum->refused = more->refused;
    }
    g_strlcpy(sum->after, more->after, sizeof sum->after);
    orch_receipt_free(more);
}

/* ---- pull ---------------------------------------------------------------------------------------
 */

/* Reads the remote's tree. When it is not a tree of results but its commit shares history with
 * ours, somebody damaged it: it counts as empty, is reported, and the next push repairs it. An
 * unrelated one is not changed. */
static bool read_theirs(struct exchange *x, GError **error)
{
    GError *problem = NULL;
    git_oid common;
    bool is_newer;
    if (orch_results_root(x->place, &x->theirs, &x->theirs_root, &is_newer, &problem))
        return true;
    memset(&x->theirs_root, 0, sizeof x->theirs_root);
    x->is_damaged = !is_newer && !git_oid_is_zero(&x->ours_root) &&
                    git_merge_base(&common, x->place->repository, &x->ours, &x->theirs) == 0;
    if (x->is_damaged)
        g_error_free(problem);
    else
        g_propagate_error(error, problem);
    return x->is_damaged;
}

/* Reads the local and the remote commit and their trees. */
static bool read_roots(struct exchange *x, GError **error)
{
    memset(&x->ours_root, 0, sizeof x->ours_root);
    memset(&x->theirs_root, 0, sizeof x->theirs_root);
    x->is_damaged = false;
    if (!orch_results_refs_get(x->place, &x->ours, &x->theirs, error))
        return false;
    /* a damaged local ref counts as missing, because the store has all data */
    if (!git_oid_is_zero(&x->ours) &&
        !orch_results_root(x->place, &x->ours, &x->ours_root, NULL, NULL))
        memset(&x->ours_root, 0, sizeof x->ours_root);
    x->is_marked = !git_oid_is_zero(&x->ours_root) && git_oid_equal(&x->ours, &x->mark.commit);
    return git_oid_is_zero(&x->theirs) || read_theirs(x, error);
}

/* Joins the new entries and commits the store; accepted entries are added to `draft`. */
static bool join_news(struct exchange *x, struct results_draft *draft, GError **error)
{
    struct orch_results_offer offer = {
        .store = x->store, .how = x->how, .place = x->place, .draft = draft};
    if (x->is_damaged) {
        offer.join = orch_join_begin(x->store, x->place->remote, error);
        if (!offer.join)
            return false;
        orch_join_refuse(offer.join,
                         "'%s' no longer holds results on the remote; 'orch push' restores them",
                         RESULTS_REF);
    }
    bool ok =
        x->is_marked || git_oid_is_zero(&x->ours_root) ||
        orch_results_visit_news(x->place, &x->ours_root, NULL, orch_results_offer, &offer, error);
    ok = ok &&
         (git_oid_is_zero(&x->theirs_root) ||
          orch_results_visit_news(x->place, &x->theirs_root, x->is_marked ? &x->ours_root : NULL,
                                  orch_results_offer, &offer, error));
    if (!ok) {
        orch_join_rollback(offer.join);
        return false;
    }
    if (!offer.join)
        return true;
    struct orch_receipt *receipt = orch_join_commit(offer.join, error);
    if (receipt)
        add_receipt(x->out, receipt);
    return receipt != NULL;
}

/* The commit for the union's tree: an existing one when its tree is the same, else a new one. */
static bool commit_of(struct exchange *x, const git_oid *root, const char *message, git_oid *out,
                      GError **error)
{
    const git_oid parents[] = {x->ours, x->theirs};
    *out = x->theirs;
    if (!git_oid_is_zero(&x->theirs) && git_oid_equal(root, &x->theirs_root))
        return true;
    *out = x->ours;
    if (!git_oid_is_zero(&x->ours_root) && git_oid_equal(root, &x->ours_root))
        return true;
    bool have_both = !git_oid_is_zero(&x->ours_root) && !git_oid_is_zero(&x->theirs) &&
                     !git_oid_equal(&x->ours, &x->theirs);
    bool is_above =
        have_both && git_graph_descendant_of(x->place->repository, &x->theirs, &x->ours) == 1;
    bool is_below =
        have_both && git_graph_descendant_of(x->place->repository, &x->ours, &x->theirs) == 1;
    bool takes_ours =
        !git_oid_is_zero(&x->ours_root) && !is_above && !git_oid_equal(&x->ours, &x->theirs);
    const git_oid *first = takes_ours ? &parents[0] : &parents[1];
    return orch_results_commit(x->place, root, first, takes_ours && !is_below ? 2 : 1, message, out,
                               error);
}

/* Joins the fetched results and updates the local ref. `*out_again`: another process changed it. */
static bool integrate(struct exchange *x, bool *out_again, GError **error)
{
    *out_again = false;
    if (!read_mark(x, error) || !read_roots(x, error))
        return false;
    struct results_draft *draft =
        orch_results_draft_new(x->place, x->is_marked ? &x->ours_root : NULL);
    git_oid root, commit;
    bool ok = join_news(x, draft, error);
    bool is_empty = ok && git_oid_is_zero(&draft->root) && !g_hash_table_size(draft->added);
    if (!ok || is_empty) {
        orch_results_draft_free(draft);
        return ok;
    }
    ok = orch_results_draft_write(draft, &root, error) &&
         commit_of(x, &root, "orch: results joined", &commit, error) &&
         orch_results_flush(x->place, error);
    orch_results_draft_free(draft);
    if (!ok)
        return false;
    if (!git_oid_equal(&commit, &x->ours)) {
        if (!orch_results_ref_set(x->place, RESULTS_REF, &commit, &x->ours, out_again, error))
            return false;
        if (*out_again)
            return true;
    }
    int64_t last = x->is_marked ? x->mark.last_run : 0;
    x->ours = commit;
    x->ours_root = root;
    x->is_marked = true;
    return write_mark(x, &commit, last, error);
}

/* ---- push ---------------------------------------------------------------------------------------
 */

struct send_ctx {
    struct exchange *x;
    struct results_draft *draft;
};

static enum orch_item_want wants(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    struct send_ctx *send_ctx = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    git_oid found;
    (void)bytes;
    orch_item_path(name, path);
    return orch_results_draft_find(send_ctx->draft, path, &found) ? ORCH_ITEM_SKIP : ORCH_ITEM_TAKE;
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    struct send_ctx *send_ctx = ctx;
    char path[ORCH_ITEM_PATH_CHARS];
    git_oid oid;
    orch_item_path(name, path);
    if (!orch_results_blob(send_ctx->x->place, bytes, length, &oid, error))
        return false;
    g_hash_table_replace(send_ctx->x->sent, g_strdup(path), g_memdup2(&oid, sizeof oid));
    return orch_results_flush_some(send_ctx->x->place, error);
}

/* True when artifacts of runs that were pushed earlier must be considered again. */
static bool takes_more(const struct orch_item_choice *choice)
{
    return choice->artifact_bytes < 0 || choice->artifact_bytes > ORCH_ARTIFACT_BYTES_DEFAULT;
}

/* True when this choice leaves something for a later push. */
static bool takes_less(const struct orch_item_choice *choice)
{
    return choice->where ||
           (choice->artifact_bytes >= 0 && choice->artifact_bytes < ORCH_ARTIFACT_BYTES_DEFAULT);
}

/* Creates the objects of the items that the store has and the tree lacks; only once, however often
 * the push is tried. */
static bool send_store(struct exchange *x, struct results_draft *draft, GError **error)
{
    struct send_ctx send_ctx = {x, draft};
    struct orch_item_sink sink = {.ctx = &send_ctx, .wants = wants, .take = take};
    struct orch_item_choice choice = x->how->choice;
    int64_t last = x->is_marked ? x->mark.last_run : 0;
    if (x->sent)
        return true;
    x->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    choice.after_run_id = takes_more(&choice) ? 0 : last;
    if (!orch_items_visit(x->store, &choice, &sink, &x->last_considered, error))
        return false;
    x->last_considered = takes_less(&choice) ? last : MAX(x->last_considered, last);
    return true;
}

static bool add_sources(struct exchange *x, struct results_draft *draft, GError **error)
{
    for (int i = 0; x->how->source_trees && x->how->source_trees[i]; i++) {
        git_oid oid, found;
        const char *why = "a source whose id is not git's";
        g_autofree char *path = g_strconcat("sources/", x->how->source_trees[i], NULL);
        if (orch_results_draft_find(draft, path, &found))
            continue;
        if (git_oid_fromstr(&oid, x->how->source_paths[i]) != 0 ||
            !orch_results_source_is_fit(x->place, &oid, &why)) {
            orch_error_set(error, ORCH_ERROR_IO, "push without '--with-source'",
                           "tree %.12s cannot be shared: it is %s", x->how->source_trees[i], why);
            return false;
        }
        orch_results_draft_add(draft, path, &oid, GIT_FILEMODE_TREE);
    }
    return true;
}

/* A draft of the union with the new items. */
static struct results_draft *draft_push(struct exchange *x, GError **error)
{
    struct results_draft *draft = orch_results_draft_new(x->place, &x->ours_root);
    GHashTableIter iter;
    void *path, *oid;
    git_oid found;
    if (!send_store(x, draft, error) || !add_sources(x, draft, error)) {
        orch_results_draft_free(draft);
        return NULL;
    }
    g_hash_table_iter_init(&iter, x->sent);
    while (g_hash_table_iter_next(&iter, &path, &oid))
        if (!orch_results_draft_find(draft, path, &found))
            orch_results_draft_add(draft, path, oid, GIT_FILEMODE_BLOB);
    return draft;
}

static bool count_sent(void *ctx, const struct results_news *news, GError **error)
{
    struct exchange *x = ctx;
    int64_t bytes = 0;
    (void)error;
    orch_results_blob_size(x->place, &news->oid, &bytes);
    x->out->sent_items++;
    x->out->sent_bytes += bytes;
    x->out->sent_runs += news->name && news->name->kind == ORCH_ITEM_RUN;
    return true;
}

/* Updates the local refs to the pushed commit. It does no harm when another process has updated
 * them. */
static bool settle(struct exchange *x, const git_oid *commit, GError **error)
{
    bool moved = false, ignored = false;
    if (!git_oid_equal(commit, &x->theirs) &&
        !orch_results_ref_set(x->place, x->place->tracking, commit, &x->theirs, &ignored, error))
        return false;
    if (!git_oid_equal(commit, &x->ours) &&
        !orch_results_ref_set(x->place, RESULTS_REF, commit, &x->ours, &moved, error))
        return false;
    return moved || write_mark(x, commit, x->last_considered, error);
}

static bool send_news(struct exchange *x, bool *out_again, GError **error)
{
    struct results_draft *draft = draft_push(x, error);
    git_oid root, commit;
    *out_again = false;
    bool is_empty = draft && git_oid_is_zero(&draft->root) && !g_hash_table_size(draft->added);
    bool ok = draft && (is_empty || orch_results_draft_write(draft, &root, error));
    orch_results_draft_free(draft);
    if (!ok || is_empty)
        return ok;
    ok =
        commit_of(x, &root, "orch: results", &commit, error) && orch_results_flush(x->place, error);
    /* a commit of ours that does not descend from theirs cannot be pushed, so a merge of both is
     * made */
    if (ok && !git_oid_is_zero(&x->theirs) && !git_oid_equal(&commit, &x->theirs) &&
        git_graph_descendant_of(x->place->repository, &commit, &x->theirs) != 1) {
        const git_oid parents[] = {commit, x->theirs};
        ok = orch_results_commit(x->place, &root, parents, 2, "orch: results", &commit, error) &&
             orch_results_flush(x->place, error);
    }
    if (!ok)
        return false;
    if (!git_oid_equal(&commit, &x->theirs)) {
        if (!orch_results_push(x->place, &commit, out_again, error))
            return false;
        if (*out_again)
            return true;
        bool has = !git_oid_is_zero(&x->theirs);
        if (!orch_results_visit_news(x->place, &root, has ? &x->theirs_root : NULL, count_sent, x,
                                     error))
            return false;
    }
    return settle(x, &commit, error);
}

/* ---- entry points -------------------------------------------------------------------------------
 */

/* Waits for a random time after a lost race, so that several processes do not collide again. */
static void wait_a_little(unsigned attempts)
{
    g_usleep((gulong)g_random_int_range(5, 20 + 30 * (int)MIN(attempts, 20)) * 1000);
}

static bool exchange(struct exchange *x, enum orch_exchange_way way, GError **error)
{
    for (x->out->attempts = 1; x->out->attempts <= ATTEMPTS_MAX; x->out->attempts++) {
        bool again = false;
        if (!orch_results_fetch(x->place, error) || !integrate(x, &again, error))
            return false;
        if (!again && way == ORCH_EXCHANGE_PUSH && !send_news(x, &again, error))
            return false;
        if (!again) {
            g_autofree char *name = time_name(x->place);
            g_autofree char *now = g_strdup_printf("%" G_GINT64_FORMAT, orch_now_ns());
            return orch_store_remember(x->store, name, now, error);
        }
        wait_a_little(x->out->attempts);
    }
    orch_error_set(error, ORCH_ERROR_IO, "run the command again",
                   "cannot push to '%s': others pushed first in each of %d attempts",
                   x->place->remote, ATTEMPTS_MAX);
    return false;
}

/* Does not change the store, the remote and the union; the tracking ref may change. */
static bool look(struct exchange *x, GArray *out_outgoing, GError **error)
{
    git_oid none = {{0}};
    if ((!x->how->offline && !orch_results_fetch(x->place, error)) || !read_mark(x, error) ||
        !read_roots(x, error))
        return false;
    return orch_results_look(x->store, x->how, x->place, x->is_marked ? &x->ours_root : &none,
                             &x->theirs_root,
                             x->is_marked && !takes_more(&x->how->choice) ? x->mark.last_run : 0,
                             x->out, out_outgoing, error);
}

/* The folder for a private repository. It is never a folder that was copied from elsewhere, because
 * git obeys the configuration in it. */
static const char *private_folder(const struct orch_store *store)
{
    return orch_store_is_own(store) ? orch_store_folder(store) : NULL;
}

bool orch_git_exchange(struct orch_store *store, const struct orch_git_exchange *how,
                       enum orch_exchange_way way, struct orch_exchanged *out,
                       GArray **out_outgoing, GError **error)
{
    struct exchange x = {.store = store, .how = how, .out = out};
    memset(out, 0, sizeof *out);
    x.place = orch_results_place_open(how->repository, private_folder(store), error);
    if (!x.place || !orch_results_place_set_remote(x.place, how->remote, error)) {
        orch_results_place_close(x.place);
        return false;
    }
    x.place->may_ask = how->may_ask;
    GArray *outgoing =
        out_outgoing ? g_array_new(FALSE, TRUE, sizeof(struct orch_push_item)) : NULL;
    bool ok = way == ORCH_EXCHANGE_LOOK ? look(&x, outgoing, error) : exchange(&x, way, error);
    if (ok && out_outgoing)
        *out_outgoing = outgoing;
    else if (outgoing)
        g_array_unref(outgoing);
    if (x.sent)
        g_hash_table_unref(x.sent);
    orch_results_place_close(x.place);
    return ok;
}

int64_t orch_git_exchanged_at(struct orch_store *store, const char *repository, const char *remote)
{
    struct results_place *place = orch_results_place_open(repository, private_folder(store), NULL);
    int64_t at = 0;
    if (place && orch_results_place_set_remote(place, remote, NULL)) {
        g_autofree char *name = time_name(place);
        g_autofree char *text = orch_store_remembered(store, name, NULL);
        if (text)
            orch_int_parse(text, &at);
    }
    orch_results_place_close(place);
    return at;
}
