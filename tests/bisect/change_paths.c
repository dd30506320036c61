/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bisect/change_paths.h"

#include "features/bisect/change_point.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define SURE 0.95

/* A path, with what was measured on it. */
struct walk {
    uint64_t state;
    size_t count, culprit;
    double step;
    GArray **values;
    struct orch_change_place *places;
};

/* SplitMix64. */
static double next_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double next_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(next_uniform(state)));
    return radius * cos(2 * G_PI * next_uniform(state));
}

static void walk_begin(struct walk *walk, const struct change_path *path, uint64_t seed)
{
    *walk = (struct walk){.state = seed * 1000003, .count = path->places, .step = path->step};
    walk->values = g_new(GArray *, path->places);
    walk->places = g_new0(struct orch_change_place, path->places);
    for (size_t i = 0; i < path->places; i++) {
        bool is_end = i == 0 || i + 1 == path->places;
        walk->values[i] = g_array_new(FALSE, FALSE, sizeof(double));
        walk->places[i].is_closed = !is_end && next_uniform(&walk->state) < path->closed_share;
    }
    walk->culprit = 1 + (size_t)(next_uniform(&walk->state) * (double)(path->places - 1));
}

static void walk_end(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        g_array_unref(walk->values[i]);
    g_free(walk->values);
    g_free(walk->places);
}

static double measure(struct walk *walk, size_t place)
{
    double value = 10 + (place >= walk->culprit ? walk->step : 0) + next_normal(&walk->state);
    g_array_append_val(walk->values[place], value);
    walk->places[place].values = (const double *)(void *)walk->values[place]->data;
    walk->places[place].count++;
    return value;
}

static void count_end(const struct walk *walk, const struct orch_change_turn *turn,
                      struct change_tally *out)
{
    out->none += turn->verdict == ORCH_CHANGE_NONE || turn->verdict == ORCH_CHANGE_UNKNOWN;
    out->open += turn->verdict == ORCH_CHANGE_OPEN;
    if (turn->verdict != ORCH_CHANGE_FOUND)
        return;
    out->found++;
    out->right += walk->culprit >= turn->range.first && walk->culprit <= turn->range.last;
    out->widest += (double)(turn->range.last - turn->range.first + 1);
}

static void search_one(struct walk *walk, const struct change_path *path, struct change_tally *out)
{
    const struct orch_change_rules rules = {SURE, path->repeat_most};
    for (;;) {
        struct orch_change_posterior posterior;
        const struct orch_change_data data = {.places = walk->places, .count = walk->count};
        orch_change_posterior_make(&data, &posterior);
        struct orch_change_turn turn = orch_change_next(&data, &posterior, &rules);
        orch_change_posterior_clear(&posterior);
        if (turn.verdict != ORCH_CHANGE_ASK && turn.verdict != ORCH_CHANGE_ENDS) {
            count_end(walk, &turn, out);
            return;
        }
        measure(walk, turn.place);
        out->runs++;
    }
}

void change_paths_search(const struct change_path *path, unsigned paths, uint64_t seed,
                         struct change_tally *out)
{
    *out = (struct change_tally){.paths = paths};
    for (unsigned i = 0; i < paths; i++) {
        struct walk walk;
        walk_begin(&walk, path, seed + i);
        search_one(&walk, path, out);
        walk_end(&walk);
    }
}

static double mean_at(struct walk *walk, size_t place, unsigned repeats)
{
    double sum = 0;
    for (unsigned i = 0; i < repeats; i++)
        sum += measure(walk, place);
    return sum / repeats;
}

void change_paths_bisect(const struct change_path *path, unsigned repeats, unsigned paths,
                         uint64_t seed, struct change_tally *out)
{
    *out = (struct change_tally){.paths = paths, .found = paths};
    for (unsigned i = 0; i < paths; i++) {
        struct walk walk;
        walk_begin(&walk, path, seed + i);
        size_t good = 0, bad = path->places - 1;
        double middle = (mean_at(&walk, good, repeats) + mean_at(&walk, bad, repeats)) / 2;
        out->runs += 2 * repeats;
        while (bad - good > 1) {
            size_t half = (good + bad) / 2;
            bool is_bad = mean_at(&walk, half, repeats) > middle;
            *(is_bad ? &bad : &good) = half;
            out->runs += repeats;
        }
        out->right += bad == walk.culprit;
        walk_end(&walk);
    }
}
