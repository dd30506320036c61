/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/paleo/roofline_gpu.h"

#include "lib/net/layer_spec.h"
#include "lib/steptime/traffic.h"

#include <math.h>

static struct orch_roofline_work work_of(const struct orch_roofline_gpu *b,
                                         const struct orch_time_question *q, int64_t batch)
{
    return (struct orch_roofline_work){.batch = batch,
                                       .element_bytes = orch_precision_bytes(b->precision),
                                       .training = !q->forward_only,
                                       .states_per_weight = q->states_per_weight};
}

bool orch_roofline_gpu_init(struct orch_roofline_gpu *b, const struct orch_time_question *q,
                            const char *gpu, GError **error)
{
    double share = isnan(q->ppp_comp) ? 1 : q->ppp_comp;
    b->gpu = orch_hardware_gpu(q->hardware, gpu, error);
    if (!b->gpu)
        return false;
    b->precision = orch_precision_run(b->gpu, q->has_precision ? q->precision : ORCH_FP32);
    b->device = (struct orch_roofline_device){.peak_flops = orch_gpu_peak(b->gpu, b->precision),
                                              .bandwidth = b->gpu->bandwidth_gbs * 1e9,
                                              .memory_bytes = b->gpu->memory_gb * 1e9,
                                              .compute_share = share,
                                              .memory_share = share};
    return true;
}

bool orch_roofline_gpu_ask(const struct orch_roofline_gpu *b, const struct orch_time_question *q,
                           int64_t batch, struct orch_roofline_row *out, GError **error)
{
    struct orch_roofline_work work = work_of(b, q, batch);
    *out = (struct orch_roofline_row){.batch = batch};
    if (!orch_roofline_step(q->net, q->costs, &b->device, &work, NULL, &out->step, error))
        return false;
    out->memory_bytes = orch_net_memory(q->net, q->costs, batch, work.element_bytes,
                                        work.states_per_weight, work.training)
                            .total;
    out->flops_per_s = out->step.flops / out->step.total_s;
    out->images_per_s = (double)batch / out->step.total_s;
    out->fits = b->device.memory_bytes <= 0 || out->memory_bytes <= b->device.memory_bytes;
    return true;
}

GArray *orch_roofline_gpu_layers(const struct orch_roofline_gpu *b,
                                 const struct orch_time_question *q, int64_t batch, GError **error)
{
    struct orch_roofline_work work = work_of(b, q, batch);
    struct orch_roofline_step step;
    g_autofree struct orch_roofline_layer *layers =
        g_new0(struct orch_roofline_layer, q->net->nodes->len);
    if (!orch_roofline_step(q->net, q->costs, &b->device, &work, layers, &step, error))
        return NULL;
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct orch_roofline_layer_row));
    for (guint i = 0; i < q->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(q->net, (int)i);
        if (layers[i].bound == ORCH_BOUND_NONE)
            continue;
        struct orch_traffic forward = orch_traffic_forward(node, &q->costs[i], &work),
                            backward = orch_traffic_backward(node, &q->costs[i], &work);
        struct orch_roofline_layer_row row = {node->name,
                                              orch_net_op_name(node->op),
                                              orch_roofline_bound_name(layers[i].bound),
                                              orch_net_layer_kind(node, NULL),
                                              layers[i].forward_s,
                                              layers[i].backward_s,
                                              layers[i].intensity,
                                              forward.flops + (work.training ? backward.flops : 0),
                                              forward.bytes + (work.training ? backward.bytes : 0)};
        g_array_append_val(rows, row);
    }
    return rows;
}

int64_t orch_roofline_gpu_largest_batch(const struct orch_roofline_gpu *b,
                                        const struct orch_time_question *q, double reserved_bytes)
{
    struct orch_roofline_work work = work_of(b, q, 1);
    return orch_roofline_largest_batch(q->net, q->costs, b->device.memory_bytes, reserved_bytes,
                                       &work);
}
