/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/shared_run.h"

#include "core/plan/reuse.h"
#include "features/share/shared_points.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/store_dir.h"

#include <string.h>

/* Intervals as shares of a claim's duration: for sending results (60 s), and for checking whether
 * results of others have arrived (30 s) or the network is back. */
#define SEND_SHARE (1.0 / 15)
#define LOOK_SHARE (1.0 / 30)
/* ... and for looking at what others have begun, before a search chooses (3 s). */
#define POINTS_SHARE (1.0 / 300)

struct orch_run_sharing {
    const struct orch_share_options *options;
    struct orch_plan *plan;     /* of the hooks */
    struct orch_claims *near;   /* in the folder of a shared store, or NULL */
    struct orch_claims *remote; /* or NULL */
    GHashTable *claimed;        /* set of items claimed by this process */
    GPtrArray *unsent;          /* const struct orch_plan_item *: ended well */
    GHashTable *holders;        /* item -> struct orch_claim *: as last seen */
    struct orch_shared_points *points;
    int64_t points_mono_ns; /* when the claims were last read for `points` */
    char *reported_wait;    /* the last text passed to `tell`, or NULL */
    int64_t sent_mono_ns, looked_mono_ns, down_mono_ns;
    bool has_news;    /* a trial has ended since results were sent */
    bool looked_last; /* only held trials were left, and they have been checked once more */
    bool has_reported_failure;
};

static int64_t interval_ns(double share)
{
    return (int64_t)(orch_claim_seconds() * share * 1e9);
}

/* ---- the place ---------------------------------------------------------------------------------
 */

static struct orch_claims *open_remote(const struct orch_share_place *place, GError **error)
{
    return place->is_folder ? orch_claims_open_folder(place->remote, place->who, error)
                            : orch_claims_open_git(place->repository, place->store_folder,
                                                   place->remote, place->who, error);
}

static bool exchange(const struct orch_share_place *place, struct orch_store *store,
                     enum orch_exchange_way way, GError **error)
{
    struct orch_git_exchange how = {.repository = place->repository,
                                    .remote = place->remote,
                                    .choice = {.artifact_bytes = ORCH_ARTIFACT_BYTES_DEFAULT}};
    struct orch_exchanged exchanged = {0};
    if (way == ORCH_EXCHANGE_PULL)
        orch_store_refresh(store);
    if (!place->remote)
        return true; /* the other hosts read what this one writes */
    bool ok = place->is_folder
                  ? orch_folder_exchange(store, place->remote, way, &how.choice, &exchanged, error)
                  : orch_git_exchange(store, &how, way, &exchanged, NULL, error);
    orch_exchanged_clear(&exchanged);
    return ok;
}

struct orch_share_place orch_share_place_of(const struct orch_workspace *workspace,
                                            char **out_folder)
{
    const struct orch_store *store = workspace->store;
    bool is_shared = store && orch_store_is_shared(store);
    /* git obeys the configuration of a repository in that folder, so the store must be this user's
     */
    *out_folder = store && orch_store_is_own(store) ? g_strdup(orch_store_folder(store)) : NULL;
    return (struct orch_share_place){.repository = workspace->root,
                                     .store_folder = *out_folder,
                                     .claims_folder = is_shared ? orch_store_folder(store) : NULL,
                                     .who = orch_user_name()};
}

struct orch_run_sharing *orch_run_sharing_new(const struct orch_share_options *options,
                                              GError **error)
{
    const struct orch_share_place *place = &options->place;
    struct orch_claims *near = NULL, *remote = NULL;
    if ((place->claims_folder &&
         !(near = orch_claims_open_folder(place->claims_folder, place->who, error))) ||
        (place->remote && !(remote = open_remote(place, error)))) {
        orch_claims_close(near);
        return NULL;
    }
    struct orch_run_sharing *share = g_new0(struct orch_run_sharing, 1);
    share->options = options;
    share->near = near;
    share->remote = remote;
    share->claimed = g_hash_table_new(NULL, NULL);
    share->unsent = g_ptr_array_new();
    share->points = orch_shared_points_new();
    share->holders =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)(void (*)(void))orch_claim_free);
    return share;
}

