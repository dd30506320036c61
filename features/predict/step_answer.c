/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_answer.h"

#include "features/predict/no_basis.h"
#include "features/predict/step_energy.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/steps/prior.h"

#include <math.h>
#include <string.h>

/* A short run: so many steps, and the time that a rented machine takes to start and to load. */
#define SHORT_RUN_STEPS 20
#define SHORT_RUN_START_S 120.0
/* Of a part of the network, in parallel or with checkpointing: a guess, added to the error. */
#define OTHER_WAY_ERROR 0.15

/* The rates of this machine's processor with the threads that are asked for. Another machine's are
 * not known by threads. */
static void set_processor(const struct orch_time_question *q, const struct orch_gpu_spec *gpu,
                          struct orch_candidate *out)
{
    struct orch_processor_rates rates;
    const struct orch_gpu_spec *here = gpu->unit == ORCH_GPU_HOST && q->hardware
                                           ? orch_hardware_gpu(q->hardware, "here", NULL)
                                           : NULL;
    bool is_bf16 = out->precision == ORCH_BF16;
    if (here != gpu || !here ||
        (!is_bf16 && out->precision != ORCH_FP32 && out->precision != ORCH_FP32_IEEE))
        return;
    struct orch_ceilings *ceilings = orch_ceilings_load();
    if (ceilings &&
        orch_ceilings_processor(ceilings, is_bf16 ? "bf16" : "fp32", q->threads, &rates))
        orch_prior_set_processor(&out->prior, &rates);
    orch_ceilings_free(ceilings);
}

static const char *name_of(const struct orch_candidate *c)
{
    return c->format == ORCH_FORMAT_FP8   ? "fp8"
           : c->format == ORCH_FORMAT_FP4 ? "fp4"
                                          : orch_precision_names()[c->precision];
}

/* True if it multiplies in the format; else names chips that do. */
static bool has_format(const struct orch_candidate *c, GError **error)
{
    if (c->format == ORCH_FORMAT_16 || orch_number_format_peak(c->gpu, c->format) > 0)
        return true;
    g_autoptr(GString) others = g_string_new(NULL);
    g_autoptr(GHashTable) chips = g_hash_table_new(g_str_hash, g_str_equal);
    for (const struct orch_gpu_spec *g = orch_gpu_specs(); g->name; g++)
        if (orch_number_format_peak(g, c->format) > 0 &&
            g_hash_table_add(chips, (gpointer)(uintptr_t)orch_gpu_spec_chip(g)))
            g_string_append_printf(others, "%s%s", others->len ? ", " : "", g->name);
    g_autofree char *hint =
        g_strdup_printf("use --precision bf16, or a GPU that has them: %s", others->str);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s has no known tensor cores for %s",
                   c->gpu->name, c->precision_name);
    return false;
}

