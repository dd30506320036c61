/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/trial/speed_change.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

/* A change has this many runs on its later side, so that two slow runs are none. */
#define LASTING 3
#define EARLIER 2
/* Probability of finding a change where there is none, over all places (Bonferroni). */
#define FALSE_CHANGES 0.005
/* Smaller changes do not matter to a forecast. */
#define LEAST_CHANGE 0.03
#define CHANGES_MAX 8

/* Runs of which the effects of their settings are removed. */
struct runs {
    const double *logs; /* of the times */
    const double *when_s;
    const size_t *cell;
    size_t first, n;       /* runs first to n - 1 are looked at */
    double *mean;          /* of the cell's logs; by cell */
    size_t *count, *later; /* runs of the cell; those from the place on */
};

static double dof_of(const struct runs *r)
{
    double cells = 0;
    for (size_t i = r->first; i < r->n; i++)
        cells += 1 / (double)r->count[r->cell[i]];
    return (double)(r->n - r->first) - cells - 1;
}

static void count_cells(struct runs *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->count[r->cell[i]] = 0;
    for (size_t i = r->first; i < r->n; i++) {
        size_t c = r->cell[i];
        double before = r->count[c]++ ? r->mean[c] : 0;
        r->mean[c] = before + (r->logs[i] - before) / (double)r->count[c];
    }
}

/* The change at one place, by least squares. */
struct place {
    size_t at;
    double effect, spread; /* log of the factor, and its sum of squares */
    double explained;      /* sum of squares that it explains */
};

static struct place place_at(struct runs *r, size_t at)
{
    struct place out = {.at = at};
    double cross = 0;
    for (size_t i = r->first; i < r->n; i++)
        r->later[r->cell[i]] = 0;
    for (size_t i = at; i < r->n; i++)
        r->later[r->cell[i]]++;
    for (size_t i = r->first; i < r->n; i++) {
        size_t c = r->cell[i];
        double indicator = (i >= at) - (double)r->later[c] / (double)r->count[c];
        cross += indicator * (r->logs[i] - r->mean[c]);
        out.spread += indicator * indicator;
    }
    if (out.spread > 1e-9) {
        out.effect = cross / out.spread;
        out.explained = cross * cross / out.spread;
    }
    return out;
}

/* True for a place that explains more, or as much with a longer break before it: a setting that ran
 * once fits on either side of a change. */
static bool is_better(const struct runs *r, const struct place *one, const struct place *best)
{
    double least = best->explained * (1 - 1e-9), most = best->explained * (1 + 1e-9);
    if (!best->at || one->explained > most)
        return one->explained > 0;
    return one->explained >= least && r->when_s[one->at] - r->when_s[one->at - 1] >
                                          r->when_s[best->at] - r->when_s[best->at - 1];
}

/* Finds the change that explains most of the runs from `first` on, if it is significant. */
static bool find(struct runs *r, struct place *out, double *out_sd)
{
    double total = 0, dof;
    count_cells(r);
    dof = dof_of(r);
    if (dof < 1 || r->n < r->first + EARLIER + LASTING)
        return false;
    for (size_t i = r->first; i < r->n; i++)
        total += pow(r->logs[i] - r->mean[r->cell[i]], 2);
    struct place best = {0};
    size_t places = 0;
    for (size_t at = r->first + EARLIER; at + LASTING <= r->n; at++) {
        struct place one = place_at(r, at);
        places += one.spread > 1e-9;
        best = is_better(r, &one, &best) ? one : best;
    }
    double variance = fmax(total - best.explained, 1e-12 * total) / dof;
    if (!(best.explained > 0) || fabs(best.effect) < LEAST_CHANGE || !(variance > 0))
        return false;
    double p = gsl_cdf_fdist_Q(best.explained / variance, 1, dof) * (double)places;
    *out = best;
    *out_sd = sqrt(variance / best.spread);
    return p < FALSE_CHANGES;
}

/* Adds the places of all changes between two runs, in order. */
static void find_all(struct runs *r, size_t first, size_t end, GArray *places)
{
    struct place place;
    double sd;
    r->first = first;
    r->n = end;
    if (places->len >= CHANGES_MAX || !find(r, &place, &sd))
        return;
    find_all(r, first, place.at, places);
    g_array_append_val(places, place.at);
    find_all(r, place.at, end, places);
}

/* The effect of a change, from the runs between its neighbouring changes. */
static struct place effect_of(struct runs *r, size_t first, size_t at, size_t end, double *out_sd)
{
    double total = 0;
    r->first = first;
    r->n = end;
    count_cells(r);
    struct place place = place_at(r, at);
    for (size_t i = first; i < end; i++)
        total += pow(r->logs[i] - r->mean[r->cell[i]], 2);
    double dof = fmax(dof_of(r), 1);
    *out_sd = place.spread > 1e-9 ? sqrt(fmax(total - place.explained, 0) / dof / place.spread) : 0;
    return place;
}

struct orch_speed_change orch_speed_change_find(const double *seconds, const double *when_s,
                                                const size_t *cell, size_t n, double *to_now)
{
    struct orch_speed_change out = {.factor = 1};
    g_autofree double *logs = g_new(double, n + 1), *mean = g_new0(double, n + 1);
    g_autofree size_t *count = g_new0(size_t, n + 1), *later = g_new0(size_t, n + 1);
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(size_t));
    struct runs runs = {.logs = logs,
                        .when_s = when_s,
                        .cell = cell,
                        .n = n,
                        .mean = mean,
                        .count = count,
                        .later = later};
    for (size_t i = 0; i < n; i++) {
        logs[i] = log(seconds[i]);
        to_now[i] = 1;
    }
    find_all(&runs, 0, n, places);
    for (guint c = places->len; c-- > 0;) {
        size_t first = c ? g_array_index(places, size_t, c - 1) : 0;
        size_t end = c + 1 < places->len ? g_array_index(places, size_t, c + 1) : n;
        double sd;
        struct place place = effect_of(&runs, first, g_array_index(places, size_t, c), end, &sd);
        if (c + 1 == places->len)
            out = (struct orch_speed_change){place.at, exp(place.effect), sd};
        for (size_t i = 0; i < place.at; i++)
            to_now[i] *= exp(place.effect);
    }
    return out;
}
