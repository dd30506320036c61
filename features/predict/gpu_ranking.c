/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/gpu_ranking.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static void free_unranked(gpointer data)
{
    struct orch_unranked *u = data;
    g_free(u->why);
    g_free(u);
}

static void free_ranked(gpointer data)
{
    struct orch_ranked_gpu *r = data;
    orch_rate_release(&r->c.rate);
    if (r->owns_why)
        orch_step_answer_clear(&r->a);
    g_free(r);
}

double orch_ranked_gpu_s(const struct orch_ranked_gpu *r)
{
    return isnan(r->a.total_s.mid) ? r->a.step.total_s.mid : r->a.total_s.mid;
}

/* Orders those that fit, of these those whose interval is no guess, then by time and cost. */
static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct orch_ranked_gpu *p = *(const struct orch_ranked_gpu *const *)a,
                                 *o = *(const struct orch_ranked_gpu *const *)b;
    if (p->a.step.fits != o->a.step.fits)
        return p->a.step.fits ? -1 : 1;
    if (p->is_guess != o->is_guess)
        return p->is_guess ? 1 : -1;
    double x = orch_ranked_gpu_s(p), y = orch_ranked_gpu_s(o);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return p->a.usd.mid < o->a.usd.mid ? -1 : p->a.usd.mid > o->a.usd.mid;
}

/* Marks the Pareto front: entries for which no priced entry within the limits is both faster and
 * cheaper. The list is sorted by time. */
static void mark_pareto(GPtrArray *list)
{
    double cheapest = INFINITY;
    for (guint i = 0; i < list->len; i++) {
        struct orch_ranked_gpu *r = list->pdata[i];
        r->pareto = r->a.step.fits && !r->is_guess && orch_pareto_step(r->a.usd.mid, &cheapest);
    }
}

/* Adds the same GPU at each other cloud's price, because the recommendation depends on GPU and
 * cloud. */
static void add_clouds(struct orch_time_question *q, const struct orch_ranked_gpu *first,
                       GPtrArray *list)
{
    for (size_t k = 0; ORCH_PRICED_CLOUDS[k] && isnan(q->price) && !q->cloud; k++) {
        struct orch_rate rate =
            orch_rate_of(q->hardware, first->c.gpu->name, ORCH_PRICED_CLOUDS[k], q->spot, 0);
        if (rate.usd_per_hour <= 0 || !strcmp(rate.from, first->c.rate.from)) {
            orch_rate_release(&rate);
            continue;
        }
        struct orch_ranked_gpu *r = g_new0(struct orch_ranked_gpu, 1);
        *r = *first;
        r->owns_why = false;
        double ratio = rate.usd_per_hour / first->c.rate.usd_per_hour;
        r->c.rate = rate;
        r->a.c = &r->c;
        r->a.usd.mid *= ratio;
        r->a.usd.low *= ratio;
        r->a.usd.high *= ratio;
        r->a.narrower.usd = r->a.narrower.seconds / 3600 * rate.usd_per_hour;
        g_ptr_array_add(list, r);
    }
}

/* Records the first line of the error, without the GPU's name. `error` NULL: the GPU is a dual-GPU
 * board. */
static void note_unranked(GPtrArray *unranked, const struct orch_gpu_spec *gpu, const GError *error)
{
    struct orch_unranked *u = g_new0(struct orch_unranked, 1);
    const char *what = error ? error->message : "boards of two GPUs: use --workers 2 for both";
    u->gpu = gpu->name;
    if (g_str_has_prefix(what, gpu->name))
        what += strlen(gpu->name) + 1;
    bool needs_bf16 = !(orch_gpu_peak(gpu, ORCH_FP32) > 0) && orch_gpu_peak(gpu, ORCH_BF16) > 0;
    g_autofree char *why = g_strndup(what, strcspn(what, "\n"));
    u->why = g_strconcat(why, needs_bf16 ? "; --precision bf16 ranks it" : NULL, NULL);
    g_ptr_array_add(unranked, u);
}

static bool rank_each(struct orch_time_question *q, struct orch_step_tiers *tiers, GPtrArray *list,
                      GPtrArray *unranked, GError **error)
{
    for (guint i = 0; i < q->gpus->len; i++) {
        const struct orch_gpu_spec *gpu = q->gpus->pdata[i];
        struct orch_ranked_gpu *r = g_new0(struct orch_ranked_gpu, 1);
        g_autoptr(GError) unable = NULL;
        r->owns_why = true;
        /* a dual-GPU board is two devices: ask for two workers instead */
        bool can =
            gpu->unit != ORCH_GPU_BOARD && orch_candidate_choose(q, tiers, gpu, &r->c, &unable);
        if (can &&
            !orch_candidate_estimate(q, tiers, &r->c, q->workers[0], q->batches[0], &r->a, error)) {
            free_ranked(r);
            return false;
        }
        if (!can) {
            note_unranked(unranked, gpu, unable);
            free_ranked(r);
            continue;
        }
        r->is_guess = r->a.no_basis || r->a.tier == ORCH_TIER_PRIOR;
        g_ptr_array_add(list, r);
        bool has_cost = q->images || (orch_net_is_sequence(q->net) && r->a.step.fits);
        if (r->c.rate.usd_per_hour > 0 && has_cost) /* else there is no cost that differs */
            add_clouds(q, r, list);
    }
    return true;
}

