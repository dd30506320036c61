/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/paleo/paleo_steps.h"

#include "lib/base/error.h"
#include "predictors/steps/prior.h"

#include <math.h>
#include <string.h>

#define GIB_OF_GB (1e9 / (1024.0 * 1024.0 * 1024.0))
/* The most workers for which PALEO's hybrid parallelism is defined. */
#define HYBRID_WORKERS_MAX 8

struct asking {
    const struct orch_paleo_request *request;
    struct orch_paleo_steps *out;
};

/* ---- settings -------------------------------------------------------------------------------- */

static bool find_device(struct orch_time_question *q, struct asking *a, GError **error)
{
    const char *name = a->request->gpu ? a->request->gpu : "paleo:K80";
    struct orch_paleo_device *device = &a->out->options.device;
    if (!a->request->gpu)
        orch_time_question_assume(q, "GPU", "--gpu",
                                  "paleo:K80, the whole board at its base clock");
    if (g_str_has_prefix(name, "paleo:")) {
        const struct orch_paleo_device *own = orch_paleo_device_find(name, error);
        if (!own)
            return false;
        *device = *own;
        a->out->is_own_device = true;
        a->out->rate =
            orch_rate_of(q->hardware, strcmp(own->name, "K80") == 0 ? "K80-board" : own->name,
                         q->cloud, q->spot, q->price);
        return true;
    }
    const struct orch_gpu_spec *spec = orch_hardware_gpu(q->hardware, name, error);
    if (!spec)
        return false;
    enum orch_precision precision =
        orch_precision_run(spec, q->has_precision ? q->precision : ORCH_FP32);
    struct orch_prior prior;
    if (!orch_prior_for(spec, precision, NULL, NULL, &prior, error))
        return false;
    *device = (struct orch_paleo_device){.name = spec->name,
                                         .clock_mhz = spec->boost_mhz > 0 ? spec->boost_mhz : 1000,
                                         .peak_gflops = orch_gpu_peak(spec, precision) / 1e9,
                                         .bandwidth_gib_s = spec->bandwidth_gbs * GIB_OF_GB,
                                         .is_gpu = spec->unit != ORCH_GPU_HOST};
    if (isnan(q->ppp_comp) && prior.from->ppp_paleo > 0) {
        a->out->options.ppp_comp = prior.from->ppp_paleo;
        orch_time_question_assume(
            q, "PPP of computing", "--ppp-comp", "%.2f: mean of %d measurements on %s%s (%s)",
            prior.from->ppp_paleo, prior.from->rows, prior.from->archs,
            prior.is_borrowed ? ", the nearest measured architecture" : "", prior.from->source);
    }
    if (!q->has_precision)
        orch_time_question_assume(q, "precision", "--precision", "%s",
                                  orch_precision_names()[precision]);
    a->out->rate = orch_rate_of(q->hardware, spec->name, q->cloud, q->spot, q->price);
    return true;
}

static bool find_link(struct orch_time_question *q, struct asking *a, GError **error)
{
    const char *name = a->request->link;
    if (!name) {
        orch_time_question_assume(q, "link", "--network", "ethernet20");
        return true;
    }
    const struct orch_paleo_network *own = orch_paleo_network_find(name, NULL);
    if (own) {
        a->out->options.network = *own;
        return true;
    }
    const struct orch_link *link = orch_hardware_link(q->hardware, name, error);
    if (link)
        a->out->options.network = (struct orch_paleo_network){link->name, link->gbit_s};
    return link;
}

static bool find_scheme(struct asking *a, GError **error)
{
    const char *name = a->request->scheme;
    if (!name)
        return true;
    if (orch_exchange_scheme_find(name, &a->out->scheme) &&
        (a->out->scheme == ORCH_EXCHANGE_RING || a->out->scheme == ORCH_EXCHANGE_HIERARCHICAL)) {
        a->out->has_scheme = true;
        return true;
    }
    return orch_paleo_scheme_find(name, &a->out->options.scheme, error);
}

