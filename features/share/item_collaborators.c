/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `collaborators`: other users' runs in the report. It is computed after all other
 * sections, because it lists the runs that they use. */
#include "core/report/items.h"

#include <string.h>

/* The runs of one user in one experiment (and with one value of the axes). */
struct share {
    char *who, *experiment, *device, *place; /* place: the labels of `by`, or NULL */
    GPtrArray *labels;                       /* char *, borrowed from the sections */
};

static void free_share(gpointer pointer)
{
    struct share *share = pointer;
    g_free(share->who);
    g_free(share->experiment);
    g_free(share->device);
    g_free(share->place);
    g_ptr_array_unref(share->labels);
    g_free(share);
}

static struct share *share_of(GPtrArray *shares, const struct orch_section_run *run,
                              const char *place)
{
    for (guint i = 0; i < shares->len; i++) {
        struct share *share = shares->pdata[i];
        if ((g_strcmp0(share->who, run->who) == 0 || orch_who_is_same(share->who, run->who)) &&
            g_strcmp0(share->experiment, run->experiment) == 0 &&
            g_strcmp0(share->device, run->device_key) == 0 && g_strcmp0(share->place, place) == 0)
            return share;
    }
    struct share *share = g_new0(struct share, 1);
    *share = (struct share){g_strdup(run->who), g_strdup(run->experiment),
                            g_strdup(run->device_key), g_strdup(place), g_ptr_array_new()};
    g_ptr_array_add(shares, share);
    return share;
}

/* Returns the run's values of the item's `by`; NULL when the item has no `by`. */
static char *place_of(const struct orch_section_context *a, const GPtrArray *axes,
                      const struct orch_section_run *run)
{
    struct orch_run *stored =
        axes->len && a->plan->store ? orch_store_run(a->plan->store, run->key, NULL) : NULL;
    if (!stored)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = orch_run_field(a->plan->store, stored, axes->pdata[i]);
        g_string_append_printf(text, "%s%s", i ? " " : "", value ? value : "-");
    }
    orch_run_free(stored);
    return g_string_free(text, FALSE);
}

static bool is_meant(const GPtrArray *experiments, const struct orch_section_run *run)
{
    for (guint i = 0; i < experiments->len; i++)
        if (g_strcmp0(experiments->pdata[i], run->experiment) == 0)
            return true;
    return !experiments->len;
}

static void add_run(struct orch_section_context *a, GPtrArray *shares, const GPtrArray *axes,
                    const struct orch_section_run *run)
{
    g_autofree char *place = place_of(a, axes, run);
    const char *label = run->label ? run->label : orch_run_short_key(run->key);
    size_t name = run->experiment ? strlen(run->experiment) : 0;
    bool repeats_name = name && strncmp(label, run->experiment, name) == 0 && label[name] == ' ';
    g_ptr_array_add(share_of(shares, run, place)->labels,
                    (char *)(uintptr_t)(repeats_name ? label + name + 1 : label));
    orch_section_run_add(a->section, run);
}

/* Collects every other user's run that a section uses, once. */
static GPtrArray *shares_of(struct orch_section_context *a, const GPtrArray *axes)
{
    const json_t *spec = a->item ? a->item->spec : NULL;
    g_autoptr(GPtrArray) experiments = orch_texts_from_json(json_object_get(spec, "experiments"));
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *shares = g_ptr_array_new_with_free_func(free_share);
    for (guint i = 0; i < a->document->sections->len; i++) {
        const struct orch_section *section = a->document->sections->pdata[i];
        for (guint j = 0; section != a->section && j < section->runs->len; j++) {
            const struct orch_section_run *run = section->runs->pdata[j];
            if (!run->is_ours && is_meant(experiments, run) && g_hash_table_add(seen, run->key))
                add_run(a, shares, axes, run);
        }
    }
    return shares;
}

static struct orch_table *make_table(const GPtrArray *shares, const GPtrArray *axes)
{
    g_autofree char *by = orch_names_joined(axes);
    const char *const plain[] = {"who", "experiment", ">runs", "which", "device", NULL};
    const char *const with_axes[] = {"who", "experiment", by, ">runs", "which", "device", NULL};
    struct orch_table *table = orch_table_new(axes->len ? with_axes : plain);
    for (guint i = 0; i < shares->len; i++) {
        const struct share *share = shares->pdata[i];
        g_autofree char *labels = orch_names_joined(share->labels);
        orch_table_add_who(table, share->who);
        orch_table_add(table, share->experiment, NULL);
        if (axes->len)
            orch_table_add(table, share->place ? share->place : "-", NULL);
        orch_table_add_int(table, share->labels->len);
        orch_table_add(table, labels, NULL);
        orch_table_add(table, share->device ? share->device : "-", NULL);
    }
    return table;
}

static bool any_runs(const struct orch_document *document)
{
    for (guint i = 0; i < document->sections->len; i++)
        if (((const struct orch_section *)document->sections->pdata[i])->runs->len)
            return true;
    return false;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    (void)error;
    const json_t *spec = a->item ? a->item->spec : NULL;
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(spec, "by"));
    g_autoptr(GPtrArray) shares = shares_of(a, axes);
    a->section->done = a->section->planned = a->section->runs->len;
    if (!any_runs(a->document))
        orch_section_text(a->section, "this report uses no run yet");
    else if (shares->len)
        orch_section_table(a->section, make_table(shares, axes));
    else if (a->options->who)
        orch_section_text(a->section, "all runs of this report were made by %s", a->options->who);
    else
        orch_section_text(a->section, "it is not known which of the runs are yours");
    return true;
}

static bool uses_others(const struct orch_document *document)
{
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint j = 0; j < section->runs->len; j++)
            if (!((const struct orch_section_run *)section->runs->pdata[j])->is_ours)
                return true;
    }
    return false;
}

/* A report that uses other users' runs names them, asked or not. */
static const char *joins(const struct orch_document *document)
{
    return uses_others(document) ? "Runs made by others" : NULL;
}

static const struct orch_report_key KEYS[] = {
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_COLLABORATORS = {
    .name = "collaborators",
    .keys = KEYS,
    .may_be_bare = true,
    .fill = fill,
    .joins = joins,
};
