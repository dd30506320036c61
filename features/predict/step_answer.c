/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_answer.h"

#include "features/predict/no_basis.h"
#include "features/predict/step_energy.h"
#include "lib/base/json.h"

#include <math.h>

/* A short run: so many steps, and the time that a rented machine takes to start and to load. */
#define SHORT_RUN_STEPS 20
#define SHORT_RUN_START_S 120.0
/* Of a part of the network, in parallel or with checkpointing: a guess, added to the error. */
#define OTHER_WAY_ERROR 0.15

/* Answers from measured steps that are like the question, else scales the model by runs of other
 * settings. */
static void use_measurements(struct orch_step_tiers *tiers, struct orch_step_answer *out)
{
    const struct orch_time_question *q = out->q;
    struct orch_prior *prior = &out->prior;
    bool is_usual = q->kernels.format == ORCH_FORMAT_16 && !prior->kernels.has_experts &&
                    !prior->kernels.has_packed;
    if (q->model == ORCH_TIME_AUTO && !q->calibrate && prior->is_transferred && is_usual)
        orch_step_tiers_near(tiers, out);
    if (out->tier == ORCH_TIER_NONE) {
        out->tier = prior->is_transferred ? ORCH_TIER_TRANSFERRED : ORCH_TIER_PRIOR;
        if (!out->is_alone || q->calibrate)
            orch_step_tiers_shift(tiers, out);
        return;
    }
    prior->error_90 = out->near.half;
    if (out->is_alone) { /* trained in another way than what was measured */
        prior->error_90 = hypot(prior->error_90, OTHER_WAY_ERROR);
        out->tier = MAX(out->tier, ORCH_TIER_SAME_CHIP);
    }
    prior->is_host_measured = out->tier == ORCH_TIER_SAME_STEP;
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

/* Options ask for another way to run than the usual one, for which records are taken. */
static bool is_run_otherwise(const struct orch_time_question *q)
{
    int usual_states = orch_net_is_attention(q->net) ? 2 : 1;
    return q->work.checkpoints || q->work.has_fused_loss || q->kernels.format != ORCH_FORMAT_16 ||
           q->kernels.is_compiled || q->kernels.watts > 0 ||
           q->kernels.is_written_out != orch_net_is_written_out(q->net) ||
           (q->has_optimizer && q->work.states_per_weight != usual_states);
}

/* Tries the store's own measurements first, unless the user chose a model. */
static bool estimate_step(struct orch_step_tiers *tiers, struct orch_step_answer *out,
                          GError **error)
{
    const struct orch_time_question *q = out->q;
    /* the store's measurements are of networks that are trained as a whole */
    out->is_alone = q->model != ORCH_TIME_AUTO || orch_net_has_frozen(q->net) || q->is_parallel ||
                    is_run_otherwise(q);
    if (!out->is_alone && !orch_step_tiers_estimate(tiers, out, error))
        return false;
    if (!out->tier) {
        use_measurements(tiers, out);
        out->extrapolates = is_extrapolated(out);
    }
    if (q->calibrate && !out->why)
        out->why = g_strdup("not corrected: --calibrate names no run of this kind");
    return true;
}

/* A step of devices that share the network. */
static bool predict_parallel(const struct orch_time_question *q, const struct orch_candidate *c,
                             const struct orch_prior *prior, const struct orch_roofline_work *work,
                             struct orch_prior_step *out, GError **error)
{
    int64_t devices = orch_parallel_devices(&q->parallel);
    struct orch_exchange all = orch_time_question_exchange(q, c->gpu, devices);
    bool has_nodes = all.scheme == ORCH_EXCHANGE_HIERARCHICAL && all.node_workers < devices;
    struct orch_parallel_links links = {.replicas = all,
                                        .within = all.node_bandwidth,
                                        .between = all.bandwidth /
                                                   (has_nodes ? (double)all.node_workers : 1),
                                        .node_devices = all.node_workers};
    links.replicas.workers = orch_parallel_replicas(&q->parallel);
    links.replicas.node_workers =
        CLAMP(all.node_workers / (q->parallel.tp * q->parallel.pp), 1, links.replicas.workers);
    links.replicas.bandwidth =
        links.between * (has_nodes ? (double)links.replicas.node_workers : 1);
    if (links.replicas.node_workers == links.replicas.workers && !q->has_scheme)
        links.replicas.scheme = ORCH_EXCHANGE_RING;
    return orch_parallel_predict(q->net, prior, work, &q->parallel, &links, out, error);
}

/* Steps of so many workers were measured, with what they exchange. */
static void scale_whole(struct orch_step_answer *a)
{
    double mid = a->step.total_s.mid * exp(a->near.log_ratio),
           factor = exp(orch_prior_error_90(&a->prior, &a->step.own));
    a->step.total_s = (struct orch_interval){mid / factor, mid, mid * factor};
}

static struct orch_short_run short_run(const struct orch_step_answer *a)
{
    struct orch_interval step = a->step.total_s;
    double usd_per_hour = a->c->rate.usd_per_hour;
    struct orch_short_run run = {.steps = SHORT_RUN_STEPS,
                                 .seconds = SHORT_RUN_START_S + SHORT_RUN_STEPS * step.mid,
                                 .usd = NAN};
    if (usd_per_hour > 0)
        run.usd = run.seconds / 3600 * usd_per_hour;
    run.factor_now = fmax(step.high / step.mid, step.mid / step.low);
    run.factor_then = exp(orch_trained_first_run_half());
    bool can = !a->is_alone && a->workers == 1 && a->step.fits && a->tier != ORCH_TIER_MEASURED &&
               run.factor_then < run.factor_now;
    return can ? run : (struct orch_short_run){0};
}

bool orch_candidate_estimate(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                             const struct orch_candidate *c, int64_t workers, int64_t batch,
                             struct orch_step_answer *out, GError **error)
{
    struct orch_exchange exchange;
    int64_t replicas = q->is_parallel ? orch_parallel_replicas(&q->parallel) : workers;
    struct orch_roofline_work work = q->work;
    work.batch = q->strong ? (batch + workers - 1) / workers : batch;
    work.element_bytes = orch_precision_bytes(c->precision);
    work.autocasts = !(q->is_parallel && q->parallel.fsdp > 1);
    work.has_buckets = replicas > 1 && work.autocasts;
    *out = (struct orch_step_answer){
        .q = q, .c = c, .workers = workers, .batch = work.batch, .prior = c->prior};
    if (!estimate_step(tiers, out, error))
        return false;
    bool has_own = out->tier <= ORCH_TIER_FITTED;
    bool exchanges = workers > 1 && !(has_own && out->own_is_whole);
    if (exchanges)
        exchange = orch_time_question_exchange(q, c->gpu, workers);
    if (q->is_parallel ? !predict_parallel(q, c, &out->prior, &work, &out->step, error)
                       : !orch_prior_predict(q->net, q->costs, &out->prior, &work,
                                             exchanges ? &exchange : NULL,
                                             has_own ? &out->own : NULL, &out->step, error))
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
    out->no_basis = orch_no_basis(out);
    out->narrower = short_run(out);
    return true;
}

void orch_step_answer_clear(struct orch_step_answer *answer)
{
    g_clear_pointer(&answer->no_basis, g_free);
    g_clear_pointer(&answer->why, g_free);
}

bool orch_step_answer_keeps_limits(const struct orch_step_answer *a)
{
    const struct orch_time_question *q = a->q;
    bool costly = !isnan(q->budget_usd) && !(a->usd.mid <= q->budget_usd);
    bool late = !isnan(q->deadline_s) && !(a->total_s.mid <= q->deadline_s);
    return !costly && !late;
}

double orch_step_answer_tokens_per_s(const struct orch_step_answer *a)
{
    return a->step.images_per_s * (double)a->q->net->input.h;
}

double orch_step_answer_million_usd(const struct orch_step_answer *a)
{
    double hours = 1e6 / orch_step_answer_tokens_per_s(a) / 3600;
    double usd_per_hour = a->c->rate.usd_per_hour;
    return usd_per_hour > 0 && a->step.fits ? hours * usd_per_hour * (double)a->workers
                                            : (double)NAN;
}

/* ---- as JSON -----------------------------------------------------------------------------------
 */

static json_t *short_run_json(struct orch_short_run run)
{
    if (!run.steps)
        return json_null();
    return json_pack("{s:i s:o s:o s:o s:o}", "steps", run.steps, "time_s",
                     orch_json_finite(run.seconds), "cost_usd", orch_json_finite(run.usd),
                     "factor_now", orch_json_finite(run.factor_now), "factor_then",
                     orch_json_finite(run.factor_then));
}

json_t *orch_step_answer_json(const struct orch_step_answer *a)
{
    const struct orch_time_question *q = a->q;
    const struct orch_candidate *c = a->c;
    json_t *o = json_object();
    json_object_set_new(o, "tier", json_string(orch_tier_name(a->tier)));
    json_object_set_new(o, "because", orch_json_text_or_null(a->why));
    json_object_set_new(o, "extrapolates", json_boolean(a->extrapolates));
    json_object_set_new(o, "keeps_limits", json_boolean(orch_step_answer_keeps_limits(a)));
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
        json_object_set_new(o, "tokens_per_s", orch_json_finite(orch_step_answer_tokens_per_s(a)));
        json_object_set_new(o, "million_tokens_usd",
                            orch_json_finite(orch_step_answer_million_usd(a)));
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
    const struct orch_step_energy energy = orch_step_energy_of(a);
    orch_step_energy_add_json(&energy, o);
    json_object_set_new(o, "price_from", orch_json_text_or_null(c->rate.from));
    json_object_set_new(o, "lowest_usd_per_hour",
                        c->rate.low_from ? orch_json_finite(c->rate.low_usd) : json_null());
    json_object_set_new(o, "lowest_price_from", orch_json_text_or_null(c->rate.low_from));
    json_object_set_new(o, "highest_usd_per_hour",
                        c->rate.low_from ? orch_json_finite(c->rate.high_usd) : json_null());
    json_object_set_new(o, "highest_price_from",
                        c->rate.low_from ? json_string(c->rate.high_from) : json_null());
    json_object_set_new(o, "no_basis", orch_json_text_or_null(a->no_basis));
    json_object_set_new(o, "narrower", short_run_json(a->narrower));
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
