/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `paleo_passes`: forward pass, backward pass, update and step of networks, as PALEO's
 * formulas give them here, as they were published (computed by PALEO's authors, and measured), and
 * as runs of plugin `layerbench` measured them. One table, so that each figure stands beside the
 * one that it is held against. A measured network is computed with the peaks that its own run
 * measured. */
#include "core/report/items.h"
#include "features/paleo/paleo_spec.h"

#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/steps/from_net.h"

#include <math.h>
#include <string.h>

#define BATCH_MAX 1000000
#define DEFAULT_GPU "paleo:K80"

enum pass { FORWARD, BACKWARD, UPDATE, STEP, PASSES };
static const char *const PASS_NAMES[PASSES + 1] = {"forward", "backward", "update", "step", NULL};
/* results of layerbench: sums over the layers of a network, and the whole step */
static const char *const MEASURED[PASSES] = {"result forward_sum", "result backward_sum",
                                             "result update_time", "result batch_time"};

/* A row of `published`: "alexnet-v2 forward 45.96 44.00". */
struct published {
    char *net;
    enum pass pass;
    double paleo_ms, measured_ms; /* NaN: not published */
};

static void published_clear(gpointer row)
{
    g_free(((struct published *)row)->net);
}

struct passes_item {
    struct orch_section_context *a;
    struct orch_paleo_options options;
    GPtrArray *nets;   /* char * */
    GArray *ppps;      /* double */
    GArray *published; /* struct published */
    struct orch_table *table;
    double computed_sum,
        paleo_sum; /* absolute errors in %, of computed_count and paleo_count passes */
    int computed_count, paleo_count;
};

/* ---- options of the item --------------------------------------------------------------------- */

static bool read_published(struct passes_item *p, const char *row, GError **error)
{
    g_auto(GStrv) words = g_strsplit(row, " ", -1);
    struct published read = {.pass = PASSES};
    const bool is_complete = g_strv_length(words) == 4;
    for (int i = 0; is_complete && PASS_NAMES[i]; i++)
        if (strcmp(PASS_NAMES[i], words[1]) == 0)
            read.pass = (enum pass)i;
    if (read.pass == PASSES) {
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "write NETWORK, then forward, backward, update or step, PALEO's time and "
                       "the measured time in ms, for example: vgg16 forward 435.46 400.46",
                       "'published: %s' is not a published row", row);
        return false;
    }
    if (!orch_paleo_spec_published(words[2], row, &read.paleo_ms, error) ||
        !orch_paleo_spec_published(words[3], row, &read.measured_ms, error))
        return false;
    read.net = g_strdup(words[0]);
    g_array_append_val(p->published, read);
    return true;
}

