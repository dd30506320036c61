/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layer tables from CSV. Fields are parsed in place, so that each error has a position. Redundant
 * values (an output's shape, a number of parameters) are checked against the formula, because
 * otherwise a typing error in the geometry shows only as a wrong forecast. */
#include "lib/base/csv.h"
#include "predictors/steps/geometry.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

/* Upper bounds for one side of a shape and for the elements of one image. */
#define SIDE_MAX INT64_C(1000000000)
#define ELEMENTS_MAX (INT64_C(1) << 40)
#define DIMS_MAX 4
#define INPUTS_MAX 4096
#define LAYERS_MAX 20000

enum column {
    COL_NET,
    COL_LAYER,
    COL_TYPE,
    COL_IN,
    COL_OUT,
    COL_FILTER,
    COL_STRIDE,
    COL_PAD_TYPE,
    COL_FIRST_OPTIONAL,
    COL_PAD = COL_FIRST_OPTIONAL,
    COL_BATCH,
    COL_PARAMS,
    COL_NO_DATA_GRAD,
    COL_PARENTS,
    COL_GROUPS,
    COL_DILATION,
    COL_COUNT
};

static const char *const COLUMNS[COL_COUNT] = {
    [COL_NET] = "net",           [COL_LAYER] = "layer",
    [COL_TYPE] = "type",         [COL_IN] = "in_shape",
    [COL_OUT] = "out_shape",     [COL_FILTER] = "filter_hwio",
    [COL_STRIDE] = "stride_hw",  [COL_PAD_TYPE] = "pad_type",
    [COL_PAD] = "pad_hw",        [COL_BATCH] = "batch",
    [COL_PARAMS] = "params",     [COL_NO_DATA_GRAD] = "first_conv_no_data_grad",
    [COL_PARENTS] = "parents",   [COL_GROUPS] = "groups",
    [COL_DILATION] = "dilation",
};

static const struct {
    const char *name;
    enum orch_layer_type type;
} TYPES[] = {
    {"input", ORCH_LAYER_INPUT},        {"conv2d", ORCH_LAYER_CONV2D},
    {"deconv2d", ORCH_LAYER_DECONV2D},  {"pool2d", ORCH_LAYER_POOL2D},
    {"dropout", ORCH_LAYER_DROPOUT},    {"innerproduct", ORCH_LAYER_INNERPRODUCT},
    {"concat", ORCH_LAYER_CONCAT},      {"elementwise", ORCH_LAYER_ELEMENTWISE},
    {"reshape", ORCH_LAYER_RESHAPE},    {"softmax", ORCH_LAYER_SOFTMAX},
    {"sigmoid", ORCH_LAYER_ACTIVATION}, {"activation", ORCH_LAYER_ACTIVATION},
    {"norm", ORCH_LAYER_NORM},          {"generic_BatchNorm", ORCH_LAYER_NORM},
    {"generic", ORCH_LAYER_GENERIC},
};

/* A record that is being converted to a layer. */
struct record {
    const struct orch_csv *csv;
    size_t row;
    const int *columns; /* by enum column; -1: absent */
    const char *layer;
};

static const char *text_of(const struct record *record, enum column column)
{
    int index = record->columns[column];
    return index < 0 ? "" : orch_csv_text(record->csv, record->row, index);
}

#define FAIL(record, column, hint, error, ...)                                                     \
    orch_csv_fail((record)->csv, (record)->row, (record)->columns[column], hint, error, __VA_ARGS__)

/* Parses `count` integers such as "7x7x3x64", each at least `least`. */
static bool read_dims(const struct record *record, enum column column, const char *text,
                      int64_t least, int64_t dims[], int *inout_count, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, "x", -1);
    int found = (int)g_strv_length(parts);
    if (found == 0)
        return FAIL(record, column, "write its sides joined by 'x', as 1x224x224x3", error,
                    "layer '%s' has nothing in column '%s'", record->layer, COLUMNS[column]);
    if (*inout_count ? found != *inout_count : found > DIMS_MAX)
        return FAIL(record, column, "write its sides joined by 'x', as 1x224x224x3", error,
                    "'%s' of layer '%s' has %d sides, expected %s%d", text, record->layer, found,
                    *inout_count ? "" : "at most ", *inout_count ? *inout_count : DIMS_MAX);
    for (int i = 0; i < found; i++) {
        if (!orch_int_parse(parts[i], &dims[i]))
            return FAIL(record, column, "write whole numbers joined by 'x', as 1x224x224x3", error,
                        "'%s' in '%s' of layer '%s' is not a whole number", parts[i], text,
                        record->layer);
        if (dims[i] < least || dims[i] > SIDE_MAX)
            return FAIL(
                record, column,
                dims[i] < least
                    ? "a side is at least 1: check the kernel, the stride and the input above it"
                    : "a side is at most 1,000,000,000",
                error, "'%s' of layer '%s' has a side of %" G_GINT64_FORMAT, text, record->layer,
                dims[i]);
    }
    *inout_count = found;
    return true;
}

