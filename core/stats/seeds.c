/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/seeds.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

bool orch_is_seed_name(const char *name)
{
    static const char *const names[] = {"seed", "randomseed", "manualseed", "rngseed"};
    char letters[16];
    size_t length = 0;
    for (; *name; name++) {
        if (*name == '_' || *name == '-' || *name == '.')
            continue;
        if (length + 1 == sizeof letters)
            return false;
        letters[length++] = g_ascii_tolower(*name);
    }
    letters[length] = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i], letters) == 0)
            return true;
    return false;
}

void orch_seed_names_remove(json_t *params)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(params, next, name, value) if (orch_is_seed_name(name))
        json_object_del(params, name);
}

uint64_t orch_run_seed(const struct orch_run *run, const json_t *params)
{
    const uint64_t above_numbers = UINT64_C(1) << 63;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        if (!orch_is_seed_name(name) || !(json_is_string(value) || json_is_number(value)))
            continue;
        g_autofree char *text =
            json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
        guint64 number = 0;
        bool is_whole = g_ascii_string_to_unsigned(text, 10, 0, above_numbers - 2, &number, NULL);
        return is_whole ? number + 1 : above_numbers + g_str_hash(text);
    }
    return run->seed;
}

static const struct orch_seed_mean *mean_at(const GArray *means, guint i)
{
    return &g_array_index(means, struct orch_seed_mean, i);
}

GArray *orch_seed_means(const GArray *numbers, const GArray *seeds)
{
    GArray *means = g_array_new(FALSE, FALSE, sizeof(struct orch_seed_mean));
    g_autoptr(GHashTable) places = g_hash_table_new(g_int64_hash, g_int64_equal); /* index + 1 */
    for (guint i = 0; i < numbers->len; i++) {
        double value = g_array_index(numbers, double, i);
        uint64_t *seed = &g_array_index(seeds, uint64_t, i);
        if (isnan(value))
            continue;
        guint place = *seed ? GPOINTER_TO_UINT(g_hash_table_lookup(places, seed)) : 0;
        if (place) {
            struct orch_seed_mean *mean = &g_array_index(means, struct orch_seed_mean, place - 1);
            mean->value += value;
            mean->runs++;
            continue;
        }
        struct orch_seed_mean first = {*seed, value, 1};
        g_array_append_val(means, first);
        g_hash_table_insert(places, seed, GUINT_TO_POINTER(means->len));
    }
    for (guint i = 0; i < means->len; i++) {
        struct orch_seed_mean *mean = &g_array_index(means, struct orch_seed_mean, i);
        mean->value /= mean->runs;
    }
    return means;
}

const struct orch_seed_mean *orch_seed_mean_find(const GArray *means, uint64_t seed)
{
    for (guint i = 0; i < means->len; i++)
        if (mean_at(means, i)->seed == seed)
            return mean_at(means, i);
    return NULL;
}

GArray *orch_seed_values(const GArray *means)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < means->len; i++)
        g_array_append_val(values, g_array_index(means, struct orch_seed_mean, i).value);
    return values;
}

/* Returns the values of b in the order of a's seeds; NULL when the two sides have different seeds.
 */
static GArray *partners(const GArray *a, const GArray *b)
{
    g_autoptr(GHashTable) places = g_hash_table_new(g_int64_hash, g_int64_equal);
    GArray *out = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < b->len; i++)
        if (mean_at(b, i)->seed)
            g_hash_table_insert(places, (gpointer)(uintptr_t)&mean_at(b, i)->seed,
                                (gpointer)(uintptr_t)mean_at(b, i));
    for (guint i = 0; a->len == b->len && i < a->len; i++) {
        const struct orch_seed_mean *partner = g_hash_table_lookup(places, &mean_at(a, i)->seed);
        if (partner)
            g_array_append_val(out, partner->value);
    }
    if (out->len == a->len && out->len >= 2)
        return out;
    g_array_unref(out);
    return NULL;
}

struct orch_difference orch_seed_difference(const GArray *a, const GArray *b)
{
    g_autoptr(GArray) x = orch_seed_values(a), y = partners(a, b);
    const double *first = (const double *)(void *)x->data;
    if (y)
        return orch_difference_paired(first, (const double *)(void *)y->data, y->len);
    y = orch_seed_values(b);
    return orch_difference_welch(first, x->len, (const double *)(void *)y->data, y->len);
}

bool orch_seed_means_differ(const GArray *a, const GArray *b, size_t choices)
{
    struct orch_difference d = orch_seed_difference(a, b);
    orch_difference_allow_for(&d, choices);
    return isnan(d.p) ? d.mean.mid < 0 || d.mean.mid > 0 : d.is_more_than_noise;
}

struct orch_difference orch_seed_difference_uneven(const GArray *a, const GArray *b)
{
    struct orch_difference d = orch_seed_difference(a, b);
    d.mean.low = d.mean.high = d.p = d.p_corrected = (double)NAN;
    d.is_more_than_noise = false;
    d.is_uneven = true;
    return d;
}
