/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All runs are read with three queries: the runs, their results, their points. */
#include "core/rows/run_rows.h"
#include "core/recipe/declared_cost.h"
#include "core/rows/pooling.h"
#include "core/rows/rows_text.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/hw/machine.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/library_fact.h"
#include "store/read/bulk.h"

#include <math.h>
#include <string.h>

/* ---- what runs record --------------------------------------------------------------------------
 */

enum quantity { STEP_MS, EPOCH_S, IMAGES_PER_S, QUANTITIES };

/* Names under which plugins record a quantity, the most direct first, with the unit assumed when
 * none was declared. */
static const struct recorded {
    const char *name;
    enum quantity quantity;
    const char *unit;
} RECORDED[] = {
    {"step_time", STEP_MS, "s"},
    {"step_ms", STEP_MS, "ms"},
    {"step_s", STEP_MS, "s"},
    {"batch_time", STEP_MS, "s"},
    {"iteration_time", STEP_MS, "s"},
    {"epoch_time", EPOCH_S, "s"},
    {"epoch_s", EPOCH_S, "s"},
    {"epoch_ms", EPOCH_S, "ms"},
    {"images_per_s", IMAGES_PER_S, "1/s"},
    {"img_per_s", IMAGES_PER_S, "1/s"},
    {"samples_per_s", IMAGES_PER_S, "1/s"},
    {"throughput", IMAGES_PER_S, "1/s"},
};

/** The result that says which memory layout a training used: 1 channels-last, 0 plain. */
#define LAYOUT "channels_last"
/** The result that says whether a training replayed its steps as CUDA graphs: 1 yes, 0 no. */
#define GRAPHS "cuda_graphs"

/* Converts a value to the unit of its quantity; NaN when its unit does not fit the quantity. */
static double scaled(const struct recorded *what, const char *unit, double value)
{
    unit = unit && *unit ? unit : what->unit;
    bool is_rate;
    if (!orch_unit_is_timing(unit, &is_rate) || is_rate != (what->quantity == IMAGES_PER_S))
        return (double)NAN;
    return value * orch_unit_in_seconds(unit) * (what->quantity == STEP_MS ? 1e3 : 1);
}

static const struct recorded *recorded_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(RECORDED); i++)
        if (strcmp(RECORDED[i].name, name) == 0)
            return &RECORDED[i];
    return NULL;
}

/* Median of the values, which are in order of their steps, without the first unless it is the only
 * one; NaN when there are none. */
