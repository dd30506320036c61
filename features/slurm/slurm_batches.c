/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes arrays out of the trials that can be submitted: one for trials with equal options and
 * dependencies, cut at the cluster's MaxArraySize. */
#include "features/slurm/slurm_private.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

static void free_batch(void *pointer)
{
    struct slurm_batch *batch = pointer;
    g_array_unref(batch->elements);
    g_ptr_array_unref(batch->options);
    g_free(batch->dependency);
    g_free(batch);
}

void orch_slurm_ready_free(void *pointer)
{
    struct slurm_ready *ready = pointer;
    g_ptr_array_unref(ready->options);
    g_array_unref(ready->deps);
    g_free(ready->same);
    g_free(ready->deps_text);
    g_free(ready);
}

static char *places_text(const GArray *deps)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < deps->len; i++) {
        const struct slurm_place *place = &g_array_index(deps, struct slurm_place, i);
        g_autofree char *element =
            g_strdup_printf("%" G_GINT64_FORMAT "_%u", place->job, place->index);
        if (!strstr(text->str, element))
            g_string_append_printf(text, "%s%s", text->len ? ":" : "", element);
    }
    return g_string_free(text, FALSE);
}

static unsigned ranks_of(const struct slurm_submitter *s, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    if (!experiment->manifest->needs.mpi)
        return 0;
    g_autoptr(json_t) cost =
        orch_plugins_cost(s->plan->plugins, experiment->manifest, item->cell->params, NULL);
    return orch_experiment_ranks(experiment, cost);
}

struct slurm_ready *orch_slurm_ready_new(const struct slurm_submitter *s, unsigned index,
                                         GArray *deps, int64_t memory_bytes)
{
    const struct orch_plan_item *item = &s->plan->items[index];
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_slurm_settings *settings = orch_slurm_settings_of(s->plan->expansion);
    const struct orch_forecaster *forecaster = s->options->forecaster;
    struct orch_forecast forecast;
    bool is_known = forecaster && forecaster->forecast(forecaster->ctx, item, &forecast);
    struct slurm_ready *ready = g_new0(struct slurm_ready, 1);
    ready->item = index;
    ready->deps = g_array_ref(deps);
    ready->deps_text = places_text(deps);
    ready->expected = (struct slurm_expected){.time_s = {NAN, NAN, NAN}, .p95_bytes = memory_bytes};
    if (is_known)
        ready->expected.time_s = forecast.time_s;
    orch_slurm_request_make(settings, experiment, ready->expected.time_s.high, memory_bytes,
                            &ready->request);
    ready->options = orch_slurm_options(settings, experiment, ranks_of(s, item));
    g_ptr_array_add(ready->options, NULL);
    ready->same = g_strjoinv(" ", (char **)ready->options->pdata);
    g_ptr_array_set_size(ready->options, (int)ready->options->len - 1);
    return ready;
}

/* The dependency of a trial and its index in the array. Of trials that each depend on one element
 * of an array, and on which nobody else depends, the indices are those of these elements
 * (aftercorr). Else the trials that depend on the same elements become an array (afterok). */
static char *dependency_of(const struct slurm_ready *ready, GHashTable *users, int *out_index)
{
    *out_index = -1;
    if (!*ready->deps_text)
        return NULL;
    g_autofree char *user = g_strconcat(ready->same, "|", ready->deps_text, NULL);
    bool is_alone = GPOINTER_TO_UINT(g_hash_table_lookup(users, user)) == 1;
    if (!is_alone || strchr(ready->deps_text, ':'))
        return g_strdup_printf("afterok:%s", ready->deps_text);
    const struct slurm_place *place = &g_array_index(ready->deps, struct slurm_place, 0);
    *out_index = (int)place->index;
    return g_strdup_printf("aftercorr:%" G_GINT64_FORMAT, place->job);
}

/* Adds a trial to the batch of its options and dependency, which it makes when there is none yet.
 */
static void add_to_batch(struct slurm_ready *ready, GHashTable *users, GPtrArray *batches,
                         GHashTable *by_text)
{
    int index;
    g_autofree char *dependency = dependency_of(ready, users, &index);
    char *text = g_strconcat(ready->same, "|", dependency ? dependency : "", NULL);
    struct slurm_batch *batch = g_hash_table_lookup(by_text, text);
    if (!batch) {
        batch = g_new0(struct slurm_batch, 1);
        batch->elements = g_array_new(FALSE, TRUE, sizeof(struct slurm_element));
        batch->options = g_ptr_array_ref(ready->options);
        batch->dependency = g_steal_pointer(&dependency);
        batch->request = ready->request;
        g_ptr_array_add(batches, batch);
        g_hash_table_insert(by_text, text, batch);
    } else {
        g_free(text);
        orch_slurm_request_join(&batch->request, &ready->request);
    }
    struct slurm_element element = {.item = ready->item,
                                    .expected = ready->expected,
                                    .index = index >= 0 ? (unsigned)index : batch->elements->len};
    g_array_append_val(batch->elements, element);
}

static int compare_elements(const void *a, const void *b)
{
    const struct slurm_element *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Submits a batch in arrays of at most the cluster's size, whose indices start at 0 again. */
static bool submit_batch(struct slurm_submitter *s, const struct slurm_batch *batch, GError **error)
{
    g_array_sort(batch->elements, compare_elements);
    bool keeps_indices = batch->dependency && g_str_has_prefix(batch->dependency, "aftercorr");
    for (guint from = 0; from < batch->elements->len; from += s->array_size) {
        guint count = MIN(s->array_size, batch->elements->len - from);
        struct slurm_batch part = {.dependency = batch->dependency, .request = batch->request};
        part.options = g_ptr_array_copy(batch->options, (GCopyFunc)(void *)g_strdup, NULL);
        g_ptr_array_set_free_func(part.options, g_free);
        part.elements = g_array_sized_new(FALSE, TRUE, sizeof(struct slurm_element), count);
        g_array_append_vals(part.elements,
                            &g_array_index(batch->elements, struct slurm_element, from), count);
        for (guint i = 0; !keeps_indices && i < count; i++)
            g_array_index(part.elements, struct slurm_element, i).index = i;
        orch_slurm_options_add(part.options, orch_slurm_settings_of(s->plan->expansion),
                               &part.request);
        bool ok = orch_slurm_batch_submit(s, &part, error);
        g_array_unref(part.elements);
        g_ptr_array_unref(part.options);
        if (!ok)
            return false;
    }
    return true;
}

bool orch_slurm_round_submit(struct slurm_submitter *s, const GPtrArray *all, GError **error)
{
    g_autoptr(GHashTable) users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) batches = g_ptr_array_new_with_free_func(free_batch);
    for (guint i = 0; i < all->len; i++) {
        const struct slurm_ready *ready = all->pdata[i];
        char *user = g_strconcat(ready->same, "|", ready->deps_text, NULL);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(users, user));
        g_hash_table_insert(users, user, GUINT_TO_POINTER(count + 1));
    }
    for (guint i = 0; i < all->len; i++)
        add_to_batch(all->pdata[i], users, batches, by_text);
    bool ok = true;
    for (guint i = 0; ok && i < batches->len; i++)
        ok = submit_batch(s, batches->pdata[i], error);
    return ok;
}
