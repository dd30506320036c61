/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs runs by a text that identifies their trial: equal texts on both sides are a pair. When a
 * trial has several runs, they are paired from the oldest on. The text leaves out what changes
 * between versions (source, plugin version, fingerprint), so that runs of two commits can be
 * paired. */
#include "features/compare/match.h"

#include "core/stats/numbers.h"
#include "core/stats/same_trial.h"
#include "features/compare/contrast.h"
#include "lib/base/json.h"
#include "lib/base/unit.h"
#include "lib/wire/direction.h"
#include "lib/wire/library_fact.h"

#include <math.h>
#include <string.h>

struct member {
    const struct orch_run *run;
    json_t *params; /* without secrets, whose salt differs in each run */
    struct orch_run_numbers *numbers;
    char *library; /* "libtorch 2.11.0", or NULL */
};

struct orch_side {
    struct orch_store *store; /* borrowed */
    enum orch_aggregate aggregate;
    GPtrArray *members; /* struct member *, newest first */
    struct orch_disturbed disturbed;
    bool counts_disturbed; /* compares disturbed times with others */
};

/* ---- reading --------------------------------------------------------------------------------- */

static void free_member(gpointer pointer)
{
    struct member *member = pointer;
    json_decref(member->params);
    orch_run_numbers_free(member->numbers);
    g_free(member->library);
    g_free(member);
}

struct orch_side *orch_side_new(struct orch_store *store, const GPtrArray *runs,
                                enum orch_aggregate aggregate, GError **error)
{
    struct orch_side *side = g_new0(struct orch_side, 1);
    side->aggregate = aggregate;
    side->members = g_ptr_array_new_with_free_func(free_member);
    orch_disturbed_find(store, runs, &side->disturbed);
    side->store = store;
    for (guint i = 0; i < runs->len; i++) {
        struct member *member = g_new0(struct member, 1);
        g_ptr_array_add(side->members, member);
        member->run = runs->pdata[i];
        member->library = orch_facts_library(member->run->facts);
        member->params = orch_run_open_params(store, member->run, error);
        member->numbers = member->params ? orch_run_numbers_read(store, member->run, error) : NULL;
        if (!member->numbers) {
            orch_side_free(side);
            return NULL;
        }
    }
    return side;
}

void orch_side_free(struct orch_side *side)
{
    if (!side)
        return;
    g_ptr_array_unref(side->members);
    orch_disturbed_clear(&side->disturbed);
    g_free(side);
}

const struct orch_disturbed *orch_side_disturbed(const struct orch_side *side)
{
    return &side->disturbed;
}

void orch_side_count_disturbed(struct orch_side *side)
{
    orch_disturbed_clear(&side->disturbed);
    side->counts_disturbed = true;
}

/* NaN: the run has no such number */
static double value_of(const struct orch_side *side, const struct member *member, const char *name)
{
    return orch_run_numbers_get(member->numbers, name, side->aggregate, NULL, NULL);
}

/* Also of a metric whose values are all NaN. */
static bool has(const struct orch_side *side, const char *name)
{
    for (guint i = 0; i < side->members->len; i++)
        if (orch_run_numbers_has(((const struct member *)side->members->pdata[i])->numbers, name))
            return true;
    return false;
}

GPtrArray *orch_sides_names(const struct orch_side *a, const struct orch_side *b)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(seen, (gpointer)(uintptr_t) "wall_s");
    for (guint i = 0; i < a->members->len; i++) {
        const struct member *member = a->members->pdata[i];
        g_autoptr(GPtrArray) of_run = orch_run_numbers_names(member->numbers);
        for (guint j = 0; j < of_run->len; j++) {
            const char *name = of_run->pdata[j];
            if (g_hash_table_add(seen, of_run->pdata[j]) && has(a, name) && has(b, name))
                g_ptr_array_add(names, g_strdup(name));
        }
    }
    g_ptr_array_add(names, g_strdup("wall_s"));
    return names;
}

/* ---- identity of trials ---------------------------------------------------------------------- */

/* Returns a parameter's value when all runs of the side share it, else NULL. */
static const json_t *common_value(const GPtrArray *members, const char *name)
{
    const json_t *common = NULL;
    for (guint i = 0; i < members->len; i++) {
        const json_t *value =
            json_object_get(((const struct member *)members->pdata[i])->params, name);
        if (!value || (common && !json_equal(common, value)))
            return NULL;
        common = value;
    }
    return common;
}