/* ---- what to take ------------------------------------------------------------------------------
 */

/* Selects the entries within --budget and --deadline. The elements are borrowed. */
static void take_within_limits(const GPtrArray *all, GPtrArray *list)
{
    for (guint i = 0; i < all->len; i++)
        if (orch_step_answer_keeps_limits(&((const struct orch_ranked_gpu *)all->pdata[i])->a))
            g_ptr_array_add(list, all->pdata[i]);
}

/* The recommendation: with a deadline the cheapest, with a budget the fastest, else the cheapest of
 * all; a guess only where there is nothing else. NULL when no entry with a known price is within
 * the limits. */
static const struct orch_ranked_gpu *choose(const struct orch_time_question *q,
                                            const GPtrArray *list)
{
    const struct orch_ranked_gpu *best = NULL;
    bool by_money = isnan(q->budget_usd) || !isnan(q->deadline_s);
    for (guint i = 0; i < list->len; i++) {
        const struct orch_ranked_gpu *r = list->pdata[i];
        if (!r->a.step.fits || isnan(r->a.usd.mid) || !orch_step_answer_keeps_limits(&r->a))
            continue;
        if (best && r->is_guess != best->is_guess) {
            best = r->is_guess ? best : r;
            continue;
        }
        if (!best || (by_money ? r->a.usd.mid < best->a.usd.mid
                               : orch_ranked_gpu_s(r) < orch_ranked_gpu_s(best)))
            best = r;
    }
    return best;
}

/* Names the limits that were set and, for each, the GPU that comes closest to it. The caller frees.
 */
static char *raise_limits(const struct orch_time_question *q, const GPtrArray *all)
{
    const struct orch_ranked_gpu *cheapest = NULL, *fastest = NULL;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_ranked_gpu *r = all->pdata[i];
        if (!r->a.step.fits || isnan(r->a.usd.mid))
            continue;
        cheapest = !cheapest || r->a.usd.mid < cheapest->a.usd.mid ? r : cheapest;
        fastest = !fastest || orch_ranked_gpu_s(r) < orch_ranked_gpu_s(fastest) ? r : fastest;
    }
    const bool has_budget = !isnan(q->budget_usd), has_deadline = !isnan(q->deadline_s);
    GString *text = g_string_new("no GPU keeps to the limits: raise ");
    g_string_append_printf(text, "%s%s%s (", has_budget ? "--budget" : "",
                           has_budget && has_deadline ? " or " : "",
                           has_deadline ? "--deadline" : "");
    if (has_budget) {
        g_autofree char *usd = orch_money_format(cheapest->a.usd.mid);
        g_string_append_printf(text, "the cheapest, %s, costs %s", cheapest->c.gpu->name, usd);
    }
    if (has_deadline) {
        g_autofree char *time = orch_duration_format(orch_ranked_gpu_s(fastest));
        g_string_append_printf(text, "%sthe fastest, %s, takes %s", has_budget ? "; " : "",
                               fastest->c.gpu->name, time);
    }
    return g_string_free(g_string_append_c(text, ')'), FALSE);
}

char *orch_gpu_ranking_why_empty(const struct orch_time_question *q,
                                 const struct orch_gpu_ranking *ranking)
{
    const GPtrArray *all = ranking->all;
    bool fits = false, has_price = false;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_ranked_gpu *r = all->pdata[i];
        fits |= r->a.step.fits;
        has_price |= r->a.step.fits && !isnan(r->a.usd.mid);
    }
    if (!fits)
        return g_strdup("the batch fits the memory of no GPU: take a smaller --batch");
    if (!q->images)
        return g_strdup("no cost is known without a data set: add --dataset NAME");
    if (!has_price)
        return g_strdup_printf("no price is known%s: %s", q->cloud || q->spot ? " there" : "",
                               q->cloud && q->spot ? "leave out --cloud and --spot"
                               : q->cloud          ? "leave out --cloud"
                               : q->spot           ? "leave out --spot"
                                                   : "add --price");
    return raise_limits(q, all);
}

void orch_gpu_ranking_free(struct orch_gpu_ranking *ranking)
{
    if (!ranking)
        return;
    g_ptr_array_unref(ranking->list);
    g_ptr_array_unref(ranking->all);
    g_ptr_array_unref(ranking->unranked);
    g_free(ranking);
}

struct orch_gpu_ranking *orch_gpu_ranking_new(struct orch_time_question *q,
                                              struct orch_step_tiers *tiers, GError **error)
{
    struct orch_gpu_ranking *ranking = g_new0(struct orch_gpu_ranking, 1);
    ranking->all = g_ptr_array_new_with_free_func(free_ranked);
    ranking->unranked = g_ptr_array_new_with_free_func(free_unranked);
    ranking->list = g_ptr_array_new();
    if (!rank_each(q, tiers, ranking->all, ranking->unranked, error)) {
        orch_gpu_ranking_free(ranking);
        return NULL;
    }
    g_ptr_array_sort(ranking->all, by_time);
    take_within_limits(ranking->all, ranking->list);
    mark_pareto(ranking->list);
    ranking->best = choose(q, ranking->list);
    return ranking;
}