/* Parses NxHxWxC, NxTxC or NxC. */
static bool read_shape(const struct record *record, enum column column, const char *text,
                       int64_t batch, struct orch_layer_shape *out, GError **error)
{
    int64_t dims[DIMS_MAX];
    int count = 0;
    if (!read_dims(record, column, text, 1, dims, &count, error))
        return false;
    if (count < 2)
        return FAIL(record, column, "the first side is the batch: write 1x1000 for 1000 values",
                    error, "'%s' of layer '%s' has one side only", text, record->layer);
    if (dims[0] != batch)
        return FAIL(record, column, "write one batch for the whole network", error,
                    "'%s' of layer '%s' has batch %" G_GINT64_FORMAT
                    ", the network has %" G_GINT64_FORMAT,
                    text, record->layer, dims[0], batch);
    *out = (struct orch_layer_shape){1, 1, dims[count - 1]};
    if (count > 2)
        out->h = dims[1];
    if (count > 3)
        out->w = dims[2];
    if ((double)out->h * (double)out->w * (double)out->c > (double)ELEMENTS_MAX)
        return FAIL(record, column, "an image has at most 2^40 elements", error,
                    "'%s' of layer '%s' is too large", text, record->layer);
    return true;
}

/* Uses `fallback` if the field is empty or the column absent. */
static bool read_whole(const struct record *record, enum column column, int64_t least, int64_t most,
                       int64_t fallback, int64_t *out, GError **error)
{
    int index = record->columns[column];
    if (index < 0 || *text_of(record, column) == '\0') {
        *out = fallback;
        return true;
    }
    if (!orch_csv_int(record->csv, record->row, index, out, error))
        return false;
    if (*out < least || *out > most)
        return FAIL(record, column, NULL, error,
                    "%s of layer '%s' is %" G_GINT64_FORMAT ", expected at least %" G_GINT64_FORMAT
                    " and at most %" G_GINT64_FORMAT,
                    COLUMNS[column], record->layer, *out, least, most);
    return true;
}

static bool read_type(const struct record *record, enum orch_layer_type *out, GError **error)
{
    const char *text = text_of(record, COL_TYPE);
    const char *names[G_N_ELEMENTS(TYPES) + 1] = {NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        names[i] = TYPES[i].name;
        if (strcmp(text, TYPES[i].name) == 0) {
            *out = TYPES[i].type;
            return true;
        }
    }
    if (g_str_has_prefix(text, "generic_")) {
        *out = ORCH_LAYER_GENERIC;
        return true;
    }
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)names);
    const char *near = orch_suggest(text, names);
    g_autofree char *hint =
        near ? g_strdup_printf("did you mean '%s'? 'generic_NAME' is a layer that takes no time",
                               near)
             : g_strdup_printf("known: %s; 'generic_NAME' is a layer that takes no time", known);
    return FAIL(record, COL_TYPE, hint, error, "unknown type '%s' of layer '%s'", text,
                record->layer);
}