static bool read_spec(struct passes_item *p, GError **error)
{
    const json_t *spec = p->a->item->spec;
    p->options = orch_paleo_defaults();
    p->options.batch = (int64_t)CLAMP(orch_paleo_spec_number(spec, "batch", 1), 1, BATCH_MAX);
    p->nets = orch_texts_from_json(json_object_get(spec, "nets"));
    p->ppps = orch_paleo_spec_ppps(spec);
    p->published = g_array_new(FALSE, FALSE, sizeof(struct published));
    g_array_set_clear_func(p->published, published_clear);
    g_autoptr(GPtrArray) rows = orch_texts_from_json(json_object_get(spec, "published"));
    for (guint i = 0; i < rows->len; i++)
        if (!read_published(p, rows->pdata[i], error))
            return false;
    return orch_paleo_spec_device(orch_json_text(spec, "gpu", DEFAULT_GPU), &p->options.device,
                                  error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One network on one device at one PPP. */
struct setting {
    const char *net, *device, *by; /* by: who measured */
    int64_t batch;
    double ppp;
    double computed_ms[PASSES], paleo_ms[PASSES], measured_ms[PASSES]; /* NaN: none */
};

static struct setting setting_new(const char *net, const char *device, int64_t batch, double ppp)
{
    struct setting s = {.net = net, .device = device, .by = "-", .batch = batch, .ppp = ppp};
    for (int i = 0; i < PASSES; i++)
        s.computed_ms[i] = s.paleo_ms[i] = s.measured_ms[i] = (double)NAN;
    return s;
}

static void compute(struct setting *s, const struct orch_net *net,
                    const struct orch_paleo_options *options)
{
    struct orch_layer_table *layers = orch_layer_table_from_net(net);
    struct orch_paleo_pass pass = orch_paleo_pass(layers, options, options->batch);
    orch_layer_table_free(layers);
    s->computed_ms[FORWARD] = pass.fwd_ms;
    s->computed_ms[BACKWARD] = pass.bwd_ms;
    s->computed_ms[UPDATE] = pass.update_ms;
    s->computed_ms[STEP] = pass.fwd_ms + pass.bwd_ms + pass.update_ms;
}

static void count_error(double percent, double *sum, int *count)
{
    *sum += isfinite(percent) ? fabs(percent) : 0;
    *count += isfinite(percent);
}

static void add_answer(const struct passes_item *p)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (p->computed_count)
        g_string_append_printf(text,
                               "the mean error of PALEO as computed here is %.3g %% of the "
                               "measured time, for %d measured time%s",
                               p->computed_sum / p->computed_count, p->computed_count,
                               orch_plural(p->computed_count));
    if (p->paleo_count)
        g_string_append_printf(
            text, "%s is %.3g %% of the measured time, for %d measured time%s",
            text->len ? ". As published it" : "the mean error of PALEO as published",
            p->paleo_sum / p->paleo_count, p->paleo_count, orch_plural(p->paleo_count));
    if (text->len)
        orch_section_answer(p->a->section, "%s", text->str);
}

static void add_rows(struct passes_item *p, const struct setting *s)
{
    for (int i = 0; i < PASSES; i++) {
        count_error(orch_paleo_error_percent(s->computed_ms[i], s->measured_ms[i]),
                    &p->computed_sum, &p->computed_count);
        count_error(orch_paleo_error_percent(s->paleo_ms[i], s->measured_ms[i]), &p->paleo_sum,
                    &p->paleo_count);
        const bool is_measured = isfinite(s->measured_ms[i]);
        orch_table_add(p->table, s->net, NULL);
        orch_table_add(p->table, s->device, NULL);
        orch_table_add_int(p->table, s->batch);
        orch_table_add_real(p->table, s->ppp);
        orch_table_add(p->table, PASS_NAMES[i], NULL);
        orch_table_add_real(p->table, s->computed_ms[i]);
        orch_table_add_real(p->table, s->paleo_ms[i]);
        orch_table_add_real(p->table, s->measured_ms[i]);
        orch_table_add(p->table, is_measured ? s->by : "-", NULL);
        orch_table_add_real(p->table,
                            orch_paleo_error_percent(s->computed_ms[i], s->measured_ms[i]));
        orch_table_add_real(p->table, orch_paleo_error_percent(s->paleo_ms[i], s->measured_ms[i]));
    }
}

/* Copies the published figures of the setting's network. */
static void take_published(const struct passes_item *p, struct setting *s)
{
    for (guint i = 0; i < p->published->len; i++) {
        const struct published *row = &g_array_index(p->published, struct published, i);
        if (strcmp(row->net, s->net) != 0)
            continue;
        s->paleo_ms[row->pass] = row->paleo_ms;
        s->measured_ms[row->pass] = row->measured_ms;
        s->by = "published";
    }
}

/* Splits "vgg16 at 64": a network with a batch of its own. The caller frees `out_net`. */
static bool split_batch(const char *text, int64_t *batch, char **out_net, GError **error)
{
    const char *at = strstr(text, " at ");
    *out_net = at ? g_strndup(text, (gsize)(at - text)) : g_strdup(text);
    if (!at || (orch_int_parse(at + strlen(" at "), batch) && *batch >= 1 && *batch <= BATCH_MAX))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'%s': the batch after 'at' is not from 1 to %d",
                   text, BATCH_MAX);
    return false;
}

static bool add_published(struct passes_item *p, GError **error)
{
    for (guint i = 0; i < p->nets->len; i++) {
        g_autofree char *name = NULL;
        int64_t batch = p->options.batch;
        if (!split_batch(p->nets->pdata[i], &batch, &name, error))
            return false;
        struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, error);
        if (!net)
            return false;
        for (guint k = 0; k < p->ppps->len; k++) {
            struct orch_paleo_options options = p->options;
            options.batch = batch;
            options.ppp_comp = g_array_index(p->ppps, double, k);
            struct setting s =
                setting_new(name, options.device.name, options.batch, options.ppp_comp);
            compute(&s, net, &options);
            take_published(p, &s);
            add_rows(p, &s);
        }
        orch_net_free(net);
    }
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Reads one number of a trial; NaN: it has none. */
static bool number_of(const struct orch_trials *trials, struct orch_report_trial *trial,
                      const char *name, double *out, GError **error)
{
    const char *better, *unit;
    g_autoptr(json_t) value = json_string(name);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(value);
    return orch_trial_number(trials, trial, wanted->pdata[0], out, &better, &unit, error);
}

/* The network that a trial timed; NULL with an error. */
static struct orch_net *net_of(const struct orch_trials *trials,
                               const struct orch_report_trial *trial, GError **error)
{
    g_autofree char *name = orch_trial_value(trials, trial, "net");
    g_autofree char *input = orch_trial_value(trials, trial, "input");
    g_autofree char *classes = orch_trial_value(trials, trial, "classes");
    struct orch_net_options options = {.name = name ? name : ""};
    orch_int_parse(classes ? classes : "", &options.classes);
    orch_net_input_parse(input ? input : "", &options);
    return orch_net_make(&options, error);
}

