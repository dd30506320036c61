/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/shared_run.h"

#include "core/plan/reuse.h"
#include "features/share/shared_holders.h"
#include "lib/base/json.h"

#include <string.h>

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

static void give_back_at(struct orch_run_sharing *share, struct orch_claims *claims,
                         const struct orch_plan_item *item)
{
    g_autoptr(GError) error = NULL;
    if (claims &&
        !orch_claims_give_back(claims, item->fingerprint, orch_share_device(item), &error))
        orch_share_report_failure(share, "a claim could not be released; it will expire", error);
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
    if (!orch_claims_take(claims, item->fingerprint, orch_share_device(item), point, out_holder,
                          &error))
        orch_share_report_failure(share, "trials cannot be claimed, so others may run them too",
                                  error);
    else if (!*out_holder)
        g_hash_table_add(share->claimed, (gpointer)(uintptr_t)item);
    return !*out_holder;
}

/* Sends the results of ended trials, then releases their claims. */
static bool send_unsent(struct orch_run_sharing *share)
{
    g_autoptr(GError) error = NULL;
    share->sent_mono_ns = orch_mono_ns();
    if (!share->has_news)
        return true;
    if (!orch_share_exchange(&share->options->place, share->plan->store, ORCH_EXCHANGE_PUSH,
                             &error)) {
        orch_share_report_failure(share, "results cannot be pushed", error);
        return false;
    }
    for (guint i = 0; i < share->unsent->len; i++)
        give_back(share, share->unsent->pdata[i]);
    g_ptr_array_set_size(share->unsent, 0);
    share->has_news = false;
    return true;
}

/* Ends the claim of a trial that a rule has stopped and that goes on: the claim of its next attempt
 * is another one. Where its result cannot be sent now, the claim at the remote is kept; that in the
 * folder of the store ended with the attempt (ended). */
static void give_back_sent(struct orch_run_sharing *share, const struct orch_plan_item *item)
{
    if (!g_ptr_array_find(share->unsent, item, NULL))
        return;
    send_unsent(share);
    g_ptr_array_remove(share->unsent, (gpointer)(uintptr_t)item);
}

static bool claim(void *ctx, const struct orch_plan_item *item, char **out_why)
{
    struct orch_run_sharing *share = ctx;
    struct orch_claim *holder = NULL;
    give_back_sent(share, item);
    bool known = g_hash_table_contains(share->claimed, item); /* another attempt */
    if (!orch_share_is_claimable(item) || (!known && has_reusable_run(share, item)))
        return true;
    if ((share->near && !claim_at(share, share->near, item, &holder)) ||
        (!known && share->remote && !orch_share_is_down(share) &&
         !claim_at(share, share->remote, item, &holder))) {
        if (!known) /* the claim at the remote is kept until the result is sent */
            give_back(share, item);
        *out_why = orch_share_claim_text(holder);
        orch_share_note_holder(share, item, holder);
        return false;
    }
    if (known || !g_hash_table_contains(share->claimed, item))
        return true;
    share->looked_last = false;
    /* the previous holder released the claim after publishing its result, so pulling now finds it
     */
    orch_share_pull(share, share->plan->store);
    if (has_reusable_run(share, item))
        give_back(share, item);
    return true;
}

static bool is_time_to_send(const struct orch_run_sharing *share)
{
    return !orch_share_is_down(share) &&
           orch_mono_ns() - share->sent_mono_ns >= orch_share_interval_ns(ORCH_SHARE_SEND);
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
        orch_share_report_failure(
            share, "claims cannot be renewed, so others may run the same trials", error);
    g_clear_error(&error);
    if (orch_share_is_down(share))
        return;
    if (share->remote && !orch_claims_renew(share->remote, &error))
        orch_share_report_failure(
            share, "claims cannot be renewed, so others may run the same trials", error);
    else if (!quiet && is_time_to_send(share))
        send_unsent(share);
}

/* When nothing is left to do here, reports whom the run waits for, if that has changed. */
static void report_wait(struct orch_run_sharing *share)
{
    g_autoptr(GArray) holders = orch_share_holders_of(share, share->plan);
    GString *who = g_string_new(NULL);
    for (guint i = 0; i < holders->len; i++)
        g_string_append_printf(who, "%s\n",
                               g_array_index(holders, struct orch_share_holding, i).who);
    g_autofree char *now = g_string_free(who, FALSE);
    if (!*now || g_strcmp0(now, share->reported_wait) == 0 || !share->options->on_wait)
        return;
    g_autofree char *held = orch_share_held_text(share, share->plan);
    g_autofree char *text = g_strdup_printf("waiting: %s, or longer; Ctrl-C ends the wait", held);
    share->options->on_wait(share->options->ctx, text);
    g_free(share->reported_wait);
    share->reported_wait = g_steal_pointer(&now);
}

