/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/roofline.h"

#include "lib/base/error.h"
#include "lib/steptime/checkpointing.h"
#include "lib/steptime/traffic.h"

#include <math.h>

/* Input channels from which a processor's convolutions reach their full share of the peak: one
 * vector of 512 bits. */
#define FULL_CHANNELS 16.0
/* A working set so many times the largest that fits into a cache has the bandwidth of the memory.
 */
#define MEMORY_TIMES 8.0

/* The share of the peak that a convolution reaches on a processor, relative to one whose input
 * channels fill the vectors, over which the inner loops run: between blocked kernels, which waste
 * the rest of a vector (exponent 1), and loops over the image (0). 0.75 is from LeNet-5, whose
 * layers have 1 and 6 channels (bench/processor_forecast.py). */
static double channels_share(const struct orch_roofline_device *d, const struct orch_net_node *node)
{
    if (!d->is_host || node->op != ORCH_NET_CONV2D)
        return 1;
    double channels = (double)node->in_channels / MAX(1, node->groups);
    return fmin(1, pow(channels / FULL_CHANNELS, 0.75));
}

/* Bandwidth for a working set: that of the cache it fits into, interpolated in the logarithm of the
 * bytes between two sizes that were measured. */
static double bandwidth_for(const struct orch_roofline_device *d, double bytes)
{
    double low_bytes = d->caches[0].bytes, low = d->caches[0].bandwidth;
    if (!(low_bytes > 0) || bytes <= low_bytes)
        return low_bytes > 0 ? low : d->bandwidth;
    for (int i = 1; i <= ORCH_ROOFLINE_CACHES; i++) {
        bool is_last = i == ORCH_ROOFLINE_CACHES || !(d->caches[i].bytes > 0);
        double high_bytes = is_last ? MEMORY_TIMES * low_bytes : d->caches[i].bytes;
        double high = is_last ? d->bandwidth : d->caches[i].bandwidth;
        if (bytes < high_bytes)
            return low + (high - low) * log(bytes / low_bytes) / log(high_bytes / low_bytes);
        if (is_last)
            break;
        low_bytes = high_bytes;
        low = high;
    }
    return d->bandwidth;
}

static double time_of(const struct orch_roofline_device *d, struct orch_traffic t, double share,
                      enum orch_roofline_bound *out_bound)
{
    if (t.flops <= 0 && t.bytes <= 0) {
        *out_bound = ORCH_BOUND_NONE;
        return 0;
    }
    double compute = t.flops / (d->peak_flops * d->compute_share * share);
    double memory = t.bytes / (bandwidth_for(d, t.bytes) * d->memory_share);
    double time = MAX(compute, memory);
    *out_bound = time < d->launch_s ? ORCH_BOUND_LAUNCH
                 : compute > memory ? ORCH_BOUND_COMPUTE
                                    : ORCH_BOUND_MEMORY;
    return time + d->launch_s;
}

static bool share_ok(double share)
{
    return share > 0 && share <= 1;
}

static bool check(const struct orch_roofline_device *d, const struct orch_roofline_work *w,
                  GError **error)
{
    if (w->batch < 1) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use at least 1 image",
                       "the batch size must be above 0, found %" G_GINT64_FORMAT, w->batch);
        return false;
    }
    if (!share_ok(d->compute_share) || !share_ok(d->memory_share)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "use fractions above 0 and at most 1, for example 0.5",
                       "the reached shares of peak and bandwidth are %g and %g", d->compute_share,
                       d->memory_share);
        return false;
    }
    if (!(d->peak_flops > 0) || !(d->bandwidth > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "choose another precision or device",
                       "the device has no known peak or bandwidth for this precision");
        return false;
    }
    return true;
}

