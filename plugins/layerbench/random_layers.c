/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers of random geometry. Each layer has its own random stream from the trial's seed, so equal
 * repeats time the same layers on different devices. */
#include "plugins/layerbench/units.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>
#include <string.h>

#define ATTEMPTS_MAX 1000 /* attempts to draw a layer before the ranges count as too large */

/* Log-uniform on the range, including both ends. */
static int64_t within(const struct orch_list *range, uint64_t *state)
{
    const int64_t *ends = range->items;
    double low = log((double)ends[0] - 0.5), high = log((double)ends[1] + 0.5);
    int64_t drawn = (int64_t)llround(exp(low + orch_random_unit(state) * (high - low)));
    return CLAMP(drawn, ends[0], ends[1]);
}

static const char *one_of(const struct orch_list *words, uint64_t *state)
{
    return ((const char *const *)words->items)[orch_random_next(state) % words->count];
}

struct work {
    double gflop, mvalues;
};

static struct work work_of(const struct orch_torch_layer *l)
{
    double batch = (double)l->batch;
    if (!l->is_conv) {
        double in = (double)l->din, out = (double)l->dout;
        return (struct work){2e-9 * batch * in * out, 1e-6 * (batch * (in + out) + in * out)};
    }
    double k2 = (double)(l->kernel * l->kernel), in = (double)l->cin, out = (double)l->cout;
    double pad = l->pad_same ? (double)((l->kernel - 1) / 2) : 0;
    double side = floor(((double)l->in_hw + 2 * pad - (double)l->kernel) / (double)l->stride) + 1;
    double pixels = (double)(l->in_hw * l->in_hw);
    return (struct work){2e-9 * batch * side * side * k2 * in * out,
                         1e-6 * (batch * (pixels * in + side * side * out) + k2 * in * out)};
}

static struct orch_torch_layer draw_once(const struct params *p, bool is_conv, uint64_t *s)
{
    struct orch_torch_layer l = {.is_conv = is_conv, .batch = within(&p->batch, s)};
    l.pass = (enum orch_torch_pass)orch_layerbench_index(LAYERBENCH_PASSES, one_of(&p->passes, s));
    l.activation = (enum orch_torch_activation)orch_layerbench_index(LAYERBENCH_ACTIVATIONS,
                                                                     one_of(&p->activations, s));
    l.bias = !is_conv || orch_random_next(s) % 2;
    if (is_conv) {
        l.in_hw = within(&p->in_hw, s);
        l.kernel = within(&p->kernel, s);
        l.cin = within(&p->channels, s);
        l.cout = within(&p->channels, s);
        l.stride = within(&p->stride, s);
        l.pad_same = orch_random_next(s) % 2;
    } else {
        l.din = within(&p->units, s);
        l.dout = within(&p->units, s);
    }
    return l;
}

static bool fits(const struct params *p, const struct orch_torch_layer *l)
{
    struct work work = work_of(l);
    int64_t padded = l->in_hw + (l->pad_same ? 2 * ((l->kernel - 1) / 2) : 0);
    return (!l->is_conv || padded >= l->kernel) && work.gflop <= p->max_gflop &&
           work.mvalues <= p->max_mvalues;
}

static bool draw(const struct params *p, bool is_conv, uint64_t *state,
                 struct orch_torch_layer *out)
{
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        *out = draw_once(p, is_conv, state);
        if (fits(p, out))
            return true;
    }
    return false;
}

/* ---- layers for the engine's timer --------------------------------------------------------------
 */

static const char TOO_LARGE[] = "hardly any layer of these ranges is within max_gflop and "
                                "max_mvalues: make the ranges smaller";

/* Kinds take turns. */
static const char *kind_at(const struct params *p, int64_t i)
{
    return ((const char *const *)p->kinds.items)[(size_t)i % p->kinds.count];
}

static const char *choice(uint64_t *s, const char *const *names, size_t count)
{
    return names[orch_random_next(s) % count];
}

/* An image with as many channels and pixels as the ranges allow. */
static void draw_image(const struct params *p, uint64_t *s, struct orch_net_layer_spec *out)
{
    out->channels = within(&p->channels, s);
    out->height = out->width = within(&p->in_hw, s);
}

