/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch paleo --roofline`: the lower bound on time, by batch and by layer. */
#include "core/cli/paleo_show.h"
#include "core/forecast/roofline_gpu.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

static const char *const HEADERS[] = {
    ">batch",       ">forward",   ">backward",     ">update", ">step", ">images/s", ">TFLOP/s",
    ">of the peak", ">FLOP/byte", ">memory-bound", ">memory", "fits",  NULL};

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

static void add_number(struct orch_table *table, double value)
{
    g_autofree char *text = orch_number_format(value);
    orch_table_add(table, text, orch_json_finite(value));
}

static void add_batch(struct orch_table *table, const struct orch_roofline_gpu *b,
                      const struct orch_roofline_row *r)
{
    g_autofree char *bytes = orch_bytes_format((int64_t)r->memory_bytes);
    orch_table_add_int(table, r->batch);
    add_s(table, r->step.forward_s);
    add_s(table, r->step.backward_s);
    add_s(table, r->step.update_s);
    add_s(table, r->step.total_s);
    add_number(table, r->images_per_s);
    add_number(table, r->flops_per_s / 1e12);
    add_percent(table, r->flops_per_s / b->device.peak_flops);
    add_number(table, r->step.flops / r->step.bytes);
    add_percent(table, r->step.memory_bound_share);
    orch_table_add(table, bytes, orch_json_finite(r->memory_bytes));
    orch_table_add(table, r->fits ? "yes" : "no", json_boolean(r->fits));
}

static void print_line(const struct orch_time_question *q, const struct orch_roofline_gpu *b)
{
    printf(
        "roofline on %s at %s: %.5g TFLOP/s, %.5g GB/s, ridge at %.3g FLOP/byte; a multiply-add is "
        "2 operations\nthis is a lower bound of the time: bound / measured time is the "
        "utilisation; "
        "'memory-bound' is the share of the forward time that memory limits\n",
        b->gpu->name, orch_precision_names()[b->precision], b->device.peak_flops / 1e12,
        b->device.bandwidth / 1e9, b->device.peak_flops / b->device.bandwidth);
    if (b->device.memory_bytes > 0)
        printf("largest batch that fits %.4g GB: %" G_GINT64_FORMAT
               " (nothing reserved; about 0.75 GB go "
               "to the CUDA context and libraries: then %" G_GINT64_FORMAT ")\n",
               b->device.memory_bytes / 1e9, orch_roofline_gpu_largest_batch(b, q, 0),
               orch_roofline_gpu_largest_batch(b, q, 0.75e9));
}

static struct orch_table *layer_table(const struct orch_roofline_gpu *b,
                                      const struct orch_time_question *q, GError **error)
{
    static const char *const headers[] = {"layer",      "type",  ">forward", ">backward",
                                          ">FLOP/byte", "bound", NULL};
    g_autoptr(GArray) layers = orch_roofline_gpu_layers(b, q, q->batches[0], error);
    struct orch_table *table = layers ? orch_table_new(headers) : NULL;
    for (guint i = 0; layers && i < layers->len; i++) {
        const struct orch_roofline_layer_row *layer =
            &g_array_index(layers, struct orch_roofline_layer_row, i);
        orch_table_add(table, layer->name, NULL);
        orch_table_add(table, layer->type, NULL);
        add_s(table, layer->forward_s);
        add_s(table, layer->backward_s);
        add_number(table, layer->flops_per_byte);
        orch_table_add(table, layer->bound, NULL);
    }
    return table;
}

static struct orch_table *batch_table(const struct orch_roofline_gpu *b,
                                      const struct orch_time_question *q, GError **error)
{
    struct orch_table *table = orch_table_new(HEADERS);
    for (int i = 0; i < q->batch_count; i++) {
        struct orch_roofline_row row;
        if (!orch_roofline_gpu_ask(b, q, q->batches[i], &row, error)) {
            json_decref(orch_cli_table_to_json(table));
            return NULL;
        }
        add_batch(table, b, &row);
    }
    return table;
}

int orch_cli_roofline_show(struct orch_cli *cli, const struct paleo_options *o,
                           struct orch_time_question *q, GError **error)
{
    struct orch_roofline_gpu b;
    if (!orch_roofline_gpu_init(&b, q, o->time.gpu, error))
        return -1;
    struct orch_table *table = (o->layers ? layer_table : batch_table)(&b, q, error);
    if (!table)
        return -1;
    orch_cli_table_print_as(cli, table, o->layers ? "layers" : "batches", o->format);
    if (!cli->json && !o->format)
        print_line(q, &b);
    return ORCH_EXIT_OK;
}
