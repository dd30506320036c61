/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict` for one GPU: uses the best tier that has an answer. */
#include "features/predict/parallel_best.h"
#include "features/predict/step_energy.h"
#include "features/predict/step_show.h"

#include "features/predict/steps/published_steps.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

char *orch_cli_span_format(struct orch_interval interval)
{
    if (isnan(interval.low))
        return g_strdup("-");
    g_autofree char *a = orch_duration_format(interval.low);
    g_autofree char *b = orch_duration_format(interval.high);
    return g_strdup_printf("%s to %s", a, b);
}

void orch_cli_add_duration(struct orch_table *table, double seconds)
{
    g_autofree char *text = isnan(seconds) ? g_strdup("-") : orch_duration_format(seconds);
    orch_table_add(table, text, isnan(seconds) ? json_null() : orch_json_finite(seconds));
}

void orch_cli_add_money(struct orch_table *table, double usd)
{
    g_autofree char *text = orch_money_format(usd);
    orch_table_add(table, text, isnan(usd) ? json_null() : orch_json_finite(usd));
}

static const char *const HEADERS[] = {">workers", ">batch each", ">step",          ">images/s",
                                      ">epoch",   ">total",      ">90 % interval", ">cost",
                                      "fits",     "tier",        "limits",         NULL};
static bool has_limits(const struct orch_time_question *q)
{
    return !isnan(q->budget_usd) || !isnan(q->deadline_s);
}

struct orch_table *orch_cli_rate_table_new(const struct orch_time_question *q,
                                           const char *const *headers)
{
    g_autofree char *rate = g_strdup_printf(">%ss/s", orch_time_question_sample(q));
    g_autoptr(GPtrArray) named = g_ptr_array_new();
    for (int i = 0; headers[i]; i++)
        g_ptr_array_add(
            named, (gpointer)(uintptr_t)(strcmp(headers[i], ">images/s") == 0 ? rate : headers[i]));
    g_ptr_array_add(named, NULL);
    return orch_table_new((const char *const *)named->pdata);
}

/* Creates a table with the columns that the question needs. */
static struct orch_table *new_table(const struct orch_time_question *q)
{
    const char *headers[G_N_ELEMENTS(HEADERS)];
    memcpy(headers, HEADERS, sizeof headers);
    if (!has_limits(q))
        headers[G_N_ELEMENTS(HEADERS) - 2] = NULL;
    return orch_cli_rate_table_new(q, headers);
}

static void add_answer(struct orch_table *table, const struct orch_step_answer *a)
{
    g_autofree char *rate = orch_number_format(a->step.images_per_s);
    g_autofree char *span = orch_cli_span_format(a->total_s);
    orch_table_add_int(table, a->workers);
    orch_table_add_int(table, a->batch);
    orch_cli_add_duration(table, a->step.total_s.mid);
    orch_table_add(table, rate, orch_json_finite(a->step.images_per_s));
    orch_cli_add_duration(table, a->epoch_s);
    orch_cli_add_duration(table, a->total_s.mid);
    orch_table_add(table, span, NULL);
    orch_cli_add_money(table, a->usd.mid);
    orch_table_add(table, a->step.fits ? "yes" : "no", json_boolean(a->step.fits));
    orch_table_add(table, orch_tier_name(a->tier), NULL);
    if (has_limits(a->q))
        orch_table_add(table, orch_step_answer_keeps_limits(a) ? "kept" : "broken", NULL);
}

/* Tokens a second, by which trainings of language models are compared. */
static void print_tokens(const struct orch_step_answer *a)
{
    const struct orch_net *net = a->q->net;
    if (!orch_net_is_sequence(net))
        return;
    double per_s = orch_step_answer_tokens_per_s(a);
    double usd = orch_step_answer_million_usd(a);
    g_autofree char *cost = isnan(usd) ? NULL : orch_money_format(usd);
    orch_cli_print(per_s < 1e4 ? "tokens: %.4g a second, %d in a sequence%s%s"
                               : "tokens: %.0f a second, %d in a sequence%s%s",
                   per_s < 1e4 ? per_s : rint(per_s / 10) * 10, (int)net->input.h,
                   cost ? "; a million cost " : "", cost ? cost : "");
}

static void print_memory(const struct orch_step_answer *a)
{
    double device_bytes = a->prior.device.memory_bytes;
    if (!(device_bytes > 0))
        return;
    g_autofree char *need = orch_bytes_format((int64_t)a->step.memory_bytes);
    g_autofree char *room = orch_bytes_format((int64_t)device_bytes);
    g_autofree char *none = g_strdup_printf(" (not even one %s)", orch_time_question_sample(a->q));
    orch_cli_print("memory: %s of %s per worker at batch size %" G_GINT64_FORMAT
                   ". The largest batch that fits is %" G_GINT64_FORMAT "%s",
                   need, room, a->batch, a->step.largest_batch, a->step.largest_batch ? "" : none);
}

static void print_energy(const struct orch_step_answer *a)
{
    const struct orch_step_energy energy = orch_step_energy_of(a);
    g_autofree char *text = orch_step_energy_text(&energy);
    if (text)
        orch_cli_print("%s", text);
}

/* Prints how --budget and --deadline compare. They are compared with the median, which half of
 * such trainings exceed. */
static void print_limits(const struct orch_step_answer *a)
{
    if (!has_limits(a->q) || isnan(a->total_s.high))
        return;
    g_autofree char *time = orch_duration_format(a->total_s.high),
                    *usd = orch_money_format(a->usd.high);
    orch_cli_print("limits: --budget and --deadline are compared with the median; 95 %% of such "
                   "trainings stay within %s%s%s",
                   time, a->usd.mid > 0 ? " and " : "", a->usd.mid > 0 ? usd : "");
}

/* Prints the cheapest price when it is far below the default price, which is that of a large
 * cloud. */
static void print_cheaper(const struct orch_step_answer *a)
{
    const struct orch_rate *rate = &a->c->rate;
    bool is_far = rate->low_usd > 0 && rate->low_usd < rate->usd_per_hour / 2;
    if (!is_far || !(a->usd.mid > 0))
        return;
    g_autofree char *usd = orch_money_format(a->usd.mid * rate->low_usd / rate->usd_per_hour);
    orch_cli_print("price: the cheapest offer is $%.4g an hour (%s). The total is then %s",
                   rate->low_usd, rate->low_from, usd);
}

/* The errors of one GPU and of the exchange make the interval together. */
static bool has_exchange(const struct orch_step_answer *a)
{
    return a->workers > 1 && a->tier != ORCH_TIER_MEASURED && !a->is_whole;
}

/* What `prior.error_90` is the error of. */
static const char *error_title(const struct orch_step_answer *a)
{
    return has_exchange(a) ? "one GPU " : "interval";
}

static void print_prior(const struct orch_step_answer *a)
{
    const struct orch_prior *p = &a->prior;
    const struct orch_prior_class *from = p->from;
    g_auto(GStrv) names = g_strsplit(from->archs, ",", -1);
    g_autofree char *archs = g_strjoinv(" and ", names);
    printf("tier prior: a roofline computed from the GPU's specification\n"
           "  model     %.0f %% of the peak, %.0f %% of the bandwidth, %.0f us per operation\n",
           p->device.compute_share * 100, p->device.memory_share * 100, p->device.launch_s * 1e6);
    if (from->rows)
        orch_cli_print("  fitted    to %d published measurements of %d networks on %s%s%s\n"
                       "  source    %s",
                       from->rows, from->nets, archs, p->is_borrowed ? ": none on " : "",
                       p->is_borrowed ? a->c->gpu->arch : "", from->source);
    orch_cli_print("  %s  within a factor of %.2f: %s", error_title(a), exp(p->error_90),
                   p->is_borrowed || !from->rows
                       ? "a guess"
                       : "the error of networks that were left out of the fit");
}

static void print_kernels(const struct orch_step_answer *a)
{
    const struct orch_kernel_model *k = &a->prior.kernels;
    orch_cli_print("tier transferred: the sum of the network's kernels, from the GPU's data sheet\n"
                   "  source    %s\n"
                   "  sustained %.4g TFLOP/s of matrix products, from its units and its power\n"
                   "  %s  within a factor of %.2f%s",
                   orch_kernel_model_source(), k->gpu.sustained_flops / 1e12, error_title(a),
                   exp(orch_prior_error_90(&a->prior, &a->step.own)),
                   !k->gpu.was_measured
                       ? ": wider, because products at this precision were not measured"
                   : orch_kernel_model_is_guess(k) || a->no_basis
                       ? ": a guess, wider than the error of the measured transformers"
                       : ", in 90 % of the measured transformers");
}

/* The interval by the shape of the question. */
static void print_error(const struct orch_step_answer *a)
{
    static const char *const whose[] = {[ORCH_ASKED_KNOWN] = "",
                                        [ORCH_ASKED_NETWORK] = "; this family was not measured",
                                        [ORCH_ASKED_CHIP] = "; this chip was not measured",
                                        [ORCH_ASKED_ARCH] = "; this architecture was not measured"};
    const struct orch_transfer_error *e = &a->prior.error;
    if (orch_net_is_sequence(a->q->net))
        orch_cli_print("  %s  within a factor of %.2f: the widest, because none of its "
                       "networks was a transformer",
                       error_title(a), exp(a->prior.error_90));
    else
        orch_cli_print("  %s  within a factor of %.2f, in %.0f %% of cases when %s were left "
                       "out of the fit%s%s",
                       error_title(a), exp(a->prior.error_90), 100 * e->covered,
                       orch_transfer_error_left_out(e->asked), whose[e->asked],
                       e->family > 0 ? ", nor any network of this family" : "");
}

/* The newest software of the published steps that the model was fitted to: all but milabench's. */
static void print_newest(void)
{
    const GPtrArray *steps = orch_published_steps();
    const struct orch_published_step *newest = NULL;
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_published_step *p = steps->pdata[i];
        bool is_fitted = strcmp(p->source->name, "milabench") != 0;
        if (is_fitted && p->workers == 1 && (!newest || strcmp(p->date, newest->date) > 0))
            newest = p;
    }
    if (newest)
        orch_cli_print("  newest    %s, %s", newest->software, newest->date);
}

static void print_transferred(const struct orch_step_answer *a)
{
    if (a->prior.is_by_kernels) {
        print_kernels(a);
        return;
    }
    orch_cli_print(
        "tier transferred: analytical model calibrated on public measurements of other GPUs\n"
        "  source    %s",
        orch_transfer_source());
    print_newest();
    print_error(a);
}

/* What is known of the error of steps of several GPUs. */
static void print_workers(const struct orch_step_answer *a)
{
    const struct orch_time_question *q = a->q;
    double error = q->is_parallel ? orch_parallel_error_90(&q->parallel, a->step.is_guess)
                                  : orch_prior_several_error();
    const char *steps = q->is_parallel ? orch_parallel_measured(&q->parallel)
                                       : orch_parallel_measured(&(struct orch_parallel){.dp = 2});
    if (a->step.is_guess)
        orch_cli_print("  workers   the exchange is computed from the links' data sheets; the "
                       "factor of %.2f is a guess, because no such step was measured",
                       exp(error));
    else
        orch_cli_print("  workers   the exchange is computed from the links' data sheets; 90 %% of "
                       "%s lay within a factor of %.2f",
                       steps, exp(error));
    const struct orch_interval step = a->step.total_s;
    g_autofree char *span = orch_cli_span_format(step);
    orch_cli_print("  interval  %s a step: within a factor of %.2f below the forecast (all of the "
                   "exchange overlaps) and %.2f above it (none does)",
                   span, step.mid / step.low, step.high / step.mid);
}

/* What one short run costs, and how it narrows the interval. */
static void print_narrower(const struct orch_step_answer *a)
{
    const struct orch_short_run run = a->narrower;
    if (!run.steps) {
        if (a->workers > 1 || !a->step.fits)
            printf("  narrower  measured steps%s would narrow the interval ('orch run')\n",
                   a->step.fits ? "" : " of a batch that fits");
        return;
    }
    g_autofree char *time = orch_duration_format(run.seconds);
    g_autofree char *usd = isnan(run.usd) ? NULL : orch_money_format(run.usd);
    orch_cli_print(
        "  narrower  a run of %d steps on this GPU ('orch run', about %s%s%s) would narrow "
        "the factor from %.2f to %.2f",
        run.steps, time, usd ? " for " : "", usd ? usd : "", run.factor_now, run.factor_then);
}

/* What measured steps that are like the question say. */
static void print_near(const struct orch_step_answer *a)
{
    static const char *const titles[] = {
        [ORCH_TIER_SAME_STEP] = "this network was measured on this chip",
        [ORCH_TIER_SAME_CHIP] = "this chip was measured, in other settings",
        [ORCH_TIER_SAME_NETWORK] = "this network was measured on other chips"};
    orch_cli_print("tier %s: %s\n  from      %s\n  %s  within a factor of %.2f%s",
                   orch_tier_name(a->tier), titles[a->tier], a->why, error_title(a),
                   exp(orch_prior_error_90(&a->prior, &a->step.own)),
                   a->no_basis ? "" : ", in 90 % of cases");
}

static void print_own(const struct orch_step_answer *a)
{
    bool is_measured = a->tier == ORCH_TIER_MEASURED;
    orch_cli_print("tier %s: %s", orch_tier_name(a->tier),
                   is_measured ? "this setting was measured"
                               : "a predictor trained on measurements");
}

static void print_basis(const struct orch_step_answer *a)
{
    if (a->tier == ORCH_TIER_PRIOR)
        print_prior(a);
    else if (a->tier == ORCH_TIER_TRANSFERRED)
        print_transferred(a);
    else if (a->near.count)
        print_near(a);
    else
        print_own(a);
    if (a->why && !a->near.count)
        orch_cli_print("  %-9s %s", a->tier == ORCH_TIER_FITTED ? "from" : "here", a->why);
}

static void print_tier(const struct orch_step_answer *a)
{
    bool is_measured = a->tier == ORCH_TIER_MEASURED;
    print_basis(a);
    if (a->no_basis)
        orch_cli_print("  no basis  the interval is a guess, because no measured step covers: %s",
                       a->no_basis);
    if (has_exchange(a))
        print_workers(a);
    if (a->extrapolates)
        printf("  warning   extrapolation beyond the training rows: measure a similar setting\n");
    if (!is_measured && (!a->why || a->near.count) && !a->is_alone)
        print_narrower(a);
}

bool orch_cli_predict_open_tiers(struct orch_cli *cli, const struct orch_time_question *q,
                                 struct orch_step_tiers *out, GError **error)
{
    *out = (struct orch_step_tiers){0};
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return false;
    bool needs_store = orch_workspace_has_store(workspace) || q->calibrate || cli->db;
    if (needs_store && !orch_cli_store(cli, ORCH_STORE_READ, error))
        return false;
    bool ok = orch_step_tiers_open(workspace, q, true, out, notes, error);
    orch_cli_warn_all(cli, notes);
    return ok;
}

/* ---- assumptions ------------------------------------------------------------------------------
 */

static void assume_price(struct orch_time_question *q, const struct orch_candidate *c)
{
    const struct orch_rate *rate = &c->rate;
    g_autofree char *range = rate->low_from ? g_strdup_printf("; other offers from $%.4g to $%.4g",
                                                              rate->low_usd, rate->high_usd)
                                            : g_strdup("");
    orch_time_question_assume(q, "price", "--price, --cloud, --spot", "$%.4g an hour a %s (%s)%s",
                              rate->usd_per_hour, c->gpu->unit == ORCH_GPU_BOARD ? "board" : "GPU",
                              rate->from, range);
}

static void assume_link(struct orch_time_question *q, const struct orch_gpu_spec *gpu)
{
    int64_t most = orch_time_question_most(q);
    const struct orch_time_nodes nodes = orch_time_question_nodes(q, gpu, most);
    const struct orch_link *link = nodes.link;
    g_autofree char *between =
        nodes.gpus < most
            ? g_strdup_printf(" a %s between nodes of %d GPUs%s, %s within a node",
                              link->is_of_gpu ? "GPU" : "node", (int)nodes.gpus,
                              nodes.is_assumed ? " (usual for this GPU)" : "", nodes.within->name)
            : g_strdup(link == nodes.within ? ", all workers in one node" : "");
    g_autofree char *scheme =
        q->is_parallel ? g_strdup("")
                       : g_strdup_printf("; %s all-reduce during the backward pass",
                                         orch_exchange_scheme_name(
                                             orch_time_question_exchange(q, gpu, most).scheme));
    orch_time_question_assume(q, "link", "--network, --per-node", "%s, %.4g Gbit/s%s%s", link->name,
                              link->gbit_s, between, scheme);
    if (nodes.is_assumed) /* what matters most stands first */
        g_ptr_array_insert(q->assumptions, 0,
                           g_ptr_array_steal_index(q->assumptions, q->assumptions->len - 1));
}

static void assume_device(struct orch_time_question *q, const struct orch_candidate *c)
{
    if (g_ascii_strcasecmp(q->gpu, c->gpu->name) != 0)
        orch_time_question_assume(q, "GPU", "--gpu", "%s (%s)", c->gpu->name,
                                  orch_gpu_unit_name(c->gpu->unit));
    if (q->kernels.format != ORCH_FORMAT_16)
        orch_time_question_assume(q, "precision", "--precision",
                                  "%s in linear layers except the last, the rest in bf16",
                                  c->precision_name);
    else if (!q->has_precision)
        orch_time_question_assume(
            q, "precision", "--precision", "%s%s", orch_precision_names()[c->precision],
            c->precision_is_recorded    ? ", as in the runs of this network"
            : c->precision == ORCH_TF32 ? ", PyTorch's default for convolutions on this GPU"
            : c->precision == ORCH_BF16 ? ", as no peak in fp32 is known"
            : c->precision == ORCH_FP32_IEEE
                ? ", PyTorch's default for matrices; tf32 and bf16 are faster"
                : "");
    else if (q->precision != c->precision && q->precision != ORCH_FP32_IEEE)
        orch_time_question_assume(
            q, "precision", "--precision", "%s, in which this GPU multiplies %s tensors",
            orch_precision_names()[c->precision], orch_precision_names()[q->precision]);
    if (q->ppp_is_measured)
        orch_time_question_assume(q, "PPP", "--ppp-comp",
                                  "%.3g: mean of %d setting%s run on this GPU", c->ppp.share,
                                  c->ppp.workloads, orch_plural(c->ppp.workloads));
    if (!q->has_optimizer && q->work.training)
        orch_time_question_assume(q, "optimizer", "--optimizer", "%s",
                                  q->work.states_per_weight == 2 ? "AdamW" : "SGD with momentum");
    if (q->worker_count > 1 || q->workers[0] > 1)
        assume_link(q, c->gpu);
    if (isnan(q->price) && c->rate.usd_per_hour > 0)
        assume_price(q, c);
    else if (isnan(q->price))
        orch_time_question_assume(q, "price", "--price", "none is known%s",
                                  q->cloud ? " there" : "");
    if (c->prior.is_by_kernels)
        orch_time_question_assume(
            q, "attention", "--attention", "%s",
            !q->kernels.is_written_out        ? "fused (scaled_dot_product_attention)"
            : orch_net_is_written_out(q->net) ? "eager in the file: scores in memory"
                                              : "eager: scores in memory");
    orch_time_question_assume(q, "input pipeline", NULL, "not a bottleneck");
}

/* ---- the answers -------------------------------------------------------------------------------
 */

struct asking {
    struct orch_cli *cli;
    const struct predict_options *o;
    struct orch_time_question *q;
    struct orch_step_tiers tiers;
    struct orch_candidate c;
    struct orch_table *table;
    json_t *list;
    struct orch_step_answer last;
    GArray *ways; /* struct orch_parallel_choice of --parallel best, or NULL */
};

/* Finds the fastest way to share the training, and asks about it from here on. */
static bool choose_parallel(struct asking *s, GError **error)
{
    struct orch_time_question *q = s->q;
    if (!q->wants_best)
        return true;
    if (!orch_parallel_best(q, &s->tiers, &s->c, q->workers[0], q->batches[0], &s->ways, error))
        return false;
    for (guint i = 0; i < s->ways->len; i++) {
        const struct orch_parallel_choice *way =
            &g_array_index(s->ways, struct orch_parallel_choice, i);
        if (way->is_best)
            orch_time_question_set_parallel(q, &way->parallel, way->batch);
    }
    return true;
}

static struct orch_table *ways_table(const struct asking *s)
{
    static const char *const headers[] = {
        "parallel", ">batch of a replica", ">step", ">images/s", ">memory", "fits", NULL};
    struct orch_table *table = orch_cli_rate_table_new(s->q, headers);
    for (guint i = 0; i < s->ways->len; i++) {
        const struct orch_parallel_choice *way =
            &g_array_index(s->ways, struct orch_parallel_choice, i);
        g_autofree char *name = orch_parallel_format(&way->parallel);
        g_autofree char *batch = g_strdup_printf("%" G_GINT64_FORMAT, way->batch);
        g_autofree char *rate = orch_number_format(way->samples_per_s);
        g_autofree char *memory = orch_bytes_format((int64_t)way->memory_bytes);
        orch_table_add(table, name, NULL);
        orch_table_add(table, batch, json_integer(way->batch));
        orch_cli_add_duration(table, way->step_s);
        orch_table_add(table, rate, orch_json_finite(way->samples_per_s));
        orch_table_add(table, memory, orch_json_finite(way->memory_bytes));
        orch_table_add(table, way->fits ? "yes" : "no", json_boolean(way->fits));
    }
    return table;
}

static void print_ways(struct asking *s)
{
    if (!s->ways)
        return;
    printf("ways to split the training, each with less memory than all faster ones:\n");
    orch_cli_table_print_as(s->cli, ways_table(s), "ways", NULL);
}

static bool add_json(struct asking *s, GError **error)
{
    json_t *one = orch_step_answer_json(&s->last);
    json_t *explanation =
        s->o->explain ? orch_step_answer_explain(&s->tiers, &s->last, error) : NULL;
    if (explanation)
        json_object_set_new(one, "explanation", explanation);
    json_array_append_new(s->list, one);
    return explanation || !s->o->explain;
}

static bool estimate_each(struct asking *s, GError **error)
{
    for (int b = 0; b < s->q->batch_count; b++) {
        for (int w = 0; w < s->q->worker_count; w++) {
            orch_step_answer_clear(&s->last);
            if (!orch_candidate_estimate(s->q, &s->tiers, &s->c, s->q->workers[w], s->q->batches[b],
                                         &s->last, error))
                return false;
            add_answer(s->table, &s->last);
            bool is_read = s->cli->json || s->o->explain;
            if (is_read && !add_json(s, error))
                return false;
        }
    }
    return true;
}

static void print_answers(struct asking *s)
{
    struct orch_time_question *q = s->q;
    if (s->cli->json) {
        json_decref(orch_cli_table_to_json(s->table));
        json_t *all = orch_step_answers_json(q, orch_tier_name(s->last.tier), json_incref(s->list));
        if (s->ways)
            json_object_set_new(all, "ways", orch_cli_table_to_json(ways_table(s)));
        orch_cli_print_json(all);
        return;
    }
    orch_cli_table_print_as(s->cli, s->table, "predictions", s->o->format);
    if (s->o->format)
        return;
    print_tokens(&s->last);
    print_memory(&s->last);
    print_energy(&s->last);
    print_cheaper(&s->last);
    print_limits(&s->last);
    print_ways(s);
    orch_cli_time_assumptions_print(q);
    print_tier(&s->last);
    size_t count = json_array_size(s->list);
    if (s->o->explain)
        orch_cli_explain_show(json_object_get(json_array_get(s->list, count - 1), "explanation"));
}

int orch_cli_predict_step(struct orch_cli *cli, const struct predict_options *o,
                          struct orch_time_question *q, GError **error)
{
    struct asking s = {.cli = cli, .o = o, .q = q, .list = json_array()};
    bool ok = orch_cli_predict_open_tiers(cli, q, &s.tiers, error) &&
              orch_candidate_choose(q, &s.tiers, q->gpus->pdata[0], &s.c, error) &&
              choose_parallel(&s, error);
    if (ok) {
        assume_device(q, &s.c);
        s.table = new_table(q);
        ok = estimate_each(&s, error);
        if (ok)
            orch_time_question_assume_stem_on(q, &s.tiers, &s.last);
        if (ok)
            print_answers(&s);
        else
            json_decref(orch_cli_table_to_json(s.table));
    }
    orch_step_answer_clear(&s.last);
    json_decref(s.list);
    if (s.ways)
        g_array_unref(s.ways);
    orch_step_tiers_close(&s.tiers);
    orch_rate_release(&s.c.rate);
    return ok ? ORCH_EXIT_OK : -1;
}
