/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On a GPU a layer is launched and runs while the processor goes on, so it matters whether the
 * clock waits for each pass: the sum of layers that were waited for contains a wait for each of
 * them, the whole step contains one. On a processor both are the same. */
#include "plugins/layerbench/units.h"

#include "lib/base/text.h"
#include "lib/net/layer_work.h"

#include <math.h>
#include <string.h>

static const char HEAD[] =
    "layer,kind,text,batch,in_c,in_h,in_w,out_c,out_h,out_w,kernel,stride,pad,groups,heads,params,"
    "pass,first,precision,layout,optimizer,gflop,mbytes,forward_ms,backward_ms,forward_queued_ms,"
    "backward_queued_ms,spread_ms,ms,gflop_s,gbyte_s,utilisation,bandwidth_share\n";

void orch_layerbench_bench_init(struct layerbench_bench *bench, const struct orch_torch *torch,
                                const struct params *p, const char *device,
                                const struct orch_host *host)
{
    *bench = (struct layerbench_bench){.torch = torch,
                                       .p = p,
                                       .device = device,
                                       .host = host,
                                       .csv = g_string_new(HEAD),
                                       .peak_gflop_s = (double)NAN,
                                       .peak_gbyte_s = (double)NAN,
                                       .times = g_array_new(FALSE, FALSE, sizeof(double)),
                                       .spreads = g_array_new(FALSE, FALSE, sizeof(double))};
}

void orch_layerbench_bench_clear(struct layerbench_bench *bench)
{
    g_string_free(bench->csv, TRUE);
    g_array_unref(bench->times);
    g_array_unref(bench->spreads);
}

bool orch_layerbench_trains(const struct params *p)
{
    return strcmp(p->optimizer, "none") != 0;
}

struct orch_torch_model *orch_layerbench_model(const struct layerbench_bench *bench,
                                               const struct orch_net *net, GError **error)
{
    const struct params *p = bench->p;
    const struct orch_torch *torch = bench->torch;
    struct orch_torch_setup setup = {.device = bench->device,
                                     .precision = (enum orch_torch_precision)orch_layerbench_index(
                                         LAYERBENCH_PRECISIONS, p->precision),
                                     .channels_last = strcmp(p->layout, "channels_last") == 0};
    struct orch_torch_optimizer optimizer = {
        .method = strcmp(p->optimizer, "adam") == 0 ? ORCH_TORCH_ADAM : ORCH_TORCH_SGD,
        .momentum = strcmp(p->optimizer, "momentum") == 0 ? 0.9 : 0,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8};
    uint64_t seed = bench->host->derive_seed(bench->host, "init");
    struct orch_torch_model *model = torch->model_new(net, &setup, error);
    /* nothing is timed in a smoke run, where drawing the weights of a VGG would be most of the work
     */
    bool needs_weights = !bench->host->smoke(bench->host);
    if (model && (!needs_weights || orch_torch_init(torch, model, net, seed, error)) &&
        torch->optimizer_set(model, &optimizer, error)) {
        torch->rate_set(model, 1e-6);
        return model;
    }
    if (model)
        torch->model_free(model);
    return NULL;
}

/* ---- timing ------------------------------------------------------------------------------------
 */

/* Times a part once with or without waits. `*out_end` as part_time has it. */
static bool time_once(const struct layerbench_bench *bench, struct orch_torch_model *model,
                      struct orch_torch_part *part, double *out_forward, double *out_backward,
                      double *out_spread, int *out_end, GError **error)
{
    int count = part->repeats;
    g_autofree double *forward = g_new(double, count), *backward = g_new(double, count);
    g_autofree double *both = g_new(double, count);
    if (!bench->torch->part_time(model, part, forward, backward, out_end, error))
        return false;
    if (*out_end != part->node)
        return true;
    for (int i = 0; i < count; i++)
        both[i] = forward[i] + backward[i];
    struct layerbench_spread spread = orch_layerbench_spread_of(both, count);
    *out_forward = orch_layerbench_spread_of(forward, count).median;
    *out_backward = orch_layerbench_spread_of(backward, count).median;
    *out_spread = spread.most - spread.least;
    return true;
}

