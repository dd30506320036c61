/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict` where nothing was measured: the prior. */
#include "core/cli/predict.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/prior.h"

#include <math.h>
#include <string.h>

/* One device that is asked about. */
struct candidate {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    struct orch_prior prior;
    struct rate rate;
};

/* One line of the answer. */
struct answer {
    int64_t workers, batch;
    struct orch_prior_step step;
    double epoch_s, total_s, low_s, high_s; /* NaN without a number of images */
    double usd, low_usd, high_usd;          /* NaN without a price */
};

static bool choose(const struct question *q, const struct orch_gpu_spec *gpu, struct candidate *out,
                   GError **error)
{
    *out = (struct candidate){.gpu = gpu};
    if (!question_precision(q, gpu, &out->precision, error) ||
        !orch_prior_for(gpu, out->precision, &out->prior, error))
        return false;
    if (!isnan(q->ppp_comp))
        out->prior.device.compute_share = q->ppp_comp;
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

static bool ask(const struct question *q, const struct candidate *c, int64_t workers, int64_t batch,
                struct answer *out, GError **error)
{
    struct orch_exchange exchange;
    struct orch_roofline_work work = {.batch = question_worker_batch(q, batch, workers),
                                      .element_bytes = orch_precision_bytes(c->precision),
                                      .training = !q->o->forward_only,
                                      .states_per_weight = q->states_per_weight};
    *out = (struct answer){.workers = workers, .batch = work.batch};
    if (!exchange_of(q, c->gpu, workers, &exchange, error) ||
        !orch_prior_predict(q->net, q->costs, &c->prior, &work, &exchange, NULL, &out->step, error))
        return false;
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

/* ---- one GPU -----------------------------------------------------------------------------------
 */

static char *span_format(double low, double high)
{
    if (isnan(low))
        return g_strdup("-");
    g_autofree char *a = orch_duration_format(low);
    g_autofree char *b = orch_duration_format(high);
    return g_strdup_printf("%s to %s", a, b);
}

static void add_duration(struct orch_table *table, double seconds)
{
    g_autofree char *text = isnan(seconds) ? g_strdup("-") : orch_duration_format(seconds);
    orch_table_add(table, text, isnan(seconds) ? json_null() : json_real(seconds));
}

static void add_money(struct orch_table *table, double usd)
{
    g_autofree char *text = money_format(usd);
    orch_table_add(table, text, isnan(usd) ? json_null() : json_real(usd));
}

static const char *const HEADERS[] = {">workers", ">batch each", ">step", ">images/s", ">epoch",
                                      ">total",   ">80 % of it", ">cost", "fits",      NULL};

static void add_answer(struct orch_table *table, const struct answer *a)
{
    g_autofree char *rate = orch_number_format(a->step.images_per_s);
    g_autofree char *span = span_format(a->low_s, a->high_s);
    orch_table_add_int(table, a->workers);
    orch_table_add_int(table, a->batch);
    add_duration(table, a->step.total_s);
    orch_table_add(table, rate, json_real(a->step.images_per_s));
    add_duration(table, a->epoch_s);
    add_duration(table, a->total_s);
    orch_table_add(table, span, NULL);
    add_money(table, a->usd);
    orch_table_add(table, a->step.fits ? "yes" : "no", json_boolean(a->step.fits));
}

static json_t *real_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *answer_json(const struct candidate *c, const struct answer *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "gpu", json_string(c->gpu->name));
    json_object_set_new(o, "precision", json_string(orch_precision_names()[c->precision]));
    json_object_set_new(o, "workers", json_integer(a->workers));
    json_object_set_new(o, "batch_per_worker", json_integer(a->batch));
    json_object_set_new(o, "step_s", json_real(a->step.total_s));
    json_object_set_new(o, "step_low_s", json_real(a->step.low_s));
    json_object_set_new(o, "step_high_s", json_real(a->step.high_s));
    json_object_set_new(o, "exchange_s", json_real(a->step.exchange_s));
    json_object_set_new(o, "exposed_exchange_s", json_real(a->step.exposed_s));
    json_object_set_new(o, "images_per_s", json_real(a->step.images_per_s));
    json_object_set_new(o, "epoch_s", real_or_null(a->epoch_s));
    json_object_set_new(o, "total_s", real_or_null(a->total_s));
    json_object_set_new(o, "low_s", real_or_null(a->low_s));
    json_object_set_new(o, "high_s", real_or_null(a->high_s));
    json_object_set_new(o, "cost_usd", real_or_null(a->usd));
    json_object_set_new(o, "cost_low_usd", real_or_null(a->low_usd));
    json_object_set_new(o, "cost_high_usd", real_or_null(a->high_usd));
    json_object_set_new(o, "usd_per_hour",
                        c->rate.usd_per_hour > 0 ? json_real(c->rate.usd_per_hour) : json_null());
    json_object_set_new(o, "price_from", c->rate.from ? json_string(c->rate.from) : json_null());
    json_object_set_new(o, "memory_bytes", json_real(a->step.memory_bytes));
    json_object_set_new(o, "largest_batch", json_integer(a->step.largest_batch));
    json_object_set_new(o, "fits", json_boolean(a->step.fits));
    return o;
}

static json_t *whole_json(const struct question *q, json_t *predictions)
{
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string("prior"));
    json_object_set_new(o, "net", json_string(q->net->name));
    json_object_set_new(o, "images", q->images ? json_integer(q->images) : json_null());
    json_object_set_new(o, "epochs", json_integer(q->epochs));
    json_object_set_new(o, "interval", json_real(0.8));
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

static void say_tier(const struct candidate *c)
{
    const struct orch_prior_class *from = c->prior.from;
    printf("tier prior: nothing of this was measured here\n"
           "  model     a roofline at %.0f %% of the peak and %.0f %% of the bandwidth, and %.0f "
           "us an "
           "operation\n",
           c->prior.device.compute_share * 100, c->prior.device.memory_share * 100,
           c->prior.device.launch_s * 1e6);
    if (from->rows)
        printf("  fitted    to %d published measurements of %d networks on %s%s%s\n", from->rows,
               from->nets, from->archs, c->prior.is_borrowed ? ": none on " : "",
               c->prior.is_borrowed ? c->gpu->arch : "");
    if (from->rows)
        printf("  source    %s\n", from->source);
    printf("  interval  a factor of %.2f to each side: %s\n"
           "  narrower  with runs of your own: orch run\n",
           exp(c->prior.error_90),
           c->prior.is_borrowed || !from->rows
               ? "a guess"
               : "the error of networks that were left out of the fit");
}

int predict_prior(struct orch_cli *cli, struct question *q, GError **error)
{
    const struct orch_gpu_spec *gpu = orch_hardware_gpu(q->hardware, q->o->gpu, error);
    struct candidate c = {0};
    if (!gpu || !choose(q, gpu, &c, error))
        return -1;
    assume_device(q, &c);
    struct orch_table *table = orch_table_new(HEADERS);
    json_t *list = json_array();
    struct answer a = {0};
    bool ok = true;
    for (int b = 0; ok && b < q->batch_count; b++) {
        for (int w = 0; ok && w < q->worker_count; w++) {
            ok = ask(q, &c, q->workers[w], q->batches[b], &a, error);
            if (ok) {
                add_answer(table, &a);
                json_array_append_new(list, answer_json(&c, &a));
            }
        }
    }
    if (!ok || cli->json) {
        json_decref(orch_table_to_json(table));
        if (ok)
            orch_cli_print_json(whole_json(q, json_incref(list)));
    } else {
        if (!q->o->format)
            question_say_assumptions(q);
        orch_table_print_as(cli, table, "predictions", q->o->format);
        if (!q->o->format) {
            say_memory(q, &c, &a);
            say_tier(&c);
        }
    }
    json_decref(list);
    rate_release(&c.rate);
    return ok ? ORCH_EXIT_OK : -1;
}

/* ---- all GPUs ----------------------------------------------------------------------------------
 */

struct ranked {
    struct candidate c;
    struct answer a;
    bool pareto;
};

static void free_ranked(gpointer data)
{
    struct ranked *r = data;
    rate_release(&r->c.rate);
    g_free(r);
}

static double time_of(const struct ranked *r)
{
    return isnan(r->a.total_s) ? r->a.step.total_s : r->a.total_s;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct ranked *p = *(const struct ranked *const *)a,
                        *o = *(const struct ranked *const *)b;
    double x = time_of(p), y = time_of(o);
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return p->a.usd < o->a.usd ? -1 : p->a.usd > o->a.usd;
}

/* Nothing that fits and has a price is both faster and cheaper. The list is sorted by time. */
static void mark_pareto(GPtrArray *list)
{
    double cheapest = INFINITY;
    for (guint i = 0; i < list->len; i++) {
        struct ranked *r = list->pdata[i];
        if (r->a.step.fits && r->a.usd < cheapest) {
            cheapest = r->a.usd;
            r->pareto = true;
        }
    }
}

static void add_ranked(struct orch_table *table, const struct ranked *r)
{
    g_autofree char *rate = orch_number_format(r->a.step.images_per_s);
    g_autofree char *span = span_format(r->a.low_s, r->a.high_s);
    orch_table_add(table, r->c.gpu->name, NULL);
    orch_table_add(table, orch_precision_names()[r->c.precision], NULL);
    orch_table_add(table, rate, json_real(r->a.step.images_per_s));
    add_duration(table, r->a.epoch_s);
    add_duration(table, r->a.total_s);
    orch_table_add(table, span, NULL);
    add_money(table, r->a.usd);
    orch_table_add(table, r->pareto ? "*" : "", json_boolean(r->pareto));
    orch_table_add(table, r->a.step.fits ? "yes" : "no", json_boolean(r->a.step.fits));
    orch_table_add(table, r->c.rate.from ? r->c.rate.from : "-", NULL);
}

/* The same GPU at the price of every cloud that has one: which to take is a question of both. */
static void add_clouds(struct question *q, const struct ranked *first, GPtrArray *list)
{
    static const char *const clouds[] = {"aws", "azure", "gcp", "lambda", "runpod", "verda"};
    for (size_t k = 0; k < G_N_ELEMENTS(clouds) && isnan(q->price) && !q->o->cloud; k++) {
        struct rate rate = question_rate_of(q, first->c.gpu->name, clouds[k]);
        if (rate.usd_per_hour <= 0 || !strcmp(rate.from, first->c.rate.from)) {
            rate_release(&rate);
            continue;
        }
        struct ranked *r = g_new0(struct ranked, 1);
        *r = *first;
        double ratio = rate.usd_per_hour / first->c.rate.usd_per_hour;
        r->c.rate = rate;
        r->a.usd *= ratio;
        r->a.low_usd *= ratio;
        r->a.high_usd *= ratio;
        g_ptr_array_add(list, r);
    }
}

static bool ask_all(struct question *q, GPtrArray *list, GError **error)
{
    for (guint i = 0; i < q->hardware->gpus->len; i++) {
        const struct orch_gpu_spec *gpu = q->hardware->gpus->pdata[i];
        struct ranked *r = g_new0(struct ranked, 1);
        g_autoptr(GError) unable = NULL;
        /* a board is two devices: two workers say what it does */
        bool can = gpu->unit != ORCH_GPU_BOARD && choose(q, gpu, &r->c, &unable);
        if (can && !ask(q, &r->c, q->workers[0], q->batches[0], &r->a, error)) {
            free_ranked(r);
            return false;
        }
        if (can)
            g_ptr_array_add(list, r);
        if (can && r->c.rate.usd_per_hour > 0)
            add_clouds(q, r, list);
        if (!can)
            free_ranked(r);
    }
    return true;
}

int predict_prior_all(struct orch_cli *cli, struct question *q, GError **error)
{
    static const char *const headers[] = {"gpu",    "precision",   ">images/s", ">epoch",
                                          ">total", ">80 % of it", ">cost",     "Pareto",
                                          "fits",   "price",       NULL};
    enum orch_precision ignored;
    if (!question_precision(q, q->hardware->gpus->pdata[0], &ignored, error))
        return -1;
    GPtrArray *list = g_ptr_array_new_with_free_func(free_ranked);
    bool ok = ask_all(q, list, error);
    if (ok) {
        g_ptr_array_sort(list, by_time);
        mark_pareto(list);
        question_assume(q, "workers", "--workers", "%d", (int)q->workers[0]);
        question_assume(q, "data", NULL, "read and prepared as fast as they are used");
        struct orch_table *table = orch_table_new(headers);
        json_t *all = json_array();
        for (guint i = 0; i < list->len; i++) {
            const struct ranked *r = list->pdata[i];
            add_ranked(table, r);
            json_t *one = answer_json(&r->c, &r->a);
            json_object_set_new(one, "pareto", json_boolean(r->pareto));
            json_array_append_new(all, one);
        }
        if (cli->json) {
            json_decref(orch_table_to_json(table));
            orch_cli_print_json(whole_json(q, json_incref(all)));
        } else {
            if (!q->o->format)
                question_say_assumptions(q);
            orch_table_print_as(cli, table, "predictions", q->o->format);
            if (!q->o->format)
                printf("* nothing that fits is both faster and cheaper. Tier prior: by "
                       "specification and "
                       "published measurements, none of your own.\n");
        }
        json_decref(all);
    }
    g_ptr_array_unref(list);
    return ok ? ORCH_EXIT_OK : -1;
}
