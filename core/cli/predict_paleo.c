/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --model paleo`: PALEO's own numbers, and next to them our additions, labelled as
 * such. */
#include "core/cli/predict.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/prior.h"

#include <math.h>
#include <string.h>

#define GIB_OF_GB (1e9 / (1024.0 * 1024.0 * 1024.0))

struct asked {
    const struct predict_options *o;
    struct orch_paleo_options options;
    enum orch_exchange_scheme added; /* an exchange scheme that PALEO lacks */
    bool is_added;
    struct orch_rate rate;
    bool is_own; /* the device is from PALEO, not from the hardware tables */
};

static bool find_device(struct orch_time_question *q, struct asked *a, GError **error)
{
    const char *name = a->o->gpu ? a->o->gpu : "paleo:K80";
    struct orch_paleo_device *device = &a->options.device;
    if (!a->o->gpu)
        orch_time_question_assume(q, "GPU", "--gpu",
                                  "paleo:K80, the whole board at its base clock");
    if (g_str_has_prefix(name, "paleo:")) {
        const struct orch_paleo_device *own = orch_paleo_device_find(name, error);
        if (!own)
            return false;
        *device = *own;
        a->is_own = true;
        a->rate =
            orch_time_question_rate(q, strcmp(own->name, "K80") == 0 ? "K80-board" : own->name);
        return true;
    }
    const struct orch_gpu_spec *spec = orch_hardware_gpu(q->hardware, name, error);
    if (!spec)
        return false;
    enum orch_precision precision =
        orch_precision_run(spec, q->has_precision ? q->precision : ORCH_FP32);
    struct orch_prior prior;
    if (!orch_prior_for(spec, precision, &prior, error))
        return false;
    *device = (struct orch_paleo_device){.name = spec->name,
                                         .clock_mhz = spec->boost_mhz > 0 ? spec->boost_mhz : 1000,
                                         .peak_gflops = orch_gpu_peak(spec, precision) / 1e9,
                                         .bandwidth_gib_s = spec->bandwidth_gbs * GIB_OF_GB,
                                         .is_gpu = spec->unit != ORCH_GPU_HOST};
    if (isnan(q->ppp_comp) && prior.from->ppp_paleo > 0) {
        a->options.ppp_comp = prior.from->ppp_paleo;
        orch_time_question_assume(
            q, "PPP of computing", "--ppp-comp", "%.2f: mean of %d measurements on %s%s (%s)",
            prior.from->ppp_paleo, prior.from->rows, prior.from->archs,
            prior.is_borrowed ? ", the nearest with any" : "", prior.from->source);
    }
    if (!q->has_precision)
        orch_time_question_assume(q, "precision", "--precision", "%s",
                                  orch_precision_names()[precision]);
    a->rate = orch_time_question_rate(q, spec->name);
    return true;
}

static bool find_link(struct orch_time_question *q, struct asked *a, GError **error)
{
    const char *name = a->o->network;
    if (!name) {
        orch_time_question_assume(q, "link", "--network", "ethernet20");
        return true;
    }
    const struct orch_paleo_network *own = orch_paleo_network_find(name, NULL);
    if (own) {
        a->options.network = *own;
        return true;
    }
    const struct orch_link *link = orch_hardware_link(q->hardware, name, error);
    if (link)
        a->options.network = (struct orch_paleo_network){link->name, link->gbit_s};
    return link;
}

static bool find_scheme(struct asked *a, GError **error)
{
    const char *name = a->o->scheme;
    if (!name)
        return true;
    if (orch_exchange_scheme_find(name, &a->added) &&
        (a->added == ORCH_EXCHANGE_RING || a->added == ORCH_EXCHANGE_HIERARCHICAL)) {
        a->is_added = true;
        return true;
    }
    return orch_paleo_scheme_find(name, &a->options.scheme, error);
}

static bool find_algorithm(struct asked *a, GError **error)
{
    static const char *const names[] = {"gemm", "fft", "fft-tiling"};
    for (int i = 0; i < 3; i++) {
        if (!a->o->algorithm || strcmp(a->o->algorithm, names[i]) == 0) {
            a->options.algorithm = (enum orch_paleo_algorithm)i;
            return true;
        }
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "gemm, fft, fft-tiling",
                   "option '--algorithm': unknown word '%s'", a->o->algorithm);
    return false;
}

static bool given(const struct orch_time_question *q, struct asked *a, GError **error)
{
    a->options.pipeline = a->o->pipeline;
    a->options.scaling = q->strong ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK;
    if (!isnan(q->ppp_comp))
        a->options.ppp_comp = q->ppp_comp;
    if (!isnan(q->ppp_comm))
        a->options.ppp_comm = q->ppp_comm;
    return find_scheme(a, error) && find_algorithm(a, error);
}

/* ---- our additions -----------------------------------------------------------------------------
 */

/* Returns the time of an exchange by a scheme that PALEO lacks, computed in PALEO's way, without
 * latency. */
static double added_comm_ms(const struct orch_time_question *q, const struct asked *a,
                            const struct orch_paleo_step *step)
{
    double bandwidth = a->options.network.gbit_s / 8 * 1e9 * a->options.ppp_comm;
    struct orch_exchange exchange = {.scheme = a->added,
                                     .workers = step->workers,
                                     .bandwidth = bandwidth,
                                     .node_workers = q->per_node ? q->per_node : step->workers,
                                     .node_bandwidth = 126.03 / 8 * 1e9 * a->options.ppp_comm};
    return orch_exchange_s(&exchange, step->params_bytes) * 1e3;
}

/* Returns the time for the memory traffic of layers that PALEO counts as 0: norms, activations,
 * sums, joins. */
static double added_layers_ms(const struct orch_layer_table *table, const struct asked *a,
                              int64_t batch)
{
    double bytes = 0;
    for (int i = 0; i < orch_layer_count(table); i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        double in = 0, out = (double)orch_layer_elements(layer->out), rounds = 0;
        for (int k = 0; k < layer->input_count; k++)
            in += (double)orch_layer_elements(layer->inputs[k]);
        if (layer->type == ORCH_LAYER_NORM)
            rounds = 4; /* forward 1.5, backward 2.5: predictors/roofline.c */
        else if (layer->type == ORCH_LAYER_ACTIVATION || layer->type == ORCH_LAYER_SOFTMAX)
            rounds = 2.5;
        else if (layer->type == ORCH_LAYER_ELEMENTWISE || layer->type == ORCH_LAYER_CONCAT)
            rounds = 2;
        bytes += rounds * (in + out) * 4 * (double)batch;
    }
    return bytes > 0 ? orch_paleo_memory_ms(&a->options.device, a->options.ppp_comp, bytes) : 0;
}

/* Returns the part of the exchange that does not overlap with computing when each layer's
 * gradients are sent as soon as they are ready. */
static double exposed_ms(const struct orch_time_question *q, const struct asked *a,
                         const struct orch_layer_table *table, const struct orch_paleo_step *step)
{
    int count = orch_layer_count(table);
    g_autofree double *backward = g_new0(double, count + 1);
    g_autofree double *bytes = g_new0(double, count + 1);
    for (int i = 0; i < count; i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        backward[i] = orch_paleo_layer(layer, &a->options, step->worker_batch).bwd_ms / 1e3;
        bytes[i] = 4.0 * (double)layer->params;
    }
    double bandwidth = a->options.network.gbit_s / 8 * 1e9 * a->options.ppp_comm;
    static const enum orch_exchange_scheme same[] = {ORCH_EXCHANGE_ONE_TO_ALL, ORCH_EXCHANGE_TREE,
                                                     ORCH_EXCHANGE_BUTTERFLY,
                                                     ORCH_EXCHANGE_BUTTERFLY};
    struct orch_exchange exchange = {.scheme = a->is_added ? a->added : same[a->options.scheme],
                                     .workers = step->workers,
                                     .bandwidth = bandwidth,
                                     .node_workers = q->per_node ? q->per_node : step->workers,
                                     .node_bandwidth = 126.03 / 8 * 1e9 * a->options.ppp_comm};
    return orch_exchange_exposed_s(&exchange, backward, bytes, count, 25.0 * 1024 * 1024) * 1e3;
}

static void apply_additions(struct orch_time_question *q, const struct asked *a,
                            struct orch_paleo_step *step, json_t *row)
{
    const struct orch_layer_table *table = orch_time_question_table(q);
    json_t *added = json_object();
    if (a->is_added) {
        step->comm_ms = added_comm_ms(q, a, step);
        json_object_set_new(added, "scheme", json_string(orch_exchange_scheme_name(a->added)));
    }
    if (a->o->overlap) {
        json_object_set_new(added, "whole_comm_ms", orch_json_finite(step->comm_ms));
        step->comm_ms = exposed_ms(q, a, table, step);
        json_object_set_new(added, "overlap", json_true());
    }
    double more = a->o->all_layers ? added_layers_ms(table, a, step->worker_batch) : 0;
    if (a->o->all_layers)
        json_object_set_new(added, "other_layers_ms", orch_json_finite(more));
    step->total_ms = step->fwd_ms + step->bwd_ms + step->update_ms + step->comm_ms + more;
    step->images_per_s = 1000 * (double)step->effective_batch / step->total_ms;
    json_object_set_new(row, "added_to_paleo", added);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

static const char *const HEADERS[] = {">workers",     ">batch each", ">fwd ms",   ">bwd ms",
                                      ">update ms",   ">comm ms",    ">total ms", ">images/s",
                                      ">of the peak", ">epoch",      ">cost",     NULL};

static void add_ms(struct orch_table *table, double ms)
{
    g_autofree char *text = orch_number_format(ms);
    orch_table_add(table, text, orch_json_finite(ms));
}

/* Returns the images per second at the peak of all workers, with PALEO's count of operations. */
static double at_the_peak(struct orch_time_question *q, const struct asked *a,
                          const struct orch_paleo_step *s)
{
    struct orch_paleo_pass pass =
        orch_paleo_pass(orch_time_question_table(q), &a->options, s->worker_batch);
    double flops = pass.fwd_flops + (q->forward_only ? 0 : pass.bwd_flops);
    return (double)s->worker_batch * (double)s->workers * a->options.device.peak_gflops * 1e9 /
           flops;
}

static void add_step(struct orch_table *table, struct orch_time_question *q, const struct asked *a,
                     const struct orch_paleo_step *s, json_t *row)
{
    double peak = at_the_peak(q, a, s);
    g_autofree char *share = g_strdup_printf("%.1f %%", 100 * s->images_per_s / peak);
    double epoch = q->images ? (double)q->images / s->images_per_s : (double)NAN;
    double usd = epoch * a->rate.usd_per_hour * (double)s->workers / 3600;
    bool priced = usd > 0;
    g_autofree char *time = q->images ? orch_duration_format(epoch) : g_strdup("-");
    g_autofree char *money = orch_money_format(priced ? usd : (double)NAN);
    orch_table_add_int(table, s->workers);
    orch_table_add_int(table, s->worker_batch);
    add_ms(table, s->fwd_ms);
    add_ms(table, s->bwd_ms);
    add_ms(table, s->update_ms);
    add_ms(table, s->comm_ms);
    add_ms(table, s->total_ms);
    add_ms(table, s->images_per_s);
    orch_table_add(table, share, NULL);
    orch_table_add(table, time, NULL);
    orch_table_add(table, money, NULL);
    json_object_set_new(row, "workers", json_integer(s->workers));
    json_object_set_new(row, "batch_per_worker", json_integer(s->worker_batch));
    json_object_set_new(row, "effective_batch", json_integer(s->effective_batch));
    json_object_set_new(row, "fwd_ms", orch_json_finite(s->fwd_ms));
    json_object_set_new(row, "bwd_ms", orch_json_finite(s->bwd_ms));
    json_object_set_new(row, "update_ms", orch_json_finite(s->update_ms));
    json_object_set_new(row, "comm_ms", orch_json_finite(s->comm_ms));
    json_object_set_new(row, "total_ms", orch_json_finite(s->total_ms));
    json_object_set_new(row, "images_per_s", orch_json_finite(s->images_per_s));
    json_object_set_new(row, "images_per_s_at_peak", orch_json_finite(peak));
    if (q->images)
        json_object_set_new(row, "epoch_s", orch_json_finite(epoch));
    if (priced) {
        json_object_set_new(row, "epoch_usd", orch_json_finite(usd));
        json_object_set_new(row, "usd_per_hour", orch_json_finite(a->rate.usd_per_hour));
        json_object_set_new(row, "price_from", json_string(a->rate.from));
    }
}

static bool ask(struct orch_time_question *q, struct asked *a, int64_t batch, int64_t workers,
                struct orch_table *table, json_t *list, GError **error)
{
    struct orch_paleo_step step;
    a->options.batch = batch;
    if (!orch_paleo_simulate(orch_time_question_table(q), &a->options, workers, &step, error))
        return false;
    json_t *row = json_object();
    if (q->forward_only) {
        step.bwd_ms = step.update_ms = step.comm_ms = 0;
        step.total_ms = step.fwd_ms;
        step.images_per_s = 1000 * (double)step.effective_batch / step.fwd_ms;
    } else if (a->is_added || a->o->overlap || a->o->all_layers)
        apply_additions(q, a, &step, row);
    add_step(table, q, a, &step, row);
    json_array_append_new(list, row);
    return true;
}

static void say(const struct orch_time_question *q, const struct asked *a)
{
    const struct orch_paleo_options *o = &a->options;
    printf("PALEO on %s%s: %.5g GFLOP/s, %.4g GiB/s, PPP %.2f computing, %.2f network; %s, %.4g "
           "Gbit/s, %s; "
           "%s scaling%s\n",
           a->is_own ? "paleo:" : "", o->device.name, o->device.peak_gflops,
           o->device.bandwidth_gib_s, o->ppp_comp, o->ppp_comm, o->network.name, o->network.gbit_s,
           a->is_added ? orch_exchange_scheme_name(a->added) : orch_paleo_scheme_name(o->scheme),
           q->strong ? "strong" : "weak", o->pipeline ? ", pipelined" : "");
    if (a->rate.usd_per_hour > 0 && q->images)
        printf("cost of an epoch of %" G_GINT64_FORMAT " images at $%.4g an hour a worker (%s)\n",
               q->images, a->rate.usd_per_hour, a->rate.from);
    if (a->is_added || a->o->overlap || a->o->all_layers)
        printf("not PALEO's own:%s%s%s\n", a->is_added ? " the scheme;" : "",
               a->o->overlap ? " the exchange behind the backward pass;" : "",
               a->o->all_layers ? " time of norms, activations and sums;" : "");
    for (int i = 0; q->net && i < orch_layer_count(q->table); i++)
        if (orch_layer_at(q->table, i)->untimed_macs) {
            printf("PALEO has no formula for some layers (attention and the like): they are left "
                   "out\n");
            break;
        }
}

int predict_paleo(struct orch_cli *cli, const struct predict_options *o,
                  struct orch_time_question *q, GError **error)
{
    struct asked a = {.o = o, .options = orch_paleo_defaults()};
    if (!find_device(q, &a, error) || !find_link(q, &a, error) || !given(q, &a, error)) {
        orch_rate_release(&a.rate);
        return -1;
    }
    if (o->parallel && strcmp(o->parallel, "data") != 0) {
        orch_rate_release(&a.rate);
        return predict_paleo_split(cli, o, q, &a.options, error);
    }
    struct orch_table *table = orch_table_new(HEADERS);
    json_t *list = json_array();
    bool ok = true;
    for (int b = 0; ok && b < q->batch_count; b++)
        for (int w = 0; ok && w < q->worker_count; w++)
            ok = ask(q, &a, q->batches[b], q->workers[w], table, list, error);
    if (!ok || cli->json) {
        json_decref(orch_table_to_json(table));
        if (ok)
            orch_cli_print_json_array(list);
    } else {
        if (!o->format && q->assumptions->len)
            predict_say_assumptions(q);
        orch_table_print_as(cli, table, "steps", o->format);
        if (!o->format)
            say(q, &a);
    }
    json_decref(list);
    orch_rate_release(&a.rate);
    return ok ? ORCH_EXIT_OK : -1;
}