void orch_run_sharing_free(struct orch_run_sharing *share)
{
    if (!share)
        return;
    orch_claims_close(share->near);
    orch_claims_close(share->remote);
    g_hash_table_unref(share->claimed);
    g_hash_table_unref(share->holders);
    orch_shared_points_free(share->points);
    g_ptr_array_unref(share->unsent);
    g_free(share->reported_wait);
    g_free(share);
}

/* ---- a network that fails ----------------------------------------------------------------------
 */

/* Reports the first failure and suspends network access for a while. */
static void report_failure(struct orch_run_sharing *share, const char *what, const GError *error)
{
    share->down_mono_ns = orch_mono_ns();
    if (share->has_reported_failure || !share->options->on_message)
        return;
    share->has_reported_failure = true;
    g_autofree char *text = g_strdup_printf("%s: %s", what, error ? error->message : "?");
    share->options->on_message(share->options->ctx, text);
}

static bool is_down(const struct orch_run_sharing *share)
{
    return share->down_mono_ns && orch_mono_ns() - share->down_mono_ns < interval_ns(LOOK_SHARE);
}

bool orch_share_pull(struct orch_run_sharing *share, struct orch_store *store)
{
    g_autoptr(GError) error = NULL;
    share->looked_mono_ns = orch_mono_ns();
    if (is_down(share)) { /* the other hosts of a shared store are still reachable */
        orch_store_refresh(store);
        return false;
    }
    if (exchange(&share->options->place, store, ORCH_EXCHANGE_PULL, &error))
        return true;
    report_failure(share, "cannot fetch the runs of others", error);
    return false;
}

/* ---- texts -------------------------------------------------------------------------------------
 */

/* "12:40" today, else "2026-11-22 12:40", local time. The caller frees. */
static char *until_text(int64_t utc_ns)
{
    g_autoptr(GDateTime) until = g_date_time_new_from_unix_local(utc_ns / 1000000000);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    if (!until || !now)
        return g_strdup("?");
    bool today = g_date_time_get_day_of_year(until) == g_date_time_get_day_of_year(now) &&
                 g_date_time_get_year(until) == g_date_time_get_year(now);
    return g_date_time_format(until, today ? "%H:%M" : "%Y-%m-%d %H:%M");
}

/* "claimed by bob until 12:40"; for the user's own claims with the host. The caller frees. */
static char *claim_text(const struct orch_claim *claim)
{
    g_autofree char *until = until_text(claim->expires_ns);
    g_autofree char *name = orch_who_name(claim->who);
    bool is_mine = orch_who_is_same(claim->who, orch_user_name());
    return g_strdup_printf("claimed by %s%s%s until %s", name, is_mine ? " on " : "",
                           is_mine ? claim->host : "", until);
}

struct holder {
    const char *who;
    unsigned trials;
    int64_t until_ns;
};

/* The holders of the plan's held trials, in order of first appearance: struct holder. */
static GArray *holders_of(const struct orch_run_sharing *share, const struct orch_plan *plan)
{
    GArray *holders = g_array_new(FALSE, TRUE, sizeof(struct holder));
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_claim *claim = g_hash_table_lookup(share->holders, item);
        guint k = 0;
        if (item->state != ORCH_PLAN_HELD || !claim)
            continue;
        while (k < holders->len &&
               strcmp(g_array_index(holders, struct holder, k).who, claim->who) != 0)
            k++;
        if (k == holders->len)
            g_array_set_size(holders, k + 1);
        struct holder *holder = &g_array_index(holders, struct holder, k);
        holder->who = claim->who;
        holder->trials++;
        holder->until_ns = MAX(holder->until_ns, claim->expires_ns);
    }
    return holders;
}

