/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the next measurement of a change point. The expected information of a place is the mutual
 * information of where the step is and of the value that would be measured there. */
#include "features/bisect/change_point.h"

#include <glib.h>
#include <math.h>

/* Below this probability of no step the ends differ, and the places between them are measured. By
 * Ville's inequality at most so many paths without a step get there, however often one looks. */
#define NONE_LEAST 0.05
/* Above this one the ends do not differ. */
#define NONE_MOST 0.8
#define END_LEAST 4            /* measurements of an end before that is said */
#define CASE_LEAST 0.004       /* probability below which a case does not matter for the choice */
#define INFORMATION_LEAST 1e-4 /* bits */
#define PARTS 4                /* of a range of unmeasured places that are tried */

/* Quantiles of the standard normal law at (i + 1/2) / 9. */
static const double NODES[] = {-1.5932, -0.9674, -0.5895, -0.2822, 0,
                               0.2822,  0.5895,  0.9674,  1.5932};

/* ---- expected information ---------------------------------------------------------------------
 */

/* A law of the value at the place: Student's t. */
struct outcome {
    double probability, centre, spread;
};

static void add_outcome(GArray *outcomes, double probability, double centre, double spread)
{
    struct outcome *last =
        outcomes->len ? &g_array_index(outcomes, struct outcome, outcomes->len - 1) : NULL;
    struct outcome next = {probability, centre, spread};
    if (probability <= 0)
        return;
    /* cases that no measurement has told apart yet have equal bits */
    if (last && !(last->centre < centre) && !(last->centre > centre) && !(last->spread < spread) &&
        !(last->spread > spread))
        last->probability += probability;
    else
        g_array_append_val(outcomes, next);
}

/* Drops cases that do not matter, because the time grows with the square of their number. */
static void drop_unlikely(GArray *outcomes)
{
    guint kept = 0;
    for (guint i = 0; i < outcomes->len; i++) {
        struct outcome *outcome = &g_array_index(outcomes, struct outcome, i);
        if (outcome->probability > CASE_LEAST)
            g_array_index(outcomes, struct outcome, kept++) = *outcome;
    }
    g_array_set_size(outcomes, kept);
}

static double log_density(const struct outcome *outcome, double value, double degrees)
{
    double z = (value - outcome->centre) / outcome->spread;
    return -log(outcome->spread) - (degrees + 1) / 2 * log1p(z * z / degrees);
}

static double information_of(const GArray *outcomes, double degrees)
{
    double bits = 0;
    for (guint i = 0; i < outcomes->len; i++) {
        const struct outcome *from = &g_array_index(outcomes, struct outcome, i);
        for (size_t k = 0; k < G_N_ELEMENTS(NODES); k++) {
            double value = from->centre + from->spread * NODES[k], mixed = 0;
            double own = log_density(from, value, degrees);
            for (guint j = 0; j < outcomes->len; j++) {
                const struct outcome *other = &g_array_index(outcomes, struct outcome, j);
                mixed += other->probability * exp(log_density(other, value, degrees) - own);
            }
            bits -= from->probability * log(mixed) / G_N_ELEMENTS(NODES);
        }
    }
    return bits / M_LN2;
}

/* Counts values before each place. */
static size_t *counts_before(const struct orch_change_data *data)
{
    size_t *counts = g_new0(size_t, data->count + 1);
    for (size_t i = 0; i < data->count; i++)
        counts[i + 1] = counts[i] + data->places[i].count;
    return counts;
}

static double *reached_at(const struct orch_change_posterior *posterior)
{
    double *reached = g_new0(double, posterior->count);
    for (size_t i = 1; i < posterior->count; i++)
        reached[i] = reached[i - 1] + posterior->cases[i].probability;
    return reached;
}

static double expected_at(const struct orch_change_data *data,
                          const struct orch_change_posterior *posterior, const size_t *counts,
                          size_t place)
{
    size_t all = counts[data->count];
    g_autoptr(GArray) outcomes = g_array_new(FALSE, FALSE, sizeof(struct outcome));
    add_outcome(outcomes, posterior->none, posterior->level,
                posterior->noise * sqrt(1 + 1 / (double)all));
    for (size_t i = 1; i < data->count; i++) {
        const struct orch_change_case *one = &posterior->cases[i];
        bool is_after = i <= place;
        size_t count = is_after ? all - counts[i] : counts[i];
        add_outcome(outcomes, one->probability, is_after ? one->after : one->before,
                    one->noise * sqrt(1 + 1 / (double)MAX(count, 1)));
    }
    drop_unlikely(outcomes);
    return information_of(outcomes, fmax(2, (double)all - 2));
}

/* ---- the places to choose from ----------------------------------------------------------------
 */

struct choice {
    const struct orch_change_data *data;
    const struct orch_change_posterior *posterior;
    const struct orch_change_rules *rules;
    const size_t *counts;  /* values before each place */
    const double *reached; /* probability that the step is at the place or before it */
    size_t place;
    double information;
};