static bool read_padding(const struct record *record, struct orch_layer *layer, GError **error)
{
    static const char *const NAMES[] = {"VALID", "SAME", "EXPLICIT", NULL};
    const char *text = text_of(record, COL_PAD_TYPE);
    for (int i = 0; NAMES[i]; i++) {
        if (strcmp(text, NAMES[i]) != 0)
            continue;
        layer->padding = (enum orch_layer_padding)i;
        if (layer->padding != ORCH_PADDING_EXPLICIT)
            return true;
        if (*text_of(record, COL_PAD) == '\0')
            return FAIL(record, COL_PAD_TYPE, "write it as 1x1 into column 'pad_hw'", error,
                        "layer '%s' has EXPLICIT padding and no pad_hw", record->layer);
        int64_t dims[DIMS_MAX];
        int count = 2;
        if (!read_dims(record, COL_PAD, text_of(record, COL_PAD), 0, dims, &count, error))
            return false;
        layer->pad_h = dims[0];
        layer->pad_w = dims[1];
        return true;
    }
    return FAIL(record, COL_PAD_TYPE, "write VALID, SAME, or EXPLICIT with pad_hw", error,
                "unknown padding '%s' of layer '%s'", text, record->layer);
}

/* Checks the output size of a window, from `large` to `small` (for a deconvolution these are its
 * output and input), and sets the padding. */
static bool check_window(const struct record *record, struct orch_layer *layer, GError **error)
{
    bool is_deconv = layer->type == ORCH_LAYER_DECONV2D;
    struct orch_layer_shape large = is_deconv ? layer->out : layer->inputs[0];
    struct orch_layer_shape small = is_deconv ? layer->inputs[0] : layer->out;
    int64_t reach_h = (layer->kernel_h - 1) * layer->dilation + 1;
    int64_t reach_w = (layer->kernel_w - 1) * layer->dilation + 1;
    int64_t h =
        orch_layer_out_side(layer->padding, large.h, reach_h, layer->stride_h, &layer->pad_h);
    int64_t w =
        orch_layer_out_side(layer->padding, large.w, reach_w, layer->stride_w, &layer->pad_w);
    if (h == small.h && w == small.w)
        return true;
    const char *hint = h < 1 || w < 1
                           ? "check filter_hwio, pad_type and in_shape"
                           : "check in_shape, out_shape, filter_hwio, stride_hw and pad_type";
    return FAIL(record, COL_OUT, hint, error,
                "layer '%s' puts out %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                ", its geometry gives %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                record->layer, small.h, small.w, h, w);
}

static bool read_window(const struct record *record, struct orch_layer *layer, int filter_dims,
                        GError **error)
{
    int64_t filter[DIMS_MAX], stride[DIMS_MAX];
    int stride_dims = 2;
    if (!read_dims(record, COL_FILTER, text_of(record, COL_FILTER), 1, filter, &filter_dims,
                   error) ||
        !read_dims(record, COL_STRIDE, text_of(record, COL_STRIDE), 1, stride, &stride_dims,
                   error) ||
        !read_whole(record, COL_GROUPS, 1, SIDE_MAX, 1, &layer->groups, error) ||
        !read_whole(record, COL_DILATION, 1, SIDE_MAX, 1, &layer->dilation, error) ||
        !read_padding(record, layer, error))
        return false;
    layer->kernel_h = filter[0];
    layer->kernel_w = filter[1];
    layer->stride_h = stride[0];
    layer->stride_w = stride[1];
    layer->c_in = filter_dims == 4 ? filter[2] : layer->inputs[0].c;
    layer->c_out = filter_dims == 4 ? filter[3] : layer->out.c;
    return check_window(record, layer, error);
}

static bool check_channels(const struct record *record, const struct orch_layer *layer, int64_t in,
                           int64_t out, GError **error)
{
    if (layer->c_in * layer->groups != in || layer->c_out % layer->groups != 0)
        return FAIL(record, COL_FILTER,
                    "give the groups of a grouped convolution in a column 'groups'", error,
                    "layer '%s' reads %" G_GINT64_FORMAT " channels in %" G_GINT64_FORMAT
                    " groups, its filter has %" G_GINT64_FORMAT,
                    record->layer, in, layer->groups, layer->c_in);
    if (layer->c_out != out)
        return FAIL(
            record, COL_OUT, "make the last sides of filter_hwio and out_shape equal", error,
            "layer '%s' puts out %" G_GINT64_FORMAT " channels, its filter has %" G_GINT64_FORMAT,
            record->layer, out, layer->c_out);
    return true;
}

static bool read_inner_product(const struct record *record, struct orch_layer *layer,
                               GError **error)
{
    int64_t filter[DIMS_MAX];
    int count = 2;
    if (!read_dims(record, COL_FILTER, text_of(record, COL_FILTER), 1, filter, &count, error))
        return false;
    layer->c_in = filter[0];
    layer->c_out = filter[1];
    return check_channels(record, layer, orch_layer_elements(layer->inputs[0]),
                          orch_layer_elements(layer->out), error);
}

