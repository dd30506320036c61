/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `paleo_hybrid`: hours of a training with hybrid parallelism ("one weird trick",
 * Krizhevsky 2014: some layers are split among the workers, the others are data-parallel) and with
 * data parallelism alone, as PALEO's formulas give them here, beside the published figures. No
 * trial is run for it: orch does not train with split layers. Time is that of passes and
 * communication; PALEO leaves the update out of these figures. */
#include "core/report/items.h"
#include "features/paleo/paleo_spec.h"
#include "features/paleo/paleo_split.h"

#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/steps/from_net.h"

#include <math.h>
#include <string.h>

#define WORKERS_MAX 64
#define DEFAULT_IMAGES 1200000
#define DEFAULT_EPOCHS 90
#define MS_OF_HOUR 3.6e6

enum parallelism { HYBRID, DATA, PARALLELISMS };
static const char *const PARALLEL_NAMES[PARALLELISMS] = {"hybrid", "data"};

struct hours {
    double computed, paleo, measured; /* NaN: none */
};

struct hybrid_item {
    struct orch_section_context *a;
    struct orch_paleo_options options;
    struct orch_layer_table *layers;
    GPtrArray *split; /* char *, NULL-terminated */
    double images, epochs;
    int64_t workers[WORKERS_MAX];
    int count;
    struct hours hours[PARALLELISMS][WORKERS_MAX];
};

/* ---- options of the item --------------------------------------------------------------------- */

static bool read_counts(struct hybrid_item *h, const json_t *spec, GError **error)
{
    h->options = orch_paleo_defaults();
    h->options.batch = (int64_t)orch_paleo_spec_number(spec, "batch", 128);
    h->options.ppp_comp = orch_paleo_spec_number(spec, "ppp", 1);
    h->options.ppp_comm = orch_paleo_spec_number(spec, "ppp_comm", h->options.ppp_comp);
    h->images = orch_paleo_spec_number(spec, "images", DEFAULT_IMAGES);
    h->epochs = orch_paleo_spec_number(spec, "epochs", DEFAULT_EPOCHS);
    g_autoptr(GPtrArray) texts = orch_texts_from_json(json_object_get(spec, "workers"));
    for (guint i = 0; i < texts->len && h->count < WORKERS_MAX; i++)
        h->count += orch_int_parse(texts->pdata[i], &h->workers[h->count]);
    for (int k = 0; k < PARALLELISMS; k++)
        for (int i = 0; i < h->count; i++)
            h->hours[k][i] = (struct hours){(double)NAN, (double)NAN, (double)NAN};
    return orch_paleo_spec_device(orch_json_text(spec, "gpu", "paleo:K20"), &h->options.device,
                                  error) &&
           orch_paleo_spec_link(spec, &h->options, error);
}

/* Reads "hybrid 2 49.57 50.24": parallelism, workers, PALEO's and the measured hours. */
static bool read_published(struct hybrid_item *h, const char *row, GError **error)
{
    g_auto(GStrv) words = g_strsplit(row, " ", -1);
    int64_t workers;
    int kind = 0, at = 0;
    const bool is_complete = g_strv_length(words) == 4 && orch_int_parse(words[1], &workers);
    while (is_complete && kind < PARALLELISMS && strcmp(PARALLEL_NAMES[kind], words[0]) != 0)
        kind++;
    while (is_complete && at < h->count && h->workers[at] != workers)
        at++;
    if (!is_complete || kind == PARALLELISMS || at == h->count) {
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "write hybrid or data, a value of 'workers', PALEO's hours and the measured "
                       "hours, for example: hybrid 2 49.57 50.24",
                       "'published: %s' is not a published row", row);
        return false;
    }
    struct hours *hours = &h->hours[kind][at];
    return orch_paleo_spec_published(words[2], row, &hours->paleo, error) &&
           orch_paleo_spec_published(words[3], row, &hours->measured, error);
}