static bool find_algorithm(struct asking *a, GError **error)
{
    static const char *const names[] = {"gemm", "fft", "fft-tiling"};
    for (int i = 0; i < 3; i++) {
        if (!a->request->algorithm || strcmp(a->request->algorithm, names[i]) == 0) {
            a->out->options.algorithm = (enum orch_paleo_algorithm)i;
            return true;
        }
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "use gemm, fft or fft-tiling",
                   "option '--algorithm': unknown value '%s'", a->request->algorithm);
    return false;
}

static bool given(const struct orch_time_question *q, struct asking *a, GError **error)
{
    a->out->options.pipeline = a->request->pipeline;
    a->out->options.scaling = q->strong ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK;
    if (!isnan(q->ppp_comp))
        a->out->options.ppp_comp = q->ppp_comp;
    if (!isnan(q->ppp_comm))
        a->out->options.ppp_comm = q->ppp_comm;
    return find_scheme(a, error) && find_algorithm(a, error);
}

/* ---- our additions --------------------------------------------------------------------------- */

/* Returns the time of an exchange by a scheme that PALEO lacks, computed in PALEO's way, without
 * latency. */
static double added_comm_ms(const struct orch_time_question *q, const struct asking *a,
                            const struct orch_paleo_step *step)
{
    double bandwidth = a->out->options.network.gbit_s / 8 * 1e9 * a->out->options.ppp_comm;
    struct orch_exchange exchange = {.scheme = a->out->scheme,
                                     .workers = step->workers,
                                     .bandwidth = bandwidth,
                                     .node_workers = q->per_node ? q->per_node : step->workers,
                                     .node_bandwidth = 126.03 / 8 * 1e9 * a->out->options.ppp_comm};
    return orch_exchange_s(&exchange, step->params_bytes) * 1e3;
}

/* Returns the time for the memory traffic of layers that PALEO counts as 0: norms, activations,
 * sums, joins. */
static double added_layers_ms(const struct orch_layer_table *table, const struct asking *a,
                              int64_t batch)
{
    double bytes = 0;
    for (int i = 0; i < orch_layer_count(table); i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        double in = 0, out = (double)orch_layer_elements(layer->out), rounds = 0;
        for (int k = 0; k < layer->input_count; k++)
            in += (double)orch_layer_elements(layer->inputs[k]);
        if (layer->type == ORCH_LAYER_NORM)
            rounds = 4; /* forward 1.5, backward 2.5: lib/steptime/roofline.c */
        else if (layer->type == ORCH_LAYER_ACTIVATION || layer->type == ORCH_LAYER_SOFTMAX)
            rounds = 2.5;
        else if (layer->type == ORCH_LAYER_ELEMENTWISE || layer->type == ORCH_LAYER_CONCAT)
            rounds = 2;
        bytes += rounds * (in + out) * 4 * (double)batch;
    }
    return bytes > 0
               ? orch_paleo_memory_ms(&a->out->options.device, a->out->options.ppp_comp, bytes)
               : 0;
}

/* Returns the part of the exchange that does not overlap with computing when each layer's
 * gradients are sent as soon as they are ready. */