static bool time_part(const struct layerbench_bench *bench, struct orch_torch_model *model,
                      struct orch_torch_part *part, struct layerbench_times *out, int *out_end,
                      GError **error)
{
    double unused;
    bool is_gpu = g_str_has_prefix(bench->device, "cuda");
    part->warmup = (int)bench->p->warmup;
    part->repeats = (int)bench->p->repeats;
    part->processor_time = orch_layerbench_processor_time(bench->p);
    part->waits_each = true;
    if (!time_once(bench, model, part, &out->forward, &out->backward, &out->spread, out_end, error))
        return false;
    out->forward_queued = out->forward;
    out->backward_queued = out->backward;
    part->waits_each = false;
    return !is_gpu || *out_end != part->node ||
           time_once(bench, model, part, &out->forward_queued, &out->backward_queued, &unused,
                     out_end, error);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static void append_number(GString *csv, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (isfinite(value))
        g_string_append(csv, g_ascii_formatd(text, sizeof text, "%.6g", value));
    g_string_append_c(csv, ',');
}

static void append_numbers(GString *csv, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        append_number(csv, values[i]);
}

struct row {
    const char *layer, *kind, *text;
    int64_t batch;
    struct orch_net_shape in, out;
    const struct orch_net_node *node; /* NULL: no layer */
    bool first;
    double gflop, mbytes, params;
    struct layerbench_times times;
};

static void add_row(struct layerbench_bench *bench, const struct row *r)
{
    GString *csv = bench->csv;
    const struct params *p = bench->p;
    const struct layerbench_times *t = &r->times;
    double ms = t->forward + t->backward;
    double gflop_s = r->gflop / ms * 1e3, gbyte_s = r->mbytes / ms;
    const double sizes[] = {(double)r->batch, (double)r->in.c,  (double)r->in.h, (double)r->in.w,
                            (double)r->out.c, (double)r->out.h, (double)r->out.w};
    const struct orch_net_node *n = r->node;
    const double window[] = {n ? n->kernel_h : 0, n ? n->stride_h : 0, n ? n->pad_h : 0,
                             n ? n->groups : 0,   n ? n->heads : 0,    r->params};
    const double results[] = {r->gflop,
                              r->mbytes,
                              t->forward,
                              t->backward,
                              t->forward_queued,
                              t->backward_queued,
                              t->spread,
                              ms,
                              gflop_s,
                              gbyte_s,
                              gflop_s / bench->peak_gflop_s};
    g_string_append_printf(csv, "%s,%s,%s,", r->layer, r->kind, r->text);
    append_numbers(csv, sizes, G_N_ELEMENTS(sizes));
    append_numbers(csv, window, G_N_ELEMENTS(window));
    g_string_append_printf(csv, "%s,%d,%s,%s,%s,", orch_layerbench_trains(p) ? "train" : "forward",
                           r->first, p->precision, p->layout, p->optimizer);
    append_numbers(csv, results, G_N_ELEMENTS(results));
    append_number(csv, gbyte_s / bench->peak_gbyte_s);
    csv->str[csv->len - 1] = '\n';
    bench->host->metric(bench->host, "forward_time", bench->rows, t->forward);
    if (orch_layerbench_trains(p))
        bench->host->metric(bench->host, "backward_time", bench->rows, t->backward);
    bench->rows++;
    g_array_append_val(bench->times, ms);
    g_array_append_val(bench->spreads, t->spread);
}

static void add_to_sum(struct layerbench_bench *bench, const struct layerbench_times *t,
                       const struct orch_net_layer_work *work)
{
    bench->sum.forward += t->forward;
    bench->sum.backward += t->backward;
    bench->sum.forward_queued += t->forward_queued;
    bench->sum.backward_queued += t->backward_queued;
    bench->gflop += work->gflop;
    bench->roofline_ms +=
        1e3 * work->gflop / bench->peak_gflop_s > work->mbytes / bench->peak_gbyte_s
            ? 1e3 * work->gflop / bench->peak_gflop_s
            : work->mbytes / bench->peak_gbyte_s;
}

static int value_bytes(const struct params *p)
{
    return strcmp(p->precision, "bf16") == 0 || strcmp(p->precision, "fp16") == 0 ? 2 : 4;
}

static void add_layer(struct layerbench_bench *bench, const struct orch_net *net,
                      const struct orch_net_cost *costs, const struct orch_net_node *node,
                      const struct orch_net_fusion *fusion, const struct orch_torch_part *part,
                      const struct layerbench_times *times)
{
    const struct orch_net_node *start = fusion ? orch_net_node(net, fusion->norm) : node;
    g_autofree char *text = orch_net_layer_format(net, node, fusion);
    bool first = !part->input_learns && orch_net_layer_is_first(net, node, fusion);
    struct orch_net_layer_run run = {part->batch, part->trains, !first, value_bytes(bench->p)};
    struct orch_net_layer_work work = orch_net_layer_work(costs, node, fusion, &run);
    struct row row = {.layer = node->name,
                      .kind = orch_net_layer_kind(node, fusion),
                      .text = text,
                      .batch = part->batch,
                      .in = orch_net_node(net, start->inputs[0])->out,
                      .out = node->out,
                      .node = fusion ? NULL : node,
                      .first = first,
                      .gflop = work.gflop,
                      .mbytes = work.mbytes,
                      .params = work.params,
                      .times = *times};
    add_row(bench, &row);
    add_to_sum(bench, times, &work);
}

/* ---- graphs ------------------------------------------------------------------------------------
 */

bool orch_layerbench_graph(struct layerbench_bench *bench, const struct orch_net *net,
                           struct orch_torch_model *model, int first, int64_t batch,
                           bool input_learns, GError **error)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    g_autofree struct orch_net_fusion *fusions = orch_net_fusions(net);
    g_autofree bool *is_fused = g_new0(bool, net->nodes->len); /* something is computed with it */
    for (int i = first; i < (int)net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, i);
        struct layerbench_times times = {0};
        struct orch_torch_part part = {.node = i,
                                       .batch = batch,
                                       .trains = orch_layerbench_trains(bench->p),
                                       .input_learns = input_learns};
        int end = i;
        bench->left_out += node->is_auxiliary;
        if (!orch_net_layer_does_work(node))
            continue;
        if (!time_part(bench, model, &part, &times, &end, error))
            return false;
        is_fused[end] |= end != i;
        if (end == i)
            add_layer(bench, net, costs, node, is_fused[i] ? &fusions[i] : NULL, &part, &times);
        bench->host->progress(bench->host, i - first + 1, (double)net->nodes->len - first);
    }
    return true;
}

