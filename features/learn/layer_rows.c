/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/layer_rows.h"

#include "lib/base/error.h"
#include "lib/base/reals.h"
#include "lib/base/text.h"
#include "lib/net/layer_work.h"

#include <math.h>
#include <string.h>

/* What a layer's time is learned from, by the names of the columns. */
static const char *const FEATURES[] = {"batch",  "in_c",   "in_h",  "out_c",  "out_h", "kernel",
                                       "stride", "groups", "heads", "params", "gflop", "mbytes"};
#define FEATURE_COUNT (int)G_N_ELEMENTS(FEATURES)
enum { BATCH, PARAMS = 9, GFLOP, MBYTES };

struct part {
    char *kind, *text;
    char *where; /* pass, precision, layout, facts */
    bool first;
    char *optimizer;
    double features[G_N_ELEMENTS(FEATURES)];
    double ms;
};

struct orch_layer_rows {
    GPtrArray *parts; /* struct part * */
};

static void part_free(void *pointer)
{
    struct part *part = pointer;
    g_free(part->kind);
    g_free(part->text);
    g_free(part->where);
    g_free(part->optimizer);
    g_free(part);
}

/* ---- reading --------------------------------------------------------------------------------- */

static char *where_of(const char *pass, const char *precision, const char *layout,
                      const char *const *facts)
{
    g_autofree char *joined = facts ? g_strjoinv("|", (char **)(uintptr_t)facts) : g_strdup("");
    return g_strjoin("|", pass, precision, layout, joined, NULL);
}

/* An empty field (the work of an update) counts as 0. */
static bool read_number(const struct orch_csv *csv, size_t row, const char *column, double *out,
                        GError **error)
{
    int index;
    *out = 0;
    return orch_csv_column(csv, column, &index, error) &&
           (!*orch_csv_text(csv, row, index) || orch_csv_real(csv, row, index, out, error));
}

static char *read_text(const struct orch_csv *csv, size_t row, const char *column)
{
    int index = orch_csv_find(csv, column);
    return g_strdup(index >= 0 ? orch_csv_text(csv, row, index) : "");
}

static bool read_part(const struct orch_csv *csv, size_t row, const char *const *facts,
                      struct part *part, GError **error)
{
    double forward, backward, first;
    g_autofree char *pass = read_text(csv, row, "pass");
    g_autofree char *precision = read_text(csv, row, "precision");
    g_autofree char *layout = read_text(csv, row, "layout");
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; facts && facts[i]; i++)
        g_ptr_array_add(values, read_text(csv, row, facts[i]));
    g_ptr_array_add(values, NULL);
    for (int i = 0; i < FEATURE_COUNT; i++)
        if (!read_number(csv, row, FEATURES[i], &part->features[i], error))
            return false;
    if (!read_number(csv, row, "forward_queued_ms", &forward, error) ||
        !read_number(csv, row, "backward_queued_ms", &backward, error) ||
        !read_number(csv, row, "first", &first, error))
        return false;
    part->kind = read_text(csv, row, "kind");
    part->text = read_text(csv, row, "text");
    part->optimizer = read_text(csv, row, "optimizer");
    part->where = where_of(pass, precision, layout, (const char *const *)values->pdata);
    part->first = first > 0;
    part->ms = forward + backward;
    return true;
}

struct orch_layer_rows *orch_layer_rows_read(const struct orch_csv *csv, const char *const *facts,
                                             GError **error)
{
    struct orch_layer_rows *rows = g_new0(struct orch_layer_rows, 1);
    rows->parts = g_ptr_array_new_with_free_func(part_free);
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        struct part *part = g_new0(struct part, 1);
        g_ptr_array_add(rows->parts, part);
        if (!read_part(csv, i, facts, part, error)) {
            orch_layer_rows_free(rows);
            return NULL;
        }
    }
    return rows;
}

void orch_layer_rows_free(struct orch_layer_rows *rows)
{
    if (!rows)
        return;
    g_ptr_array_unref(rows->parts);
    g_free(rows);
}

size_t orch_layer_rows_count(const struct orch_layer_rows *rows)
{
    return rows->parts->len;
}

/* ---- measured parts -------------------------------------------------------------------------- */

static bool is_other(const struct part *part)
{
    static const char *const kinds[] = {"input", "loss", "update", NULL};
    return g_strv_contains(kinds, part->kind);
}

static bool is_same(const struct part *measured, const struct part *wanted)
{
    return measured->first == wanted->first &&
           fabs(measured->features[BATCH] - wanted->features[BATCH]) < 0.5 &&
           strcmp(measured->text, wanted->text) == 0 && strcmp(measured->where, wanted->where) == 0;
}

/* The median of the part's measurements; NaN if there are none. */
static double measured_ms(const struct orch_layer_rows *rows, const struct part *wanted)
{
    g_autofree double *found = g_new(double, rows->parts->len + 1);
    size_t count = 0;
    for (guint i = 0; i < rows->parts->len; i++) {
        const struct part *part = rows->parts->pdata[i];
        if (is_same(part, wanted))
            found[count++] = part->ms;
    }
    return orch_reals_median(found, count);
}

