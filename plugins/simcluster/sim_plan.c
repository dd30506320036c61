/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/simcluster/sim_plan.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/steptime/transfer.h"
#include "plugins/common/comm/buckets.h"

#define OPTIMIZER_STATES 1 /* momentum, as in all trainings of the assignments */

/* ---- computing ---------------------------------------------------------------------------------
 */

static bool find_model(const struct sim_request *q, struct orch_transfer *out, int *out_bytes,
                       GError **error)
{
    const struct orch_gpu_spec *spec = orch_gpu_find(q->gpu);
    enum orch_precision precision;
    if (!spec) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch gpu ls' lists the GPUs",
                       "gpu: unknown GPU '%s'", q->gpu);
        return false;
    }
    if (!orch_precision_find(q->precision, &precision)) {
        g_autofree char *near = orch_suggest_hint(q->precision, orch_precision_names());
        orch_error_set(error, ORCH_ERROR_RECIPE, near ? near : "use fp32, tf32, fp16 or bf16",
                       "precision: unknown precision '%s'", q->precision);
        return false;
    }
    precision = orch_precision_run(spec, precision);
    *out_bytes = orch_precision_bytes(precision);
    if (orch_transfer_for(spec, precision, out))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "give the measured time of a step as 'step_time'",
                   "gpu: the analytical model does not cover %s at %s", spec->name, q->precision);
    return false;
}

static bool time_layers(const struct sim_request *q, const struct orch_net *net,
                        const struct orch_net_cost *costs, struct orch_roofline_layer *layers,
                        struct orch_roofline_step *out, GError **error)
{
    struct orch_transfer model;
    struct orch_roofline_work work = {
        .batch = q->worker_batch, .training = true, .states_per_weight = OPTIMIZER_STATES};
    if (!find_model(q, &model, &work.element_bytes, error) ||
        !orch_transfer_step(net, costs, &model, &work, layers, out, error))
        return false;
    const double factor = q->step_s > 0 && out->total_s > 0 ? q->step_s / out->total_s : 1;
    for (guint i = 0; i < net->nodes->len; i++) {
        layers[i].forward_s *= factor;
        layers[i].backward_s *= factor;
    }
    out->forward_s *= factor;
    out->backward_s *= factor;
    out->update_s *= factor;
    return true;
}

/* ---- buckets -----------------------------------------------------------------------------------
 */

struct tensors { /* parameters in the order in which backward completes their gradients */
    size_t count;
    size_t *bytes;
    double *ready_s;
};

static void add_tensor(struct tensors *t, int64_t parameters, int64_t bytes_each, double ready_s)
{
    if (parameters <= 0)
        return;
    t->bytes[t->count] = (size_t)(parameters * bytes_each);
    t->ready_s[t->count++] = ready_s;
}

/* The last layer comes first; of a layer the bias before the weights. */
static void list_tensors(const struct sim_request *q, const struct orch_net *net,
                         const struct orch_net_cost *costs,
                         const struct orch_roofline_layer *layers, double forward_s,
                         struct tensors *out)
{
    double now = forward_s;
    for (guint i = net->nodes->len; i-- > 0;) {
        now += layers[i].backward_s;
        add_tensor(out, costs[i].params - costs[i].weights, q->gradient_bytes, now);
        add_tensor(out, costs[i].weights, q->gradient_bytes, now);
    }
}

static void plan_buckets(const struct sim_request *q, const struct tensors *t, GArray *out)
{
    const struct orch_comm_bucket_sizes sizes = {.first_bytes = (size_t)q->first_bucket_bytes,
                                                 .bytes = (size_t)q->bucket_bytes};
    g_autofree struct orch_comm_bucket *planned = g_new0(struct orch_comm_bucket, t->count + 1);
    size_t count = orch_comm_plan(t->bytes, t->count, &sizes, planned);
    for (size_t i = 0; i < count; i++) {
        size_t last = planned[i].first + planned[i].count - 1;
        struct sim_bucket bucket = {.ready_s = t->ready_s[last],
                                    .bytes = (int64_t)planned[i].bytes};
        g_array_append_val(out, bucket);
    }
}

static bool plan_net(const struct sim_request *q, const struct orch_net *net, struct sim_plan *out,
                     GError **error)
{
    const guint count = net->nodes->len;
    struct orch_roofline_step step;
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    g_autofree struct orch_roofline_layer *layers = g_new0(struct orch_roofline_layer, count);
    g_autofree size_t *bytes = g_new(size_t, 2 * (size_t)count);
    g_autofree double *ready_s = g_new(double, 2 * (size_t)count);
    struct tensors tensors = {.bytes = bytes, .ready_s = ready_s};
    if (!time_layers(q, net, costs, layers, &step, error))
        return false;
    list_tensors(q, net, costs, layers, step.forward_s, &tensors);
    out->compute_s = step.forward_s + step.backward_s;
    out->update_s = step.update_s;
    out->parameter_bytes = 4 * orch_net_cost_sum(net, costs).params;
    plan_buckets(q, &tensors, out->buckets);
    return true;
}

static bool plan_all_reduce(const struct sim_request *q, struct sim_plan *out)
{
    struct sim_bucket bucket = {.bytes = q->all_reduce_bytes};
    g_array_append_val(out->buckets, bucket);
    out->parameter_bytes = q->all_reduce_bytes;
    return true;
}

bool orch_sim_plan_make(const struct sim_request *q, struct sim_plan *out, GError **error)
{
    struct sim_plan plan = {.buckets = g_array_new(FALSE, FALSE, sizeof(struct sim_bucket))};
    struct orch_net_options options = {.name = q->net, .classes = q->classes};
    struct orch_net *net = NULL;
    bool ok;
    if (q->all_reduce_bytes > 0) {
        ok = plan_all_reduce(q, &plan);
    } else if (*q->input && !orch_net_input_parse(q->input, &options)) {
        ok = false;
        orch_error_set(error, ORCH_ERROR_RECIPE, "write it as 3x224x224",
                       "input: '%s' is not CxHxW", q->input);
    } else {
        net = orch_net_make(&options, error);
        ok = net && plan_net(q, net, &plan, error);
    }
    orch_net_free(net);
    if (ok)
        *out = plan;
    else
        orch_sim_plan_clear(&plan);
    return ok;
}

void orch_sim_plan_clear(struct sim_plan *plan)
{
    if (plan->buckets)
        g_array_unref(plan->buckets);
    plan->buckets = NULL;
}
