/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/layerwise.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* One kind of layer: the model of its times and the measured range. */
struct kind {
    struct orch_learned *learned; /* NULL: no table */
    GHashTable *ends;             /* column -> double[2]: least and largest value */
};

struct orch_layerwise {
    struct kind conv, dense;
    char *target;
};

static const char *const CONV_SIZES[] = {"batch", "in_hw", "kernel", "cin", "cout", "stride", NULL};
static const char *const DENSE_SIZES[] = {"batch", "din", "dout", NULL};

/* ---- learning -------------------------------------------------------------------------------- */

static GHashTable *ends_of(const struct orch_matrix *m, const char *const *names)
{
    GHashTable *out = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (int k = 0; names[k]; k++) {
        int c = orch_matrix_find(m, names[k]);
        if (c < 0 || orch_matrix_feature(m, c)->levels)
            continue;
        const double *values = orch_matrix_column(m, c);
        double *ends = g_new(double, 2);
        ends[0] = (double)INFINITY;
        ends[1] = -(double)INFINITY;
        for (size_t i = 0; i < m->rows; i++) {
            ends[0] = fmin(ends[0], values[i]);
            ends[1] = fmax(ends[1], values[i]);
        }
        g_hash_table_insert(out, (gpointer)(uintptr_t)names[k], ends);
    }
    return out;
}

static bool learn_kind(struct kind *kind, const struct orch_rows *rows, const char *const *names,
                       const struct orch_learn_options *options, GError **error)
{
    if (!rows)
        return true;
    kind->learned = orch_learn(rows, options, error);
    kind->ends = ends_of(rows->matrix, names);
    return kind->learned;
}

struct orch_layerwise *orch_layerwise_learn(const struct orch_rows *conv,
                                            const struct orch_rows *dense, const char *target,
                                            const struct orch_learn_options *options,
                                            GError **error)
{
    struct orch_layerwise *l = g_new0(struct orch_layerwise, 1);
    l->target = g_strdup(target);
    if (learn_kind(&l->conv, conv, CONV_SIZES, options, error) &&
        learn_kind(&l->dense, dense, DENSE_SIZES, options, error))
        return l;
    orch_layerwise_free(l);
    return NULL;
}

void orch_layerwise_free(struct orch_layerwise *l)
{
    if (!l)
        return;
    struct kind *kinds[] = {&l->conv, &l->dense};
    for (int i = 0; i < 2; i++) {
        orch_learned_free(kinds[i]->learned);
        g_clear_pointer(&kinds[i]->ends, g_hash_table_unref);
    }
    g_free(l->target);
    g_free(l);
}

/* ---- layers as rows -------------------------------------------------------------------------- */

#define FIELDS_MAX 32

/* A row as pairs of names and values, before it becomes CSV text. */
struct row {
    const char *names[FIELDS_MAX];
    char *values[FIELDS_MAX];
    int count;
};

static void put(struct row *row, const char *name, char *value)
{
    if (row->count == FIELDS_MAX) {
        g_free(value);
        return;
    }
    row->names[row->count] = name;
    row->values[row->count++] = value;
}

static void put_number(struct row *row, const char *name, double value)
{
    char text[ORCH_REAL_CHARS];
    put(row, name, g_strdup(orch_real_format(value, text)));
}

static void row_clear(struct row *row)
{
    for (int i = 0; i < row->count; i++)
        g_free(row->values[i]);
}

static bool reads(const struct orch_net_node *node, int id)
{
    for (int k = 0; k < node->input_count; k++)
        if (node->inputs[k] == id)
            return true;
    return false;
}

/* The activation that reads the layer, directly or after its norm; NULL if there is none. */
static const struct orch_net_node *activation_of(const struct orch_net *net, int id)
{
    for (guint i = (guint)id + 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (!reads(node, id))
            continue;
        switch (node->op) {
        case ORCH_NET_RELU:
        case ORCH_NET_RELU6:
        case ORCH_NET_TANH:
        case ORCH_NET_SIGMOID:
            return node;
        case ORCH_NET_BATCHNORM2D:
            return activation_of(net, node->id);
        default:
            break;
        }
    }
    return NULL;
}

static const char *activation_name(const struct orch_net_node *node)
{
    return !node                          ? "none"
           : node->op == ORCH_NET_TANH    ? "tanh"
           : node->op == ORCH_NET_SIGMOID ? "sigmoid"
                                          : "relu";
}