/* How much an other part has to do: values of the input, scores, parameters. */
static double size_of(const struct part *part)
{
    if (strcmp(part->kind, "update") == 0)
        return part->features[PARAMS];
    return part->features[0] * part->features[1] * MAX(1, part->features[2] * part->features[2]);
}

/* The measured part of the kind that is nearest in size, in proportion; NaN if there is none. */
static double scaled_ms(const struct orch_layer_rows *rows, const struct part *wanted)
{
    double nearest = HUGE_VAL, ms = (double)NAN;
    for (guint i = 0; i < rows->parts->len; i++) {
        const struct part *part = rows->parts->pdata[i];
        bool fits =
            strcmp(part->kind, wanted->kind) == 0 && strcmp(part->where, wanted->where) == 0 &&
            (strcmp(part->kind, "update") != 0 || strcmp(part->optimizer, wanted->optimizer) == 0);
        double ratio = size_of(wanted) / size_of(part);
        if (!fits || !(ratio > 0) || fabs(log(ratio)) >= nearest)
            continue;
        nearest = fabs(log(ratio));
        ms = part->ms * ratio;
    }
    return ms;
}

/* ---- the network's parts --------------------------------------------------------------------- */

static bool is_half(const char *precision)
{
    return strcmp(precision, "bf16") == 0 || strcmp(precision, "fp16") == 0;
}

static struct part *part_of(const struct orch_net *net, const struct orch_net_cost *costs,
                            const struct orch_net_node *node, const struct orch_net_fusion *fusion,
                            const struct orch_layer_rows_job *job, const char *where)
{
    const struct orch_net_node *start = fusion ? orch_net_node(net, fusion->norm) : node;
    const struct orch_net_shape *in = &orch_net_node(net, start->inputs[0])->out;
    bool first = orch_net_layer_is_first(net, node, fusion), fused = fusion != NULL;
    struct orch_net_layer_run run = {job->batch, strcmp(job->optimizer, "none") != 0, !first,
                                     is_half(job->precision) ? 2 : 4};
    struct orch_net_layer_work work = orch_net_layer_work(costs, node, fusion, &run);
    struct part *part = g_new0(struct part, 1);
    *part = (struct part){.kind = g_strdup(orch_net_layer_kind(node, fusion)),
                          .text = orch_net_layer_format(net, node, fusion),
                          .where = g_strdup(where),
                          .first = first,
                          .features = {(double)job->batch, (double)in->c, (double)in->h,
                                       (double)node->out.c, (double)node->out.h,
                                       fused ? 0 : node->kernel_h, fused ? 0 : node->stride_h,
                                       fused ? 0 : node->groups, fused ? 0 : node->heads,
                                       work.params, work.gflop, work.mbytes}};
    return part;
}

/* True if norms are computed together with what follows them where these rows were measured. */
static bool fuses(const struct orch_layer_rows *rows, const char *where)
{
    for (guint i = 0; i < rows->parts->len; i++) {
        const struct part *part = rows->parts->pdata[i];
        if (strcmp(part->where, where) == 0 && g_str_has_prefix(part->kind, "batchnorm+"))
            return true;
    }
    return false;
}

static GPtrArray *parts_of(const struct orch_layer_rows *rows, const struct orch_net *net,
                           const struct orch_layer_rows_job *job, const char *where)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    g_autofree struct orch_net_fusion *fusions = orch_net_fusions(net);
    g_autofree bool *is_fused = g_new0(bool, net->nodes->len);
    bool is_fusing = fuses(rows, where);
    GPtrArray *parts = g_ptr_array_new_with_free_func(part_free);
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        int end = is_fusing ? fusions[i].end : (int)i;
        if (!orch_net_layer_does_work(node))
            continue;
        is_fused[end] |= end != (int)i;
        if (end == (int)i)
            g_ptr_array_add(
                parts, part_of(net, costs, node, is_fused[i] ? &fusions[i] : NULL, job, where));
    }
    return parts;
}

/* ---- learning -------------------------------------------------------------------------------- */

static void append_part(GString *csv, const struct part *part, double ms)
{
    char text[ORCH_REAL_CHARS];
    g_string_append_printf(csv, "%s,%s,", part->kind, part->first ? "yes" : "no");
    for (int i = 0; i < FEATURE_COUNT; i++)
        g_string_append_printf(csv, "%s,", orch_real_format(part->features[i], text));
    g_string_append_printf(csv, "%s\n", orch_real_format(ms, text));
}

static GString *csv_head(void)
{
    GString *csv = g_string_new("kind,is_first,");
    for (int i = 0; i < FEATURE_COUNT; i++)
        g_string_append_printf(csv, "%s,", FEATURES[i]);
    return g_string_append(csv, "ms\n");
}

