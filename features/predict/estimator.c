/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts from a declared cost, where nothing was measured. */
#include "features/predict/estimator.h"

#include "core/recipe/declared_cost.h"
#include "features/predict/step_answer.h"
#include "features/predict/trial/duration.h"
#include "lib/base/interval.h"
#include "lib/base/json.h"
#include "lib/net/cost.h"
#include "lib/net/open_net.h"

#include <math.h>
#include <string.h>

/* Standard deviation of the log of a trial's time caused by work outside its steps: startup, data,
 * validation. */
#define BESIDE_STEPS 0.3
#define NETS_MAX 1000
/* 90 % of a normal distribution lie within this many standard deviations */

struct orch_estimator {
    struct orch_hardware *hardware;
    bool hardware_is_read, tiers_are_read;
    struct orch_workspace *workspace; /* NULL: no store. Borrowed */
    struct orch_step_tiers tiers;
    GHashTable *nets; /* "name input classes" -> struct counted_net *, or NULL: unknown */
    char *why;
};

struct counted_net {
    struct orch_net *net;
    struct orch_net_cost *costs;
    double operations; /* forward, one image */
};

static void free_counted(gpointer data)
{
    struct counted_net *counted = data;
    if (!counted)
        return;
    orch_net_free(counted->net);
    g_free(counted->costs);
    g_free(counted);
}

struct orch_estimator *orch_estimator_new(struct orch_workspace *workspace)
{
    struct orch_estimator *estimator = g_new0(struct orch_estimator, 1);
    estimator->workspace = workspace;
    estimator->nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_counted);
    return estimator;
}

void orch_estimator_free(struct orch_estimator *estimator)
{
    if (!estimator)
        return;
    orch_step_tiers_close(&estimator->tiers);
    g_hash_table_unref(estimator->nets);
    orch_hardware_free(estimator->hardware);
    g_free(estimator->why);
    g_free(estimator);
}

const struct orch_hardware *orch_estimator_hardware(struct orch_estimator *estimator)
{
    if (!estimator->hardware_is_read)
        estimator->hardware = orch_hardware_load(NULL);
    estimator->hardware_is_read = true;
    return estimator->hardware;
}

/* ---- the work ----------------------------------------------------------------------------------
 */

/* The declared network from the zoo, or NULL. Network files are not read for a forecast. */
static const struct counted_net *net_of(struct orch_estimator *estimator, const json_t *cost)
{
    const char *name = orch_json_text(cost, "network", "");
    const char *input = orch_json_text(cost, "input", "");
    int64_t classes = orch_json_int(cost, "classes", 0);
    g_autofree char *key = g_strdup_printf("%s %s %d", name, input, (int)classes);
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(estimator->nets, key, NULL, &found))
        return found;
    if (g_hash_table_size(estimator->nets) >= NETS_MAX)
        return NULL;
    struct orch_net *net = orch_network_of_record(name, input, classes);
    struct counted_net *counted = net ? g_new0(struct counted_net, 1) : NULL;
    if (counted) {
        counted->net = net;
        counted->costs = orch_net_costs(net);
        struct orch_net_cost sum = orch_net_cost_sum(net, counted->costs);
        counted->operations = (double)orch_net_operations(&sum, 2);
    }
    g_hash_table_insert(estimator->nets, g_steal_pointer(&key), counted);
    return counted;
}

double orch_estimator_work(struct orch_estimator *estimator, const json_t *cost)
{
    const struct counted_net *counted = net_of(estimator, cost);
    return orch_cost_all_samples(cost) *
           (counted ? counted->operations * (orch_cost_is_training(cost) ? 3 : 1) : 1);
}

/* ---- the question ------------------------------------------------------------------------------
 */

/* A number rounded to an integer of at least 1, or `other` when it is unknown or out of range. */
static int64_t whole(double value, int64_t other)
{
    return value >= 0.5 && value < 9e15 ? llround(value) : other;
}

/* Sets the amount of work: epochs of images, or one pass over what the declared steps compute. */
static void set_amount(const json_t *cost, struct orch_time_question *out)
{
    double epoch = orch_cost_epoch_samples(cost), epochs = orch_cost_number(cost, "epochs");
    bool is_by_steps = !isnan(orch_cost_number(cost, "steps")) && (isnan(epoch) || isnan(epochs));
    out->images = whole(is_by_steps ? orch_cost_all_samples(cost) : epoch, 0);
    out->epochs = is_by_steps ? 1 : whole(epochs, 1);
}

/* Converts the declared cost to a question of `orch predict`; the network is borrowed. False when
 * the network is unknown, the batch is missing or too large, or the precision has an unknown name.
 */