bool orch_candidate_choose(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                           const struct orch_gpu_spec *gpu, struct orch_candidate *out,
                           GError **error)
{
    /* PyTorch allows tf32 in convolutions, not in matrix products */
    enum orch_precision usual =
        q->net && orch_net_is_attention(q->net) ? ORCH_FP32_IEEE : ORCH_FP32;
    *out = (struct orch_candidate){.gpu = gpu, .format = q->format};
    out->precision_is_recorded = !q->has_precision && tiers &&
                                 orch_step_tiers_precision(tiers, q->net, gpu, &out->precision);
    if (!out->precision_is_recorded)
        out->precision = orch_precision_run(gpu, q->has_precision ? q->precision : usual);
    out->precision_name = name_of(out);
    if (!has_format(out, error) || !orch_prior_for(gpu, out->precision, &out->prior, error))
        return false;
    set_processor(q, gpu, out);
    out->prior.kernels.is_written_out = q->is_written_out;
    out->prior.kernels.is_compiled = q->is_compiled;
    out->prior.kernels.format = q->format;
    if (q->ppp_is_measured && !orch_step_tiers_ppp(tiers, gpu, out->precision, &out->ppp, error))
        return false;
    if (q->ppp_is_measured)
        orch_prior_set_ppp(&out->prior, out->ppp.share);
    else if (!isnan(q->ppp_comp))
        out->prior.device.compute_share = q->ppp_comp;
    else if (q->model != ORCH_TIME_PRIOR)
        orch_prior_transfer(q->net, gpu, out->precision, q->watts, &out->prior);
    if (q->model == ORCH_TIME_TRANSFERRED && !out->prior.is_transferred) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --model prior",
                       "the transferred model does not cover %s at %s", gpu->name,
                       orch_precision_names()[out->precision]);
        return false;
    }
    if (q->format != ORCH_FORMAT_16 && !out->prior.is_by_kernels) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --precision bf16, without --model prior",
                       "only the forecast from single kernels covers steps in %s",
                       out->precision_name);
        return false;
    }
    if (q->net && orch_net_is_sequence(q->net) &&
        !out->prior.is_by_kernels) /* the calibration data has no sequence networks */
        out->prior.error_90 = MAX(out->prior.error_90, orch_transfer_error_widest());
    out->rate = orch_time_question_rate(q, gpu->name, q->cloud);
    return true;
}

/* Answers from measured steps that are like the question, else scales the model by runs of other
 * settings. */
static void use_measurements(struct orch_step_tiers *tiers, const struct orch_step_question *ask,
                             struct orch_step_answer *out)
{
    struct orch_prior *prior = &out->prior;
    bool is_usual = ask->q->format == ORCH_FORMAT_16 && !prior->kernels.has_experts &&
                    !prior->kernels.has_packed;
    if (ask->q->model == ORCH_TIME_AUTO && !ask->q->calibrate && prior->is_transferred && is_usual)
        out->tier = orch_step_tiers_near(tiers, ask, prior->is_by_kernels, &out->near,
                                         &out->is_whole, &out->why);
    if (out->tier == ORCH_TIER_NONE) {
        out->tier = prior->is_transferred ? ORCH_TIER_TRANSFERRED : ORCH_TIER_PRIOR;
        if (!out->is_alone || ask->q->calibrate)
            orch_step_tiers_shift(tiers, ask, prior, &out->why);
        return;
    }
    prior->error_90 = out->near.half;
    if (out->is_alone) { /* trained in another way than what was measured */
        prior->error_90 = hypot(prior->error_90, OTHER_WAY_ERROR);
        out->tier = MAX(out->tier, ORCH_TIER_SAME_CHIP);
    }
    if (!out->is_whole)
        prior->shift = exp(out->near.log_ratio);
}

/* True where the analytical model says most, and no chip of the architecture was in its fit. */
static bool is_extrapolated(const struct orch_step_answer *a)
{
    bool is_known = a->prior.is_by_kernels ? a->prior.kernels.gpu.was_measured
                                           : a->prior.transfer.arch_was_measured;
    return a->prior.is_transferred && !is_known && a->tier != ORCH_TIER_SAME_STEP &&
           a->tier != ORCH_TIER_SAME_CHIP;
}

/* Tries the store's own measurements first, unless the user chose a model. */
static bool estimate_step(struct orch_step_tiers *tiers, const struct orch_step_question *ask,
                          struct orch_step_answer *out, struct orch_step_estimate *estimate,
                          GError **error)
{
    *estimate = (struct orch_step_estimate){0};
    /* the store's measurements are of networks that are trained as a whole */
    out->is_alone = ask->q->model != ORCH_TIME_AUTO || orch_net_has_frozen(ask->q->net) ||
                    ask->q->is_parallel || ask->q->checkpoints || ask->q->format != ORCH_FORMAT_16;
    if (!out->is_alone && !orch_step_tiers_estimate(tiers, ask, estimate, error))
        return false;
    out->tier = estimate->tier;
    out->why = g_steal_pointer(&estimate->why);
    if (!estimate->tier)
        use_measurements(tiers, ask, out);
    out->extrapolates = estimate->tier ? estimate->extrapolates : is_extrapolated(out);
    if (ask->q->calibrate && !out->why)
        out->why = g_strdup("not shifted, because --calibrate names no run of this kind on a "
                            "device that this tier covers");
    return true;
}