/* ---- searches -----------------------------------------------------------------------------------
 */

/* Fills the plan's searches with the results of others. */
static bool use_results(struct orch_run_sharing *share)
{
    g_autoptr(GError) error = NULL;
    if (!orch_plan_fill_searches(share->plan, &error))
        orch_share_report_failure(share, "cannot use the runs of others", error);
    if (share->options->on_message)
        orch_plan_say_rejected(share->plan, share->options->on_message, share->options->ctx);
    return !error;
}

/* Merges results of others and fills the plan's searches with them. */
static bool take_results(struct orch_run_sharing *share)
{
    return orch_share_pull(share, share->plan->store) && use_results(share);
}

/* Whether others run all trials of a point. */
static bool is_held(const struct orch_plan *plan, const struct orch_search_point *point)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point && plan->items[i].state != ORCH_PLAN_HELD)
            return false;
    return point && point->is_chosen;
}

/* Lets the runs of others take the place of points that this process waits for. A member that died
 * leaves a claim whose point nobody may run any more, because the group has tried enough others.
 * Points without such runs are taken from the claims again. */
static void replace_held(struct orch_run_sharing *share)
{
    struct orch_claims *const places[] = {share->near, share->remote};
    g_autoptr(GError) error = NULL;
    bool is_new, has_ended, has_opened = false;
    for (unsigned i = 0; i < share->plan->count; i++) {
        struct orch_search_point *point = share->plan->items[i].cell->point;
        if (!is_held(share->plan, point))
            continue;
        orch_plan_open_point(share->plan, point);
        has_opened = true;
    }
    if (!has_opened || !use_results(share))
        return;
    orch_shared_points_forget(share->points);
    if (!orch_shared_points_take(share->points, share->plan, places, G_N_ELEMENTS(places), &is_new,
                                 &has_ended, &error))
        orch_share_report_failure(share, "cannot use the claims of others", error);
}

static bool take_points(void *ctx)
{
    struct orch_run_sharing *share = ctx;
    struct orch_claims *const places[] = {share->near, share->remote};
    g_autoptr(GError) error = NULL;
    bool is_new, has_ended;
    if (orch_share_is_down(share) ||
        (share->points_mono_ns &&
         orch_mono_ns() - share->points_mono_ns < orch_share_interval_ns(ORCH_SHARE_POINTS)))
        return false;
    if (!orch_shared_points_take(share->points, share->plan, places, G_N_ELEMENTS(places), &is_new,
                                 &has_ended, &error))
        orch_share_report_failure(share, "cannot use the claims of others", error);
    share->points_mono_ns = orch_mono_ns();
    bool is_time =
        share->points_mono_ns - share->looked_mono_ns >= orch_share_interval_ns(ORCH_SHARE_LOOK);
    return ((is_time || has_ended) && take_results(share)) || is_new;
}

static enum orch_retry again(void *ctx, bool idle)
{
    struct orch_run_sharing *share = ctx;
    bool is_time = orch_mono_ns() - share->looked_mono_ns >=
                   orch_share_interval_ns(idle ? ORCH_SHARE_LOOK_IDLE : ORCH_SHARE_LOOK);
    if (!idle && is_time)
        share->looked_mono_ns = orch_mono_ns();
    if (!idle)
        return is_time ? ORCH_RETRY_NOW : ORCH_RETRY_LATER;
    if (!share->options->waits && share->looked_last)
        return ORCH_RETRY_NEVER;
    if (share->options->waits)
        report_wait(share);
    const bool is_early = share->options->waits && !is_time;
    if (!is_early || !orch_share_is_down(share))
        send_unsent(share); /* others may wait for these */
    if (is_early)
        return ORCH_RETRY_LATER;
    share->looked_last = true;
    if (orch_share_pull(share, share->plan->store))
        replace_held(share);
    return ORCH_RETRY_NOW;
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
            orch_share_report_failure(share, "claims could not be released; they will expire",
                                      error);
    }
}
