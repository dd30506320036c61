/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `roofline`: layers that runs of plugin `layerbench` measured, below the roofs of the
 * device on which each ran. */
#include "core/report/answer.h"
#include "core/report/items.h"
#include "features/paleo/roofline_chart.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/hardware.h"

#include <math.h>
#include <string.h>

#define ROWS_MOST 10 /* layers in the table: those that take longest */

struct roofline_item {
    struct orch_section_context *a;
    struct orch_hardware *hardware;
    const char *artifact;
    GArray *shares; /* of the roof in %, the shown layers of all runs */
};

/* The device of a run in the hardware tables; NULL with the reason in `out_why`. */
static const struct orch_gpu_spec *device_of(const struct roofline_item *item,
                                             const struct orch_run *run, char **out_why)
{
    struct orch_device_parts parts = orch_device_key_parse(run->device_key);
    const struct orch_gpu_spec *found = NULL;
    if (parts.gpu_share < 1) {
        *out_why = g_strdup("it shared its GPU with other trials");
    } else if (parts.gpus) {
        found = orch_hardware_gpu(item->hardware, parts.device, NULL);
        if (!found)
            *out_why = g_strdup_printf("GPU '%s' is not in the table of GPUs", parts.device);
    } else if (g_strcmp0(run->machine_key, orch_workspace_machine_key(item->a->plan->workspace))) {
        *out_why = g_strdup("it ran on another machine's CPU, whose peaks are not known here");
    } else {
        found = orch_hardware_gpu(item->hardware, "here", NULL);
        if (!found)
            *out_why = g_strdup("this machine's peaks are not known: run 'orch doctor --bench'");
    }
    g_free(parts.device);
    return found;
}

static int compare_times(const void *a, const void *b)
{
    double x = ((const struct orch_roofline_dot *)a)->s,
           y = ((const struct orch_roofline_dot *)b)->s;
    return (x < y) - (x > y);
}

static void add_table(const struct roofline_item *item, const char *label, const GArray *dots,
                      const struct orch_roofline_roofs *roofs, enum orch_precision precision)
{
    static const char *const headers[] = {"layer",      "kind",
                                          ">time (ms)", ">FLOP/byte",
                                          ">GFLOP/s",   ">roof (GFLOP/s)",
                                          "bound",      ">share of the roof (%)",
                                          NULL};
    struct orch_table *table = orch_table_new(headers);
    double ridge = roofs->peaks[precision].rate / roofs->memory.rate;
    for (guint i = 0; i < MIN(dots->len, (guint)ROWS_MOST); i++) {
        const struct orch_roofline_dot *dot = &g_array_index(dots, struct orch_roofline_dot, i);
        double intensity = dot->flops / dot->bytes, rate = dot->flops / dot->s;
        double roof = orch_roofline_attainable(roofs, precision, intensity);
        orch_table_add(table, dot->name, NULL);
        orch_table_add(table, dot->kind, NULL);
        orch_table_add_real(table, 1e3 * dot->s);
        orch_table_add_real(table, intensity);
        orch_table_add_real(table, rate / 1e9);
        orch_table_add_real(table, roof / 1e9);
        orch_table_add(table, intensity < ridge ? "memory" : "compute", NULL);
        orch_table_add_real(table, 100 * rate / roof);
        g_autofree char *name = g_strdup_printf("%s, %s", label, dot->name);
        orch_answer_entries_add(item->shares, name, 100 * rate / roof, (double)NAN, (double)NAN);
    }
    orch_section_table(item->a->section, table);
}

/* Draws the layers of one run. False when it left no table of them. */
static bool show(const struct roofline_item *item, const struct orch_trials *trials,
                 const struct orch_report_trial *trial, const char *label)
{
    struct orch_section *section = item->a->section;
    enum orch_precision precision = ORCH_FP32;
    g_autofree char *why = NULL;
    g_autofree char *said = orch_trial_value(trials, trial, "precision");
    g_autoptr(GArray) dots = orch_roofline_dots_new();
    if (!orch_roofline_dots_add_run(dots, trials->store, trial->run, item->artifact, NULL))
        return false;
    const struct orch_gpu_spec *device = device_of(item, trial->run, &why);
    if (!device) {
        orch_section_missing(section, NULL, "%s, run %s: %s", label,
                             orch_run_short_key(trial->run->key), why);
        return true;
    }
    if (said)
        orch_precision_find(said, &precision);
    struct orch_roofline_roofs roofs = orch_roofline_roofs_of(device);
    g_autofree char *title =
        g_strdup_printf("%s on %s, %s", label, device->name, orch_precision_names()[precision]);
    g_array_sort(dots, compare_times);
    struct orch_chart *chart = orch_roofline_chart(title, &roofs, precision, dots);
    if (chart) {
        orch_section_chart(section, chart);
        add_table(item, label, dots, &roofs, precision);
        orch_section_note(section, "%s, run %s: the %u slowest of %u layers", label,
                          orch_run_short_key(trial->run->key), MIN(dots->len, (guint)ROWS_MOST),
                          dots->len);
    } else {
        orch_section_missing(section, NULL, "%s: '%s' has no known bandwidth or peak at %s", label,
                             device->name, orch_precision_names()[precision]);
    }
    orch_roofline_roofs_release(&roofs);
    return true;
}

static void add_answer(const struct roofline_item *item)
{
    g_autoptr(GString) text = g_string_new(NULL);
    orch_answer_entries_append(text, item->shares, "share of the rate that the roofline allows",
                               "%");
    if (text->len)
        orch_section_answer(item->a->section, "%s", text->str);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GArray) shares = orch_answer_entries_new();
    struct roofline_item item = {
        .a = a, .shares = shares, .artifact = orch_json_text(a->item->spec, "artifact", "rows")};
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    if (!axes->len)
        g_ptr_array_add(axes, g_strdup("net"));
    item.hardware = orch_hardware_load(error);
    struct orch_trials *trials =
        item.hardware ? orch_section_trials(a, "experiments", error) : NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool ok = trials != NULL;
    for (guint i = 0; ok && i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (trial->item &&
            !orch_manifest_artifact(trial->item->cell->experiment->manifest, item.artifact))
            continue;
        orch_section_trial(a->section, trials, trial);
        g_autofree char *label = orch_trial_label(trials, trial, axes);
        if (!label)
            label = g_strdup("layers");
        if (trial->run && !g_hash_table_contains(seen, label) && show(&item, trials, trial, label))
            g_hash_table_add(seen, g_steal_pointer(&label));
    }
    add_answer(&item);
    if (ok && a->section->done && !g_hash_table_size(seen))
        orch_section_missing(a->section, NULL,
                             "no run of this item has measured layers here (artifact '%s')",
                             item.artifact);
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    orch_hardware_free(item.hardware);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "artifact", .shape = ORCH_SHAPE_ARTIFACT},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_ROOFLINE = {
    .name = "roofline",
    .keys = KEYS,
    .may_be_bare = true,
    .fill = fill,
};