/* A step of devices that share the network. */
static bool predict_parallel(const struct orch_time_question *q, const struct orch_candidate *c,
                             const struct orch_prior *prior, const struct orch_roofline_work *work,
                             struct orch_prior_step *out, GError **error)
{
    int64_t devices = orch_parallel_devices(&q->parallel);
    struct orch_exchange all = orch_step_exchange(q, c->gpu, devices);
    struct orch_parallel_links links = {.replicas = all,
                                        .within = all.node_bandwidth,
                                        .between = all.bandwidth,
                                        .node_devices = all.node_workers};
    links.replicas.workers = orch_parallel_replicas(&q->parallel);
    links.replicas.node_workers =
        CLAMP(all.node_workers / (q->parallel.tp * q->parallel.pp), 1, links.replicas.workers);
    if (links.replicas.node_workers == links.replicas.workers && !q->has_scheme)
        links.replicas.scheme = ORCH_EXCHANGE_RING;
    return orch_parallel_predict(q->net, prior, work, &q->parallel, &links, out, error);
}

/* Steps of so many workers were measured, with what they exchange. */
static void scale_whole(struct orch_step_answer *a)
{
    double mid = a->step.total_s.mid * exp(a->near.log_ratio), factor = exp(a->near.half);
    a->step.total_s = (struct orch_interval){mid / factor, mid, mid * factor};
}

bool orch_candidate_estimate(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                             const struct orch_candidate *c, int64_t workers, int64_t batch,
                             struct orch_step_answer *out, GError **error)
{
    struct orch_exchange exchange = orch_step_exchange(q, c->gpu, workers),
                         none = {
                             .workers = 1, .node_workers = 1, .bandwidth = 1, .node_bandwidth = 1};
    int64_t replicas = q->is_parallel ? orch_parallel_replicas(&q->parallel) : workers;
    struct orch_roofline_work work = {.batch = orch_time_question_worker_batch(q, batch, workers),
                                      .element_bytes = orch_precision_bytes(c->precision),
                                      .training = !q->forward_only,
                                      .states_per_weight = q->states_per_weight,
                                      .checkpoints = q->checkpoints,
                                      .keeps_scores = q->is_written_out,
                                      .has_buckets =
                                          replicas > 1 && !(q->is_parallel && q->parallel.fsdp > 1),
                                      .has_fused_loss = q->has_fused_loss,
                                      .autocasts = !(q->is_parallel && q->parallel.fsdp > 1),
                                      .reserves_idle = true};
    struct orch_step_question question = {
        .q = q, .gpu = c->gpu, .precision = c->precision, .workers = workers, .batch = work.batch};
    struct orch_step_estimate estimate;
    *out = (struct orch_step_answer){.workers = workers, .batch = work.batch, .prior = c->prior};
    if (!estimate_step(tiers, &question, out, &estimate, error))
        return false;
    bool whole = estimate.tier && estimate.whole;
    if (q->is_parallel
            ? !predict_parallel(q, c, &out->prior, &work, &out->step, error)
            : !orch_prior_predict(q->net, q->costs, &out->prior, &work, whole ? &none : &exchange,
                                  estimate.tier ? &estimate.own : NULL, &out->step, error))
        return false;
    if (out->is_whole)
        scale_whole(out);
    out->step.images_per_s = (double)(work.batch * replicas) / out->step.total_s.mid;
    double steps =
        q->images ? ceil((double)q->images / (double)(work.batch * replicas)) : (double)NAN;
    double hours = c->rate.usd_per_hour * (double)workers / 3600;
    out->epoch_s = steps * out->step.total_s.mid;
    out->total_s.mid = out->epoch_s * (double)q->epochs;
    out->total_s.low = steps * out->step.total_s.low * (double)q->epochs;
    out->total_s.high = steps * out->step.total_s.high * (double)q->epochs;
    out->usd.mid = hours > 0 ? out->total_s.mid * hours : (double)NAN;
    out->usd.low = hours > 0 ? out->total_s.low * hours : (double)NAN;
    out->usd.high = hours > 0 ? out->total_s.high * hours : (double)NAN;
    return true;
}