char *orch_share_held_text(const struct orch_run_sharing *share, const struct orch_plan *plan)
{
    g_autoptr(GArray) holders = holders_of(share, plan);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < holders->len; i++) {
        const struct holder *holder = &g_array_index(holders, struct holder, i);
        g_autofree char *until = until_text(holder->until_ns);
        g_autofree char *name = orch_who_name(holder->who);
        const char *verb = holder->trials == 1 ? " trial is run" : " trials are run";
        g_string_append_printf(text, "%s%u%s by %s until %s", i ? ", " : "", holder->trials,
                               i ? "" : verb, name, until);
    }
    return g_string_free(text, !holders->len);
}

/* ---- which trials ------------------------------------------------------------------------------
 */

static bool is_by_device(const struct orch_plan_item *item)
{
    return item->cell->experiment->reuse == ORCH_RECIPE_REUSE_DEVICE;
}

static bool is_claimable(const struct orch_plan_item *item)
{
    return item->fingerprint[0] && !item->forced &&
           item->cell->experiment->reuse != ORCH_RECIPE_REUSE_NEVER;
}

/* The claim of another process that prevents the trial from running here; with `anywhere`, a claim
 * of the trial for any device. NULL when there is none. */
static const struct orch_claim *claim_of(const GPtrArray *claims, const struct orch_plan_item *item,
                                         bool anywhere)
{
    char resource[ORCH_SHA256_CHARS];
    if (!is_claimable(item))
        return NULL;
    orch_claim_resource(item->fingerprint, is_by_device(item) ? item->device_key : NULL, resource);
    for (guint i = 0; i < claims->len; i++) {
        const struct orch_claim *claim = claims->pdata[i];
        if (!claim->is_ours && (anywhere ? strcmp(claim->fingerprint, item->fingerprint) == 0
                                         : strcmp(claim->resource, resource) == 0))
            return claim;
    }
    return NULL;
}

const struct orch_claim *orch_share_holder(const struct orch_run_sharing *share,
                                           const struct orch_plan_item *item)
{
    return g_hash_table_lookup(share->holders, item);
}

static void note_holder(struct orch_run_sharing *share, const struct orch_plan_item *item,
                        struct orch_claim *claim)
{
    g_hash_table_insert(share->holders, (gpointer)(uintptr_t)item, claim);
}

/* True when a claim can make the item HELD. */
static bool may_be_held(const struct orch_plan_item *item, bool anywhere)
{
    return orch_plan_will_run(item) || (anywhere && item->state == ORCH_PLAN_SKIPPED);
}

/* Marks items by the claims of one location. */
static bool mark_by(struct orch_run_sharing *share, struct orch_claims *claims,
                    struct orch_plan *plan, bool anywhere)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) list = orch_claims_list(claims, &error);
    if (!list)
        report_failure(share, "cannot read the claims of others", error);
    for (unsigned i = 0; list && i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        const struct orch_claim *claim =
            may_be_held(item, anywhere) ? claim_of(list, item, anywhere) : NULL;
        if (!claim)
            continue;
        note_holder(share, item, orch_claim_copy(claim));
        item->state = ORCH_PLAN_HELD;
        g_free(item->reason);
        item->reason = claim_text(claim);
    }
    return list != NULL;
}

bool orch_share_mark(struct orch_run_sharing *share, struct orch_plan *plan, bool anywhere)
{
    struct orch_claims *const places[] = {share->near, share->remote};
    bool ok = true;
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
        ok = (!places[i] || mark_by(share, places[i], plan, anywhere)) && ok;
    return ok;
}

/* ---- the hooks ---------------------------------------------------------------------------------
 */

/* A read error counts as no run, because it is reported when the trial begins. */
static bool has_reusable_run(const struct orch_run_sharing *share,
                             const struct orch_plan_item *item)
{
    struct orch_run *run = orch_reuse_find(share->plan, item, NULL, NULL);
    bool found = run != NULL;
    orch_run_free(run);
    return found;
}

static const char *device_of(const struct orch_plan_item *item)
{
    return is_by_device(item) ? item->device_key : NULL;
}

