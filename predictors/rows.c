/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/hw/gpus.h"

#include <math.h>
#include <string.h>

void orch_rows_free(struct orch_rows *r)
{
    if (!r)
        return;
    orch_matrix_free(r->matrix);
    g_free(r->target);
    g_free(r->white);
    for (size_t i = 0; r->groups && i < r->rows; i++)
        g_free(r->groups[i]);
    g_free(r->groups);
    g_ptr_array_unref(r->notes);
    g_free(r);
}

struct orch_rows *orch_rows_pick(const struct orch_rows *r, const size_t *which, size_t count)
{
    struct orch_rows *out = g_new0(struct orch_rows, 1);
    out->rows = count;
    out->matrix = orch_matrix_pick(r->matrix, which, count);
    out->target = g_new(double, MAX(count, 1));
    out->white = g_new(double, MAX(count, 1));
    out->groups = r->groups ? g_new0(char *, count + 1) : NULL;
    out->notes = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < count; i++) {
        out->target[i] = r->target[which[i]];
        out->white[i] = r->white[which[i]];
        if (r->groups)
            out->groups[i] = g_strdup(r->groups[which[i]]);
    }
    return out;
}

/* ---- columns -----------------------------------------------------------------------------------
 */

static void note(struct orch_rows *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void note(struct orch_rows *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(r->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

/* The first word of a name tells what is measured: ms, ms_min, ms_std. */
static bool same_measure(const char *a, const char *b)
{
    size_t n = strcspn(a, "_");
    return strcspn(b, "_") == n && strncmp(a, b, n) == 0;
}

static bool is_time(const char *name)
{
    return g_str_has_suffix(name, "_ms") || g_str_has_suffix(name, "_s") ||
           strcmp(name, "ms") == 0 || g_str_has_prefix(name, "ms_") ||
           g_str_has_suffix(name, "_us");
}

static bool is_rate(const char *name)
{
    return strstr(name, "per_s") || strstr(name, "throughput") || strstr(name, "images_s");
}

static bool gives_away(const char *name, const char *target)
{
    bool measures = is_time(target) || is_rate(target);
    return (measures && (is_time(name) || is_rate(name))) ||
           (measures && same_measure(name, target) && strlen(target) > 1 && is_time(target));
}

static bool is_dropped(const char *name, const struct orch_rows_options *o)
{
    return (o->drop && g_strv_contains(o->drop, name)) || strcmp(name, "split") == 0;
}

static bool is_number(const char *text)
{
    double value;
    return !*text || orch_real_parse(text, &value);
}

static void add_column(struct orch_rows *r, const struct orch_csv *csv, int column,
                       const char *name)
{
    bool numbers = true, varies = false;
    for (size_t i = 0; i < r->rows; i++) {
        const char *text = orch_csv_text(csv, i, column);
        numbers &= is_number(text);
        varies |= strcmp(text, orch_csv_text(csv, 0, column)) != 0;
    }
    if (!varies && strcmp(name, "gpu") != 0)
        return;
    double *values = numbers ? orch_matrix_add_number(r->matrix, name)
                             : orch_matrix_add_category(r->matrix, name);
    int at = orch_matrix_cols(r->matrix) - 1;
    for (size_t i = 0; i < r->rows; i++) {
        const char *text = orch_csv_text(csv, i, column);
        if (!*text)
            continue;
        if (numbers)
            orch_real_parse(text, &values[i]);
        else
            values[i] = orch_matrix_level(r->matrix, at, text);
    }
}

/* ---- what is known of a GPU --------------------------------------------------------------------
 */

static const struct orch_gpu_spec *gpu_of(const struct orch_csv *csv, size_t row, int column)
{
    return column < 0 ? NULL : orch_gpu_find(orch_csv_text(csv, row, column));
}

static void add_gpu_features(struct orch_rows *r, const struct orch_csv *csv, int column)
{
    static const char *const names[] = {
        "gpu fp32_tflops", "gpu tensor16_tflops", "gpu bandwidth_gbs", "gpu memory_gb", "gpu cores",
        "gpu sms",         "gpu boost_mhz",       "gpu l2_mb",         "gpu year"};
    double *columns[G_N_ELEMENTS(names)];
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
        columns[k] = orch_matrix_add_number(r->matrix, names[k]);
    for (size_t i = 0; i < r->rows; i++) {
        const struct orch_gpu_spec *s = gpu_of(csv, i, column);
        if (!s)
            continue;
        double values[] = {s->fp32_tflops, s->tensor16_tflops, s->bandwidth_gbs,
                           s->memory_gb,   s->cores,           s->sms,
                           s->boost_mhz,   s->l2_mb,           s->year};
        for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
            columns[k][i] = values[k];
    }
}

/* ---- what is known of a layer ------------------------------------------------------------------
 */

/* Work of one row: operations, bytes, and how often (a training step goes over it three times). */
struct work {
    double flops, bytes, rounds;
};

struct reader {
    const struct orch_csv *csv;
    size_t row;
};

static double get(const struct reader *in, const char *name)
{
    int column = orch_csv_find(in->csv, name);
    double value;
    return column >= 0 && orch_real_parse(orch_csv_text(in->csv, in->row, column), &value)
               ? value
               : (double)NAN;
}

static bool says(const struct reader *in, const char *name, const char *text)
{
    int column = orch_csv_find(in->csv, name);
    return column >= 0 && strcmp(orch_csv_text(in->csv, in->row, column), text) == 0;
}

static double rounds_of(const struct reader *in)
{
    bool trains = orch_csv_find(in->csv, "opt") >= 0 && !says(in, "opt", "none");
    return trains || says(in, "mode", "train") ? 3 : 1;
}

static struct work conv_work(const struct reader *in)
{
    double batch = get(in, "batch"), side = get(in, "in_hw"), kernel = get(in, "kernel");
    double cin = get(in, "cin"), cout = get(in, "cout"), stride = get(in, "stride");
    double pad = get(in, "pad"), same = get(in, "pad_same");
    double moved = !isnan(same) ? (same > 0 ? side : side - kernel + 1)
                                : side - kernel + 1 + 2 * (isnan(pad) ? 0 : pad);
    double out = ceil(moved / stride);
    double values = batch * (side * side * cin + out * out * cout) + kernel * kernel * cin * cout;
    return (struct work){2 * batch * out * out * kernel * kernel * cin * cout, 4 * values,
                         rounds_of(in)};
}

static struct work dense_work(const struct reader *in)
{
    double batch = get(in, "batch"), din = get(in, "din"), dout = get(in, "dout");
    return (struct work){2 * batch * din * dout, 4 * (batch * (din + dout) + din * dout),
                         rounds_of(in)};
}

static struct work gemm_work(const struct reader *in)
{
    double b = get(in, "b"), m = get(in, "m"), k = get(in, "k"), n = get(in, "n");
    b = isnan(b) ? 1 : b;
    return (struct work){2 * b * m * k * n, 4 * b * (m * k + k * n + m * n), 1};
}

/* Counts that a table brings itself. */
static struct work counted_work(const struct reader *in)
{
    double batch = get(in, "batch"), macs = get(in, "gmacs") * 1e9;
    double params = get(in, "params_M") * 1e6, values = get(in, "macts_M") * 1e6;
    if (isnan(batch))
        batch = get(in, "batch_total");
    return (struct work){2 * macs * batch, 4 * (3 * values * batch + params),
                         says(in, "mode", "infer") ? 1 : 3};
}

static struct work work_of(const struct reader *in)
{
    static struct work (*const kinds[])(const struct reader *) = {conv_work, dense_work, gemm_work,
                                                                  counted_work};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        struct work w = kinds[i](in);
        if (isfinite(w.flops) && isfinite(w.bytes) && w.flops > 0)
            return w;
    }
    return (struct work){(double)NAN, (double)NAN, 1};
}

static enum orch_precision precision_of(const struct reader *in, const struct orch_gpu_spec *gpu)
{
    bool half = says(in, "prec", "amp") || says(in, "precision", "fp16") ||
                says(in, "precision", "half") || says(in, "bits", "16");
    if (says(in, "precision", "double"))
        return ORCH_FP64;
    return half && gpu->tensor16_tflops > 0 ? ORCH_FP16 : ORCH_FP32;
}

static void add_work_features(struct orch_rows *r, const struct orch_csv *csv, int gpu_column)
{
    struct reader in = {csv, 0};
    if (!r->rows || isnan(work_of(&in).flops))
        return;
    double *flops = orch_matrix_add_number(r->matrix, "work gflop");
    double *bytes = orch_matrix_add_number(r->matrix, "work mbytes");
    double *intensity = orch_matrix_add_number(r->matrix, "work flop_per_byte");
    double *compute = orch_matrix_add_number(r->matrix, "roofline compute_ms");
    double *memory = orch_matrix_add_number(r->matrix, "roofline memory_ms");
    for (size_t i = 0; i < r->rows; i++) {
        const struct orch_gpu_spec *gpu = gpu_of(csv, i, gpu_column);
        in.row = i;
        struct work w = work_of(&in);
        flops[i] = w.flops * w.rounds / 1e9;
        bytes[i] = w.bytes * w.rounds / 1e6;
        intensity[i] = w.flops / w.bytes;
        if (!gpu)
            continue;
        double peak = orch_gpu_peak(gpu, precision_of(&in, gpu));
        compute[i] = 1e3 * w.flops * w.rounds / peak;
        memory[i] = 1e3 * w.bytes * w.rounds / (gpu->bandwidth_gbs * 1e9);
        r->white[i] = MAX(compute[i], memory[i]);
    }
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool read_target(struct orch_rows *r, const struct orch_csv *csv, int column, GError **error)
{
    for (size_t i = 0; i < r->rows; i++) {
        if (!orch_csv_real(csv, i, column, &r->target[i], error))
            return false;
        if (!(r->target[i] > 0))
            return orch_csv_fail(csv, i, column, "leave such rows out: they are no measurement",
                                 error, "a target of %g is not above 0", r->target[i]);
    }
    return true;
}

static void read_features(struct orch_rows *r, const struct orch_csv *csv,
                          const struct orch_rows_options *o)
{
    for (int c = 0; c < orch_csv_columns(csv); c++) {
        const char *name = orch_csv_name(csv, c);
        if (strcmp(name, o->target) == 0 || is_dropped(name, o))
            continue;
        if (gives_away(name, o->target))
            note(r, "column '%s' was left out: it gives '%s' away", name, o->target);
        else
            add_column(r, csv, c, name);
    }
    int gpu = orch_csv_find(csv, "gpu");
    if (gpu >= 0 && !is_dropped("gpu", o))
        add_gpu_features(r, csv, gpu);
    add_work_features(r, csv, gpu);
}

struct orch_rows *orch_rows_of_table(const struct orch_csv *csv, const struct orch_rows_options *o,
                                     GError **error)
{
    int target = 0, group = -1;
    if (!orch_csv_column(csv, o->target, &target, error) ||
        (o->group && !orch_csv_column(csv, o->group, &group, error)))
        return NULL;
    struct orch_rows *r = g_new0(struct orch_rows, 1);
    r->rows = orch_csv_rows(csv);
    r->matrix = orch_matrix_new(r->rows);
    r->target = g_new0(double, MAX(r->rows, 1));
    r->white = g_new0(double, MAX(r->rows, 1));
    r->notes = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < r->rows; i++)
        r->white[i] = (double)NAN;
    if (!read_target(r, csv, target, error)) {
        orch_rows_free(r);
        return NULL;
    }
    read_features(r, csv, o);
    r->groups = group >= 0 ? g_new0(char *, r->rows + 1) : NULL;
    for (size_t i = 0; r->groups && i < r->rows; i++)
        r->groups[i] = g_strdup(orch_csv_text(csv, i, group));
    return r;
}

struct orch_rows *orch_rows_read(const char *path, const struct orch_rows_options *o,
                                 GError **error)
{
    struct orch_csv *csv = orch_csv_read(path, error);
    struct orch_rows *r = csv ? orch_rows_of_table(csv, o, error) : NULL;
    orch_csv_free(csv);
    return r;
}
