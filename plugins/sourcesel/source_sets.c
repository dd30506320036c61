/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/sourcesel/source_sets.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define EXAMPLE "write a name and its classes, e.g. sources: [\"shoes 5 7\", \"tops 0 6\"]"

static void set_free(gpointer pointer)
{
    struct orch_source_set *set = pointer;
    g_free(set->name);
    g_array_unref(set->classes);
    g_free(set);
}

static struct orch_source_set *find_name(const GPtrArray *sets, const char *name)
{
    for (guint i = 0; i < sets->len; i++)
        if (strcmp(((struct orch_source_set *)sets->pdata[i])->name, name) == 0)
            return sets->pdata[i];
    return NULL;
}

int orch_source_sets_find(const GPtrArray *sets, int64_t class_number)
{
    for (guint i = 0; i < sets->len; i++) {
        const struct orch_source_set *set = sets->pdata[i];
        for (guint j = 0; j < set->classes->len; j++)
            if (g_array_index(set->classes, int64_t, j) == class_number)
                return (int)i;
    }
    return -1;
}

static bool refuse(GError **error, const char *hint, char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "sources: %s", what);
    g_free(what);
    return false;
}

/* Adds the classes after the name to the set, which is not yet one of `sets`. */
static bool add_classes(struct orch_source_set *set, char *const *words, const GPtrArray *sets,
                        GError **error)
{
    for (size_t i = 1; words[i]; i++) {
        int64_t number;
        if (!*words[i])
            continue; /* two spaces */
        if (!orch_int_parse(words[i], &number) || number < 0)
            return refuse(
                error, EXAMPLE,
                g_strdup_printf("'%s' of '%s' is not a class number", words[i], set->name));
        for (guint j = 0; j < set->classes->len; j++)
            if (g_array_index(set->classes, int64_t, j) == number)
                return refuse(error, NULL,
                              g_strdup_printf("'%s' names class %d twice", set->name, (int)number));
        const int other = orch_source_sets_find(sets, number);
        if (other >= 0)
            return refuse(error, "list each class in one source only",
                          g_strdup_printf("class %d is in '%s' and in '%s'", (int)number,
                                          ((struct orch_source_set *)sets->pdata[other])->name,
                                          set->name));
        g_array_append_val(set->classes, number);
    }
    return set->classes->len ||
           refuse(error, EXAMPLE, g_strdup_printf("'%s' has no classes", set->name));
}

static bool add_set(GPtrArray *sets, const char *text, GError **error)
{
    g_autofree char *trimmed = g_strstrip(g_strdup(text));
    g_auto(GStrv) words = g_strsplit(trimmed, " ", -1);
    struct orch_source_set *set = g_new0(struct orch_source_set, 1);
    set->name = g_strdup(words[0] ? words[0] : "");
    set->classes = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bool ok = *set->name || refuse(error, EXAMPLE, g_strdup("a set has no name"));
    if (ok && find_name(sets, set->name))
        ok = refuse(error, NULL, g_strdup_printf("'%s' occurs twice", set->name));
    ok = ok && add_classes(set, words, sets, error);
    if (ok)
        g_ptr_array_add(sets, set);
    else
        set_free(set);
    return ok;
}

/* Keeps the sets that `use` names, in its order. */
static bool choose(GPtrArray *sets, const struct orch_list *use, GError **error)
{
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (size_t i = 0; i < use->count; i++) {
        const char *name = ((const char *const *)use->items)[i];
        struct orch_source_set *set = find_name(sets, name);
        if (!set) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "use names of the list 'sources'",
                           "'use': there is no source '%s'", name);
            return false;
        }
        if (g_ptr_array_find(chosen, set, NULL)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'use': '%s' occurs twice", name);
            return false;
        }
        g_ptr_array_add(chosen, set);
    }
    for (guint i = 0; i < sets->len; i++)
        if (!g_ptr_array_find(chosen, sets->pdata[i], NULL))
            set_free(sets->pdata[i]);
    g_ptr_array_set_free_func(sets, NULL);
    g_ptr_array_set_size(sets, 0);
    g_ptr_array_extend(sets, chosen, NULL, NULL);
    g_ptr_array_set_free_func(sets, set_free);
    return true;
}

GPtrArray *orch_source_sets_parse(const struct orch_list *texts, const struct orch_list *use,
                                  GError **error)
{
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(set_free);
    if (!texts->count) {
        refuse(error, EXAMPLE, g_strdup("the list is empty"));
        return NULL;
    }
    if (texts->count > ORCH_SOURCE_SETS_MAX) {
        refuse(error, NULL,
               g_strdup_printf("%zu sets are too many: at most %d are possible", texts->count,
                               ORCH_SOURCE_SETS_MAX));
        return NULL;
    }
    for (size_t i = 0; i < texts->count; i++)
        if (!add_set(sets, ((const char *const *)texts->items)[i], error))
            return NULL;
    if (use->count && !choose(sets, use, error))
        return NULL;
    return g_steal_pointer(&sets);
}

GArray *orch_source_sets_classes(const GPtrArray *sets)
{
    GArray *classes = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < sets->len; i++) {
        const struct orch_source_set *set = sets->pdata[i];
        g_array_append_vals(classes, set->classes->data, set->classes->len);
    }
    return classes;
}