static bool has_param(const GPtrArray *members, const char *name)
{
    for (guint i = 0; i < members->len; i++)
        if (json_object_get(((const struct member *)members->pdata[i])->params, name))
            return true;
    return false;
}

static const char *common_experiment(const GPtrArray *members)
{
    const char *common = NULL;
    for (guint i = 0; i < members->len; i++) {
        const char *name = ((const struct member *)members->pdata[i])->run->experiment;
        if (common && g_strcmp0(common, name) != 0)
            return NULL;
        common = name;
    }
    return common;
}

/* Returns what distinguishes A from B, and so must not distinguish trials: "" for the experiment,
 * and each parameter that is constant within each side but differs between them. */
static GHashTable *distinguishing_names(const GPtrArray *a, const GPtrArray *b)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *x = common_experiment(a), *y = common_experiment(b);
    if (x && y && strcmp(x, y) != 0)
        g_hash_table_add(names, g_strdup(""));
    const GPtrArray *sides[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const char *name;
        json_t *value;
        if (!sides[i]->len)
            continue;
        json_object_foreach(((const struct member *)sides[i]->pdata[0])->params, name, value)
        {
            const json_t *p = common_value(a, name), *q = common_value(b, name);
            bool one_has_none =
                (p && !q && !has_param(b, name)) || (q && !p && !has_param(a, name));
            if (one_has_none || (p && q && !json_equal(p, q)))
                g_hash_table_add(names, g_strdup(name));
        }
    }
    return names;
}

static char *trial_text(const struct member *member, GHashTable *but, bool with_device)
{
    json_t *params = json_copy(member->params);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, but);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        json_object_del(params, name);
    const struct orch_run *run = member->run;
    g_autoptr(json_t) all = json_pack(
        "[s? s? o i o]", g_hash_table_contains(but, "") ? NULL : run->experiment,
        with_device ? run->device_key : NULL, params, run->repeat, orch_json_u64(run->seed));
    return orch_json_canonical(all);
}

/* ---- matching -------------------------------------------------------------------------------- */

/* Returns whether the member counts, when members are passed newest first. For a time, all runs
 * made by the code of the trial's newest run count; for any other metric only the newest run.
 * `newest`: trial -> fingerprint. */
static bool counts(const struct member *member, GHashTable *newest, bool is_timing)
{
    g_autofree char *trial = orch_run_trial_text(member->run, member->params, false);
    const char *fingerprint = g_hash_table_lookup(newest, trial);
    if (!fingerprint)
        return g_hash_table_insert(newest, g_steal_pointer(&trial), member->run->fingerprint);
    return is_timing && strcmp(fingerprint, member->run->fingerprint) == 0;
}

/* Adds the member's library to `libraries` unless it is there. There are a few versions of a
 * library and many runs: comparing versions instead of runs keeps the work in proportion to the
 * runs. */
static void note_library(GPtrArray *libraries, const struct member *member)
{
    if (member->library &&
        !g_ptr_array_find_with_equal_func(libraries, member->library, g_str_equal, NULL))
        g_ptr_array_add(libraries, member->library);
}

/* Returns the first of the libraries that is another version of this one, or NULL. */
static const char *other_version(const char *library, const GPtrArray *libraries)
{
    for (guint i = 0; i < libraries->len; i++)
        if (orch_libraries_differ(library, libraries->pdata[i]))
            return libraries->pdata[i];
    return NULL;
}

/* Returns the members that have the metric and count, oldest first. Times of one version of
 * LibTorch count, the one of the newest run: `*out_older` is the number of runs left out for it. */
static GPtrArray *with_metric(const struct orch_side *side, const char *metric, bool is_timing,
                              unsigned *out_older)
{
    GPtrArray *out = g_ptr_array_new();
    *out_older = 0;
    g_autoptr(GPtrArray) newer = g_ptr_array_new(); /* libraries of the members that count */
    g_autoptr(GHashTable) newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < side->members->len; i++) {
        const struct member *member = side->members->pdata[i];
        if (is_timing && orch_disturbed_has(&side->disturbed, member->run))
            continue;
        if (isnan(value_of(side, member, metric)))
            continue;
        if (is_timing && other_version(member->library, newer)) {
            *out_older += 1;
        } else if (counts(member, newest, is_timing)) {
            g_ptr_array_add(out, side->members->pdata[i]);
            note_library(newer, member);
        }
    }
    for (guint i = 0; i < out->len / 2; i++) {
        gpointer last = out->pdata[i];
        out->pdata[i] = out->pdata[out->len - 1 - i];
        out->pdata[out->len - 1 - i] = last;
    }
    return out;
}