static struct orch_rows *rows_of(const GString *csv, const struct orch_matrix *like, GError **error)
{
    struct orch_rows_options options = {.target = "ms", .keep_all = true, .like = like};
    struct orch_csv *table = orch_csv_parse("layers", csv->str, csv->len, error);
    struct orch_rows *rows = table ? orch_rows_of_table(table, &options, error) : NULL;
    orch_csv_free(table);
    return rows;
}

#define LEARN_FROM_LEAST 20 /* rows; with fewer a model of layers would be a guess */

static struct orch_rows *training_rows(const struct orch_layer_rows *rows, const char *where,
                                       GError **error)
{
    GString *csv = csv_head();
    int count = 0;
    for (guint i = 0; i < rows->parts->len; i++) {
        const struct part *part = rows->parts->pdata[i];
        if (is_other(part) || strcmp(part->where, where) != 0 || !(part->ms > 0))
            continue;
        append_part(csv, part, part->ms);
        count++;
    }
    struct orch_rows *out = NULL;
    if (count >= LEARN_FROM_LEAST)
        out = rows_of(csv, NULL, error);
    else
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "measure more layers (parameters 'draws' or 'by_layer')",
                       "%d measured layers of this pass, precision and layout are too few to "
                       "predict the others: %d are needed",
                       count, LEARN_FROM_LEAST);
    g_string_free(csv, TRUE);
    return out;
}

/* Two rows that differ in every column, because a reader drops constant columns. */
static void append_different(GString *csv)
{
    char names[2][4] = {"one", "two"};
    for (int k = 1; k <= 2; k++) {
        struct part part = {.kind = names[k - 1], .first = k == 1};
        for (int i = 0; i < FEATURE_COUNT; i++)
            part.features[i] = k;
        append_part(csv, &part, 1);
    }
}

static bool add_learned(const struct orch_layer_rows *rows, const GPtrArray *unknown,
                        const char *where, const struct orch_learn_options *options,
                        struct orch_layer_rows_sum *out, GError **error)
{
    struct orch_rows *training = training_rows(rows, where, error);
    struct orch_learned *learned = training ? orch_learn(training, options, error) : NULL;
    GString *csv = csv_head();
    for (guint i = 0; i < unknown->len; i++)
        append_part(csv, unknown->pdata[i], 1);
    append_different(csv);
    struct orch_rows *asked = learned ? rows_of(csv, training->matrix, error) : NULL;
    if (asked) {
        g_autofree struct orch_answer *answers = g_new(struct orch_answer, asked->rows);
        orch_learned_predict(learned, asked, answers);
        for (guint i = 0; i < unknown->len; i++)
            out->learned_ms += answers[i].value.mid;
        out->layers_ms += out->learned_ms;
        out->learned = (int)unknown->len;
    }
    bool ok = asked != NULL;
    orch_rows_free(asked);
    orch_learned_free(learned);
    orch_rows_free(training);
    g_string_free(csv, TRUE);
    return ok;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static void add_others(const struct orch_layer_rows *rows, const struct orch_net *net,
                       const struct orch_layer_rows_job *job, const char *where,
                       struct orch_layer_rows_sum *out)
{
    double batch = (double)job->batch;
    struct part others[] = {
        {.kind = "input", .features = {batch, (double)net->input.c, (double)net->input.h}},
        {.kind = "loss", .features = {batch, (double)net->classes, 1}},
        {.kind = "update", .features = {[PARAMS] = (double)orch_net_params(net)}}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        others[i].where = (char *)(uintptr_t)where;
        others[i].optimizer = (char *)(uintptr_t)job->optimizer;
        double ms = scaled_ms(rows, &others[i]);
        if (isnan(ms))
            continue;
        out->others_ms += ms;
        out->others++;
    }
}

bool orch_layer_rows_sum(const struct orch_layer_rows *rows, const struct orch_net *net,
                         const struct orch_layer_rows_job *job,
                         const struct orch_learn_options *options, struct orch_layer_rows_sum *out,
                         GError **error)
{
    bool trains = strcmp(job->optimizer, "none") != 0;
    g_autofree char *where =
        where_of(trains ? "train" : "forward", job->precision, job->layout, job->facts);
    struct orch_layer_rows_sum sum = {0};
    g_autoptr(GPtrArray) parts = parts_of(rows, net, job, where);
    g_autoptr(GPtrArray) unknown = g_ptr_array_new();
    for (guint i = 0; i < parts->len; i++) {
        double ms = measured_ms(rows, parts->pdata[i]);
        if (isnan(ms)) {
            g_ptr_array_add(unknown, parts->pdata[i]);
            continue;
        }
        sum.layers_ms += ms;
        sum.measured++;
    }
    if (unknown->len && !add_learned(rows, unknown, where, options, &sum, error))
        return false;
    add_others(rows, net, job, where, &sum);
    *out = sum;
    return true;
}
