/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `paleo`: the forward pass of networks as PALEO predicts it, and the ratio of that
 * practical throughput to the throughput at a device's peak. A multiply-add is counted as one
 * operation (Lu et al. 2017) and as two (PALEO, and all data sheets). No trial is run for it. */
#include "core/report/answer.h"
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "features/paleo/paleo_spec.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/net/cost.h"
#include "predictors/paleo/paleo.h"

#include <math.h>
#include <string.h>

#define BATCH_MAX 1000000
#define DEFAULT_GPU "paleo:K80"
/* In a sentence: networks times PPPs, and networks at one PPP. */
enum { EVERY_PPP_MOST = 4, LISTED_MOST = 3 };

/* ---- options of the item --------------------------------------------------------------------- */

struct paleo_section {
    struct orch_section_context *a;
    struct orch_paleo_options options;
    GPtrArray *nets;    /* char *: "vgg16", or "googlenet by inception_v3" */
    GArray *ppps;       /* double */
    double peak_tflops; /* NaN: the ratio is not shown */
    GArray *practical;  /* images/s by network and PPP, for the answer */
    GArray *times;      /* ms of them */
    GArray *ratios[2];  /* per cent of the peak, a multiply-add counted as one and as two */
};

static bool read_spec(struct paleo_section *p, GError **error)
{
    const json_t *spec = p->a->item->spec;
    p->options = orch_paleo_defaults();
    p->options.batch = (int64_t)CLAMP(orch_paleo_spec_number(spec, "batch", 1), 1, BATCH_MAX);
    p->peak_tflops = orch_paleo_spec_number(spec, "peak_tflops", (double)NAN);
    p->nets = orch_texts_from_json(json_object_get(spec, "nets"));
    p->ppps = orch_paleo_spec_ppps(spec);
    return orch_paleo_spec_device(orch_json_text(spec, "gpu", DEFAULT_GPU), &p->options.device,
                                  error);
}

/* ---- one network ----------------------------------------------------------------------------- */

struct counted {
    struct orch_net *net; /* NULL: a network of PALEO's repository */
    struct orch_layer_table *layers;
    double operations[2]; /* operations per image, with a multiply-add counted as one and as two;
                             0 without `net` */
};

static void counted_clear(struct counted *c)
{
    orch_layer_table_free(c->layers);
    orch_net_free(c->net);
}

static bool count_net(const char *name, struct counted *out, GError **error)
{
    *out = (struct counted){0};
    out->layers = orch_paleo_layers(name, &out->net, error);
    if (!out->layers || !out->net)
        return out->layers;
    g_autofree struct orch_net_cost *costs = orch_net_costs(out->net);
    struct orch_net_cost sum = orch_net_cost_sum(out->net, costs);
    for (int i = 0; i < 2; i++)
        out->operations[i] = (double)orch_net_operations(&sum, i + 1);
    return true;
}

static double forward_ms(const struct paleo_section *p, const struct counted *c, double ppp)
{
    struct orch_paleo_options options = p->options;
    options.ppp_comp = ppp;
    return orch_paleo_pass(c->layers, &options, options.batch).fwd_ms;
}

/* Splits "googlenet by inception_v3": peak throughput is for the first network, practical
 * throughput for the second. */