static double exposed_ms(const struct orch_time_question *q, const struct asking *a,
                         const struct orch_layer_table *table, const struct orch_paleo_step *step)
{
    int count = orch_layer_count(table);
    g_autofree double *backward = g_new0(double, count + 1);
    g_autofree double *bytes = g_new0(double, count + 1);
    for (int i = 0; i < count; i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        backward[i] = orch_paleo_layer(layer, &a->out->options, step->worker_batch).bwd_ms / 1e3;
        bytes[i] = 4.0 * (double)layer->params;
    }
    double bandwidth = a->out->options.network.gbit_s / 8 * 1e9 * a->out->options.ppp_comm;
    static const enum orch_exchange_scheme same[] = {ORCH_EXCHANGE_ONE_TO_ALL, ORCH_EXCHANGE_TREE,
                                                     ORCH_EXCHANGE_BUTTERFLY,
                                                     ORCH_EXCHANGE_BUTTERFLY};
    struct orch_exchange exchange = {.scheme = a->out->has_scheme ? a->out->scheme
                                                                  : same[a->out->options.scheme],
                                     .workers = step->workers,
                                     .bandwidth = bandwidth,
                                     .node_workers = q->per_node ? q->per_node : step->workers,
                                     .node_bandwidth = 126.03 / 8 * 1e9 * a->out->options.ppp_comm};
    return orch_exchange_exposed_s(&exchange, backward, bytes, count, 25.0 * 1024 * 1024) * 1e3;
}

static void apply_additions(struct orch_time_question *q, const struct asking *a,
                            struct orch_paleo_row *row)
{
    const struct orch_layer_table *table = orch_time_question_table(q);
    struct orch_paleo_step *step = &row->step;
    if (a->out->has_scheme)
        step->comm_ms = added_comm_ms(q, a, step);
    if (a->out->overlap) {
        row->whole_comm_ms = step->comm_ms;
        step->comm_ms = exposed_ms(q, a, table, step);
    }
    double more = 0;
    if (a->out->all_layers)
        row->other_layers_ms = more = added_layers_ms(table, a, step->worker_batch);
    step->total_ms = step->fwd_ms + step->bwd_ms + step->update_ms + step->comm_ms + more;
    step->images_per_s = 1000 * (double)step->effective_batch / step->total_ms;
}

/* ---- data parallelism ------------------------------------------------------------------------ */

/* Returns the images per second at the peak of all workers, with PALEO's count of operations. */
static double at_the_peak(struct orch_time_question *q, const struct asking *a,
                          const struct orch_paleo_step *s)
{
    struct orch_paleo_pass pass =
        orch_paleo_pass(orch_time_question_table(q), &a->out->options, s->worker_batch);
    double flops = pass.fwd_flops + (q->work.training ? pass.bwd_flops : 0);
    return (double)s->worker_batch * (double)s->workers * a->out->options.device.peak_gflops * 1e9 /
           flops;
}

static void keep_forward_only(struct orch_paleo_step *step)
{
    step->bwd_ms = step->update_ms = step->comm_ms = 0;
    step->total_ms = step->fwd_ms;
    step->images_per_s = 1000 * (double)step->effective_batch / step->fwd_ms;
}

static bool add_row(struct orch_time_question *q, struct asking *a, int64_t batch, int64_t workers,
                    GError **error)
{
    struct orch_paleo_row row = {.whole_comm_ms = NAN, .other_layers_ms = NAN};
    struct orch_paleo_steps *out = a->out;
    out->options.batch = batch;
    if (!orch_paleo_simulate(orch_time_question_table(q), &out->options, workers, &row.step, error))
        return false;
    if (!q->work.training)
        keep_forward_only(&row.step);
    else if (orch_paleo_steps_has_additions(out))
        apply_additions(q, a, &row);
    row.images_per_s_at_peak = at_the_peak(q, a, &row.step);
    row.epoch_s = q->images ? (double)q->images / row.step.images_per_s : (double)NAN;
    double usd = row.epoch_s * out->rate.usd_per_hour * (double)row.step.workers / 3600;
    row.epoch_usd = usd > 0 ? usd : (double)NAN;
    g_array_append_val(out->rows, row);
    return true;
}

static bool leaves_layers_out(const struct orch_time_question *q)
{
    for (int i = 0; q->net && i < orch_layer_count(q->table); i++)
        if (orch_layer_at(q->table, i)->untimed_macs)
            return true;
    return false;
}