void orch_step_answer_clear(struct orch_step_answer *answer)
{
    g_clear_pointer(&answer->why, g_free);
}

bool orch_step_answer_keeps_limits(const struct orch_time_question *q,
                                   const struct orch_step_answer *a)
{
    bool costly = !isnan(q->budget_usd) && !(a->usd.mid <= q->budget_usd);
    bool late = !isnan(q->deadline_s) && !(a->total_s.mid <= q->deadline_s);
    return !costly && !late;
}

double orch_step_answer_tokens_per_s(const struct orch_time_question *q,
                                     const struct orch_step_answer *a)
{
    return a->step.images_per_s * (double)q->net->input.h;
}

double orch_step_answer_million_usd(const struct orch_time_question *q,
                                    const struct orch_candidate *c,
                                    const struct orch_step_answer *a)
{
    double hours = 1e6 / orch_step_answer_tokens_per_s(q, a) / 3600;
    return c->rate.usd_per_hour > 0 && a->step.fits
               ? hours * c->rate.usd_per_hour * (double)a->workers
               : (double)NAN;
}

/* ---- as JSON -----------------------------------------------------------------------------------
 */

bool orch_step_answer_short_run(const struct orch_candidate *c, const struct orch_step_answer *a,
                                struct orch_short_run *out)
{
    struct orch_interval step = a->step.total_s;
    struct orch_short_run run = {.steps = SHORT_RUN_STEPS,
                                 .seconds = SHORT_RUN_START_S + SHORT_RUN_STEPS * step.mid,
                                 .usd = NAN};
    if (c->rate.usd_per_hour > 0)
        run.usd = run.seconds / 3600 * c->rate.usd_per_hour;
    run.factor_now = fmax(step.high / step.mid, step.mid / step.low);
    run.factor_then = exp(orch_trained_first_run_half());
    if (a->is_alone || a->workers > 1 || !a->step.fits || a->tier == ORCH_TIER_MEASURED ||
        !(run.factor_then < run.factor_now))
        return false;
    *out = run;
    return true;
}

static json_t *short_run_json(const struct orch_candidate *c, const struct orch_step_answer *a)
{
    struct orch_short_run run;
    if (!orch_step_answer_short_run(c, a, &run))
        return json_null();
    return json_pack("{s:i s:o s:o s:o s:o}", "steps", run.steps, "time_s",
                     orch_json_finite(run.seconds), "cost_usd", orch_json_finite(run.usd),
                     "factor_now", orch_json_finite(run.factor_now), "factor_then",
                     orch_json_finite(run.factor_then));
}