/* Adds the rows of one run. False when the store cannot be read. */
static bool add_run(struct passes_item *p, const struct orch_trials *trials,
                    struct orch_report_trial *trial, GError **error)
{
    double gflop_s, gbyte_s;
    g_autofree char *batch = orch_trial_value(trials, trial, "net_batch");
    g_autofree char *name = orch_trial_value(trials, trial, "net");
    g_autofree char *by = g_strdup_printf("run %s", orch_run_short_key(trial->run->key));
    struct setting s = setting_new(name ? name : "-", trial->run->device_key, 1, 1);
    s.by = by;
    orch_int_parse(batch ? batch : "", &s.batch);
    for (int i = 0; i < PASSES; i++)
        if (!number_of(trials, trial, MEASURED[i], &s.measured_ms[i], error))
            return false;
    if (!number_of(trials, trial, "result peak_gflop_s", &gflop_s, error) ||
        !number_of(trials, trial, "result peak_gbyte_s", &gbyte_s, error))
        return false;
    g_autoptr(GError) problem = NULL;
    struct orch_net *net = net_of(trials, trial, &problem);
    if (!net) {
        orch_section_missing(p->a->section, NULL, "%s: %s", by, problem->message);
    } else if (gflop_s > 0 && gbyte_s > 0) {
        struct orch_paleo_options options = p->options;
        options.device = orch_paleo_spec_measured(s.device, gflop_s, gbyte_s);
        options.batch = CLAMP(s.batch, 1, BATCH_MAX);
        options.ppp_comp = 1;
        compute(&s, net, &options);
    } else {
        orch_section_missing(
            p->a->section, "set 'peak: true' and 'by_layer: true'",
            "%s measured no peak of its device, so PALEO has nothing to compute with", by);
    }
    orch_net_free(net);
    add_rows(p, &s);
    return true;
}

static bool add_runs(struct passes_item *p, GError **error)
{
    if (!json_object_get(p->a->item->spec, "experiments"))
        return true;
    struct orch_trials *trials = orch_section_trials(p->a, "experiments", error);
    bool ok = trials;
    for (guint i = 0; ok && i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        orch_section_trial(p->a->section, trials, trial);
        ok = !trial->run || add_run(p, trials, trial, error);
    }
    if (ok)
        orch_section_add_missing_trials(p->a, trials);
    orch_trials_free(trials);
    return ok;
}

/* ---- the section ----------------------------------------------------------------------------- */

static void add_notes(const struct passes_item *p)
{
    const struct orch_paleo_device *device = &p->options.device;
    orch_section_note(
        p->a->section,
        "computed: by orch with PALEO's formulas. Rows without a run are for %s with %g GFLOP/s "
        "and %g GiB/s; PPP is the share of these peaks that programs reach",
        device->name, device->peak_gflops, device->bandwidth_gib_s);
    orch_section_note(p->a->section, "errors: 100 (PALEO - measured) / measured");
    if (json_object_get(p->a->item->spec, "experiments"))
        orch_section_note(
            p->a->section,
            "rows of a run use the peak FLOP/s and the bandwidth that the run measured. Measured "
            "forward and backward times are sums over layers; the step is timed as a whole");
}

static bool fill(struct orch_section_context *a, GError **error)
{
    static const char *const headers[] = {"network",
                                          "device",
                                          ">batch",
                                          ">PPP",
                                          "pass",
                                          ">PALEO, computed (ms)",
                                          ">PALEO, published (ms)",
                                          ">measured (ms)",
                                          "measured by",
                                          ">error, computed (%)",
                                          ">error, published (%)",
                                          NULL};
    static const char *const names[] = {"network",
                                        "device",
                                        "batch",
                                        "ppp",
                                        "pass",
                                        "paleo_computed_ms",
                                        "paleo_published_ms",
                                        "measured_ms",
                                        "measured_by",
                                        "error_computed_percent",
                                        "error_published_percent",
                                        NULL};
    static const struct orch_paleo_heading headings[] = {{5, "time (ms)", "PALEO, computed"},
                                                         {6, "time (ms)", "PALEO, published"},
                                                         {7, "time (ms)", "measured"},
                                                         {9, "error of PALEO (%)", "computed"},
                                                         {10, "error of PALEO (%)", "published"},
                                                         {0}};
    struct passes_item p = {.a = a, .table = orch_paleo_spec_table(headers, names)};
    orch_paleo_spec_headings(p.table, headings);
    g_autoptr(GError) problem = NULL;
    bool ok = true;
    if (!read_spec(&p, &problem) || !add_published(&p, &problem)) {
        orch_section_missing(a->section, NULL, "%s", problem->message);
        orch_table_free(p.table);
    } else {
        ok = add_runs(&p, error);
        orch_section_table(a->section, p.table);
        add_answer(&p);
        add_notes(&p);
    }
    g_ptr_array_unref(p.nets);
    g_array_unref(p.ppps);
    g_array_unref(p.published);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "nets", .shape = ORCH_SHAPE_TEXTS, .is_required = true},
    {.name = "gpu", .shape = ORCH_SHAPE_TEXT},
    {.name = "batch", .shape = ORCH_SHAPE_COUNT},
    {.name = "ppp", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "published", .shape = ORCH_SHAPE_TEXTS},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

static bool has_trials(const json_t *spec)
{
    return json_object_get(spec, "experiments");
}

const struct orch_report_kind ORCH_REPORT_PALEO_PASSES = {
    .name = "paleo_passes",
    .divides_times = true,
    .keys = KEYS,
    .has_trials = has_trials,
    .fill = fill,
};
