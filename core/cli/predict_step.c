/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict` for one GPU: the best tier that can tell. */
#include "core/cli/predict_step.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/prior.h"

#include <math.h>
#include <string.h>

bool candidate_choose(const struct question *q, const struct orch_gpu_spec *gpu,
                      struct candidate *out, GError **error)
{
    *out = (struct candidate){.gpu = gpu};
    if (!question_precision(q, gpu, &out->precision, error) ||
        !orch_prior_for(gpu, out->precision, &out->prior, error))
        return false;
    bool wants_prior = q->o->model && strcmp(q->o->model, "prior") == 0;
    if (!isnan(q->ppp_comp))
        out->prior.device.compute_share = q->ppp_comp;
    else if (!wants_prior)
        orch_prior_transfer(gpu, out->precision, &out->prior);
    if (q->o->model && strcmp(q->o->model, "transferred") == 0 && !out->prior.is_transferred) {
        orch_error_set(error, ORCH_ERROR_USAGE, "--model prior",
                       "the transferred model does not speak of %s at %s", gpu->name,
                       orch_precision_names()[out->precision]);
        return false;
    }
    out->rate = question_rate(q, gpu->name);
    return true;
}

static bool exchange_of(const struct question *q, const struct orch_gpu_spec *gpu, int64_t workers,
                        struct orch_exchange *out, GError **error)
{
    const struct orch_link *link = q->link ? q->link : orch_link_within(gpu);
    const struct orch_link *within = orch_link_within(gpu);
    double share = isnan(q->ppp_comm) ? 0.72 : q->ppp_comm;
    *out = (struct orch_exchange){.scheme = ORCH_EXCHANGE_RING,
                                  .workers = workers,
                                  .bandwidth = link->gbit_s / 8 * 1e9 * share,
                                  .latency_s = link->latency_us / 1e6,
                                  .node_workers = MIN(q->per_node ? q->per_node : workers, workers),
                                  .node_bandwidth = within->gbit_s / 8 * 1e9 * share,
                                  .node_latency_s = within->latency_us / 1e6};
    if (q->per_node && q->per_node < workers)
        out->scheme = ORCH_EXCHANGE_HIERARCHICAL;
    if (!q->o->scheme || orch_exchange_scheme_find(q->o->scheme, &out->scheme))
        return true;
    orch_error_set(
        error, ORCH_ERROR_USAGE,
        "ring, tree, butterfly, one-to-all, hierarchical (PALEO's own names go with --model paleo)",
        "option '--scheme': unknown word '%s'", q->o->scheme);
    return false;
}

/* The store's own measurements first; a model that was named speaks alone. */
static bool tell(struct tiers *tiers, const struct tier_ask *ask, struct answer *out,
                 struct told *told, GError **error)
{
    *told = (struct told){0};
    const char *model = ask->q->o->model;
    bool alone = model && strcmp(model, "auto") != 0;
    if (!alone && !tiers_tell(tiers, ask, told, error))
        return false;
    out->extrapolates = told->extrapolates || (!told->tier && out->prior.is_transferred &&
                                               !out->prior.transfer.arch_was_measured);
    out->tier = told->tier ? told->tier : out->prior.is_transferred ? "transferred" : "prior";
    out->why = g_steal_pointer(&told->why);
    if (!told->tier && (!alone || ask->q->o->calibrate))
        tiers_shift(tiers, ask, &out->prior, &out->why);
    if (ask->q->o->calibrate && !out->why)
        out->why = g_strdup("not shifted: --calibrate names no run of this kind on a device that "
                            "this tier speaks of");
    return true;
}

bool candidate_ask(const struct question *q, struct tiers *tiers, const struct candidate *c,
                   int64_t workers, int64_t batch, struct answer *out, GError **error)
{
    struct orch_exchange exchange,
        none = {.workers = 1, .node_workers = 1, .bandwidth = 1, .node_bandwidth = 1};
    struct orch_roofline_work work = {.batch = question_worker_batch(q, batch, workers),
                                      .element_bytes = orch_precision_bytes(c->precision),
                                      .training = !q->o->forward_only,
                                      .states_per_weight = q->states_per_weight};
    struct tier_ask asked = {q, c->gpu, c->precision, workers, work.batch};
    struct told told;
    *out = (struct answer){.workers = workers, .batch = work.batch, .prior = c->prior};
    if (!exchange_of(q, c->gpu, workers, &exchange, error) ||
        !tell(tiers, &asked, out, &told, error))
        return false;
    bool whole = told.tier && told.whole;
    if (!orch_prior_predict(q->net, q->costs, &out->prior, &work, whole ? &none : &exchange,
                            told.tier ? &told.own : NULL, &out->step, error))
        return false;
    out->step.images_per_s = (double)(work.batch * workers) / out->step.total_s;
    double steps =
        q->images ? ceil((double)q->images / (double)(work.batch * workers)) : (double)NAN;
    double hours = c->rate.usd_per_hour * (double)workers / 3600;
    out->epoch_s = steps * out->step.total_s;
    out->total_s = out->epoch_s * (double)q->epochs;
    out->low_s = steps * out->step.low_s * (double)q->epochs;
    out->high_s = steps * out->step.high_s * (double)q->epochs;
    out->usd = hours > 0 ? out->total_s * hours : (double)NAN;
    out->low_usd = hours > 0 ? out->low_s * hours : (double)NAN;
    out->high_usd = hours > 0 ? out->high_s * hours : (double)NAN;
    return true;
}

void answer_clear(struct answer *answer)
{
    g_clear_pointer(&answer->why, g_free);
}

bool answer_keeps_limits(const struct question *q, const struct answer *a)
{
    bool costly = !isnan(q->budget_usd) && !(a->usd <= q->budget_usd);
    bool late = !isnan(q->deadline_s) && !(a->total_s <= q->deadline_s);
    return !costly && !late;
}

/* ---- one GPU -----------------------------------------------------------------------------------
 */

char *span_format(double low, double high)
{
    if (isnan(low))
        return g_strdup("-");
    g_autofree char *a = orch_duration_format(low);
    g_autofree char *b = orch_duration_format(high);
    return g_strdup_printf("%s to %s", a, b);
}

void add_duration(struct orch_table *table, double seconds)
{
    g_autofree char *text = isnan(seconds) ? g_strdup("-") : orch_duration_format(seconds);
    orch_table_add(table, text, isnan(seconds) ? json_null() : orch_json_finite(seconds));
}

void add_money(struct orch_table *table, double usd)
{
    g_autofree char *text = money_format(usd);
    orch_table_add(table, text, isnan(usd) ? json_null() : orch_json_finite(usd));
}

static const char *const HEADERS[] = {">workers", ">batch each", ">step",       ">images/s",
                                      ">epoch",   ">total",      ">90 % of it", ">cost",
                                      "fits",     "tier",        "limits",      NULL};
static const char *const HEADERS_WITHOUT_LIMITS[] = {
    ">workers",    ">batch each", ">step", ">images/s", ">epoch", ">total",
    ">90 % of it", ">cost",       "fits",  "tier",      NULL};

static bool has_limits(const struct question *q)
{
    return !isnan(q->budget_usd) || !isnan(q->deadline_s);
}

static void add_answer(struct orch_table *table, const struct question *q, const struct answer *a)
{
    g_autofree char *rate = orch_number_format(a->step.images_per_s);
    g_autofree char *span = span_format(a->low_s, a->high_s);
    orch_table_add_int(table, a->workers);
    orch_table_add_int(table, a->batch);
    add_duration(table, a->step.total_s);
    orch_table_add(table, rate, orch_json_finite(a->step.images_per_s));
    add_duration(table, a->epoch_s);
    add_duration(table, a->total_s);
    orch_table_add(table, span, NULL);
    add_money(table, a->usd);
    orch_table_add(table, a->step.fits ? "yes" : "no", json_boolean(a->step.fits));
    orch_table_add(table, a->tier, NULL);
    if (has_limits(q))
        orch_table_add(table, answer_keeps_limits(q, a) ? "kept" : "broken", NULL);
}

json_t *answer_json(const struct question *q, const struct candidate *c, const struct answer *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string(a->tier));
    json_object_set_new(o, "because", a->why ? json_string(a->why) : json_null());
    json_object_set_new(o, "extrapolates", json_boolean(a->extrapolates));
    json_object_set_new(o, "keeps_limits", json_boolean(answer_keeps_limits(q, a)));
    json_object_set_new(o, "gpu", json_string(c->gpu->name));
    json_object_set_new(o, "precision", json_string(orch_precision_names()[c->precision]));
    json_object_set_new(o, "workers", json_integer(a->workers));
    json_object_set_new(o, "batch_per_worker", json_integer(a->batch));
    json_object_set_new(o, "step_s", orch_json_finite(a->step.total_s));
    json_object_set_new(o, "step_low_s", orch_json_finite(a->step.low_s));
    json_object_set_new(o, "step_high_s", orch_json_finite(a->step.high_s));
    json_object_set_new(o, "exchange_s", orch_json_finite(a->step.exchange_s));
    json_object_set_new(o, "exposed_exchange_s", orch_json_finite(a->step.exposed_s));
    json_object_set_new(o, "images_per_s", orch_json_finite(a->step.images_per_s));
    json_object_set_new(o, "epoch_s", orch_json_finite(a->epoch_s));
    json_object_set_new(o, "total_s", orch_json_finite(a->total_s));
    json_object_set_new(o, "low_s", orch_json_finite(a->low_s));
    json_object_set_new(o, "high_s", orch_json_finite(a->high_s));
    json_object_set_new(o, "cost_usd", orch_json_finite(a->usd));
    json_object_set_new(o, "cost_low_usd", orch_json_finite(a->low_usd));
    json_object_set_new(o, "cost_high_usd", orch_json_finite(a->high_usd));
    json_object_set_new(o, "usd_per_hour",
                        c->rate.usd_per_hour > 0 ? orch_json_finite(c->rate.usd_per_hour)
                                                 : json_null());
    json_object_set_new(o, "price_from", c->rate.from ? json_string(c->rate.from) : json_null());
    json_object_set_new(o, "memory_bytes", orch_json_finite(a->step.memory_bytes));
    json_object_set_new(o, "largest_batch", json_integer(a->step.largest_batch));
    json_object_set_new(o, "fits", json_boolean(a->step.fits));
    return o;
}

json_t *answers_json(const struct question *q, const char *tier, json_t *predictions)
{
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string(tier));
    json_object_set_new(o, "net", json_string(q->net->name));
    json_object_set_new(o, "images", q->images ? json_integer(q->images) : json_null());
    json_object_set_new(o, "epochs", json_integer(q->epochs));
    json_object_set_new(o, "interval", orch_json_finite(0.9));
    json_object_set_new(o, "assumptions", question_assumptions_json(q));
    json_object_set_new(o, "predictions", predictions);
    return o;
}

static void assume_device(struct question *q, const struct candidate *c)
{
    const struct orch_link *link = q->link ? q->link : orch_link_within(c->gpu);
    if (g_ascii_strcasecmp(q->o->gpu, c->gpu->name) != 0)
        question_assume(q, "GPU", "--gpu", "%s (%s)", c->gpu->name,
                        orch_gpu_unit_name(c->gpu->unit));
    if (!q->o->precision || strcmp(q->o->precision, "auto") == 0)
        question_assume(q, "precision", "--precision", "%s%s", orch_precision_names()[c->precision],
                        c->precision == ORCH_TF32 ? ", as PyTorch's convolutions do on this GPU"
                                                  : "");
    if (!q->o->optimizer && !q->o->forward_only)
        question_assume(q, "optimizer", "--optimizer", "SGD with momentum");
    if (q->worker_count > 1 || q->workers[0] > 1)
        question_assume(q, "link", "--network, --per-node",
                        "%s, %.4g Gbit/s%s; rings, behind the backward pass", link->name,
                        link->gbit_s, q->per_node || q->link ? "" : ", all workers of one node");
    if (isnan(q->price) && c->rate.usd_per_hour > 0)
        question_assume(q, "price", "--price, --cloud, --spot", "$%.4g an hour a %s (%s)",
                        c->rate.usd_per_hour, c->gpu->unit == ORCH_GPU_BOARD ? "board" : "GPU",
                        c->rate.from);
    else if (isnan(q->price))
        question_assume(q, "price", "--price", "none is known%s", q->o->cloud ? " there" : "");
    question_assume(q, "data", NULL, "read and prepared as fast as they are used");
}

static void say_memory(const struct question *q, const struct candidate *c, const struct answer *a)
{
    g_autofree char *need = orch_bytes_format((int64_t)a->step.memory_bytes);
    if (!(c->prior.device.memory_bytes > 0))
        return;
    g_autofree char *room = orch_bytes_format((int64_t)c->prior.device.memory_bytes);
    printf("memory: %s of %s a worker with a batch of %" G_GINT64_FORMAT
           "; the largest that fits is "
           "%" G_GINT64_FORMAT "%s\n",
           need, room, a->batch, a->step.largest_batch,
           a->step.largest_batch ? "" : " (not even one image)");
    (void)q;
}

static void say_prior(const struct candidate *c, const struct orch_prior *p)
{
    const struct orch_prior_class *from = p->from;
    printf("tier prior: by specification\n"
           "  model     a roofline at %.0f %% of the peak and %.0f %% of the bandwidth, and %.0f "
           "us an operation\n",
           p->device.compute_share * 100, p->device.memory_share * 100, p->device.launch_s * 1e6);
    if (from->rows)
        printf("  fitted    to %d published measurements of %d networks on %s%s%s\n"
               "  source    %s\n",
               from->rows, from->nets, from->archs, p->is_borrowed ? ": none on " : "",
               p->is_borrowed ? c->gpu->arch : "", from->source);
    printf("  interval  a factor of %.2f to each side: %s\n", exp(p->error_90),
           p->is_borrowed || !from->rows ? "a guess"
                                         : "the error of networks that were left out of the fit");
}

static void say_transferred(const struct candidate *c, const struct orch_prior *p)
{
    printf(
        "tier transferred: a white box distilled from measurements of other GPUs\n"
        "  source    %s\n"
        "  interval  a factor of %.2f to each side: 90 %% of the rows of GPUs that were left out "
        "of the fit%s\n",
        orch_transfer_source(), exp(p->error_90),
        p->transfer.arch_was_measured ? "" : "; none of them was of this architecture");
    (void)c;
}

static void say_tier(const struct candidate *c, const struct answer *a)
{
    if (strcmp(a->tier, "prior") == 0)
        say_prior(c, &a->prior);
    else if (strcmp(a->tier, "transferred") == 0)
        say_transferred(c, &a->prior);
    else
        printf("tier %s: %s\n", a->tier,
               strcmp(a->tier, "measured") == 0 ? "this configuration was measured"
                                                : "a predictor that learned from measurements");
    if (a->why)
        printf("  %-9s %s\n", strcmp(a->tier, "fitted") == 0 ? "from" : "here", a->why);
    if (a->workers > 1 && strcmp(a->tier, "measured") != 0)
        printf("  workers   the exchange is by specification: 90 %% of published steps of 2 to 64 "
               "workers lay within a factor of 1.79\n");
    if (a->extrapolates)
        printf("  beware    this lies beyond what was learned from: measure one like it\n");
    if (strcmp(a->tier, "measured") != 0 && !a->why)
        printf("  narrower  with runs of your own: orch run\n");
}

struct asking {
    struct orch_cli *cli;
    struct question *q;
    struct tiers tiers;
    struct candidate c;
    struct orch_table *table;
    json_t *list;
    struct answer last;
};

/* What the last answer is made of, where that was asked for. NULL on error. */
static json_t *explain(struct asking *s, GError **error)
{
    struct tier_ask ask = {s->q, s->c.gpu, s->c.precision, s->last.workers, s->last.batch};
    return tiers_explain(&s->tiers, &ask, &s->last.prior, &s->last.step, error);
}

static bool add_json(struct asking *s, GError **error)
{
    json_t *one = answer_json(s->q, &s->c, &s->last);
    json_t *explanation = s->q->o->explain ? explain(s, error) : NULL;
    if (explanation)
        json_object_set_new(one, "explanation", explanation);
    json_array_append_new(s->list, one);
    return explanation || !s->q->o->explain;
}

static bool ask_each(struct asking *s, GError **error)
{
    for (int b = 0; b < s->q->batch_count; b++) {
        for (int w = 0; w < s->q->worker_count; w++) {
            answer_clear(&s->last);
            if (!candidate_ask(s->q, &s->tiers, &s->c, s->q->workers[w], s->q->batches[b], &s->last,
                               error))
                return false;
            add_answer(s->table, s->q, &s->last);
            if (!add_json(s, error))
                return false;
        }
    }
    return true;
}

static void print_answers(struct asking *s)
{
    struct question *q = s->q;
    if (s->cli->json) {
        json_decref(orch_table_to_json(s->table));
        orch_cli_print_json(answers_json(q, s->last.tier, json_incref(s->list)));
        return;
    }
    if (!q->o->format)
        question_say_assumptions(q);
    orch_table_print_as(s->cli, s->table, "predictions", q->o->format);
    if (q->o->format)
        return;
    say_memory(q, &s->c, &s->last);
    say_tier(&s->c, &s->last);
    size_t count = json_array_size(s->list);
    if (q->o->explain)
        tiers_say_explanation(json_object_get(json_array_get(s->list, count - 1), "explanation"));
}

int predict_step(struct orch_cli *cli, struct question *q, GError **error)
{
    struct asking s = {.cli = cli, .q = q, .list = json_array()};
    const struct orch_gpu_spec *gpu = orch_hardware_gpu(q->hardware, q->o->gpu, error);
    bool ok = gpu && candidate_choose(q, gpu, &s.c, error) &&
              tiers_open(cli, q, q->o->calibrate, &s.tiers, error);
    if (ok) {
        assume_device(q, &s.c);
        s.table = orch_table_new(has_limits(q) ? HEADERS : HEADERS_WITHOUT_LIMITS);
        ok = ask_each(&s, error);
        if (ok)
            question_assume_stem_on(q, &s.tiers, &s.c, &s.last);
        if (ok)
            print_answers(&s);
        else
            json_decref(orch_table_to_json(s.table));
    }
    answer_clear(&s.last);
    json_decref(s.list);
    tiers_close(&s.tiers);
    rate_release(&s.c.rate);
    return ok ? ORCH_EXIT_OK : -1;
}