static bool read_spec(struct hybrid_item *h, GError **error)
{
    const json_t *spec = h->a->item->spec;
    const char *name = orch_json_text(spec, "net", "");
    if (!read_counts(h, spec, error))
        return false;
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, error);
    if (!net)
        return false;
    h->layers = orch_layer_table_from_net(net);
    orch_net_free(net);
    h->split = orch_texts_from_json(json_object_get(spec, "split"));
    g_ptr_array_add(h->split, NULL);
    g_autoptr(GPtrArray) rows = orch_texts_from_json(json_object_get(spec, "published"));
    for (guint i = 0; i < rows->len; i++)
        if (!read_published(h, rows->pdata[i], error))
            return false;
    return true;
}

/* ---- times ----------------------------------------------------------------------------------- */

static double hours_of(const struct hybrid_item *h, double step_ms, int64_t effective_batch)
{
    return h->images * h->epochs / (double)effective_batch * step_ms / MS_OF_HOUR;
}

static bool compute(struct hybrid_item *h, GError **error)
{
    h->options.scaling = ORCH_PALEO_WEAK;
    h->options.scheme = ORCH_PALEO_TREE_ALL_REDUCE;
    for (int i = 0; i < h->count; i++) {
        struct orch_paleo_hybrid_step hybrid;
        struct orch_paleo_step data;
        if (!orch_paleo_hybrid(h->layers, &h->options,
                               (const char *const *)(const void *)h->split->pdata, h->workers[i],
                               &hybrid, error) ||
            !orch_paleo_simulate(h->layers, &h->options, h->workers[i], &data, error))
            return false;
        const double hybrid_ms = hybrid.total_ms - hybrid.data_update_ms - hybrid.split_update_ms;
        h->hours[HYBRID][i].computed = hours_of(h, hybrid_ms, hybrid.effective_batch);
        h->hours[DATA][i].computed =
            hours_of(h, data.total_ms - data.update_ms, data.effective_batch);
    }
    return true;
}

/* ---- the section ----------------------------------------------------------------------------- */

static void add_row(struct orch_table *table, const struct hybrid_item *h, int kind, int i)
{
    const struct hours *here = &h->hours[kind][i], *first = &h->hours[kind][0];
    orch_table_add_int(table, h->workers[i]);
    orch_table_add(table, PARALLEL_NAMES[kind], NULL);
    orch_table_add_real(table, here->computed);
    orch_table_add_real(table, here->paleo);
    orch_table_add_real(table, here->measured);
    orch_table_add_real(table, first->computed / here->computed);
    orch_table_add_real(table, first->paleo / here->paleo);
    orch_table_add_real(table, first->measured / here->measured);
    orch_table_add_real(table, orch_paleo_error_percent(here->computed, here->measured));
    orch_table_add_real(table, orch_paleo_error_percent(here->paleo, here->measured));
}

/* The hours of both kinds of parallelism with most workers, and what the same training needs with
 * the fewest. */
static void add_answer(const struct hybrid_item *h)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const int last = h->count - 1;
    for (int kind = 0; last >= 0 && kind < PARALLELISMS; kind++) {
        const struct hours *hours = h->hours[kind];
        g_autofree char *from = orch_number_format(hours[0].computed);
        g_autofree char *to = orch_number_format(hours[last].computed);
        g_string_append_printf(text,
                               "%s%s parallelism: %s h with %" G_GINT64_FORMAT
                               " worker%s and %s h with %" G_GINT64_FORMAT ", a speedup of %.3g",
                               text->len ? ". " : "", PARALLEL_NAMES[kind], from, h->workers[0],
                               orch_plural(h->workers[0]), to, h->workers[last],
                               hours[0].computed / hours[last].computed);
        if (isfinite(hours[0].measured) && isfinite(hours[last].measured))
            g_string_append_printf(text, " (measured %.3g)",
                                   hours[0].measured / hours[last].measured);
    }
    if (text->len)
        orch_section_answer(h->a->section, "%s", text->str);
}