/* Counts the runs that recorded the metric but whose value of it is NaN. */
static unsigned count_lost(const struct orch_side *side, const char *metric)
{
    unsigned lost = 0;
    for (guint i = 0; i < side->members->len; i++) {
        const struct member *member = side->members->pdata[i];
        lost +=
            isnan(value_of(side, member, metric)) && orch_run_numbers_has(member->numbers, metric);
    }
    return lost;
}

struct pairs {
    GPtrArray *a, *b; /* struct member *, borrowed; parallel arrays */
};

static void pairs_clear(struct pairs *pairs)
{
    g_clear_pointer(&pairs->a, g_ptr_array_unref);
    g_clear_pointer(&pairs->b, g_ptr_array_unref);
}

static struct pairs find_pairs(const GPtrArray *a, const GPtrArray *b, GHashTable *but,
                               bool with_device)
{
    struct pairs pairs = {g_ptr_array_new(), g_ptr_array_new()};
    g_autoptr(GHashTable) of_b =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_queue_free);
    for (guint i = 0; i < b->len; i++) {
        char *text = trial_text(b->pdata[i], but, with_device);
        GQueue *queue = g_hash_table_lookup(of_b, text);
        if (queue) {
            g_free(text);
        } else {
            queue = g_queue_new();
            g_hash_table_insert(of_b, text, queue);
        }
        g_queue_push_tail(queue, b->pdata[i]);
    }
    for (guint i = 0; i < a->len; i++) {
        g_autofree char *text = trial_text(a->pdata[i], but, with_device);
        GQueue *queue = g_hash_table_lookup(of_b, text);
        if (!queue || !queue->length)
            continue;
        g_ptr_array_add(pairs.a, a->pdata[i]);
        g_ptr_array_add(pairs.b, g_queue_pop_head(queue));
    }
    return pairs;
}

static GArray *numbers_of(const struct orch_side *side, const GPtrArray *members,
                          const char *metric)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < members->len; i++) {
        double value = value_of(side, members->pdata[i], metric);
        g_array_append_val(out, value);
    }
    return out;
}

static GArray *seeds_of(const GPtrArray *members)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < members->len; i++) {
        const struct member *member = members->pdata[i];
        uint64_t seed = orch_run_seed(member->run, member->params);
        g_array_append_val(out, seed);
    }
    return out;
}

/* Averages by seed, because runs of one seed are not independent: a side with two or more seeds
 * gets one number for each seed. Pairs keep their order, since both partners have the same seed. */
static void average_by_seed(struct orch_match *match, const GPtrArray *p, const GPtrArray *q)
{
    g_autoptr(GArray) seeds_a = seeds_of(p), seeds_b = seeds_of(q);
    g_autoptr(GArray) a = orch_seed_means(match->a, seeds_a),
                      b = orch_seed_means(match->b, seeds_b);
    bool is_fewer = a->len < match->a->len || b->len < match->b->len;
    if (match->is_timing || match->how == ORCH_MATCH_TRIALS || !is_fewer || MIN(a->len, b->len) < 2)
        return;
    match->averaged = match->a->len;
    g_array_unref(match->a);
    g_array_unref(match->b);
    match->a = orch_seed_values(a);
    match->b = orch_seed_values(b);
}

static char *places_of(const GPtrArray *members)
{
    g_autoptr(GPtrArray) places = g_ptr_array_new();
    for (guint i = 0; i < members->len; i++) {
        const char *device = ((const struct member *)members->pdata[i])->run->device_key;
        if (device && !g_ptr_array_find_with_equal_func(places, device, g_str_equal, NULL))
            g_ptr_array_add(places, (gpointer)(uintptr_t)device);
    }
    g_ptr_array_add(places, NULL);
    return g_strjoinv(", ", (char **)places->pdata);
}

/* Returns whether numbers of different machines are compared: a pair's two runs, or any two runs
 * of unpaired samples. */
static bool meets_across(const GPtrArray *a, const GPtrArray *b, bool is_paired)
{
    for (guint i = 0; i < a->len + b->len; i++) {
        const struct member *x = i < a->len ? a->pdata[i] : b->pdata[i - a->len];
        const struct member *y = !is_paired   ? a->pdata[0]
                                 : i < a->len ? b->pdata[i]
                                              : a->pdata[i - a->len];
        if (g_strcmp0(x->run->device_key, y->run->device_key) != 0)
            return true;
    }
    return false;
}