/* Checks that the inputs of a join fit each other and its output. */
static bool check_join(const struct record *record, const struct orch_layer *layer, GError **error)
{
    int64_t channels = 0;
    for (int i = 0; i < layer->input_count; i++) {
        const struct orch_layer_shape *in = &layer->inputs[i];
        channels += in->c;
        bool fits = in->h == layer->out.h && in->w == layer->out.w;
        if (layer->type == ORCH_LAYER_ELEMENTWISE)
            fits = fits && in->c == layer->out.c;
        if (!fits)
            return FAIL(record, COL_IN, "inputs of a join agree in height and width", error,
                        "input %d of layer '%s' does not fit its output", i + 1, record->layer);
    }
    if (layer->type == ORCH_LAYER_CONCAT && channels != layer->out.c)
        return FAIL(record, COL_OUT, "a concatenation's channels are the sum of its inputs'", error,
                    "layer '%s' puts out %" G_GINT64_FORMAT
                    " channels, its inputs have %" G_GINT64_FORMAT,
                    record->layer, layer->out.c, channels);
    return true;
}

static bool read_by_type(const struct record *record, struct orch_layer *layer, GError **error)
{
    switch (layer->type) {
    case ORCH_LAYER_CONV2D:
    case ORCH_LAYER_DECONV2D:
        return read_window(record, layer, 4, error) &&
               check_channels(record, layer, layer->inputs[0].c, layer->out.c, error);
    case ORCH_LAYER_POOL2D:
        if (!read_window(record, layer, 2, error))
            return false;
        layer->c_in = layer->c_out = 0;
        return layer->inputs[0].c == layer->out.c ||
               FAIL(record, COL_OUT, "a pool keeps the number of channels", error,
                    "layer '%s' changes the number of channels", record->layer);
    case ORCH_LAYER_INNERPRODUCT:
        return read_inner_product(record, layer, error);
    case ORCH_LAYER_CONCAT:
    case ORCH_LAYER_ELEMENTWISE:
        return check_join(record, layer, error);
    case ORCH_LAYER_DROPOUT:
        return orch_layer_elements(layer->inputs[0]) == orch_layer_elements(layer->out) ||
               FAIL(record, COL_OUT, "dropout keeps the shape", error,
                    "layer '%s' changes the number of elements", record->layer);
    default:
        return true;
    }
}

/* In double, because the product of four sides at their limits overflows an integer. */
static double weights_of(const struct orch_layer *layer)
{
    double window = layer->type == ORCH_LAYER_INNERPRODUCT
                        ? 1
                        : (double)layer->kernel_h * (double)layer->kernel_w;
    return window * (double)layer->c_in * (double)layer->c_out;
}

static bool read_params(const struct record *record, struct orch_layer *layer, GError **error)
{
    if (weights_of(layer) > (double)ELEMENTS_MAX)
        return FAIL(record, COL_FILTER, "a layer has at most 2^40 parameters", error,
                    "layer '%s' has too many parameters", record->layer);
    int64_t formula = orch_layer_params_formula(layer);
    if (!read_whole(record, COL_PARAMS, 0, ELEMENTS_MAX, formula, &layer->params, error))
        return false;
    int64_t without = formula - layer->c_out;
    if (formula == 0 || layer->params == formula || layer->params == without)
        return true;
    return FAIL(record, COL_PARAMS, "leave the field empty", error,
                "layer '%s' has %" G_GINT64_FORMAT
                " parameters, its geometry gives %" G_GINT64_FORMAT
                " with biases and %" G_GINT64_FORMAT " without",
                record->layer, layer->params, formula, without);
}