static void give_back_at(struct orch_run_sharing *share, struct orch_claims *claims,
                         const struct orch_plan_item *item)
{
    g_autoptr(GError) error = NULL;
    if (claims && !orch_claims_give_back(claims, item->fingerprint, device_of(item), &error))
        report_failure(share, "a claim could not be released; it will expire", error);
}

static void give_back(struct orch_run_sharing *share, const struct orch_plan_item *item)
{
    if (!g_hash_table_remove(share->claimed, item))
        return;
    give_back_at(share, share->near, item);
    give_back_at(share, share->remote, item);
}

/* Claims the item at one location; false when another process holds it. An unreachable location
 * does not prevent the trial from running. */
static bool claim_at(struct orch_run_sharing *share, struct orch_claims *claims,
                     const struct orch_plan_item *item, struct orch_claim **out_holder)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) point = orch_shared_point(item);
    if (!orch_claims_take(claims, item->fingerprint, device_of(item), point, out_holder, &error))
        report_failure(share, "trials cannot be claimed, so others may run them too", error);
    else if (!*out_holder)
        g_hash_table_add(share->claimed, (gpointer)(uintptr_t)item);
    return !*out_holder;
}

static bool claim(void *ctx, const struct orch_plan_item *item, char **out_why)
{
    struct orch_run_sharing *share = ctx;
    struct orch_claim *holder = NULL;
    bool known = g_hash_table_contains(share->claimed, item); /* another attempt */
    if (!is_claimable(item) || known || has_reusable_run(share, item))
        return true;
    if ((share->near && !claim_at(share, share->near, item, &holder)) ||
        (share->remote && !is_down(share) && !claim_at(share, share->remote, item, &holder))) {
        give_back(share, item);
        *out_why = claim_text(holder);
        note_holder(share, item, holder);
        return false;
    }
    if (!g_hash_table_contains(share->claimed, item))
        return true;
    share->looked_last = false;
    /* the previous holder released the claim after publishing its result, so pulling now finds it
     */
    orch_share_pull(share, share->plan->store);
    if (has_reusable_run(share, item))
        give_back(share, item);
    return true;
}

/* Sends the results of ended trials, then releases their claims. */
static bool send_unsent(struct orch_run_sharing *share)
{
    g_autoptr(GError) error = NULL;
    share->sent_mono_ns = orch_mono_ns();
    if (!share->has_news)
        return true;
    if (!exchange(&share->options->place, share->plan->store, ORCH_EXCHANGE_PUSH, &error)) {
        report_failure(share, "results cannot be pushed", error);
        return false;
    }
    for (guint i = 0; i < share->unsent->len; i++)
        give_back(share, share->unsent->pdata[i]);
    g_ptr_array_set_size(share->unsent, 0);
    share->has_news = false;
    return true;
}

static bool is_time_to_send(const struct orch_run_sharing *share)
{
    return !is_down(share) && orch_mono_ns() - share->sent_mono_ns >= interval_ns(SEND_SHARE);
}

static void dropped(void *ctx, const struct orch_plan_item *item)
{
    give_back(ctx, item);
}

/* Called when a trial is recorded and before the next timing trial starts, so that results are sent
 * even between consecutive timing trials. */
static void ended(void *ctx, const struct orch_plan_item *item, bool well)
{
    struct orch_run_sharing *share = ctx;
    share->has_news = true;
    if (well && share->near) /* the result is visible to the other hosts now */
        give_back_at(share, share->near, item);
    if (well)
        g_ptr_array_add(share->unsent, (gpointer)(uintptr_t)item);
    else
        give_back(share, item);
    if (is_time_to_send(share))
        send_unsent(share);
}

static void tick(void *ctx, bool quiet)
{
    struct orch_run_sharing *share = ctx;
    g_autoptr(GError) error = NULL;
    if (share->near && !orch_claims_renew(share->near, &error))
        report_failure(share, "claims cannot be renewed, so others may run the same trials", error);
    g_clear_error(&error);
    if (is_down(share))
        return;
    if (share->remote && !orch_claims_renew(share->remote, &error))
        report_failure(share, "claims cannot be renewed, so others may run the same trials", error);
    else if (!quiet && is_time_to_send(share))
        send_unsent(share);
}