static void consider(struct choice *choice, size_t place)
{
    const struct orch_change_place *at = &choice->data->places[place];
    double behind = choice->reached[choice->data->count - 1] - choice->reached[place];
    bool is_end = place == 0 || place + 1 == choice->data->count;
    if (at->is_closed || at->count >= choice->rules->repeat_most)
        return;
    /* a place on a side that is known says what that end says */
    if (!is_end && MIN(choice->reached[place], behind) < CASE_LEAST)
        return;
    double bits = expected_at(choice->data, choice->posterior, choice->counts, place);
    if (bits > choice->information) {
        choice->information = bits;
        choice->place = place;
    }
}

/* Considers the open place that is nearest to `wanted` in a range of unmeasured places. */
static void consider_near(struct choice *choice, size_t first, size_t last, size_t wanted)
{
    for (size_t far = 0; far <= last - first; far++) {
        if (wanted + far <= last && !choice->data->places[wanted + far].is_closed) {
            consider(choice, wanted + far);
            return;
        }
        if (wanted >= first + far && !choice->data->places[wanted - far].is_closed) {
            consider(choice, wanted - far);
            return;
        }
    }
}

/* Places without measurements between two that have some are alike but for where they divide the
 * probability, so a few of them stand for all. */
static void consider_gap(struct choice *choice, size_t first, size_t last)
{
    double mass = 0;
    for (size_t i = first; i <= last + 1; i++)
        mass += choice->posterior->cases[i].probability;
    if (mass < CASE_LEAST)
        return;
    for (size_t part = 1; part < PARTS; part++)
        consider_near(choice, first, last, first + (last - first) * part / PARTS);
}

static void consider_all(struct choice *choice)
{
    size_t count = choice->data->count;
    for (size_t i = 0; i < count; i++) {
        size_t last = i;
        if (choice->data->places[i].count) {
            consider(choice, i);
            continue;
        }
        while (last + 1 < count && !choice->data->places[last + 1].count)
            last++;
        if (last + 1 < count)
            consider_gap(choice, i, last);
        i = last;
    }
}

/* ---- the decision -----------------------------------------------------------------------------
 */

/* The ends take turns, A B B A, so that a machine that becomes slower affects both alike. */
static size_t next_end(const struct orch_change_data *data)
{
    size_t first = data->places[0].count, last = data->places[data->count - 1].count;
    if (first == last)
        return first % 2 ? data->count - 1 : 0;
    return first < last ? 0 : data->count - 1;
}

/* Whether the ends differ by all that was measured or, as more measurements between them may make
 * that less sure, by their own. */
static bool do_ends_differ(const struct orch_change_data *data,
                           const struct orch_change_posterior *posterior)
{
    const struct orch_change_place ends[] = {data->places[0], data->places[data->count - 1]};
    const struct orch_change_data alone = {ends, G_N_ELEMENTS(ends)};
    struct orch_change_posterior own;
    if (posterior->none <= NONE_LEAST)
        return true;
    orch_change_posterior_make(&alone, &own);
    bool differ = own.none <= NONE_LEAST;
    orch_change_posterior_clear(&own);
    return differ;
}

/* Decides while the places between the ends are not measured. False: their turn has come. */
static bool settle_ends(const struct orch_change_data *data,
                        const struct orch_change_posterior *posterior,
                        const struct orch_change_rules *rules, struct orch_change_turn *out)
{
    size_t first = data->places[0].count, last = data->places[data->count - 1].count;
    size_t least = MIN(first, last);
    if (least >= 2 && posterior->none < NONE_MOST && do_ends_differ(data, posterior))
        return false;
    if (least >= MIN((size_t)END_LEAST, rules->repeat_most) && posterior->none >= NONE_MOST)
        out->verdict = ORCH_CHANGE_NONE;
    else if (least >= rules->repeat_most)
        out->verdict = ORCH_CHANGE_UNKNOWN;
    else {
        out->verdict = ORCH_CHANGE_ENDS;
        out->place = next_end(data);
    }
    return true;
}

struct orch_change_turn orch_change_next(const struct orch_change_data *data,
                                         const struct orch_change_posterior *posterior,
                                         const struct orch_change_rules *rules)
{
    struct orch_change_turn turn = {.information = (double)NAN,
                                    .range = orch_change_most_probable(data, posterior)};
    if (settle_ends(data, posterior, rules, &turn))
        return turn;
    if (turn.range.probability >= rules->sure) {
        turn.verdict = ORCH_CHANGE_FOUND;
        return turn;
    }
    g_autofree size_t *counts = counts_before(data);
    g_autofree double *reached = reached_at(posterior);
    struct choice choice = {.data = data,
                            .posterior = posterior,
                            .rules = rules,
                            .counts = counts,
                            .reached = reached,
                            .information = INFORMATION_LEAST};
    consider_all(&choice);
    bool is_any = choice.information > INFORMATION_LEAST;
    turn.verdict = is_any ? ORCH_CHANGE_ASK : ORCH_CHANGE_OPEN;
    turn.place = choice.place;
    turn.information = is_any ? choice.information : 0;
    return turn;
}