static bool read_flag(const struct record *record, bool *out, GError **error)
{
    const char *text = text_of(record, COL_NO_DATA_GRAD);
    if (*text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return FAIL(record, COL_NO_DATA_GRAD,
                    "write 1 for a convolution that reads the data, else 0", error,
                    "first_conv_no_data_grad of layer '%s' is '%s'", record->layer, text);
    *out = strcmp(text, "1") == 0;
    return true;
}

static bool read_layer(const struct record *record, struct orch_layer_table *table, GError **error)
{
    enum orch_layer_type type = ORCH_LAYER_GENERIC;
    if (record->layer[0] == '\0')
        return FAIL(record, COL_LAYER, "name it", error, "layer has no name");
    if (orch_layer_count(table) == LAYERS_MAX)
        return FAIL(record, COL_LAYER, "a network has at most 20,000 layers", error,
                    "network '%s' has too many layers", table->name);
    if (orch_layer_find(table, record->layer) >= 0)
        return FAIL(record, COL_LAYER, "choose another name", error,
                    "layer '%s' occurs twice in network '%s'", record->layer, table->name);
    if (!read_type(record, &type, error))
        return false;
    g_auto(GStrv) inputs = g_strsplit(text_of(record, COL_IN), "+", -1);
    int count = (int)g_strv_length(inputs);
    if (count < 1 || count > INPUTS_MAX ||
        (count > 1 && type != ORCH_LAYER_CONCAT && type != ORCH_LAYER_ELEMENTWISE &&
         type != ORCH_LAYER_GENERIC))
        return FAIL(record, COL_IN, "write one shape, as 1x224x224x3", error,
                    "layer '%s' has %d inputs", record->layer, count);
    struct orch_layer *layer =
        orch_layer_table_add(table, record->layer, type, type == ORCH_LAYER_INPUT ? 0 : count);
    struct orch_layer_shape data;
    for (int i = 0; i < count; i++)
        if (!read_shape(record, COL_IN, inputs[i], table->batch,
                        layer->input_count ? &layer->inputs[i] : &data, error))
            return false;
    return read_shape(record, COL_OUT, text_of(record, COL_OUT), table->batch, &layer->out,
                      error) &&
           read_by_type(record, layer, error) && read_params(record, layer, error) &&
           read_flag(record, &layer->no_data_grad, error);
}

/* Reads the batch of a record, from its output shape. */
static bool read_batch(const struct record *record, int64_t *out, GError **error)
{
    int64_t dims[DIMS_MAX];
    int count = 0, index = record->columns[COL_BATCH];
    if (!read_dims(record, COL_OUT, text_of(record, COL_OUT), 1, dims, &count, error) ||
        !read_whole(record, COL_BATCH, 1, SIDE_MAX, dims[0], out, error))
        return false;
    if (index >= 0 && *out != dims[0])
        return FAIL(record, COL_BATCH, "the first side of a shape is the batch", error,
                    "batch is %" G_GINT64_FORMAT ", out_shape of layer '%s' has %" G_GINT64_FORMAT,
                    *out, record->layer, dims[0]);
    return true;
}

static bool read_parents(const struct record *record, struct orch_layer_table *table, int index,
                         GError **error)
{
    struct orch_layer *layer = table->layers->pdata[index];
    g_auto(GStrv) names = g_strsplit(text_of(record, COL_PARENTS), "+", -1);
    int count = (int)g_strv_length(names);
    if (count != layer->input_count)
        return FAIL(record, COL_PARENTS, "name a layer for each shape in in_shape, joined by '+'",
                    error, "layer '%s' has %d parents and %d inputs", record->layer, count,
                    layer->input_count);
    for (int i = 0; i < count; i++) {
        int parent = orch_layer_find(table, names[i]);
        if (parent < 0 || parent >= index)
            return FAIL(record, COL_PARENTS, "list a layer after those that it reads", error,
                        parent < 0 ? "layer '%s' reads '%s', which does not exist"
                                   : "layer '%s' reads '%s', which is not listed before it",
                        record->layer, names[i]);
        if (orch_layer_elements(orch_layer_at(table, parent)->out) !=
            orch_layer_elements(layer->inputs[i]))
            return FAIL(record, COL_IN, "in_shape is the out_shape of the parent", error,
                        "input %d of layer '%s' has another size than the output of '%s'", i + 1,
                        record->layer, names[i]);
        layer->parents[i] = parent;
    }
    return true;
}

/* Without a column 'parents': sets the parents if every layer can only read the preceding one. */
static void chain_parents(struct orch_layer_table *table)
{
    for (int i = 0; i < orch_layer_count(table); i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        bool is_chained = i == 0 ? layer->input_count == 0
                                 : layer->input_count == 1 &&
                                       orch_layer_elements(layer->inputs[0]) ==
                                           orch_layer_elements(orch_layer_at(table, i - 1)->out);
        if (!is_chained)
            return;
    }
    for (int i = 1; i < orch_layer_count(table); i++)
        ((struct orch_layer *)table->layers->pdata[i])->parents[0] = i - 1;
}

static bool read_network(const struct orch_csv *csv, const int columns[],
                         struct orch_layer_table *table, GError **error)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(size_t));
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        if (strcmp(orch_csv_text(csv, row, columns[COL_NET]), table->name) != 0)
            continue;
        struct record record = {csv, row, columns, orch_csv_text(csv, row, columns[COL_LAYER])};
        int64_t batch;
        if (!read_batch(&record, &batch, error))
            return false;
        if (rows->len == 0)
            table->batch = batch; /* read_shape requires the same of all other rows */
        if (!read_layer(&record, table, error))
            return false;
        g_array_append_val(rows, row);
    }
    if (columns[COL_PARENTS] < 0) {
        chain_parents(table);
        return true;
    }
    for (guint i = 0; i < rows->len; i++) {
        size_t row = g_array_index(rows, size_t, i);
        struct record record = {csv, row, columns, orch_csv_text(csv, row, columns[COL_LAYER])};
        if (orch_layer_at(table, (int)i)->input_count > 0 &&
            !read_parents(&record, table, (int)i, error))
            return false;
    }
    return true;
}

