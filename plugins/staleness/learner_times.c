/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/staleness/learner_times.h"

#include "lib/base/error.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>

/* Bounds that keep sums of times within 64 bits of nanoseconds: 100,000 gradients of at most
 * 13,000 s. */
#define MEAN_MOST_S 1e3
#define DRAWN_MOST_NS 1e13
#define MOMENT_MOST_S 1e6
#define MOMENTS_MOST 10000

/* ---- times that are given ---------------------------------------------------------------------
 */

static bool parse_moments(const char *text, int learner, GArray *out, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " ,", -1);
    int64_t last_ns = 0;
    for (char **word = words; *word; word++) {
        char *end;
        const double moment_s = g_ascii_strtod(*word, &end);
        const int64_t moment_ns =
            moment_s > 0 && moment_s <= MOMENT_MOST_S ? llround(moment_s * 1e9) : 0;
        if (!**word)
            continue;
        if (*end || moment_ns <= last_ns || out->len == MOMENTS_MOST) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "write at most 10000 ascending seconds up to 1000000: \"1 2 3 4\"",
                           "times of learner %d: '%s' is not a number above the one before it",
                           learner + 1, *word);
            return false;
        }
        const int64_t duration_ns = moment_ns - last_ns;
        g_array_append_val(out, duration_ns);
        last_ns = moment_ns;
    }
    if (out->len)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "leave out a learner that has no gradients",
                   "the times of learner %d are empty", learner + 1);
    return false;
}

static int64_t listed_ns(void *ctx, int learner, int64_t gradient)
{
    const struct orch_staleness_settings *s = ctx;
    const GArray *list = s->lists->pdata[learner];
    return gradient < list->len ? g_array_index(list, int64_t, gradient) : -1;
}

static bool make_lists(const struct staleness_params *p, struct orch_staleness_settings *s,
                       GError **error)
{
    const char *const *texts = p->times.items;
    if (p->speeds.count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "leave one of the two out",
                       "parameter 'times' excludes 'speeds'");
        return false;
    }
    s->lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (size_t i = 0; i < p->times.count; i++) {
        GArray *list = g_array_new(FALSE, FALSE, sizeof(int64_t));
        g_ptr_array_add(s->lists, list);
        if (!parse_moments(texts[i], (int)i, list, error))
            return false;
    }
    s->model.gradient_ns = listed_ns;
    return true;
}

/* ---- times that are drawn ---------------------------------------------------------------------
 */

/* Standard normal (Box and Muller 1958, one of the pair). */
static double draw_normal(uint64_t *random)
{
    const double radius = sqrt(-2 * log1p(-orch_random_unit(random)));
    return radius * cos(2 * G_PI * orch_random_unit(random));
}

/* Lognormal with mean 1 and the coefficient of variation `variation`. */
static double draw_lognormal(uint64_t *random, double variation)
{
    const double variance = log1p(variation * variation);
    return exp(sqrt(variance) * draw_normal(random) - variance / 2);
}

static int64_t drawn_ns(void *ctx, int learner, int64_t gradient)
{
    struct orch_staleness_settings *s = ctx;
    uint64_t *random = &s->random[learner];
    double factor = 1;
    (void)gradient;
    if (strcmp(s->distribution, "exponential") == 0)
        factor = -log1p(-orch_random_unit(random));
    else if (strcmp(s->distribution, "lognormal") == 0)
        factor = draw_lognormal(random, s->variation);
    return llround(CLAMP(factor * s->mean_ns[learner], 1, DRAWN_MOST_NS));
}

static bool make_drawn(const struct staleness_params *p, uint64_t seed,
                       struct orch_staleness_settings *s, GError **error)
{
    const double *speeds = p->speeds.items;
    s->mean_ns = g_new0(double, p->learners);
    s->random = g_new0(uint64_t, p->learners);
    s->distribution = p->distribution;
    s->variation = p->variation;
    s->model.gradient_ns = drawn_ns;
    for (int64_t i = 0; i < p->learners; i++) {
        s->random[i] = orch_random_stream_of(seed, (uint64_t)i, 0);
        double speed = p->speeds.count ? speeds[i] : 1;
        if (p->speed_variation > 0)
            speed *= draw_lognormal(&s->random[i], p->speed_variation);
        const double mean_s = p->gradient_time / speed;
        if (!(mean_s <= MEAN_MOST_S)) {
            orch_error_set(
                error, ORCH_ERROR_RECIPE, "give a shorter 'gradient_time'",
                "learner %d takes %g s for a gradient on average, but at most %g s are possible",
                (int)i + 1, mean_s, MEAN_MOST_S);
            return false;
        }
        s->mean_ns[i] = mean_s * 1e9;
    }
    return true;
}

/* ---- public -----------------------------------------------------------------------------------
 */

static bool counts_agree(const struct staleness_params *p, GError **error)
{
    const size_t given = p->times.count ? p->times.count : p->speeds.count;
    if (!given || (int64_t)given == p->learners)
        return true;
    g_autofree char *hint = g_strdup_printf("set learners: %zu", given);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint,
                   "'%s' has the values of %zu learners, but 'learners' is %d",
                   p->times.count ? "times" : "speeds", given, (int)p->learners);
    return false;
}

static enum orch_staleness_mode mode_of(const char *name)
{
    const char *const *names = STALENESS_MODES;
    int mode = 0;
    while (strcmp(names[mode], name) != 0)
        mode++;
    return (enum orch_staleness_mode)mode;
}

bool orch_staleness_settings_make(const struct staleness_params *p, uint64_t seed,
                                  struct orch_staleness_settings *out, GError **error)
{
    *out = (struct orch_staleness_settings){
        .model = {.mode = mode_of(p->mode),
                  .learners = (int)p->learners,
                  .bound = p->bound,
                  .gradients = p->times.count ? INT64_MAX : p->gradients,
                  .pull_ns = llround(p->pull_time * 1e9),
                  .push_ns = llround(p->push_time * 1e9),
                  .update_ns = llround(p->update_time * 1e9),
                  .ctx = out},
    };
    return counts_agree(p, error) &&
           (p->times.count ? make_lists(p, out, error) : make_drawn(p, seed, out, error));
}

void orch_staleness_settings_clear(struct orch_staleness_settings *s)
{
    if (s->lists)
        g_ptr_array_unref(s->lists);
    g_free(s->mean_ns);
    g_free(s->random);
    *s = (struct orch_staleness_settings){0};
}