json_t *orch_step_answer_json(const struct orch_time_question *q, const struct orch_candidate *c,
                              const struct orch_step_answer *a)
{
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string(orch_tier_name(a->tier)));
    json_object_set_new(o, "because", orch_json_text_or_null(a->why));
    json_object_set_new(o, "extrapolates", json_boolean(a->extrapolates));
    json_object_set_new(o, "keeps_limits", json_boolean(orch_step_answer_keeps_limits(q, a)));
    json_object_set_new(o, "gpu", json_string(c->gpu->name));
    json_object_set_new(o, "precision", json_string(c->precision_name));
    json_object_set_new(o, "workers", json_integer(a->workers));
    json_object_set_new(o, "batch_per_worker", json_integer(a->batch));
    json_object_set_new(o, "step_s", orch_json_finite(a->step.total_s.mid));
    json_object_set_new(o, "step_low_s", orch_json_finite(a->step.total_s.low));
    json_object_set_new(o, "step_high_s", orch_json_finite(a->step.total_s.high));
    json_object_set_new(o, "exchange_s", orch_json_finite(a->step.exchange_s));
    json_object_set_new(o, "exposed_exchange_s", orch_json_finite(a->step.exposed_s));
    json_object_set_new(o, "sample", json_string(orch_time_question_sample(q)));
    json_object_set_new(o, "images_per_s", orch_json_finite(a->step.images_per_s));
    if (orch_net_is_sequence(q->net)) {
        json_object_set_new(o, "tokens_per_s",
                            orch_json_finite(orch_step_answer_tokens_per_s(q, a)));
        json_object_set_new(o, "million_tokens_usd",
                            orch_json_finite(orch_step_answer_million_usd(q, c, a)));
    }
    json_object_set_new(o, "epoch_s", orch_json_finite(a->epoch_s));
    json_object_set_new(o, "total_s", orch_json_finite(a->total_s.mid));
    json_object_set_new(o, "low_s", orch_json_finite(a->total_s.low));
    json_object_set_new(o, "high_s", orch_json_finite(a->total_s.high));
    json_object_set_new(o, "cost_usd", orch_json_finite(a->usd.mid));
    json_object_set_new(o, "cost_low_usd", orch_json_finite(a->usd.low));
    json_object_set_new(o, "cost_high_usd", orch_json_finite(a->usd.high));
    json_object_set_new(o, "usd_per_hour",
                        c->rate.usd_per_hour > 0 ? orch_json_finite(c->rate.usd_per_hour)
                                                 : json_null());
    const struct orch_step_energy energy = orch_step_energy_of(q, c, a);
    orch_step_energy_add_json(&energy, o);
    json_object_set_new(o, "price_from", orch_json_text_or_null(c->rate.from));
    json_object_set_new(o, "lowest_usd_per_hour",
                        c->rate.low_from ? orch_json_finite(c->rate.low_usd) : json_null());
    json_object_set_new(o, "lowest_price_from",
                        c->rate.low_from ? json_string(c->rate.low_from) : json_null());
    json_object_set_new(o, "highest_usd_per_hour",
                        c->rate.low_from ? orch_json_finite(c->rate.high_usd) : json_null());
    json_object_set_new(o, "highest_price_from",
                        c->rate.low_from ? json_string(c->rate.high_from) : json_null());
    g_autofree char *nothing = orch_no_basis(c, a);
    json_object_set_new(o, "no_basis", orch_json_text_or_null(nothing));
    json_object_set_new(o, "narrower", short_run_json(c, a));
    json_object_set_new(o, "memory_bytes", orch_json_finite(a->step.memory_bytes));
    json_object_set_new(o, "largest_batch", json_integer(a->step.largest_batch));
    json_object_set_new(o, "fits", json_boolean(a->step.fits));
    return o;
}

json_t *orch_step_answers_json(const struct orch_time_question *q, const char *tier_name,
                               json_t *predictions)
{
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string(tier_name));
    json_object_set_new(o, "net", json_string(q->net->name));
    json_object_set_new(o, "images", q->images ? json_integer(q->images) : json_null());
    json_object_set_new(o, "epochs", json_integer(q->epochs));
    json_object_set_new(o, "interval", orch_json_finite(0.9));
    json_object_set_new(o, "assumptions", orch_time_question_assumptions_json(q));
    json_object_set_new(o, "predictions", predictions);
    return o;
}

/* ---- assumptions ------------------------------------------------------------------------------
 */

static void assume_price(struct orch_time_question *q, const struct orch_candidate *c)
{
    const struct orch_rate *rate = &c->rate;
    g_autofree char *range = rate->low_from ? g_strdup_printf("; others from $%.4g to $%.4g",
                                                              rate->low_usd, rate->high_usd)
                                            : g_strdup("");
    orch_time_question_assume(q, "price", "--price, --cloud, --spot", "$%.4g an hour a %s (%s)%s",
                              rate->usd_per_hour, c->gpu->unit == ORCH_GPU_BOARD ? "board" : "GPU",
                              rate->from, range);
}