/* Sets both sides' libraries when a run of A and a run of B used one in different versions. */
static void find_libraries(const GPtrArray *a, const GPtrArray *b, struct orch_match *match)
{
    g_autoptr(GPtrArray) of_a = g_ptr_array_new(), of_b = g_ptr_array_new();
    for (guint i = 0; i < a->len; i++)
        note_library(of_a, a->pdata[i]);
    for (guint i = 0; i < b->len; i++)
        note_library(of_b, b->pdata[i]);
    for (guint i = 0; i < of_a->len && !match->library_a; i++) {
        match->library_b = g_strdup(other_version(of_a->pdata[i], of_b));
        match->library_a = match->library_b ? g_strdup(of_a->pdata[i]) : NULL;
    }
}

/* Sets the metric's direction, as some run declares it before what its name says, and its unit. */
static void add_metric_unit(const struct orch_side *side, const char *metric,
                            struct orch_match *match)
{
    for (guint i = 0; i < side->members->len; i++) {
        const struct member *member = side->members->pdata[i];
        struct orch_direction one = orch_run_numbers_direction(member->numbers, metric);
        orch_run_numbers_get(member->numbers, metric, side->aggregate, NULL, &match->unit);
        bool is_declared = match->direction.better != ORCH_BETTER_NONE && !match->direction.by;
        if (!is_declared && orch_run_numbers_has(member->numbers, metric))
            match->direction = one;
    }
}

/* Pairs runs of the same trial if at least half of the larger side finds a partner; else runs of
 * equal seeds if every run finds one. At least two pairs are needed. False: no pairing. */
static bool pair_up(const GPtrArray *a, const GPtrArray *b, bool with_device, struct pairs *out,
                    enum orch_match_how *out_how)
{
    g_autoptr(GHashTable) nothing = g_hash_table_new(g_str_hash, g_str_equal);
    *out = find_pairs(a, b, nothing, with_device);
    *out_how = ORCH_MATCH_TRIALS;
    if (out->a->len >= 2 && 2 * out->a->len >= MAX(a->len, b->len))
        return true;
    pairs_clear(out);
    g_autoptr(GHashTable) but = distinguishing_names(a, b);
    *out = find_pairs(a, b, but, with_device);
    *out_how = ORCH_MATCH_REPEATS;
    if (out->a->len >= 2 && out->a->len == a->len && out->a->len == b->len)
        return true;
    pairs_clear(out);
    *out_how = ORCH_MATCH_NONE;
    return false;
}

/* Returns whether other programs disturbed one of the runs. */
static bool has_disturbed(struct orch_store *store, const GPtrArray *members)
{
    for (guint i = 0; i < members->len; i++)
        if (orch_run_is_disturbed(store, ((const struct member *)members->pdata[i])->run))
            return true;
    return false;
}

struct orch_match *orch_sides_match(const struct orch_side *a, const struct orch_side *b,
                                    const char *metric, bool across)
{
    struct orch_match *match = g_new0(struct orch_match, 1);
    add_metric_unit(b, metric, match);
    add_metric_unit(a, metric, match);
    match->is_timing = orch_unit_is_timing(match->unit, NULL);
    g_autoptr(GPtrArray) x = with_metric(a, metric, match->is_timing, &match->older_a),
                         y = with_metric(b, metric, match->is_timing, &match->older_b);
    struct pairs pairs;
    bool is_paired = pair_up(x, y, match->is_timing && !across, &pairs, &match->how);
    const GPtrArray *p = is_paired ? pairs.a : x, *q = is_paired ? pairs.b : y;
    match->a = numbers_of(a, p, metric);
    match->b = numbers_of(b, q, metric);
    average_by_seed(match, p, q);
    match->lost_a = count_lost(a, metric);
    match->lost_b = count_lost(b, metric);
    match->alone = x->len + y->len - p->len - q->len;
    match->is_across = p->len && q->len && meets_across(p, q, is_paired);
    match->where_a = places_of(p);
    match->where_b = places_of(q);
    match->is_uneven = match->is_timing && !a->counts_disturbed && p->len && q->len &&
                       has_disturbed(a->store, p) != has_disturbed(b->store, q);
    if (match->is_timing)
        find_libraries(p, q, match);
    if (is_paired)
        pairs_clear(&pairs);
    return match;
}

void orch_match_free(struct orch_match *match)
{
    if (!match)
        return;
    g_array_unref(match->a);
    g_array_unref(match->b);
    g_free(match->where_a);
    g_free(match->where_b);
    g_free(match->library_a);
    g_free(match->library_b);
    g_free(match);
}