static struct orch_net_layer_spec draw_other(const struct params *p, const char *kind, uint64_t *s)
{
    static const char *const pools[] = {"maxpool", "avgpool"};
    static const char *const norms[] = {"batchnorm", "batchnorm+relu", "batchnorm+add+relu"};
    static const char *const simple[] = {"relu", "add"};
    struct orch_net_layer_spec out = {0};
    draw_image(p, s, &out);
    if (strcmp(kind, "pool") == 0) {
        out.kind = choice(s, pools, G_N_ELEMENTS(pools));
        out.kernel = (int)within(&p->kernel, s);
        out.stride = (int)within(&p->stride, s);
        out.pad = orch_random_next(s) % 2 ? out.kernel / 2 : 0;
    } else if (strcmp(kind, "attention") == 0) {
        out.kind = "attention"; /* heads of 64 values, as usual; tokens in the range of units */
        out.heads = (int)MAX(1, out.channels / 64);
        out.channels = 64 * out.heads;
        out.height = within(&p->units, s);
        out.width = 1;
    } else {
        bool is_norm = strcmp(kind, "batchnorm") == 0;
        out.kind = is_norm ? choice(s, norms, G_N_ELEMENTS(norms))
                           : choice(s, simple, G_N_ELEMENTS(simple));
    }
    return out;
}

static struct orch_net_layer_spec spec_of(const struct orch_torch_layer *l)
{
    if (!l->is_conv)
        return (struct orch_net_layer_spec){.kind = "dense",
                                            .channels = l->din,
                                            .height = 1,
                                            .width = 1,
                                            .out = l->dout,
                                            .bias = true,
                                            .batch = l->batch};
    return (struct orch_net_layer_spec){.kind = "conv",
                                        .channels = l->cin,
                                        .height = l->in_hw,
                                        .width = l->in_hw,
                                        .out = l->cout,
                                        .kernel = (int)l->kernel,
                                        .stride = (int)l->stride,
                                        .pad = l->pad_same ? (int)(l->kernel - 1) / 2 : 0,
                                        .groups = 1,
                                        .bias = l->bias,
                                        .batch = l->batch};
}

/* Within the limits, and a possible geometry. */
static bool spec_fits(const struct params *p, const struct orch_net_layer_spec *spec)
{
    double values = 1e-6 * (double)(spec->batch * spec->channels * spec->height * spec->width);
    int first;
    struct orch_net *net = NULL;
    if (spec->heads > 0)
        values = 1e-6 * (double)(spec->batch * spec->heads * spec->height * spec->height);
    if (4 * values <= p->max_mvalues) /* as many as an addition or an attention reads and writes */
        net = orch_net_layer_make(spec, &first, NULL);
    double gflop = net ? 2e-9 * (double)orch_net_macs(net) * (double)spec->batch : 0;
    orch_net_free(net);
    return net && gflop <= p->max_gflop;
}

bool orch_layerbench_draw_spec(const struct params *p, const struct orch_host *host, int64_t i,
                               struct orch_net_layer_spec *out, GError **error)
{
    uint64_t state = host->derive_seed(host, "layers") ^ ((uint64_t)i * 0xd1342543de82ef95u);
    const char *kind = kind_at(p, i);
    bool conv = strcmp(kind, "conv") == 0;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct orch_torch_layer layer;
        if (conv || strcmp(kind, "dense") == 0) {
            if (!draw(p, conv, &state, &layer))
                break;
            *out = spec_of(&layer);
            return true;
        }
        struct orch_net_layer_spec drawn = draw_other(p, kind, &state);
        drawn.batch = within(&p->batch, &state);
        *out = drawn;
        if (spec_fits(p, &drawn))
            return true;
    }
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "%s", TOO_LARGE);
    return false;
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

bool orch_layerbench_check_ranges(const struct params *p, const struct orch_host *host)
{
    const struct {
        const char *name;
        const struct orch_list *range;
    } ranges[] = {{"batch", &p->batch},       {"in_hw", &p->in_hw},   {"kernel", &p->kernel},
                  {"channels", &p->channels}, {"stride", &p->stride}, {"units", &p->units}};
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
        const int64_t *ends = ranges[i].range->items;
        if (ranges[i].range->count == 2 && ends[0] <= ends[1] && ends[1] <= 1000000)
            continue;
        g_autofree char *why =
            g_strdup_printf("%s: write two numbers, from and to, at most 1000000", ranges[i].name);
        host->fail(host, why);
        return false;
    }
    bool is_justus = strcmp(p->timer, "justus") == 0;
    for (size_t i = 0; is_justus && i < p->kinds.count; i++) {
        const char *kind = kind_at(p, (int64_t)i);
        if (strcmp(kind, "conv") == 0 || strcmp(kind, "dense") == 0)
            continue;
        host->fail(host, "'timer: justus' measures only the kinds conv and dense");
        return false;
    }
    if (p->passes.count && p->activations.count && p->kinds.count)
        return true;
    host->fail(host, "give each of 'passes', 'activations' and 'kinds' at least one value");
    return false;
}

/* ---- timing ------------------------------------------------------------------------------------
 */

