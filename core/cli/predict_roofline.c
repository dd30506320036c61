/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --model roofline`: the lower bound on time, by batch and by layer. */
#include "core/cli/predict.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/roofline.h"

#include <math.h>

static const char *const HEADERS[] = {
    ">batch",       ">forward",   ">backward",     ">update", ">step", ">images/s", ">TFLOP/s",
    ">of the peak", ">FLOP/byte", ">memory-bound", ">memory", "fits",  NULL};

struct bound {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    struct orch_roofline_device device;
};

static void add_s(struct orch_table *table, double seconds)
{
    g_autofree char *text = seconds > 0 ? orch_duration_format(seconds) : g_strdup("-");
    orch_table_add(table, text, orch_json_finite(seconds));
}

static void add_percent(struct orch_table *table, double share)
{
    g_autofree char *text = g_strdup_printf("%.1f %%", share * 100);
    orch_table_add(table, text, orch_json_finite(share));
}

static struct orch_roofline_work work_of(const struct orch_time_question *q, const struct bound *b,
                                         int64_t batch)
{
    return (struct orch_roofline_work){.batch = batch,
                                       .element_bytes = orch_precision_bytes(b->precision),
                                       .training = !q->forward_only,
                                       .states_per_weight = q->states_per_weight};
}

static bool add_batch(const struct orch_time_question *q, const struct bound *b, int64_t batch,
                      struct orch_table *table, GError **error)
{
    struct orch_roofline_work work = work_of(q, b, batch);
    struct orch_roofline_step step;
    if (!orch_roofline_step(q->net, q->costs, &b->device, &work, NULL, &step, error))
        return false;
    struct orch_net_memory memory = orch_net_memory(q->net, q->costs, batch, work.element_bytes,
                                                    work.states_per_weight, work.training);
    double rate = step.flops / step.total_s;
    g_autofree char *images = orch_number_format((double)batch / step.total_s);
    g_autofree char *tflops = orch_number_format(rate / 1e12);
    g_autofree char *intensity = orch_number_format(step.flops / step.bytes);
    g_autofree char *bytes = orch_bytes_format((int64_t)memory.total);
    bool fits = b->device.memory_bytes <= 0 || memory.total <= b->device.memory_bytes;
    orch_table_add_int(table, batch);
    add_s(table, step.forward_s);
    add_s(table, step.backward_s);
    add_s(table, step.update_s);
    add_s(table, step.total_s);
    orch_table_add(table, images, orch_json_finite((double)batch / step.total_s));
    orch_table_add(table, tflops, orch_json_finite(rate / 1e12));
    add_percent(table, rate / b->device.peak_flops);
    orch_table_add(table, intensity, orch_json_finite(step.flops / step.bytes));
    add_percent(table, step.memory_bound_share);
    orch_table_add(table, bytes, orch_json_finite(memory.total));
    orch_table_add(table, fits ? "yes" : "no", json_boolean(fits));
    return true;
}

static void say(const struct orch_time_question *q, const struct bound *b)
{
    struct orch_roofline_work work = work_of(q, b, 1);
    printf(
        "roofline on %s at %s: %.5g TFLOP/s, %.5g GB/s, ridge at %.3g FLOP/byte; a multiply-add is "
        "2 operations\na bound from below: what is reached of it is the utilisation; "
        "'memory-bound' "
        "is its share of the forward time\n",
        b->gpu->name, orch_precision_names()[b->precision], b->device.peak_flops / 1e12,
        b->device.bandwidth / 1e9, b->device.peak_flops / b->device.bandwidth);
    if (b->device.memory_bytes > 0)
        printf(
            "largest batch that fits %.4g GB: %" G_GINT64_FORMAT
            " (nothing reserved; about 0.75 GB go "
            "to the CUDA context and libraries: then %" G_GINT64_FORMAT ")\n",
            b->device.memory_bytes / 1e9,
            orch_roofline_largest_batch(q->net, q->costs, b->device.memory_bytes, 0, &work),
            orch_roofline_largest_batch(q->net, q->costs, b->device.memory_bytes, 0.75e9, &work));
}

/* ---- by layer ----------------------------------------------------------------------------------
 */

static int show_layers(struct orch_cli *cli, const struct predict_options *o,
                       const struct orch_time_question *q, const struct bound *b, GError **error)
{
    static const char *const headers[] = {"layer",      "type",  ">forward", ">backward",
                                          ">FLOP/byte", "bound", NULL};
    struct orch_roofline_work work = work_of(q, b, q->batches[0]);
    struct orch_roofline_step step;
    g_autofree struct orch_roofline_layer *layers =
        g_new0(struct orch_roofline_layer, q->net->nodes->len);
    if (!orch_roofline_step(q->net, q->costs, &b->device, &work, layers, &step, error))
        return -1;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < q->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(q->net, (int)i);
        if (layers[i].bound == ORCH_BOUND_NONE)
            continue;
        g_autofree char *intensity = orch_number_format(layers[i].intensity);
        orch_table_add(table, node->name, NULL);
        orch_table_add(table, orch_net_op_name(node->op), NULL);
        add_s(table, layers[i].forward_s);
        add_s(table, layers[i].backward_s);
        orch_table_add(table, intensity, orch_json_finite(layers[i].intensity));
        orch_table_add(table, orch_roofline_bound_name(layers[i].bound), NULL);
    }
    orch_table_print_as(cli, table, "layers", o->format);
    if (!cli->json && !o->format)
        say(q, b);
    return ORCH_EXIT_OK;
}

int predict_roofline(struct orch_cli *cli, const struct predict_options *o,
                     struct orch_time_question *q, GError **error)
{
    struct bound b = {0};
    b.gpu = orch_hardware_gpu(q->hardware, o->gpu, error);
    if (!b.gpu)
        return -1;
    b.precision = orch_precision_run(b.gpu, q->has_precision ? q->precision : ORCH_FP32);
    b.device = (struct orch_roofline_device){.peak_flops = orch_gpu_peak(b.gpu, b.precision),
                                             .bandwidth = b.gpu->bandwidth_gbs * 1e9,
                                             .memory_bytes = b.gpu->memory_gb * 1e9,
                                             .compute_share = isnan(q->ppp_comp) ? 1 : q->ppp_comp,
                                             .memory_share = isnan(q->ppp_comp) ? 1 : q->ppp_comp};
    if (o->layers)
        return show_layers(cli, o, q, &b, error);
    struct orch_table *table = orch_table_new(HEADERS);
    bool ok = true;
    for (int i = 0; ok && i < q->batch_count; i++)
        ok = add_batch(q, &b, q->batches[i], table, error);
    if (!ok) {
        json_decref(orch_table_to_json(table));
        return -1;
    }
    orch_table_print_as(cli, table, "batches", o->format);
    if (!cli->json && !o->format)
        say(q, &b);
    return ORCH_EXIT_OK;
}