/* When nothing is left to do here, reports whom the run waits for, if that has changed. */
static void report_wait(struct orch_run_sharing *share)
{
    g_autoptr(GArray) holders = holders_of(share, share->plan);
    GString *who = g_string_new(NULL);
    for (guint i = 0; i < holders->len; i++)
        g_string_append_printf(who, "%s\n", g_array_index(holders, struct holder, i).who);
    g_autofree char *now = g_string_free(who, FALSE);
    if (!*now || g_strcmp0(now, share->reported_wait) == 0 || !share->options->on_wait)
        return;
    g_autofree char *held = orch_share_held_text(share, share->plan);
    g_autofree char *text = g_strdup_printf("waiting: %s, or longer; Ctrl-C ends the wait", held);
    share->options->on_wait(share->options->ctx, text);
    g_free(share->reported_wait);
    share->reported_wait = g_steal_pointer(&now);
}

static enum orch_retry again(void *ctx, bool idle)
{
    struct orch_run_sharing *share = ctx;
    bool is_time = orch_mono_ns() - share->looked_mono_ns >= interval_ns(LOOK_SHARE);
    if (!idle && is_time)
        share->looked_mono_ns = orch_mono_ns();
    if (!idle)
        return is_time ? ORCH_RETRY_NOW : ORCH_RETRY_LATER;
    if (!share->options->waits && share->looked_last)
        return ORCH_RETRY_NEVER;
    if (share->options->waits)
        report_wait(share);
    if (share->options->waits && !is_time)
        return ORCH_RETRY_LATER;
    share->looked_last = true;
    send_unsent(share); /* others may wait for these */
    orch_share_pull(share, share->plan->store);
    return ORCH_RETRY_NOW;
}

/* ---- searches -----------------------------------------------------------------------------------
 */

/* Merges results of others and fills the plan's searches with them. */
static bool take_results(struct orch_run_sharing *share)
{
    g_autoptr(GError) error = NULL;
    if (!orch_share_pull(share, share->plan->store))
        return false;
    if (!orch_plan_fill_searches(share->plan, &error))
        report_failure(share, "cannot use the runs of others", error);
    return !error;
}

static bool take_points(void *ctx)
{
    struct orch_run_sharing *share = ctx;
    struct orch_claims *const places[] = {share->near, share->remote};
    g_autoptr(GError) error = NULL;
    bool is_new, has_ended;
    if (is_down(share) || (share->points_mono_ns &&
                           orch_mono_ns() - share->points_mono_ns < interval_ns(POINTS_SHARE)))
        return false;
    if (!orch_shared_points_take(share->points, share->plan, places, G_N_ELEMENTS(places), &is_new,
                                 &has_ended, &error))
        report_failure(share, "cannot use the claims of others", error);
    share->points_mono_ns = orch_mono_ns();
    bool is_time = share->points_mono_ns - share->looked_mono_ns >= interval_ns(LOOK_SHARE);
    return ((is_time || has_ended) && take_results(share)) || is_new;
}

struct orch_sharing orch_share_hooks(struct orch_run_sharing *share, struct orch_plan *plan)
{
    share->plan = plan;
    share->sent_mono_ns = orch_mono_ns();
    return (struct orch_sharing){.ctx = share,
                                 .claim = claim,
                                 .dropped = dropped,
                                 .ended = ended,
                                 .tick = tick,
                                 .again = again,
                                 .take_points = take_points};
}

void orch_share_finish(struct orch_run_sharing *share, bool has_more)
{
    struct orch_claims *const places[] = {share->near, share->remote};
    share->has_news = share->has_news || has_more;
    if (share->plan && !send_unsent(share) && share->options->on_message)
        share->options->on_message(
            share->options->ctx,
            "the results are kept here and were not sent; 'orch push' sends them");
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autoptr(GError) error = NULL;
        if (places[i] && !orch_claims_give_back_all(places[i], &error))
            report_failure(share, "claims could not be released; they will expire", error);
    }
}
