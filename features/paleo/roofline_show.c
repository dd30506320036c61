/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch paleo --roofline`: the lower bound on time, by batch and by layer. */
#include "core/render/draw.h"
#include "core/report/trials.h"
#include "features/paleo/paleo_show.h"
#include "features/paleo/roofline_chart.h"
#include "features/predict/time_question.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/net/layer_spec.h"
#include "lib/steptime/roofline.h"
#include "lib/steptime/traffic.h"
#include "predictors/steps/prior.h"

#include <math.h>
#include <string.h>

/* ---- the device ------------------------------------------------------------------------------ */

struct orch_roofline_gpu {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    struct orch_roofline_device device;
};

/** The bound for one batch. */
struct orch_roofline_row {
    int64_t batch;
    struct orch_roofline_step step;
    double flops_per_s, images_per_s;
    double memory_bytes;
    bool fits; /* into the GPU's memory, or that is unknown */
};

/** The bound of one layer. Texts are borrowed from the question. */
struct orch_roofline_layer_row {
    const char *name, *type, *bound; /* bound: "compute" or "memory" */
    const char *kind;                /* "conv", "batchnorm" */
    double forward_s, backward_s;
    double flops_per_byte; /* of the forward pass */
    double flops, bytes;   /* of all passes asked about */
};

static struct orch_roofline_work work_of(const struct orch_roofline_gpu *b,
                                         const struct orch_time_question *q, int64_t batch)
{
    return (struct orch_roofline_work){.batch = batch,
                                       .element_bytes = orch_precision_bytes(b->precision),
                                       .training = q->work.training,
                                       .states_per_weight = q->work.states_per_weight};
}

/* Finds the GPU and its peaks at the question's precision (default fp32). False with an error for
 * an unknown GPU. */
static bool roofline_gpu_init(struct orch_roofline_gpu *b, const struct orch_time_question *q,
                              const char *gpu, GError **error)
{
    double share = isnan(q->ppp_comp) ? 1 : q->ppp_comp;
    b->gpu = orch_hardware_gpu(q->hardware, gpu, error);
    if (!b->gpu)
        return false;
    b->precision = orch_precision_run(b->gpu, q->has_precision ? q->precision : ORCH_FP32);
    b->device = (struct orch_roofline_device){.peak_flops = orch_gpu_peak(b->gpu, b->precision),
                                              .bandwidth = b->gpu->bandwidth_gbs * 1e9,
                                              .memory_bytes = orch_gpu_memory_bytes(b->gpu),
                                              .compute_share = share,
                                              .memory_share = share};
    return true;
}

static bool roofline_gpu_ask(const struct orch_roofline_gpu *b, const struct orch_time_question *q,
                             int64_t batch, struct orch_roofline_row *out, GError **error)
{
    struct orch_roofline_work work = work_of(b, q, batch);
    *out = (struct orch_roofline_row){.batch = batch};
    if (!orch_roofline_step(q->net, q->costs, &b->device, &work, NULL, &out->step, error))
        return false;
    out->memory_bytes = orch_roofline_memory(q->net, q->costs, &work);
    out->flops_per_s = out->step.flops / out->step.total_s;
    out->images_per_s = (double)batch / out->step.total_s;
    out->fits = b->device.memory_bytes <= 0 || out->memory_bytes <= b->device.memory_bytes;
    return true;
}

/* Returns struct orch_roofline_layer_row for the layers that take time. NULL with an error. The
 * caller unrefs. */
static GArray *roofline_gpu_layers(const struct orch_roofline_gpu *b,
                                   const struct orch_time_question *q, int64_t batch,
                                   GError **error)
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

/* The largest batch that fits into the GPU's memory beside `reserved_bytes`. */
static int64_t roofline_gpu_largest_batch(const struct orch_roofline_gpu *b,
                                          const struct orch_time_question *q, double reserved_bytes)
{
    struct orch_roofline_work work = work_of(b, q, 1);
    return orch_roofline_largest_batch(q->net, q->costs, b->device.memory_bytes, reserved_bytes,
                                       &work);
}

/* ---- as text --------------------------------------------------------------------------------- */

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
    orch_cli_print("roofline on %s at %s: %.5g TFLOP/s, %.5g GB/s, ridge at %.3g FLOP/byte; a "
                   "multiply-add is 2 operations\n"
                   "the times are lower bounds; 'memory-bound' is the share of the forward time "
                   "that memory limits",
                   b->gpu->name, orch_precision_names()[b->precision], b->device.peak_flops / 1e12,
                   b->device.bandwidth / 1e9, b->device.peak_flops / b->device.bandwidth);
    if (b->device.memory_bytes > 0)
        printf("largest batch that fits %.4g GB: %" G_GINT64_FORMAT ", or %" G_GINT64_FORMAT
               " if CUDA itself takes %.3g GB\n",
               b->device.memory_bytes / 1e9, roofline_gpu_largest_batch(b, q, 0),
               roofline_gpu_largest_batch(b, q, orch_prior_reserved_bytes()),
               orch_prior_reserved_bytes() / 1e9);
}

static struct orch_table *layer_table(const struct orch_roofline_gpu *b,
                                      const struct orch_time_question *q, GError **error)
{
    static const char *const headers[] = {"layer",      "type",  ">forward", ">backward",
                                          ">FLOP/byte", "bound", NULL};
    g_autoptr(GArray) layers = roofline_gpu_layers(b, q, q->batches[0], error);
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
        if (!roofline_gpu_ask(b, q, q->batches[i], &row, error)) {
            json_decref(orch_cli_table_to_json(table));
            return NULL;
        }
        add_batch(table, b, &row);
    }
    return table;
}

/* ---- chart ----------------------------------------------------------------------------------- */

/* Adds the layers of the newest run that measured those of the network on the device. */
static unsigned add_measured(struct orch_cli *cli, const struct orch_roofline_gpu *b,
                             const char *network, GArray *dots, GError **error)
{
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace || !orch_workspace_has_store(workspace))
        return 0;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_trials *trials =
        store ? orch_trials_of_filter(store, "plugin = layerbench and by_layer = true", error)
              : NULL;
    const char *precision =
        orch_precision_names()[b->precision == ORCH_FP32_IEEE ? ORCH_FP32 : b->precision];
    const char *here = orch_workspace_machine_key(workspace);
    unsigned added = 0;
    for (guint i = 0; trials && i < trials->all->len && !added; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        g_autofree char *net = orch_trial_value(trials, trial, "net");
        if (g_strcmp0(net, network) == 0 &&
            orch_roofline_is_on(b->gpu, trial->run->device_key,
                                g_strcmp0(trial->run->machine_key, here) == 0))
            added = orch_roofline_dots_add_run(dots, store, trial->run, "rows", precision);
    }
    orch_trials_free(trials);
    return added;
}

static bool draw(struct orch_cli *cli, const struct orch_roofline_gpu *b, const char *path,
                 const struct orch_time_question *q, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GArray) layers = roofline_gpu_layers(b, q, q->batches[0], error);
    if (!layers)
        return false;
    g_autoptr(GArray) dots = orch_roofline_dots_new();
    for (guint i = 0; i < layers->len; i++) {
        const struct orch_roofline_layer_row *l =
            &g_array_index(layers, struct orch_roofline_layer_row, i);
        orch_roofline_dots_add(dots, l->name, l->kind, l->flops, l->bytes);
    }
    unsigned measured = add_measured(cli, b, q->net->name, dots, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    struct orch_roofline_roofs roofs = orch_roofline_roofs_of(b->gpu);
    g_autofree char *threads = roofs.threads
                                   ? g_strdup_printf(" (%s), %d thread%s", b->gpu->arch,
                                                     roofs.threads, orch_plural(roofs.threads))
                                   : g_strdup("");
    g_autofree char *title =
        g_strdup_printf("%s on %s%s: roofline at batch %" G_GINT64_FORMAT ", %s", q->net->name,
                        b->gpu->name, threads, q->batches[0], orch_precision_names()[b->precision]);
    struct orch_chart *chart = orch_roofline_chart(title, &roofs, b->precision, dots);
    orch_roofline_roofs_release(&roofs);
    bool ok = chart && orch_chart_write(chart, path, error);
    if (!chart)
        orch_error_set(error, ORCH_ERROR_USAGE, "choose another precision or device",
                       "the device has no known peak or bandwidth for this precision");
    orch_chart_free(chart);
    if (ok)
        orch_cli_info(cli, "chart: %s (%u measured layers)", path, measured);
    return ok;
}

int orch_cli_roofline_show(struct orch_cli *cli, const struct paleo_options *o,
                           struct orch_time_question *q, GError **error)
{
    struct orch_roofline_gpu b;
    if (!roofline_gpu_init(&b, q, o->time.gpu, error))
        return -1;
    struct orch_table *table = (o->layers ? layer_table : batch_table)(&b, q, error);
    if (!table)
        return -1;
    orch_cli_table_print_as(cli, table, o->layers ? "layers" : "batches", o->format);
    if (o->chart && !draw(cli, &b, o->chart, q, error))
        return -1;
    if (!cli->json && !o->format)
        print_line(q, &b);
    return ORCH_EXIT_OK;
}