static bool question_of(struct orch_estimator *estimator, const json_t *cost,
                        struct orch_time_question *out)
{
    const struct counted_net *counted = net_of(estimator, cost);
    int64_t batch = whole(orch_cost_step_samples(cost), 0);
    const char *precision = orch_json_text(cost, "precision", "");
    if (!counted || batch < 1 || batch > 1 << 24)
        return false;
    *out = ORCH_TIME_QUESTION_NONE;
    out->hardware = estimator->hardware;
    out->net = counted->net;
    out->costs = counted->costs;
    out->work.training = orch_cost_is_training(cost);
    out->batches[0] = batch;
    out->workers[0] = MIN(whole(orch_cost_workers(cost), 1), 1 << 20);
    out->batch_count = out->worker_count = 1;
    set_amount(cost, out);
    out->has_precision = orch_precision_find(precision, &out->precision);
    return out->has_precision || !*precision;
}

/* Computes the answer of `orch predict` to the question. The caller clears `out`. */
static bool answer_of(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                      const struct orch_gpu_spec *gpu, struct orch_step_answer *out)
{
    struct orch_candidate candidate;
    bool ok =
        orch_candidate_choose(q, tiers, gpu, &candidate, NULL) &&
        orch_candidate_estimate(q, tiers, &candidate, q->workers[0], q->batches[0], out, NULL);
    orch_rate_release(&candidate.rate);
    out->c = NULL;
    return ok && out->step.total_s.mid > 0;
}

bool orch_estimator_white(struct orch_estimator *estimator, const json_t *cost,
                          const struct orch_gpu_spec *gpu, struct orch_white_estimate *out)
{
    struct orch_time_question question;
    struct orch_step_tiers none = {0};
    struct orch_step_answer answer = {0};
    bool ok = orch_estimator_hardware(estimator) && question_of(estimator, cost, &question) &&
              answer_of(&question, &none, gpu, &answer);
    if (ok)
        *out = (struct orch_white_estimate){
            .is_transferred = answer.prior.is_transferred,
            .step_s = answer.step.total_s.mid,
            .whole_s = answer.total_s.mid,
            .spread = orch_prior_error_90(&answer.prior, &answer.step.own) / ORCH_NORMAL_90};
    orch_step_answer_clear(&answer);
    return ok;
}

/* Step time measurements of the store; empty when there is no store or it cannot be read. */
static struct orch_step_tiers *tiers_of(struct orch_estimator *estimator,
                                        const struct orch_time_question *question)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) unable = NULL;
    if (!estimator->tiers_are_read && estimator->workspace &&
        !orch_step_tiers_open(estimator->workspace, question, false, &estimator->tiers, notes,
                              &unable))
        orch_step_tiers_close(&estimator->tiers);
    estimator->tiers_are_read = true;
    return &estimator->tiers;
}

static const char *model_of(const struct orch_step_answer *answer)
{
    if (answer->tier == ORCH_TIER_MEASURED)
        return "steps";
    if (answer->tier == ORCH_TIER_FITTED)
        return "predictor";
    return answer->prior.is_transferred ? "analytical model" : "roofline";
}

static char *why_of(const struct orch_step_answer *answer, const struct orch_gpu_spec *gpu)
{
    bool is_own = answer->tier == ORCH_TIER_MEASURED || answer->tier == ORCH_TIER_FITTED;
    if (is_own)
        return g_strdup(answer->why ? answer->why : "runs of the store");
    return g_strdup_printf("%s for %s, without runs here%s%s",
                           answer->prior.is_transferred
                               ? "an analytical model calibrated on other GPUs"
                               : "a roofline",
                           gpu->name, answer->why ? "; " : "", answer->why ? answer->why : "");
}

bool orch_estimator_forecast(struct orch_estimator *estimator, const json_t *cost,
                             const char *gpu_name, int64_t threads, struct orch_forecast *out)
{
    const struct orch_hardware *hardware = orch_estimator_hardware(estimator);
    const struct orch_gpu_spec *gpu =
        hardware ? orch_hardware_gpu(hardware, gpu_name ? gpu_name : "here", NULL) : NULL;
    struct orch_time_question question;
    struct orch_step_answer answer = {0};
    if (!gpu || !question_of(estimator, cost, &question))
        return false;
    question.threads = threads;
    bool ok = answer_of(&question, tiers_of(estimator, &question), gpu, &answer) &&
              isfinite(answer.total_s.mid);
    if (ok) {
        double spread = log(fmax(answer.total_s.high / answer.total_s.mid,
                                 answer.total_s.mid / answer.total_s.low));
        struct orch_interval d = orch_duration_of_spread(
            answer.total_s.mid, hypot(spread / ORCH_NORMAL_90, BESIDE_STEPS));
        g_free(estimator->why);
        estimator->why = why_of(&answer, gpu);
        *out = (struct orch_forecast){d, orch_tier_name(answer.tier), model_of(&answer),
                                      estimator->why, answer.extrapolates};
    }
    orch_step_answer_clear(&answer);
    return ok;
}
