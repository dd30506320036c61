/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers from measured steps that are like the question: published ones, and the store's. */
#include "features/predict/step_tiers_private.h"

#include "features/predict/steps/published_steps.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define STORE_ROWS_MAX 2000
#define OWN "the store"
/* of a step that was measured beside others, and of a precision that was not measured there */
#define MEASURED_WEIGHT 1e6
#define UNMEASURED_WEIGHT 1e-3

/* ---- the measured steps ------------------------------------------------------------------------
 */

static bool is_left_out(const struct orch_time_question *q, const char *source)
{
    return q->without && g_strv_contains(q->without, source);
}

/* A row that may not be used stays in the list, so that indexes do not move: of no workers. */
static void add_published(struct orch_step_tiers *tiers, const struct orch_time_question *q,
                          const struct orch_published_step *p)
{
    struct orch_near_step step =
        orch_near_step_of(p->gpu, p->net, p->input, p->batch, p->source->name);
    step.precision = (enum orch_precision)p->precision;
    step.is_training = p->mode == 0;
    step.is_old = strcmp(p->date, "2018") < 0;
    step.workers = is_left_out(q, p->source->name) ? 0 : p->workers;
    g_array_append_val(tiers->near, step);
}

static void add_of_store(struct orch_step_tiers *tiers, const struct orch_trained *t,
                         const struct orch_trained_cell *known)
{
    struct orch_step_cell cell;
    bool can = orch_step_tiers_cell_of(tiers, t, known, &cell) && cell.gpu->unit != ORCH_GPU_HOST &&
               orch_step_tiers_is_one_worker(t, known) && cell.batch > 0;
    struct orch_near_step step =
        orch_near_step_of(cell.gpu ? cell.gpu : orch_gpu_specs(), cell.net, cell.input,
                          MAX(1, cell.batch), known->runs ? OWN : known->newest);
    step.precision = cell.precision;
    step.is_training = cell.training;
    step.origin = known->runs ? ORCH_NEAR_OWN : ORCH_NEAR_IMPORTED;
    step.workers = can ? 1 : 0;
    g_array_append_val(tiers->near, step);
}

static guint known_count(const struct orch_trained *t)
{
    return t ? MIN(t->known->len, STORE_ROWS_MAX) : 0;
}

static void gather(struct orch_step_tiers *tiers, const struct orch_time_question *q)
{
    const GPtrArray *published = orch_published_steps();
    tiers->near = g_array_new(FALSE, FALSE, sizeof(struct orch_near_step));
    tiers->published = published->len;
    for (guint i = 0; i < published->len; i++)
        add_published(tiers, q, published->pdata[i]);
    const struct orch_trained *const tables[] = {tiers->trained, tiers->imported};
    for (size_t k = 0; k < G_N_ELEMENTS(tables); k++)
        for (guint i = 0; i < known_count(tables[k]); i++)
            add_of_store(tiers, tables[k], tables[k]->known->pdata[i]);
    tiers->near_ratios = g_new0(double, tiers->near->len);
}

static const struct orch_near_step *step_at(const struct orch_step_tiers *tiers, guint at)
{
    return &g_array_index(tiers->near, struct orch_near_step, at);
}

static const struct orch_published_step *published_at(const struct orch_step_tiers *tiers, guint at)
{
    return at < tiers->published ? orch_published_steps()->pdata[at] : NULL;
}

/* The table of the store's measurement, and its place there. */
static const struct orch_trained *table_at(const struct orch_step_tiers *tiers, guint at,
                                           const struct orch_trained_cell **out)
{
    guint i = at - tiers->published, trained = known_count(tiers->trained);
    const struct orch_trained *t = i < trained ? tiers->trained : tiers->imported;
    *out = t->known->pdata[i < trained ? i : i - trained];
    return t;
}

static void cell_of(const struct orch_step_tiers *tiers, guint at, struct orch_step_cell *out)
{
    const struct orch_published_step *p = published_at(tiers, at);
    const struct orch_near_step *step = step_at(tiers, at);
    const struct orch_trained_cell *known;
    if (!p) {
        const struct orch_trained *t = table_at(tiers, at, &known);
        orch_step_tiers_cell_of(tiers, t, known, out);
    } else {
        *out = (struct orch_step_cell){.gpu = p->gpu,
                                       .net = p->net,
                                       .input = p->input,
                                       .precision = step->precision,
                                       .training = step->is_training,
                                       .batch = step->batch,
                                       .workers = step->workers};
    }
}

static double measured_s(const struct orch_step_tiers *tiers, guint at)
{
    const struct orch_published_step *p = published_at(tiers, at);
    const struct orch_trained_cell *known = NULL;
    if (!p)
        table_at(tiers, at, &known);
    return (p ? p->step_ms : known->time.mid) / 1e3;
}

struct asked {
    struct orch_step_tiers *tiers;
    const char *family; /* of a question that is summed by kernels; NULL: another */
};

/* Log of measured over analytical time; NaN: the model does not cover the step. Sums of kernels
 * were judged by themselves, so other families say little of them. */