static void add_notes(const struct hybrid_item *h)
{
    const struct orch_paleo_options *o = &h->options;
    g_autofree char *split = g_strjoinv(", ", (char **)h->split->pdata);
    orch_section_note(h->a->section,
                      "computed: %s on PALEO's %s (%g GFLOP/s, %g GiB/s), %" G_GINT64_FORMAT
                      " images a worker, link %s (%g Gbit/s), PPP %g (computing) and %g "
                      "(communication), tree all-reduce; hybrid splits %s",
                      h->layers->name, o->device.name, o->device.peak_gflops,
                      o->device.bandwidth_gib_s, o->batch, o->network.name, o->network.gbit_s,
                      o->ppp_comp, o->ppp_comm, split);
    orch_section_note(h->a->section,
                      "hours of %g epochs of %g images, without updates of the weights; speedup: "
                      "over the first row of the "
                      "same parallelism; errors: 100 (PALEO - measured) / measured",
                      h->epochs, h->images);
}

static void show(const struct hybrid_item *h)
{
    static const char *const headers[] = {">workers",
                                          "parallelism",
                                          ">PALEO, computed (h)",
                                          ">PALEO, published (h)",
                                          ">measured, published (h)",
                                          ">speedup, computed",
                                          ">speedup, published",
                                          ">speedup, measured",
                                          ">error, computed (%)",
                                          ">error, published (%)",
                                          NULL};
    static const char *const names[] = {"workers",
                                        "parallelism",
                                        "paleo_computed_h",
                                        "paleo_published_h",
                                        "measured_h",
                                        "speedup_computed",
                                        "speedup_published",
                                        "speedup_measured",
                                        "error_computed_percent",
                                        "error_published_percent",
                                        NULL};
    static const struct orch_paleo_heading headings[] = {{2, "time (h)", "PALEO, computed"},
                                                         {3, "time (h)", "PALEO, published"},
                                                         {4, "time (h)", "measured, published"},
                                                         {5, "speedup", "computed"},
                                                         {6, "speedup", "published"},
                                                         {7, "speedup", "measured"},
                                                         {8, "error of PALEO (%)", "computed"},
                                                         {9, "error of PALEO (%)", "published"},
                                                         {0}};
    struct orch_table *table = orch_paleo_spec_table(headers, names);
    orch_paleo_spec_headings(table, headings);
    for (int kind = 0; kind < PARALLELISMS; kind++)
        for (int i = 0; i < h->count; i++)
            add_row(table, h, kind, i);
    orch_section_table(h->a->section, table);
    add_answer(h);
    add_notes(h);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct hybrid_item h = {.a = a};
    g_autoptr(GError) problem = NULL;
    (void)error;
    if (read_spec(&h, &problem) && compute(&h, &problem))
        show(&h);
    else
        orch_section_missing(a->section, NULL, "%s", problem->message);
    if (h.split)
        g_ptr_array_unref(h.split);
    orch_layer_table_free(h.layers);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "net", .shape = ORCH_SHAPE_TEXT, .is_required = true},
    {.name = "split", .shape = ORCH_SHAPE_TEXTS, .is_required = true},
    {.name = "workers", .shape = ORCH_SHAPE_COUNTS, .is_required = true},
    {.name = "gpu", .shape = ORCH_SHAPE_TEXT},
    {.name = "batch", .shape = ORCH_SHAPE_COUNT},
    {.name = "link", .shape = ORCH_SHAPE_TEXT},
    {.name = "ppp", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "ppp_comm", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "images", .shape = ORCH_SHAPE_COUNT},
    {.name = "epochs", .shape = ORCH_SHAPE_COUNT},
    {.name = "published", .shape = ORCH_SHAPE_TEXTS},
    {0}};

const struct orch_report_kind ORCH_REPORT_PALEO_HYBRID = {
    .name = "paleo_hybrid",
    .keys = KEYS,
    .has_trials = orch_item_without_trials,
    .fill = fill,
};