static bool add_part(struct layerbench_bench *bench, struct orch_torch_model *model, int node,
                     struct row *row, GError **error)
{
    int end;
    struct orch_torch_part part = {
        .node = node, .batch = row->batch, .trains = orch_layerbench_trains(bench->p)};
    if (!time_part(bench, model, &part, &row->times, &end, error))
        return false;
    add_row(bench, row);
    return true;
}

bool orch_layerbench_other_parts(struct layerbench_bench *bench, const struct orch_net *net,
                                 struct orch_torch_model *model, int64_t batch, double *out_ms,
                                 GError **error)
{
    const struct orch_host *host = bench->host;
    double params = (double)orch_net_params(net), no = (double)NAN;
    g_autofree char *taken =
        g_strdup_printf("input %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                        net->input.c, net->input.h, net->input.w);
    g_autofree char *lost = g_strdup_printf("loss %" G_GINT64_FORMAT, net->classes);
    g_autofree char *updated =
        g_strdup_printf("update %" G_GINT64_FORMAT " in %u", (int64_t)params, net->tensors->len);
    const struct orch_net_shape scores = {net->classes, 1, 1};
    const struct orch_net_shape tensors = {(int64_t)net->tensors->len, 1, 1};
    const struct layerbench_times zero = {0};
    struct row rows[] = {
        {"input", "input", taken, batch, net->input, net->input, NULL, true, no, no, 0, zero},
        {"loss", "loss", lost, batch, scores, scores, NULL, false, no, no, 0, zero},
        {"update", "update", updated, batch, tensors, tensors, NULL, false, no, no, params, zero}};
    static const int nodes[] = {0, ORCH_TORCH_PART_LOSS, ORCH_TORCH_PART_UPDATE};
    static const char *const results[] = {"input_time", "loss_time", "update_time"};
    for (int i = 0; i < (orch_layerbench_trains(bench->p) ? 3 : 1); i++) {
        if (!add_part(bench, model, nodes[i], &rows[i], error))
            return false;
        double ms = rows[i].times.forward + rows[i].times.backward;
        host->result(host, results[i], ms);
        *out_ms += ms;
    }
    return true;
}

/* ---- peaks -------------------------------------------------------------------------------------
 */

/* The best forward time of a layer, in ms. */
static bool best_time(struct layerbench_bench *bench, const char *text, double *out_ms,
                      GError **error)
{
    struct orch_net_layer_spec spec;
    int first, end;
    if (!orch_net_layer_parse(text, &spec, error))
        return false;
    struct orch_net *net = orch_net_layer_make(&spec, &first, error);
    struct orch_torch_model *model = net ? orch_layerbench_model(bench, net, error) : NULL;
    double forward[5], backward[5];
    struct orch_torch_part part = {.node = net ? (int)net->nodes->len - 1 : 0,
                                   .batch = spec.batch,
                                   .processor_time = orch_layerbench_processor_time(bench->p),
                                   .warmup = 1,
                                   .repeats = G_N_ELEMENTS(forward)};
    bool ok = model && bench->torch->part_time(model, &part, forward, backward, &end, error);
    if (ok)
        *out_ms = orch_layerbench_spread_of(forward, (int)G_N_ELEMENTS(forward)).least;
    if (model)
        bench->torch->model_free(model);
    orch_net_free(net);
    return ok;
}

struct known_work {
    const char *text;
    double amount; /* GFLOP or GB of one forward pass */
};

/* Layers that reach as much as this library does. Which product is fastest depends on the library:
 * oneDNN without a BLAS has slow matrix products and fast convolutions of 3x3. On a GPU cuDNN may
 * compute the latter with fewer operations than are counted (Winograd), which is no peak, so they
 * are left out. The element-wise operation's values exceed the caches of most processors. */
struct largest {
    struct known_work products[4], stream;
};
static const struct largest ON_CPU = {
    {{"dense 1024 -> 1024 b1024", 2.147483648}, {"conv 256x28x28 -> 256 k3 p1 b4", 3.699376128}},
    {"relu 64x128x128 b4", 0.033554432}};
static const struct largest ON_GPU = {{{"dense 8192 -> 8192 b8192", 1099.511627776},
                                       {"conv 8192x32x32 -> 8192 k1 b8", 1099.511627776}},
                                      {"relu 256x256x256 b16", 2.147483648}};

bool orch_layerbench_measure_peak(struct layerbench_bench *bench, GError **error)
{
    const struct largest *l = g_str_has_prefix(bench->device, "cuda") ? &ON_GPU : &ON_CPU;
    double ms, peak = 0;
    for (const struct known_work *k = l->products; k->text; k++) {
        if (!best_time(bench, k->text, &ms, error))
            return false;
        peak = MAX(peak, k->amount / ms * 1e3);
    }
    if (!best_time(bench, l->stream.text, &ms, error))
        return false;
    bench->peak_gflop_s = peak;
    bench->peak_gbyte_s = l->stream.amount / ms * 1e3;
    bench->host->result(bench->host, "peak_gflop_s", bench->peak_gflop_s);
    bench->host->result(bench->host, "peak_gbyte_s", bench->peak_gbyte_s);
    return true;
}

/* ---- the report --------------------------------------------------------------------------------
 */

static double median_of(const GArray *values)
{
    g_autofree double *copy = g_memdup2(values->data, values->len * sizeof(double));
    return orch_layerbench_spread_of(copy, (int)values->len).median;
}

bool orch_layerbench_report(const struct layerbench_bench *bench, double others_ms, GError **error)
{
    const struct orch_host *host = bench->host;
    const struct layerbench_times *s = &bench->sum;
    if (!g_file_set_contents("rows.csv", bench->csv->str, (gssize)bench->csv->len, error))
        return false;
    host->result(host, "layer_sum", s->forward + s->backward);
    if (isfinite(others_ms))
        host->result(host, "parts_sum", s->forward + s->backward + others_ms);
    host->result(host, "layer_sum_queued", s->forward_queued + s->backward_queued);
    host->result(host, "forward_sum", s->forward);
    host->result(host, "backward_sum", s->backward);
    host->result(host, "layers_timed", (double)bench->rows);
    host->result(host, "layers_left_out", (double)bench->left_out);
    host->result(host, "layer_time", median_of(bench->times));
    host->result(host, "layer_spread", median_of(bench->spreads));
    host->result(host, "layers_gflop_s", bench->gflop / (s->forward + s->backward) * 1e3);
    if (isfinite(bench->peak_gflop_s))
        host->result(host, "utilisation",
                     bench->gflop / (s->forward + s->backward) * 1e3 / bench->peak_gflop_s);
    host->artifact(host, "rows", "rows.csv");
    return true;
}
