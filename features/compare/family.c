/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/family.h"

#include "core/stats/seeds.h"
#include "features/compare/pooled.h"

#include <math.h>

/* The settings that were measured under one load. */
struct load {
    const GArray **means; /* borrowed */
    size_t count;
    struct orch_pooled pooled;
    double limit; /* of Tukey's test; without a pool unused */
};

struct orch_family {
    GArray **means; /* owned references */
    size_t count;
    struct load loads[2]; /* [0]: undisturbed */
    unsigned *load;       /* [setting]: its load, and its place there */
    size_t *place;
};

struct orch_family *orch_family_new(GArray *const *means, const bool *is_disturbed, size_t count,
                                    const struct orch_best_metric *metric)
{
    struct orch_family *f = g_new0(struct orch_family, 1);
    f->count = count;
    f->means = g_new0(GArray *, count + 1);
    f->load = g_new0(unsigned, count + 1);
    f->place = g_new0(size_t, count + 1);
    for (unsigned l = 0; l < G_N_ELEMENTS(f->loads); l++)
        f->loads[l].means = g_new0(const GArray *, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct load *load = &f->loads[f->load[i] = is_disturbed && is_disturbed[i]];
        f->means[i] = g_array_ref(means[i]);
        f->place[i] = load->count;
        load->means[load->count++] = means[i];
    }
    for (unsigned l = 0; l < G_N_ELEMENTS(f->loads); l++) {
        struct load *load = &f->loads[l];
        load->pooled = orch_pooled_of(load->means, load->count, metric->name, metric->unit);
        load->limit = load->pooled.settings ? orch_pooled_limit(&load->pooled) : (double)NAN;
    }
    return f;
}

void orch_family_free(struct orch_family *f)
{
    if (!f)
        return;
    for (unsigned l = 0; l < G_N_ELEMENTS(f->loads); l++) {
        orch_pooled_clear(&f->loads[l].pooled);
        g_free(f->loads[l].means);
    }
    for (size_t i = 0; i < f->count; i++)
        g_array_unref(f->means[i]);
    g_free(f->means);
    g_free(f->load);
    g_free(f->place);
    g_free(f);
}

static size_t pairs_of(const struct load *load)
{
    return load->count * (load->count - 1) / 2;
}

struct orch_difference orch_family_difference(const struct orch_family *f, size_t a, size_t b)
{
    const struct load *load = &f->loads[f->load[a]];
    const struct orch_pooled *pooled = &load->pooled;
    if (f->load[a] != f->load[b])
        return orch_seed_difference_uneven(f->means[a], f->means[b]);
    if (pooled->settings && pooled->has[f->place[a]] && pooled->has[f->place[b]])
        return orch_pooled_difference(pooled, f->means[a], f->means[b], load->limit);
    struct orch_difference d = orch_seed_difference(f->means[a], f->means[b]);
    orch_difference_allow_for(&d, pairs_of(load));
    return d;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Describes the tests of pairs that are not pooled: "paired t-test of runs with equal seeds". NULL:
 * there are none. */
static const char *pairs_text(const struct orch_difference *shown, size_t count)
{
    bool paired = false, welch = false;
    for (size_t i = 0; i < count; i++) {
        bool is_tested = !isnan(shown[i].p) && !shown[i].is_pooled;
        paired = paired || (is_tested && shown[i].is_paired);
        welch = welch || (is_tested && !shown[i].is_paired);
    }
    return paired && welch ? "paired t-test of runs with equal seeds, or Welch's t-test where "
                             "seeds differ"
           : paired        ? "paired t-test of runs with equal seeds"
           : welch         ? "Welch's t-test"
                           : NULL;
}

static char *pooled_method(const struct load *load, const char *others)
{
    char *text = orch_pooled_text(&load->pooled);
    if (!others)
        return text;
    g_autofree char *pool = text;
    return g_strdup_printf("%s. A setting with another spread is compared by a %s instead, with p "
                           "times the number of pairs (Bonferroni)",
                           pool, others);
}

char *orch_family_method(const struct orch_family *f, size_t a, const struct orch_difference *shown,
                         size_t count)
{
    const struct load *load = &f->loads[f->load[a]];
    const char *test = pairs_text(shown, count);
    bool is_pooled = false;
    for (size_t i = 0; i < count; i++)
        is_pooled = is_pooled || shown[i].is_pooled;
    if (is_pooled)
        return pooled_method(load, test);
    if (!test)
        return NULL;
    if (load->count < 3)
        return g_strdup_printf("from a %s, two-sided", test);
    return g_strdup_printf("corrected for all %zu pairs of %zu settings (Bonferroni: p times the "
                           "number of pairs). The test is a %s, two-sided",
                           pairs_of(load), load->count, test);
}