static void split_name(const char *text, char **out_net, char **out_by)
{
    const char *by = strstr(text, " by ");
    *out_net = by ? g_strndup(text, (gsize)(by - text)) : g_strdup(text);
    *out_by = g_strdup(by ? by + strlen(" by ") : text);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_number(struct orch_table *table, double value)
{
    g_autofree char *text = orch_number_format(value);
    orch_table_add(table, text, orch_json_finite(value));
}

/* A sentence names each network at each PPP when they are few, else at the last PPP alone, which is
 * the practical one. */
static bool has_all_ppps(const struct paleo_section *p)
{
    return p->nets->len * p->ppps->len <= EVERY_PPP_MOST;
}

static void keep(const struct paleo_section *p, GArray *entries, const char *name, double ppp,
                 double value)
{
    if (!has_all_ppps(p) && ppp != g_array_index(p->ppps, double, p->ppps->len - 1))
        return;
    g_autofree char *label = p->ppps->len > 1 && has_all_ppps(p)
                                 ? g_strdup_printf("%s, PPP %g", name, ppp)
                                 : g_strdup(name);
    orch_answer_entries_add(entries, label, value, (double)NAN, (double)NAN);
}

static void add_practical(struct orch_table *table, const struct paleo_section *p,
                          const struct counted *c, const char *name)
{
    const struct orch_layer_shape shape = orch_layer_at(c->layers, 0)->out;
    g_autofree char *input = g_strdup_printf("%dx%dx%d", (int)shape.c, (int)shape.h, (int)shape.w);
    for (guint i = 0; i < p->ppps->len; i++) {
        const double ppp = g_array_index(p->ppps, double, i), ms = forward_ms(p, c, ppp);
        orch_table_add(table, name, NULL);
        orch_table_add(table, input, NULL);
        add_number(table, ppp);
        add_number(table, ms);
        add_number(table, 1000 * (double)p->options.batch / ms);
        keep(p, p->practical, name, ppp, 1000 * (double)p->options.batch / ms);
        keep(p, p->times, name, ppp, ms);
    }
}

static void add_ratio(struct orch_table *table, const struct paleo_section *p,
                      const struct counted *of, const struct counted *by, const char *names[2])
{
    const bool is_other = strcmp(names[0], names[1]) != 0;
    g_autofree char *label =
        is_other ? g_strdup_printf("%s as a share of %s", names[1], names[0]) : g_strdup(names[1]);
    for (guint i = 0; i < p->ppps->len; i++) {
        const double ppp = g_array_index(p->ppps, double, i);
        const double practical = 1000 * (double)p->options.batch / forward_ms(p, by, ppp);
        orch_table_add(table, names[0], NULL);
        orch_table_add(table, names[1], NULL);
        add_number(table, ppp);
        add_number(table, practical);
        for (int k = 0; k < 2; k++) {
            const double peak = p->peak_tflops * 1e12 / of->operations[k];
            add_number(table, peak);
            add_number(table, 100 * practical / peak);
            keep(p, p->ratios[k], label, ppp, 100 * practical / peak);
        }
    }
}

static bool fill(struct paleo_section *p, struct orch_table *table, GError **error)
{
    const bool is_ratio = isfinite(p->peak_tflops);
    for (guint i = 0; i < p->nets->len; i++) {
        g_autofree char *net = NULL, *by = NULL;
        split_name(p->nets->pdata[i], &net, &by);
        struct counted of = {0}, other = {0};
        if (is_ratio && orch_paleo_net_is_own(net)) {
            orch_error_set(
                error, ORCH_ERROR_RECIPE, "for example 'resnet50-v1 by paleo:resnet50'",
                "'%s' must be a network of 'orch net ls', because the peak is computed for it",
                net);
            return false;
        }
        bool ok = count_net(is_ratio ? net : by, &of, error) &&
                  (!is_ratio || count_net(by, &other, error));
        if (ok && is_ratio)
            add_ratio(table, p, &of, &other, (const char *[]){net, by});
        else if (ok)
            add_practical(table, p, &of, by);
        counted_clear(&of);
        counted_clear(&other);
        if (!ok)
            return false;
    }
    return true;
}

/* The practical throughputs, or what share of the peak they are. */
static void add_answer(const struct paleo_section *p)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *at =
        has_all_ppps(p)
            ? g_strdup("")
            : g_strdup_printf(" at PPP %g", g_array_index(p->ppps, double, p->ppps->len - 1));
    g_autofree char *rate = g_strdup_printf("throughput that PALEO predicts%s", at);
    g_autofree char *tflops = orch_number_format(p->peak_tflops);
    g_autofree char *share =
        g_strdup_printf("practical throughput%s as a share of the throughput at the peak (%s "
                        "TFLOP/s), with a multiply-add counted as 1 operation",
                        at, tflops);
    g_autofree char *time =
        g_strdup_printf("time of a forward pass of %" G_GINT64_FORMAT " image%s", p->options.batch,
                        orch_plural(p->options.batch));
    const struct {
        const GArray *entries;
        const char *name, *unit;
    } said[] = {{p->practical, rate, "images/s"},
                {p->times, time, "ms"},
                {p->ratios[0], share, "%"},
                {p->ratios[1], "the same with a multiply-add counted as 2 operations", "%"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(said); i++)
        orch_answer_entries_append_of(text, said[i].entries, said[i].name, said[i].unit,
                                      "prediction", LISTED_MOST);
    if (text->len)
        orch_section_answer(p->a->section, "%s", text->str);
}

static void add_method(const struct paleo_section *p)
{
    const struct orch_paleo_device *device = &p->options.device;
    const bool is_own =
        g_str_has_prefix(orch_json_text(p->a->item->spec, "gpu", DEFAULT_GPU), "paleo:");
    g_autofree char *peak = orch_number_format(device->peak_gflops);
    g_autofree char *bandwidth = orch_number_format(device->bandwidth_gib_s);
    orch_section_note(
        p->a->section,
        "PALEO predicts the forward pass of a batch of %" G_GINT64_FORMAT
        " on %s%s (%s GFLOP/s, %s GiB/s%s). PPP: the share of these peaks that programs reach",
        p->options.batch, is_own ? "PALEO's " : "", device->name, peak, bandwidth,
        is_own && strcmp(device->name, "K80") == 0 ? "; the whole board at its base clock" : "");
    orch_section_note(
        p->a->section,
        "'paleo:' marks networks of PALEO's repository; the others are orch's ('orch net show')");
    if (isnan(p->peak_tflops))
        return;
    g_autofree char *tflops = orch_number_format(p->peak_tflops);
    orch_section_note(p->a->section,
                      "practical: predicted by PALEO. peak: %s TFLOP/s divided by the operations "
                      "of one image ('orch net show')",
                      tflops);
}

static bool fill_section(struct orch_section_context *a, GError **error)
{
    static const char *const practical[] = {"network", "input", ">PPP", ">ms", ">images/s", NULL};
    static const char *const ratio[] = {"network",
                                        "practical of",
                                        ">PPP",
                                        ">practical images/s",
                                        ">peak images/s, multiply-add = 1",
                                        ">ratio %, multiply-add = 1",
                                        ">peak images/s, multiply-add = 2",
                                        ">ratio %, multiply-add = 2",
                                        NULL};
    struct paleo_section p = {.a = a,
                              .practical = orch_answer_entries_new(),
                              .times = orch_answer_entries_new(),
                              .ratios = {orch_answer_entries_new(), orch_answer_entries_new()}};
    GError *problem = NULL;
    bool ok = read_spec(&p, &problem);
    static const struct orch_paleo_heading of_practical[] = {
        {3, NULL, "time (ms)"}, {4, NULL, "throughput (images/s)"}, {0}};
    static const struct orch_paleo_heading of_ratio[] = {
        {0, NULL, "network of the peak throughput"},
        {1, NULL, "network of the practical throughput"},
        {3, NULL, "practical throughput (images/s)"},
        {4, "multiply-add = 1", "peak throughput (images/s)"},
        {5, "multiply-add = 1", "practical / peak (%)"},
        {6, "multiply-add = 2", "peak throughput (images/s)"},
        {7, "multiply-add = 2", "practical / peak (%)"},
        {0}};
    struct orch_table *table = orch_table_new(isfinite(p.peak_tflops) ? ratio : practical);
    orch_paleo_spec_headings(table, isfinite(p.peak_tflops) ? of_ratio : of_practical);
    if (ok && fill(&p, table, &problem)) {
        orch_section_table(a->section, table);
        add_answer(&p);
        add_method(&p);
    } else {
        orch_table_free(table);
        orch_section_missing(a->section, NULL, "%s", problem->message);
        g_clear_error(&problem);
    }
    g_ptr_array_unref(p.nets);
    g_array_unref(p.ppps);
    g_array_unref(p.practical);
    g_array_unref(p.times);
    g_array_unref(p.ratios[0]);
    g_array_unref(p.ratios[1]);
    (void)error;
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "nets", .shape = ORCH_SHAPE_TEXTS, .is_required = true},
    {.name = "gpu", .shape = ORCH_SHAPE_TEXT},
    {.name = "batch", .shape = ORCH_SHAPE_COUNT},
    {.name = "ppp", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "peak_tflops", .shape = ORCH_SHAPE_NUMBERS},
    {0}};

const struct orch_report_kind ORCH_REPORT_PALEO = {
    .name = "paleo",
    .keys = KEYS,
    .has_trials = orch_item_without_trials,
    .fill = fill_section,
};