/* Reads the settings; without rows yet. */
static struct orch_paleo_steps *settle(struct orch_time_question *q, struct asking *a,
                                       GError **error)
{
    a->out = g_new0(struct orch_paleo_steps, 1);
    a->out->options = orch_paleo_defaults();
    a->out->overlap = a->request->overlap;
    a->out->all_layers = a->request->all_layers;
    a->out->rows = g_array_new(FALSE, FALSE, sizeof(struct orch_paleo_row));
    if (find_device(q, a, error) && find_link(q, a, error) && given(q, a, error))
        return a->out;
    orch_paleo_steps_free(a->out);
    return NULL;
}

struct orch_paleo_steps *orch_paleo_steps_new(struct orch_time_question *q,
                                              const struct orch_paleo_request *request,
                                              GError **error)
{
    struct asking a = {.request = request};
    struct orch_paleo_steps *out = settle(q, &a, error);
    bool ok = out;
    for (int b = 0; ok && b < q->batch_count; b++)
        for (int w = 0; ok && w < q->worker_count; w++)
            ok = add_row(q, &a, q->batches[b], q->workers[w], error);
    if (ok) {
        out->leaves_layers_out = leaves_layers_out(q);
        return out;
    }
    orch_paleo_steps_free(out);
    return NULL;
}

void orch_paleo_steps_free(struct orch_paleo_steps *steps)
{
    if (!steps)
        return;
    orch_rate_release(&steps->rate);
    g_array_unref(steps->rows);
    g_free(steps);
}

bool orch_paleo_steps_has_additions(const struct orch_paleo_steps *steps)
{
    return steps->has_scheme || steps->overlap || steps->all_layers;
}

/* ---- layers cut among the workers ------------------------------------------------------------ */

static bool check_split(const char *const *split, const char *parallel, GError **error)
{
    if (split)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --split fc6 --split fc7",
                   "option '--parallel %s' needs '--split'", parallel);
    return false;
}

GArray *orch_paleo_model_rows(struct orch_time_question *q,
                              const struct orch_paleo_request *request, const char *const *split,
                              GError **error)
{
    struct asking a = {.request = request};
    if (!check_split(split, "model", error) || !settle(q, &a, error))
        return NULL;
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(struct orch_paleo_model_row));
    bool ok = true;
    a.out->options.batch = q->batches[0];
    for (int w = 0; ok && w < q->worker_count; w++) {
        struct orch_paleo_model_row row = {.workers = q->workers[w]};
        ok = orch_paleo_model_parallel(orch_time_question_table(q), &a.out->options, split,
                                       row.workers, &row.step, error);
        g_array_append_val(rows, row);
    }
    orch_paleo_steps_free(a.out);
    return ok ? g_steal_pointer(&rows) : NULL;
}

static bool check_hybrid(const struct orch_time_question *q, GError **error)
{
    for (int w = 0; w < q->worker_count; w++) {
        if (q->workers[w] <= HYBRID_WORKERS_MAX)
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "use --parallel data",
                       "PALEO's hybrid parallelism is for at most 8 workers, not %" G_GINT64_FORMAT,
                       q->workers[w]);
        return false;
    }
    return true;
}

GArray *orch_paleo_hybrid_rows(struct orch_time_question *q,
                               const struct orch_paleo_request *request, const char *const *split,
                               GError **error)
{
    struct asking a = {.request = request};
    if (!check_split(split, "hybrid", error) || !check_hybrid(q, error) || !settle(q, &a, error))
        return NULL;
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(struct orch_paleo_hybrid_row));
    bool ok = true;
    a.out->options.batch = q->batches[0];
    for (int w = 0; ok && w < q->worker_count; w++) {
        struct orch_paleo_hybrid_row row = {.workers = q->workers[w]};
        ok = orch_paleo_hybrid(orch_time_question_table(q), &a.out->options, split, row.workers,
                               &row.step, error);
        g_array_append_val(rows, row);
    }
    orch_paleo_steps_free(a.out);
    return ok ? g_steal_pointer(&rows) : NULL;
}