static void assume_link(struct orch_time_question *q, const struct orch_gpu_spec *gpu)
{
    const struct orch_link *within = orch_link_within(gpu), *link = q->link ? q->link : within;
    int64_t most = 0;
    for (int i = 0; i < q->worker_count; i++)
        most = MAX(most, q->workers[i]);
    bool has_nodes = q->per_node && q->per_node < most;
    g_autofree char *between = has_nodes  ? g_strdup_printf(" between nodes of %d, %s within",
                                                            (int)q->per_node, within->name)
                               : q->link  ? g_strdup("")
                               : most > 8 ? g_strdup(", all workers of one node, though 8 are the "
                                                     "most of a usual one")
                                          : g_strdup(", all workers of one node");
    g_autofree char *scheme =
        q->is_parallel
            ? g_strdup("")
            : g_strdup_printf("; %s all-reduce during the backward pass",
                              orch_exchange_scheme_name(orch_step_exchange(q, gpu, most).scheme));
    orch_time_question_assume(q, "link", "--network, --per-node", "%s, %.4g Gbit/s%s%s", link->name,
                              link->gbit_s, between, scheme);
}

void orch_time_question_assume_device(struct orch_time_question *q, const char *gpu_name,
                                      const struct orch_candidate *c)
{
    if (g_ascii_strcasecmp(gpu_name, c->gpu->name) != 0)
        orch_time_question_assume(q, "GPU", "--gpu", "%s (%s)", c->gpu->name,
                                  orch_gpu_unit_name(c->gpu->unit));
    if (q->format != ORCH_FORMAT_16)
        orch_time_question_assume(q, "precision", "--precision",
                                  "%s in linear layers but the last, as scaled for each tensor; "
                                  "the rest, and memory, as in bf16",
                                  c->precision_name);
    else if (!q->has_precision)
        orch_time_question_assume(
            q, "precision", "--precision", "%s%s", orch_precision_names()[c->precision],
            c->precision_is_recorded         ? ", as in the runs of this network"
            : c->precision == ORCH_TF32      ? ", as PyTorch's convolutions do on this GPU"
            : c->precision == ORCH_FP32_IEEE ? ", in which PyTorch multiplies matrices by "
                                               "default; tf32 and bf16 are faster"
                                             : "");
    else if (q->precision != c->precision && q->precision != ORCH_FP32_IEEE)
        orch_time_question_assume(
            q, "precision", "--precision", "%s: %s tensors, which this GPU multiplies so",
            orch_precision_names()[c->precision], orch_precision_names()[q->precision]);
    if (q->ppp_is_measured)
        orch_time_question_assume(
            q, "PPP", "--ppp-comp",
            "%.3g: observed divided by estimated throughput, mean of %d configuration%s run on it",
            c->ppp.share, c->ppp.workloads, orch_plural(c->ppp.workloads));
    if (!q->has_optimizer && !q->forward_only)
        orch_time_question_assume(q, "optimizer", "--optimizer", "%s",
                                  q->states_per_weight == 2 ? "AdamW" : "SGD with momentum");
    if (q->worker_count > 1 || q->workers[0] > 1)
        assume_link(q, c->gpu);
    if (isnan(q->price) && c->rate.usd_per_hour > 0)
        assume_price(q, c);
    else if (isnan(q->price))
        orch_time_question_assume(q, "price", "--price", "none is known%s",
                                  q->cloud ? " there" : "");
    if (c->prior.is_by_kernels)
        orch_time_question_assume(q, "attention", "--attention", "%s",
                                  !q->is_written_out ? "one kernel, as scaled_dot_product_attention"
                                  : orch_net_is_written_out(q->net)
                                      ? "written out in the file, its scores in memory"
                                      : "written out, its scores in memory");
    orch_time_question_assume(q, "input pipeline", NULL, "not a bottleneck");
}