struct tables {
    GString *conv, *dense;
    GArray *times, *spreads; /* double: per layer, in ms */
    int64_t conv_count, dense_count;
};

static void add_row(struct tables *t, const struct orch_torch_layer *l,
                    const struct layerbench_spread *s, const struct orch_host *host)
{
    const char *act = LAYERBENCH_ACTIVATIONS[l->activation], *opt = LAYERBENCH_PASSES[l->pass];
    char ms[G_ASCII_DTOSTR_BUF_SIZE], least[sizeof ms], most[sizeof ms];
    g_ascii_formatd(ms, sizeof ms, "%.6g", s->median);
    g_ascii_formatd(least, sizeof least, "%.6g", s->least);
    g_ascii_formatd(most, sizeof most, "%.6g", s->most);
    double spread = s->most - s->least;
    g_array_append_val(t->times, s->median);
    g_array_append_val(t->spreads, spread);
    if (l->is_conv) {
        g_string_append_printf(t->conv,
                               "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                               ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                               ",%d,%s,%d,%s,%s,%s,%s\n",
                               l->batch, l->in_hw, l->kernel, l->cin, l->cout, l->stride,
                               l->pad_same, act, l->bias, opt, ms, least, most);
        host->metric(host, "conv_time", t->conv_count++, s->median);
        return;
    }
    g_string_append_printf(
        t->dense, "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,%s,%s,%s,%s\n",
        l->batch, l->din, l->dout, act, opt, ms, least, most);
    host->metric(host, "dense_time", t->dense_count++, s->median);
}

static int time_all(const struct orch_torch *torch, const struct params *p, const char *device,
                    const struct orch_host *host, struct tables *t)
{
    g_autofree double *times = g_new(double, p->repeats);
    int64_t count = host->smoke(host) ? 2 : p->draws;
    uint64_t seed = host->derive_seed(host, "layers");
    host->phase(host, "timing layers");
    for (int64_t i = 0; i < count; i++) {
        g_autoptr(GError) error = NULL;
        uint64_t state = seed ^ ((uint64_t)i * 0xd1342543de82ef95u);
        bool conv = strcmp(kind_at(p, i), "conv") == 0;
        struct orch_torch_layer layer;
        if (host->cancelled(host))
            return ORCH_CANCELLED;
        if (!draw(p, conv, &state, &layer)) {
            host->fail(host, TOO_LARGE);
            return ORCH_FAILED;
        }
        if (!torch->layer_time(&layer, device, (int)p->warmup, (int)p->repeats, times, &error)) {
            host->fail(host, error->message);
            return ORCH_FAILED;
        }
        struct layerbench_spread spread = orch_layerbench_spread_of(times, (int)p->repeats);
        add_row(t, &layer, &spread, host);
        host->progress(host, (double)(i + 1), (double)count);
    }
    return ORCH_OK;
}

static bool hand_over(const char *name, const GString *csv, const struct orch_host *host)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strdup_printf("%s.csv", name);
    if (!g_file_set_contents(file, csv->str, (gssize)csv->len, &error)) {
        host->fail(host, error->message);
        return false;
    }
    host->artifact(host, name, file);
    return true;
}

static double median_of(GArray *values)
{
    return orch_layerbench_spread_of((double *)(void *)values->data, (int)values->len).median;
}

static bool report(const struct tables *t, const struct orch_host *host)
{
    host->result(host, "conv_layers", (double)t->conv_count);
    host->result(host, "dense_layers", (double)t->dense_count);
    host->result(host, "layer_time", median_of(t->times));
    host->result(host, "layer_spread", median_of(t->spreads));
    return (!t->conv_count || hand_over("conv", t->conv, host)) &&
           (!t->dense_count || hand_over("dense", t->dense, host));
}

int orch_layerbench_layers(const struct orch_torch *torch, const struct params *p,
                           const char *device, const struct orch_host *host)
{
    struct tables t = {
        .conv = g_string_new("batch,in_hw,kernel,cin,cout,stride,pad_same,act,bias,opt,ms,ms_min,"
                             "ms_max\n"),
        .dense = g_string_new("batch,din,dout,act,opt,ms,ms_min,ms_max\n"),
        .times = g_array_new(FALSE, FALSE, sizeof(double)),
        .spreads = g_array_new(FALSE, FALSE, sizeof(double)),
    };
    int status = time_all(torch, p, device, host, &t);
    if (status == ORCH_OK && !report(&t, host))
        status = ORCH_FAILED;
    g_string_free(t.conv, TRUE);
    g_string_free(t.dense, TRUE);
    g_array_unref(t.times);
    g_array_unref(t.spreads);
    return status;
}
