/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layer tables and the arithmetic of shapes. geometry_csv.c reads them from CSV. */
#include "predictors/steps/geometry.h"

#include "lib/base/error.h"

#include <string.h>

static const char *const TYPE_NAMES[ORCH_LAYER_TYPE_COUNT] = {
    [ORCH_LAYER_INPUT] = "input",           [ORCH_LAYER_CONV2D] = "conv2d",
    [ORCH_LAYER_DECONV2D] = "deconv2d",     [ORCH_LAYER_POOL2D] = "pool2d",
    [ORCH_LAYER_DROPOUT] = "dropout",       [ORCH_LAYER_INNERPRODUCT] = "innerproduct",
    [ORCH_LAYER_CONCAT] = "concat",         [ORCH_LAYER_ELEMENTWISE] = "elementwise",
    [ORCH_LAYER_RESHAPE] = "reshape",       [ORCH_LAYER_SOFTMAX] = "softmax",
    [ORCH_LAYER_ACTIVATION] = "activation", [ORCH_LAYER_NORM] = "norm",
    [ORCH_LAYER_GENERIC] = "generic",
};

const char *orch_layer_type_name(enum orch_layer_type type)
{
    return TYPE_NAMES[type];
}

void orch_layer_free(struct orch_layer *layer)
{
    if (!layer)
        return;
    g_free(layer->name);
    g_free(layer->inputs);
    g_free(layer->parents);
    g_free(layer);
}

struct orch_layer_table *orch_layer_table_new(const char *name)
{
    struct orch_layer_table *table = g_new0(struct orch_layer_table, 1);
    table->name = g_strdup(name);
    table->batch = 1;
    table->layers = g_ptr_array_new_with_free_func((GDestroyNotify)orch_layer_free);
    return table;
}

void orch_layer_table_free(struct orch_layer_table *table)
{
    if (!table)
        return;
    g_free(table->name);
    g_ptr_array_free(table->layers, TRUE);
    g_free(table);
}

struct orch_layer *orch_layer_table_add(struct orch_layer_table *table, const char *name,
                                        enum orch_layer_type type, int input_count)
{
    struct orch_layer *layer = g_new0(struct orch_layer, 1);
    layer->name = g_strdup(name);
    layer->type = type;
    layer->input_count = input_count;
    layer->inputs = g_new0(struct orch_layer_shape, MAX(input_count, 1));
    layer->parents = g_new0(int, MAX(input_count, 1));
    for (int i = 0; i < input_count; i++)
        layer->parents[i] = -1;
    layer->groups = layer->dilation = 1;
    g_ptr_array_add(table->layers, layer);
    return layer;
}

const struct orch_layer *orch_layer_at(const struct orch_layer_table *table, int index)
{
    return table->layers->pdata[index];
}

int orch_layer_count(const struct orch_layer_table *table)
{
    return (int)table->layers->len;
}

int orch_layer_find(const struct orch_layer_table *table, const char *name)
{
    for (int i = 0; i < orch_layer_count(table); i++)
        if (strcmp(orch_layer_at(table, i)->name, name) == 0)
            return i;
    return -1;
}

bool orch_layer_table_check(const struct orch_layer_table *table, GError **error)
{
    for (int i = 0; i < orch_layer_count(table); i++)
        if (orch_layer_at(table, i)->type != ORCH_LAYER_INPUT)
            return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "write one row per layer",
                   "network '%s' has only its input", table->name);
    return false;
}

int64_t orch_layer_table_params(const struct orch_layer_table *table)
{
    int64_t sum = 0;
    for (int i = 0; i < orch_layer_count(table); i++)
        sum += orch_layer_at(table, i)->params;
    return sum;
}

int64_t orch_layer_elements(struct orch_layer_shape shape)
{
    return shape.h * shape.w * shape.c;
}

int64_t orch_layer_params_formula(const struct orch_layer *layer)
{
    switch (layer->type) {
    case ORCH_LAYER_CONV2D:
    case ORCH_LAYER_DECONV2D:
        return layer->kernel_h * layer->kernel_w * layer->c_in * layer->c_out + layer->c_out;
    case ORCH_LAYER_INNERPRODUCT:
        return layer->c_in * layer->c_out + layer->c_out;
    default:
        return 0;
    }
}

/* Division that rounds down, like Python's //, for b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

int64_t orch_layer_out_side(enum orch_layer_padding padding, int64_t in, int64_t kernel,
                            int64_t stride, int64_t *inout_pad)
{
    switch (padding) {
    case ORCH_PADDING_VALID:
        *inout_pad = 0;
        return -floor_div(-(in - kernel + 1), stride);
    case ORCH_PADDING_SAME: {
        int64_t out = -floor_div(-in, stride);
        *inout_pad = floor_div((out - 1) * stride + kernel - in, 2);
        return out;
    }
    case ORCH_PADDING_EXPLICIT:
        return floor_div(in + 2 * *inout_pad - kernel, stride) + 1;
    }
    g_assert_not_reached();
}