static bool find_columns(const struct orch_csv *csv, int columns[COL_COUNT], GError **error)
{
    for (int i = 0; i < COL_FIRST_OPTIONAL; i++)
        if (!orch_csv_column(csv, COLUMNS[i], &columns[i], error))
            return false;
    for (int i = COL_FIRST_OPTIONAL; i < COL_COUNT; i++)
        columns[i] = orch_csv_find(csv, COLUMNS[i]);
    return true;
}

static char **list_names(const struct orch_csv *csv, int column)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *names = g_ptr_array_new();
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        const char *name = orch_csv_text(csv, row, column);
        if (g_hash_table_add(seen, (gpointer)(uintptr_t)name))
            g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* Returns the name of the network to read; sets the error if it is unknown or ambiguous. */
static const char *choose_name(char **names, const char *file, const char *net, GError **error)
{
    const char *const *known = (const char *const *)names;
    if (net && g_strv_contains(known, net))
        return net;
    if (!names[0]) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write one row per layer",
                       "table '%s' has a header but no layers\n  at: %s:1:1", file, file);
        return NULL;
    }
    if (!net && !names[1])
        return names[0];
    g_autofree char *list = g_strjoinv(", ", names);
    const char *near = net ? orch_suggest(net, known) : NULL;
    g_autofree char *hint = near  ? g_strdup_printf("did you mean '%s'?", near)
                            : net ? g_strdup_printf("it has the networks %s", list)
                                  : g_strdup_printf("name one (--net, --table-net): %s", list);
    if (net)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "table '%s' has no network '%s'", file,
                       net);
    else
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "table '%s' holds %u networks", file,
                       g_strv_length(names));
    return NULL;
}

static struct orch_layer_table *read_table(const struct orch_csv *csv, const char *file,
                                           const char *net, GError **error)
{
    int columns[COL_COUNT];
    if (!find_columns(csv, columns, error))
        return NULL;
    g_auto(GStrv) names = list_names(csv, columns[COL_NET]);
    const char *name = choose_name(names, file, net, error);
    if (!name)
        return NULL;
    struct orch_layer_table *table = orch_layer_table_new(name);
    if (read_network(csv, columns, table, error))
        return table;
    orch_layer_table_free(table);
    return NULL;
}

struct orch_layer_table *orch_layer_table_parse(const char *file_name, const char *text,
                                                size_t length, const char *net, GError **error)
{
    struct orch_csv *csv = orch_csv_parse(file_name, text, length, error);
    struct orch_layer_table *table = csv ? read_table(csv, file_name, net, error) : NULL;
    orch_csv_free(csv);
    return table;
}

struct orch_layer_table *orch_layer_table_read(const char *path, const char *net, GError **error)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, ORCH_CSV_BYTES_MAX, &text, &length, error))
        return NULL;
    return orch_layer_table_parse(path, text, length, net, error);
}