/* Rectangular windows and images count as a square of the same area. */
static void put_conv(struct row *row, const struct orch_net *net, const struct orch_net_node *node)
{
    const struct orch_net_shape *in = &orch_net_node(net, node->inputs[0])->out;
    put_number(row, "in_hw", sqrt((double)(in->h * in->w)));
    put_number(row, "kernel", sqrt((double)(node->kernel_h * node->kernel_w)));
    put_number(row, "cin", (double)node->in_channels);
    put_number(row, "cout", (double)node->out_channels);
    put_number(row, "stride", sqrt((double)(node->stride_h * node->stride_w)));
    put_number(row, "pad_same", node->pad_h > 0 || node->pad_w > 0 || node->kernel_h == 1);
    put_number(row, "bias", node->has_bias);
}

static void row_of(struct row *row, const struct orch_net *net, const struct orch_net_node *node,
                   const struct orch_layerwise_job *job)
{
    put_number(row, "batch", (double)job->batch);
    if (node->op == ORCH_NET_CONV2D) {
        put_conv(row, net, node);
    } else {
        put_number(row, "din", (double)node->in_channels);
        put_number(row, "dout", (double)node->out_channels);
    }
    put(row, "act", g_strdup(activation_name(activation_of(net, node->id))));
    put(row, "opt", g_strdup(job->optimizer));
    for (int i = 0; job->facts && job->facts[i] && job->facts[i + 1]; i += 2)
        put(row, job->facts[i], g_strdup(job->facts[i + 1]));
}

static void append_field(GString *csv, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "\"", -1);
    g_autofree char *doubled = g_strjoinv("\"\"", parts);
    g_string_append_printf(csv, "\"%s\",", doubled);
}

/* Appends two rows that differ from all others in every column, because a reader drops constant
 * columns and all layers here may share one batch and one optimizer. */
static void append_strangers(GString *csv, const struct row *like)
{
    for (int k = 1; k <= 2; k++) {
        for (int i = 0; i < like->count; i++) {
            double number;
            bool is_number = orch_real_parse(like->values[i], &number);
            g_autofree char *text =
                is_number ? g_strdup_printf("%d", k) : g_strdup_printf("-%c", 'a' + k);
            append_field(csv, text);
        }
        g_string_append(csv, "1\n");
    }
}

/* Makes rows for layers of one kind, in the order of `nodes`. */
static struct orch_rows *rows_of(const struct orch_layerwise *l, const struct orch_net *net,
                                 const GPtrArray *nodes, const struct orch_layerwise_job *job,
                                 GError **error)
{
    GString *csv = g_string_new(NULL);
    for (guint i = 0; i < nodes->len; i++) {
        struct row row = {.count = 0};
        row_of(&row, net, nodes->pdata[i], job);
        for (int k = 0; i == 0 && k < row.count; k++)
            append_field(csv, row.names[k]);
        if (i == 0)
            g_string_append_printf(csv, "%s\n", l->target);
        for (int k = 0; k < row.count; k++)
            append_field(csv, row.values[k]);
        g_string_append(csv, "1\n");
        if (i + 1 == nodes->len)
            append_strangers(csv, &row);
        row_clear(&row);
    }
    struct orch_rows_options options = {.target = l->target};
    struct orch_csv *table = orch_csv_parse(net->name, csv->str, csv->len, error);
    struct orch_rows *all = table ? orch_rows_of_table(table, &options, error) : NULL;
    g_autofree size_t *which = g_new(size_t, nodes->len + 1);
    for (guint i = 0; i < nodes->len; i++)
        which[i] = i;
    struct orch_rows *out = all ? orch_rows_pick(all, which, nodes->len) : NULL;
    orch_rows_free(all);
    orch_csv_free(table);
    g_string_free(csv, TRUE);
    return out;
}

/* ---- predicting ------------------------------------------------------------------------------ */

static bool is_outside(const struct kind *kind, const struct orch_rows *rows, size_t row)
{
    GHashTableIter iter;
    gpointer name, ends;
    g_hash_table_iter_init(&iter, kind->ends);
    while (g_hash_table_iter_next(&iter, &name, &ends)) {
        int c = orch_matrix_find(rows->matrix, name);
        double value = c >= 0 ? orch_matrix_column(rows->matrix, c)[row] : (double)NAN;
        if (value < ((double *)ends)[0] || value > ((double *)ends)[1])
            return true;
    }
    return false;
}

