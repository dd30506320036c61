/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/shared_holders.h"

#include <string.h>

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

char *orch_share_claim_text(const struct orch_claim *claim)
{
    g_autofree char *until = until_text(claim->expires_ns);
    g_autofree char *name = orch_who_name(claim->who);
    bool is_mine = orch_who_is_same(claim->who, orch_user_name());
    return g_strdup_printf("claimed by %s%s%s until %s", name, is_mine ? " on " : "",
                           is_mine ? claim->host : "", until);
}

GArray *orch_share_holders_of(const struct orch_run_sharing *share, const struct orch_plan *plan)
{
    GArray *holders = g_array_new(FALSE, TRUE, sizeof(struct orch_share_holding));
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_claim *claim = g_hash_table_lookup(share->holders, item);
        guint k = 0;
        if (item->state != ORCH_PLAN_HELD || !claim)
            continue;
        while (k < holders->len &&
               strcmp(g_array_index(holders, struct orch_share_holding, k).who, claim->who) != 0)
            k++;
        if (k == holders->len)
            g_array_set_size(holders, k + 1);
        struct orch_share_holding *holder = &g_array_index(holders, struct orch_share_holding, k);
        holder->who = claim->who;
        holder->trials++;
        holder->until_ns = MAX(holder->until_ns, claim->expires_ns);
    }
    return holders;
}

char *orch_share_held_text(const struct orch_run_sharing *share, const struct orch_plan *plan)
{
    g_autoptr(GArray) holders = orch_share_holders_of(share, plan);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < holders->len; i++) {
        const struct orch_share_holding *holder =
            &g_array_index(holders, struct orch_share_holding, i);
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

const char *orch_share_device(const struct orch_plan_item *item)
{
    return item->cell->experiment->reuse == ORCH_RECIPE_REUSE_DEVICE ? item->device_key : NULL;
}

bool orch_share_is_claimable(const struct orch_plan_item *item)
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
    if (!orch_share_is_claimable(item))
        return NULL;
    orch_claim_resource(item->fingerprint, orch_share_device(item), resource);
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

void orch_share_note_holder(struct orch_run_sharing *share, const struct orch_plan_item *item,
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
        orch_share_report_failure(share, "cannot read the claims of others", error);
    for (unsigned i = 0; list && i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        const struct orch_claim *claim =
            may_be_held(item, anywhere) ? claim_of(list, item, anywhere) : NULL;
        if (!claim)
            continue;
        orch_share_note_holder(share, item, orch_claim_copy(claim));
        item->state = ORCH_PLAN_HELD;
        g_free(item->reason);
        item->reason = orch_share_claim_text(claim);
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