static double steady(GArray *values)
{
    if (values->len > 1)
        g_array_remove_index(values, 0);
    return orch_reals_median((double *)(void *)values->data, values->len);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/** A run with a declared cost. */
struct timed {
    char *key, *gpu;
    char *library; /* "libtorch 2.11.0", or NULL */
    int64_t threads;
    json_t *cost;
    double wall_ms;
    double channels_last;         /* NaN: not recorded */
    double cuda_graphs;           /* NaN: not recorded */
    double found[QUANTITIES];     /* NaN: not recorded */
    bool is_disturbed, is_shared; /* shared: other trials ran beside it */
};

struct reading {
    GArray *runs;       /* struct timed */
    GArray *ids;        /* int64_t, ascending, in the same order */
    guint at;           /* index of the run whose values are being read */
    const char *series; /* name of the metric being read, from RECORDED */
    GArray *values;
    struct orch_rows_tally tally;
};

static void clear_timed(gpointer data)
{
    struct timed *run = data;
    g_free(run->key);
    g_free(run->gpu);
    g_free(run->library);
    json_decref(run->cost);
}

/* Reads the model and threads from the device key: "2x Tesla V100" is that GPU, "Xeon, 4 threads" a
 * processor with 4 threads. Without a device the machine's facts give the processor's model. */
static void take_place(struct timed *out, const struct orch_bulk_run *run, const json_t *facts)
{
    out->threads = orch_json_int(facts, "threads", 0);
    struct orch_device_parts parts = orch_device_key_parse(run->device_key);
    out->threads = parts.threads ? parts.threads : out->threads;
    if (!*parts.device && run->machine_facts) {
        g_free(parts.device);
        g_autoptr(json_t) machine = orch_json_parse(run->machine_facts, strlen(run->machine_facts),
                                                    strlen(run->machine_facts), NULL);
        out->gpu = g_strdup(orch_json_text(machine, "cpu_model", ""));
        return;
    }
    out->gpu = parts.device;
}

int64_t orch_rows_tally_with_cost(const struct orch_rows_tally *t)
{
    return t->rows + t->shared + t->disturbed + t->unmeasured + t->forward + t->other_libraries +
           t->other_layouts + t->other_graphs;
}

bool orch_rows_tally_has_no_cost(const struct orch_rows_tally *t)
{
    return t->no_cost && !orch_rows_tally_with_cost(t);
}

static void take_run(void *ctx, const struct orch_bulk_run *run)
{
    struct reading *r = ctx;
    bool may = run->facts && strstr(run->facts, "\"cost\":"); /* cheap test before parsing */
    size_t length = may ? strlen(run->facts) : 0;
    g_autoptr(json_t) facts = may ? orch_json_parse(run->facts, length, length, NULL) : NULL;
    json_t *cost = json_object_get(facts, "cost");
    if (!json_is_object(cost)) {
        r->tally.no_cost++;
        return;
    }
    if (orch_device_key_is_share(run->device_key)) {
        r->tally.shared++;
        return;
    }
    if (!orch_cost_is_training(cost) && !isnan(orch_cost_number(cost, "epochs"))) {
        r->tally.forward++;
        return;
    }
    struct timed out = {.key = g_strdup(run->key),
                        .cost = json_incref(cost),
                        .wall_ms = run->wall_ms,
                        .library = orch_facts_library(run->facts),
                        .channels_last = (double)NAN,
                        .cuda_graphs = (double)NAN,
                        .is_disturbed = orch_facts_are_disturbed(run->facts),
                        .is_shared = orch_json_int(facts, "co_runners", 0) > 0,
                        .found = {(double)NAN, (double)NAN, (double)NAN}};
    take_place(&out, run, facts);
    g_array_append_val(r->runs, out);
    g_array_append_val(r->ids, run->id);
}

/* Ends a series: its median becomes the value of its quantity, unless a more direct name has set
 * it. */
static void close_series(struct reading *r)
{
    const struct recorded *what = r->series ? recorded_find(r->series) : NULL;
    if (what && r->at < r->runs->len) {
        double *found = &g_array_index(r->runs, struct timed, r->at).found[what->quantity];
        double value = steady(r->values);
        if (isnan(*found) && value > 0 && isfinite(value))
            *found = value;
    }
    r->series = NULL;
    g_array_set_size(r->values, 0);
}

/* Ends the series of another run and moves to `run_id`. */
static void seek(struct reading *r, int64_t run_id)
{
    int64_t id = r->at < r->ids->len ? g_array_index(r->ids, int64_t, r->at) : -1;
    if (id == run_id)
        return;
    close_series(r);
    if (id > run_id) /* the results end and the points begin */
        r->at = 0;
    while (r->at < r->ids->len && g_array_index(r->ids, int64_t, r->at) < run_id)
        r->at++;
}

static void take_value(void *ctx, const struct orch_bulk_value *value)
{
    struct reading *r = ctx;
    const struct recorded *what = recorded_find(value->name);
    seek(r, value->run_id);
    struct timed *run = r->at < r->runs->len ? &g_array_index(r->runs, struct timed, r->at) : NULL;
    if (run && strcmp(value->name, LAYOUT) == 0)
        run->channels_last = value->value;
    if (run && strcmp(value->name, GRAPHS) == 0)
        run->cuda_graphs = value->value;
    if (!what)
        return;
    if (r->series != what->name) {
        close_series(r);
        r->series = what->name;
    }
    double number = scaled(what, value->unit, value->value);
    if (!isnan(number))
        g_array_append_val(r->values, number);
    if (value->step < 0)
        close_series(r);
}

static bool read_all(struct orch_store *store, const struct orch_where *filter, struct reading *r,
                     GError **error)
{
    const char *names[G_N_ELEMENTS(RECORDED) + 3] = {LAYOUT, GRAPHS};
    for (size_t i = 0; i < G_N_ELEMENTS(RECORDED); i++)
        names[i + 2] = RECORDED[i].name;
    bool ok = orch_store_visit_runs(store, filter, take_run, r, error) &&
              orch_store_visit_values(store, (const int64_t *)(void *)r->ids->data, r->ids->len,
                                      names, take_value, r, error);
    close_series(r);
    return ok;
}

/* ---- the target --------------------------------------------------------------------------------
 */

/* Images per second, computed from any recorded quantity. */
static double rate_of(const struct timed *run)
{
    double step_images = orch_cost_step_samples(run->cost) * orch_cost_workers(run->cost);
    double images = orch_cost_epoch_samples(run->cost);
    if (!isnan(run->found[IMAGES_PER_S]))
        return run->found[IMAGES_PER_S];
    double by_epoch = images / run->found[EPOCH_S];
    return isnan(by_epoch) ? step_images / (run->found[STEP_MS] / 1e3) : by_epoch;
}

static double step_ms(const struct timed *run)
{
    double step_images = orch_cost_step_samples(run->cost) * orch_cost_workers(run->cost);
    return isnan(run->found[STEP_MS]) ? 1e3 * step_images / rate_of(run) : run->found[STEP_MS];
}

static double epoch_s(const struct timed *run)
{
    return isnan(run->found[EPOCH_S]) ? orch_cost_epoch_samples(run->cost) / rate_of(run)
                                      : run->found[EPOCH_S];
}

static double wall_s(const struct timed *run)
{
    return run->wall_ms / 1e3;
}

static const struct {
    const char *name;
    double (*of)(const struct timed *run);
} ROW_TARGETS[] = {
    {"step_ms", step_ms}, {"epoch_s", epoch_s}, {"images_per_s", rate_of}, {"wall_s", wall_s}};

static const char *const *target_names(void)
{
    static const char *names[G_N_ELEMENTS(ROW_TARGETS) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(ROW_TARGETS); i++)
        names[i] = ROW_TARGETS[i].name;
    return names;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static const char *const COLUMNS[] = {"gpu",       "workers",   "threads", "net",   "batch",
                                      "precision", "framework", "images",  "input", "img",
                                      "classes",   "mode",      "epochs"};

/* The side of a square input ("3x32x32" gives 32); NaN when it is not square. */
static double side_of(const char *input)
{
    g_auto(GStrv) words = g_strsplit(input, "x", -1);
    double height, width;
    bool square = g_strv_length(words) == 3 && orch_real_parse(words[1], &height) &&
                  orch_real_parse(words[2], &width) && height == width;
    return square ? height : (double)NAN;
}

static void write_row(const struct timed *run, double target, GString *out)
{
    const json_t *cost = run->cost;
    const char *input = orch_json_text(cost, "input", "");
    orch_rows_append_text(out, run->gpu);
    orch_rows_number(out, orch_cost_workers(cost));
    orch_rows_number(out, run->threads > 0 ? (double)run->threads : (double)NAN);
    orch_rows_append_text(out, orch_json_text(cost, "network", ""));
    orch_rows_number(out, orch_cost_step_samples(cost));
    orch_rows_append_text(out, orch_json_text(cost, "precision", ""));
    orch_rows_append_text(out, orch_json_text(cost, "framework", ""));
    orch_rows_number(out, orch_cost_epoch_samples(cost));
    orch_rows_append_text(out, input);
    orch_rows_number(out, side_of(input));
    orch_rows_number(out, orch_cost_number(cost, "classes"));
    orch_rows_append_text(out, orch_cost_is_training(cost) ? "train" : "infer");
    orch_rows_number(out, orch_cost_number(cost, "epochs"));
    orch_rows_number(out, target);
    orch_rows_end(out);
}

/* A run's target, and whether it is pooled with the others. Texts are owned. */
static struct orch_pooled_run *pooled_runs(const struct reading *r, size_t target)
{
    struct orch_pooled_run *pooled = g_new0(struct orch_pooled_run, MAX(r->runs->len, 1));
    for (guint i = 0; i < r->runs->len; i++) {
        const struct timed *run = &g_array_index(r->runs, struct timed, i);
        double value = ROW_TARGETS[target].of(run);
        pooled[i] = (struct orch_pooled_run){
            .key = run->key,
            .device = run->gpu ? run->gpu : "",
            .library = run->library,
            .work = g_strdup_printf("%s\n%s\n%s", orch_json_text(run->cost, "network", ""),
                                    orch_json_text(run->cost, "input", ""),
                                    orch_json_text(run->cost, "precision", "")),
            .channels_last = run->channels_last,
            .cuda_graphs = run->cuda_graphs,
            .pooling = value > 0 && isfinite(value) ? ORCH_POOLING_KEPT : ORCH_POOLING_NO_TIME};
    }
    orch_pooling_choose(pooled, r->runs->len);
    for (guint i = 0; i < r->runs->len; i++)
        g_free((char *)(uintptr_t)g_steal_pointer(&pooled[i].work));
    return pooled;
}

static bool is_quiet(const struct timed *run)
{
    return !run->is_disturbed && !run->is_shared;
}

/* The set of devices that have a kept run that was neither disturbed nor beside others. */
static GHashTable *devices_with_quiet_runs(const struct reading *r,
                                           const struct orch_pooled_run *pooled)
{
    GHashTable *devices = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < r->runs->len; i++)
        if (pooled[i].pooling == ORCH_POOLING_KEPT &&
            is_quiet(&g_array_index(r->runs, struct timed, i)))
            g_hash_table_add(devices, (char *)(uintptr_t)pooled[i].device);
    return devices;
}

static struct orch_csv *make_table(struct reading *r, size_t target, GPtrArray *keys,
                                   GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        orch_rows_append_text(text, COLUMNS[i]);
    orch_rows_append_text(text, ROW_TARGETS[target].name);
    orch_rows_end(text);
    int64_t *const left_out[] = {[ORCH_POOLING_OTHER_LIBRARY] = &r->tally.other_libraries,
                                 [ORCH_POOLING_OTHER_LAYOUT] = &r->tally.other_layouts,
                                 [ORCH_POOLING_OTHER_GRAPHS] = &r->tally.other_graphs,
                                 [ORCH_POOLING_NO_TIME] = &r->tally.unmeasured};
    g_autofree struct orch_pooled_run *pooled = pooled_runs(r, target);
    g_autoptr(GHashTable) quiet = devices_with_quiet_runs(r, pooled);
    for (guint i = 0; i < r->runs->len; i++) {
        const struct timed *run = &g_array_index(r->runs, struct timed, i);
        if (pooled[i].pooling != ORCH_POOLING_KEPT) {
            *left_out[pooled[i].pooling] += 1;
            continue;
        }
        if (!is_quiet(run) && g_hash_table_contains(quiet, pooled[i].device)) {
            *(run->is_shared ? &r->tally.shared : &r->tally.disturbed) += 1;
            continue;
        }
        r->tally.shared_rows += run->is_shared;
        r->tally.disturbed_rows += run->is_disturbed && !run->is_shared;
        r->tally.rows++;
        write_row(run, ROW_TARGETS[target].of(run), text);
        if (keys)
            g_ptr_array_add(keys, g_strdup(run->key));
    }
    return orch_csv_parse("(runs)", text->str, text->len, error);
}

static bool find_target(const char *target, size_t *out, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ROW_TARGETS); i++) {
        if (strcmp(ROW_TARGETS[i].name, target) == 0) {
            *out = i;
            return true;
        }
    }
    g_autofree char *near = orch_suggest_hint(target, target_names());
    orch_error_set(error, ORCH_ERROR_USAGE,
                   near ? near : "for runs use step_ms, epoch_s, images_per_s or wall_s",
                   "unknown target '%s'", target);
    return false;
}

struct orch_csv *orch_rows_of_runs(struct orch_store *store, const struct orch_where *filter,
                                   const char *target, GPtrArray *keys,
                                   struct orch_rows_tally *out_tally, GError **error)
{
    size_t which;
    if (!find_target(target ? target : ROW_TARGETS[0].name, &which, error))
        return NULL;
    struct reading r = {.runs = g_array_new(FALSE, FALSE, sizeof(struct timed)),
                        .ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                        .values = g_array_new(FALSE, FALSE, sizeof(double))};
    g_array_set_clear_func(r.runs, clear_timed);
    struct orch_csv *table = NULL;
    if (read_all(store, filter, &r, error))
        table = make_table(&r, which, keys, error);
    if (table && out_tally)
        *out_tally = r.tally;
    g_array_unref(r.runs);
    g_array_unref(r.ids);
    g_array_unref(r.values);
    return table;
}