static bool predict_kind(const struct orch_layerwise *l, const struct kind *kind,
                         const struct orch_net *net, const GPtrArray *nodes,
                         const struct orch_layerwise_job *job, struct orch_layerwise_time *out,
                         GError **error)
{
    if (!nodes->len)
        return true;
    struct orch_rows *rows = rows_of(l, net, nodes, job, error);
    if (!rows)
        return false;
    g_autofree struct orch_answer *predictions = g_new(struct orch_answer, nodes->len);
    orch_learned_predict(kind->learned, rows, predictions);
    for (guint i = 0; i < nodes->len; i++) {
        const struct orch_net_node *node = nodes->pdata[i];
        struct orch_layerwise_layer layer = {.name = node->name,
                                             .is_conv = node->op == ORCH_NET_CONV2D,
                                             .ms.mid = predictions[i].value.mid,
                                             .ms.low = predictions[i].value.low,
                                             .ms.high = predictions[i].value.high,
                                             .is_outside = is_outside(kind, rows, i)};
        g_array_append_val(out->layers, layer);
        out->batch_ms.mid += layer.ms.mid;
        out->batch_ms.low += layer.ms.low;
        out->batch_ms.high += layer.ms.high;
        out->outside += layer.is_outside;
    }
    orch_rows_free(rows);
    return true;
}

static bool moves_nothing(enum orch_net_op op)
{
    return op == ORCH_NET_INPUT || op == ORCH_NET_FLATTEN;
}

/* Classifies the nodes: convolutions, dense layers, operations left out. */
static void sort_nodes(const struct orch_layerwise *l, const struct orch_net *net, GPtrArray *conv,
                       GPtrArray *dense, struct orch_layerwise_time *out)
{
    g_autoptr(GHashTable) activations = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < net->nodes->len; i++) {
        struct orch_net_node *node = net->nodes->pdata[i];
        bool is_conv = l->conv.learned && node->op == ORCH_NET_CONV2D && node->groups <= 1;
        bool is_dense = l->dense.learned && node->op == ORCH_NET_LINEAR;
        if (node->is_auxiliary || moves_nothing(node->op))
            continue;
        if (is_conv || is_dense) {
            const struct orch_net_node *activation = activation_of(net, node->id);
            g_ptr_array_add(is_conv ? conv : dense, node);
            if (activation)
                g_hash_table_add(activations, (gpointer)(uintptr_t)activation);
        } else if (!g_hash_table_contains(activations, node)) {
            out->left_out[node->op]++;
            out->left_out_count++;
        }
    }
}

struct orch_layerwise_time *orch_layerwise_predict(const struct orch_layerwise *l,
                                                   const struct orch_net *net,
                                                   const struct orch_layerwise_job *job,
                                                   GError **error)
{
    g_autoptr(GPtrArray) conv = g_ptr_array_new();
    g_autoptr(GPtrArray) dense = g_ptr_array_new();
    struct orch_layerwise_time *out = g_new0(struct orch_layerwise_time, 1);
    out->layers = g_array_new(FALSE, FALSE, sizeof(struct orch_layerwise_layer));
    sort_nodes(l, net, conv, dense, out);
    bool ok = conv->len || dense->len;
    if (!ok)
        orch_error_set(error, ORCH_ERROR_USAGE, "measure layers of the kinds that the network has",
                       "network '%s' has no layer of a kind that was measured", net->name);
    ok = ok && predict_kind(l, &l->conv, net, conv, job, out, error) &&
         predict_kind(l, &l->dense, net, dense, job, out, error);
    if (ok)
        return out;
    orch_layerwise_time_free(out);
    return NULL;
}

void orch_layerwise_time_free(struct orch_layerwise_time *time)
{
    if (!time)
        return;
    g_array_unref(time->layers);
    g_free(time);
}

double orch_layerwise_epoch_s(double batch_ms, int64_t images, int64_t batch)
{
    return ceil((double)images / (double)batch) * batch_ms / 1e3;
}

char *orch_layerwise_left_out_text(const struct orch_layerwise_time *time)
{
    GString *text = g_string_new(NULL);
    for (int op = 0; op < ORCH_NET_OP_COUNT; op++)
        if (time->left_out[op])
            g_string_append_printf(text, "%s%d %s", text->len ? ", " : "", time->left_out[op],
                                   orch_net_op_name((enum orch_net_op)op));
    if (!text->len)
        g_string_append(text, "nothing");
    return g_string_free(text, FALSE);
}