bool orch_roofline_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_roofline_device *device,
                        const struct orch_roofline_work *work, struct orch_roofline_layer *layers,
                        struct orch_roofline_step *out, GError **error)
{
    *out = (struct orch_roofline_step){0};
    if (!check(device, work, error))
        return false;
    double memory_bound_s = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        struct orch_roofline_layer layer = {0};
        enum orch_roofline_bound ignored;
        if (!node->is_auxiliary && i) {
            struct orch_traffic f = orch_traffic_forward(node, &costs[i], work);
            struct orch_traffic b = orch_traffic_backward(node, &costs[i], work);
            double share = channels_share(device, node);
            layer.forward_s = time_of(device, f, share, &layer.bound);
            layer.backward_s = work->training ? time_of(device, b, share, &ignored) : 0;
            layer.intensity = f.bytes > 0 ? f.flops / f.bytes : 0;
            out->flops += f.flops + (work->training ? b.flops : 0);
            out->bytes += f.bytes + (work->training ? b.bytes : 0);
        }
        out->forward_s += layer.forward_s;
        out->backward_s += layer.backward_s;
        memory_bound_s += layer.bound == ORCH_BOUND_MEMORY ? layer.forward_s : 0;
        if (layers)
            layers[i] = layer;
    }
    enum orch_roofline_bound ignored;
    struct orch_traffic u = orch_traffic_update(net, costs, work);
    out->update_s = work->training ? time_of(device, u, 1, &ignored) : 0;
    out->total_s = out->forward_s + out->backward_s + out->update_s;
    out->memory_bound_share = out->forward_s > 0 ? memory_bound_s / out->forward_s : 0;
    return true;
}

void orch_roofline_scale(struct orch_roofline_layer *layers, guint count, double factor,
                         struct orch_roofline_step *step)
{
    for (guint i = 0; layers && i < count; i++) {
        layers[i].forward_s *= factor;
        layers[i].backward_s *= factor;
    }
    step->forward_s *= factor;
    step->backward_s *= factor;
    step->update_s *= factor;
    step->total_s *= factor;
}

/* Beyond what is kept without autocast, a sample. */
static double autocast_bytes(const struct orch_net *net, const struct orch_net_cost *costs,
                             int element_bytes)
{
    g_autofree double *with = orch_net_kept_bytes(net, costs, element_bytes, true),
                      *without = orch_net_kept_bytes(net, costs, element_bytes, false);
    double more = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        more += with[i] - without[i];
    return more;
}

struct orch_memory_parts orch_roofline_memory_parts(const struct orch_net *net,
                                                    const struct orch_net_cost *costs,
                                                    const struct orch_roofline_work *work)
{
    struct orch_roofline_work one = *work;
    one.batch = 1;
    struct orch_net_memory m = orch_net_memory(net, costs, 1, work->element_bytes,
                                               work->states_per_weight, work->training);
    struct orch_memory_parts parts = {.held = m.weights + m.optimizer, .each = m.activations};
    if (!work->training)
        return parts;
    parts.gradients = m.gradients;
    if (work->has_buckets)
        parts.held += m.gradients;
    if (work->keeps_scores)
        parts.each += orch_net_score_bytes(net, work->element_bytes);
    if (work->reserves_idle)
        parts.each += (double)orch_net_cost_sum(net, costs).idle * work->element_bytes;
    if (work->autocasts && work->element_bytes == 2)
        parts.each += autocast_bytes(net, costs, work->element_bytes);
    if (work->has_fused_loss)
        parts.each -= (orch_net_loss_bytes(work->element_bytes) - work->element_bytes) *
                      orch_net_score_count(net);
    if (work->checkpoints)
        parts.each -= orch_checkpointing_saved(net, costs, &one);
    return parts;
}

double orch_roofline_memory(const struct orch_net *net, const struct orch_net_cost *costs,
                            const struct orch_roofline_work *work)
{
    struct orch_memory_parts m = orch_roofline_memory_parts(net, costs, work);
    return orch_net_most_held(m.held, m.gradients, m.each * (double)work->batch);
}

int64_t orch_roofline_largest_batch(const struct orch_net *net, const struct orch_net_cost *costs,
                                    double memory_bytes, double reserved_bytes,
                                    const struct orch_roofline_work *work)
{
    struct orch_memory_parts m = orch_roofline_memory_parts(net, costs, work);
    double room = memory_bytes - reserved_bytes - m.held;
    return room >= m.gradients && room > 0 && m.each > 0 ? (int64_t)floor(room / m.each) : 0;
}

const char *orch_roofline_bound_name(enum orch_roofline_bound bound)
{
    static const char *const names[] = {"-", "compute", "memory", "launch"};
    return names[bound];
}