static double log_ratio(guint at, void *data)
{
    const struct asked *a = data;
    struct orch_step_cell cell;
    double *kept = &a->tiers->near_ratios[at];
    cell_of(a->tiers, at, &cell);
    bool is_attention = orch_step_tiers_is_attention(a->tiers, &cell);
    if (is_attention != (a->family != NULL) ||
        (a->family && a->family != step_at(a->tiers, at)->family))
        return (double)NAN;
    double *host_share = &g_array_index(a->tiers->near, struct orch_near_step, at).host_share;
    if (!isnan(*kept) && !(*kept > 0 || *kept < 0))
        *kept = log(
            measured_s(a->tiers, at) /
            orch_step_tiers_analytical(a->tiers, &cell, ORCH_STEP_BASIS_TRANSFERRED, host_share));
    return *kept;
}

/* ---- in words ----------------------------------------------------------------------------------
 */

static const char *source_text(const struct orch_step_tiers *tiers, guint at)
{
    const struct orch_published_step *p = published_at(tiers, at);
    return p ? p->source->by : step_at(tiers, at)->source;
}

/* Which measurements are the nearest, how old their software is, and how many are the store's. */
static char *near_text(const struct orch_step_tiers *tiers, const struct orch_near_answer *near)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const struct orch_published_step *newest = NULL;
    int count = 0, own = 0;
    double own_log = 0;
    for (int i = 0; i < near->count; i++) {
        guint at = near->used[i].at;
        const struct orch_published_step *p = published_at(tiers, at);
        bool is_own = step_at(tiers, at)->origin == ORCH_NEAR_OWN;
        own += is_own;
        own_log += is_own ? near->used[i].log_ratio : 0;
        if (near->used[i].nearness != near->nearness)
            continue;
        count++;
        if (!g_ptr_array_find_with_equal_func(names, source_text(tiers, at), g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)(uintptr_t)source_text(tiers, at));
        int later = p && newest ? strcmp(p->date, newest->date) : p ? 1 : -1;
        if (later > 0 || (later == 0 && strcmp(p->software, newest->software) > 0))
            newest = p;
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
    GString *text = g_string_new(NULL);
    g_string_printf(text, "%d measured step%s of %s", count, orch_plural(count), list);
    if (own)
        g_string_append_printf(text, "; %d setting%s run here, %.2f times the analytical time", own,
                               orch_plural(own), exp(own_log / own));
    if (newest)
        g_string_append_printf(text, "; newest software: %s in %s", newest->software, newest->date);
    return g_string_free(text, FALSE);
}

/* ---- the answer --------------------------------------------------------------------------------
 */

/* The analytical model's, of one worker. */
static struct orch_roofline_step own_step(const struct orch_step_answer *a)
{
    struct orch_roofline_work work = a->q->work;
    struct orch_roofline_step own = {0};
    work.batch = a->batch;
    work.element_bytes = orch_precision_bytes(a->c->precision);
    orch_prior_own_step(a->q->net, a->q->costs, &a->prior, &work, NULL, &own, NULL);
    return own;
}

static struct orch_near_step question_of(const struct orch_step_tiers *tiers,
                                         const struct orch_step_answer *a)
{
    bool has_own = false;
    for (guint i = tiers->published; i < tiers->near->len && !has_own; i++)
        has_own = step_at(tiers, i)->workers && step_at(tiers, i)->origin == ORCH_NEAR_OWN;
    g_autofree char *input = orch_net_shape_format(a->q->net->input);
    struct orch_near_step out =
        orch_near_step_of(a->c->gpu, a->q->net->name, input, a->batch, has_own ? OWN : NULL);
    out.precision = a->c->precision;
    out.is_training = a->q->work.training;
    /* rows of several workers are of data parallelism */
    bool is_split = a->q->is_parallel && a->q->parallel.dp != a->workers;
    out.workers = is_split ? 1 : a->workers;
    if (a->prior.is_by_kernels)
        out.host_share = own_step(a).host_share;
    return out;
}

#define PRECISIONS 4
/* Precisions, from the slowest units of GPUs with tensor cores to the fastest. */
static const enum orch_precision ORDER[PRECISIONS] = {ORCH_FP64, ORCH_FP32_IEEE, ORCH_TF32,
                                                      ORCH_FP16};

static int rank_of(enum orch_precision precision)
{
    return precision == ORCH_FP64                 ? 0
           : precision == ORCH_TF32               ? 2
           : orch_precision_bytes(precision) == 2 ? 3
                                                  : 1;
}

/* The log of a step's time in a precision, and how much it counts beside that in others. */
struct timed {
    double log_s, weight; /* 0: not known */
};

static struct timed time_at(struct orch_step_tiers *tiers, const struct orch_step_answer *a,
                            enum orch_precision precision)
{
    struct orch_candidate c = *a->c;
    struct orch_step_answer other = *a;
    struct orch_near_answer near;
    c.precision = precision;
    other.c = &c;
    if (!orch_prior_for(c.gpu, precision, a->q->net, &a->q->kernels, &other.prior, NULL) ||
        !other.prior.is_transferred)
        return (struct timed){0};
    struct orch_near_step question = question_of(tiers, &other);
    struct asked asked = {tiers, other.prior.is_by_kernels ? question.family : NULL};
    question.workers = 1;
    orch_near_steps_predict(&question, tiers->near, log_ratio, &asked, &near);
    return (struct timed){log(own_step(&other).total_s) + near.log_ratio,
                          near.nearness == ORCH_NEAR_STEP ? MEASURED_WEIGHT
                          : near.has_precision            ? 1
                                                          : UNMEASURED_WEIGHT};
}

/* Faster units take no longer: where measurements of other networks say so, precisions share the
 * mean of their times (isotonic regression), by what was measured. */
static void keep_order(struct orch_step_tiers *tiers, struct orch_step_answer *a)
{
    struct timed times[PRECISIONS];
    int at = rank_of(a->c->precision);
    double least = (double)INFINITY;
    for (int i = 0; i < PRECISIONS; i++)
        times[i] = time_at(tiers, a, i == at ? a->c->precision : ORDER[i]);
    for (int from = 0; from <= at; from++) {
        double sum = 0, weight = 0, most = -(double)INFINITY;
        for (int to = from; to < PRECISIONS; to++) {
            sum += times[to].weight * times[to].log_s;
            weight += times[to].weight;
            most = to >= at && weight > 0 ? MAX(most, sum / weight) : most;
        }
        least = MIN(least, most);
    }
    a->near.log_ratio += least - times[at].log_s;
}

void orch_step_tiers_near(struct orch_step_tiers *tiers, struct orch_step_answer *a)
{
    static const enum orch_tier tier_of[] = {[ORCH_NEAR_NONE] = ORCH_TIER_NONE,
                                             [ORCH_NEAR_NETWORK] = ORCH_TIER_SAME_NETWORK,
                                             [ORCH_NEAR_CHIP] = ORCH_TIER_SAME_CHIP,
                                             [ORCH_NEAR_STEP] = ORCH_TIER_SAME_STEP};
    struct orch_near_answer *out = &a->near;
    if (!tiers->uses_published)
        return;
    if (!tiers->near)
        gather(tiers, a->q);
    struct orch_near_step question = question_of(tiers, a);
    struct asked asked = {tiers, a->prior.is_by_kernels ? question.family : NULL};
    orch_near_steps_predict(&question, tiers->near, log_ratio, &asked, out);
    a->is_whole = question.workers > 1 && out->nearness == ORCH_NEAR_STEP;
    if (question.workers > 1 && !a->is_whole) {
        question.workers = 1;
        orch_near_steps_predict(&question, tiers->near, log_ratio, &asked, out);
    }
    bool is_measured = out->nearness == ORCH_NEAR_STEP || out->nearness == ORCH_NEAR_NONE;
    if (!is_measured && a->c->gpu->tensor16_tflops > 0)
        keep_order(tiers, a);
    if (out->nearness != ORCH_NEAR_NONE)
        a->why = near_text(tiers, out);
    a->tier = tier_of[out->nearness];
}

/* ---- explained ---------------------------------------------------------------------------------
 */

static json_t *used_json(const struct orch_step_tiers *tiers, guint at)
{
    const struct orch_near_step *step = step_at(tiers, at);
    const struct orch_published_step *p = published_at(tiers, at);
    struct orch_step_cell cell;
    cell_of(tiers, at, &cell);
    json_t *o = json_object();
    json_object_set_new(o, "source", json_string(step->source));
    json_object_set_new(o, "by", json_string(source_text(tiers, at)));
    json_object_set_new(o, "gpu", json_string(step->gpu->name));
    json_object_set_new(o, "net", json_string(cell.net));
    json_object_set_new(o, "mode", json_string(step->is_training ? "train" : "infer"));
    json_object_set_new(o, "precision", json_string(orch_precision_names()[step->precision]));
    json_object_set_new(o, "batch", json_integer(step->batch));
    json_object_set_new(o, "workers", json_integer(step->workers));
    json_object_set_new(o, "step_s", orch_json_finite(measured_s(tiers, at)));
    json_object_set_new(o, "software", p ? json_string(p->software) : json_null());
    json_object_set_new(o, "date", p ? json_string(p->date) : json_null());
    json_object_set_new(o, "where", p ? json_string(p->source->where) : json_null());
    json_object_set_new(o, "licence", p ? json_string(p->source->licence) : json_null());
    return o;
}

json_t *orch_step_tiers_near_json(const struct orch_step_tiers *tiers,
                                  const struct orch_near_answer *near)
{
    json_t *list = json_array();
    for (int i = 0; i < near->count; i++) {
        json_t *o = used_json(tiers, near->used[i].at);
        json_object_set_new(o, "weight", orch_json_finite(near->used[i].weight));
        json_object_set_new(o, "measured_over_model",
                            orch_json_finite(exp(near->used[i].log_ratio)));
        json_array_append_new(list, o);
    }
    return list;
}
