/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/operators/operators_reading.h"

#include "lib/base/json.h"

#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------
 */

/* Channels, rows and columns of sizes in either order of the axes. What is left of an image's axes
 * counts as rows; of a value whose channels are last, the last but one are columns, and a sequence,
 * which has two axes, has its tokens as rows. */
static struct orch_net_shape shape_of(const struct operators_sizes *s, bool is_image,
                                      bool is_product)
{
    struct orch_net_shape out = {1, 1, 1};
    int from = 0, rank = s->rank;
    if (is_image && rank > 2) {
        out = (struct orch_net_shape){s->dims[1], 1, s->dims[rank - 1]};
        out.h = out.c * out.w > 0 ? s->count / (out.c * out.w) : 1;
        return out;
    }
    while (!is_product && from < rank && s->dims[from] == 1)
        from++;
    out.c = rank > from ? s->dims[rank - 1] : 1;
    if (rank - from == 2 && !is_product) {
        out.h = s->dims[from];
        return out;
    }
    out.w = rank - from > 1 ? s->dims[rank - 2] : 1;
    out.h = out.c * out.w > 0 ? s->count / (out.c * out.w) : 1;
    return out;
}

static int64_t size_of(const struct orch_net_shape *s)
{
    return s->c * s->h * s->w;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

/* The module of the first parameter ("layer1.0.conv1"), else the operator and the node's number.
 * Caller frees. */
static char *name_of(const struct operators_call *c)
{
    for (int i = 0; i < c->in_count; i++) {
        const struct operators_parameter *p = c->in[i].parameter;
        const char *dot = p ? strrchr(p->name, '.') : NULL;
        if (p)
            return dot ? g_strndup(p->name, (gsize)(dot - p->name)) : g_strdup(p->name);
    }
    return g_strdup_printf("%s%u", c->name, c->r->builder.net->nodes->len);
}

/* The node of an operand's value; a part of a larger value gets a node without a cost. -1: none. */
static int node_of(struct operators_call *c, const struct operators_operand *in)
{
    struct orch_net_builder *b = &c->r->builder;
    if (!in->value || in->value->node < 0 || in->sizes.count >= in->value->count)
        return in->value ? in->value->node : -1;
    const struct orch_net_node view = {.op = ORCH_NET_FLATTEN,
                                       .out = shape_of(&in->sizes, in->value->is_image, false)};
    return orch_net_layer(b, &view, &in->value->node, 1,
                          g_strdup_printf("view%u", b->net->nodes->len));
}

/* Collects the nodes of all operands, each once. More than a node can read are gathered first. */
static int collect(struct operators_call *c, bool by_part, int *nodes)
{
    struct orch_net_builder *b = &c->r->builder;
    int count = 0;
    for (int i = 0; i < c->in_count; i++) {
        const struct operators_value *value = c->in[i].value;
        int node = by_part ? node_of(c, &c->in[i]) : value ? value->node : -1;
        bool is_new = node >= 0;
        for (int k = 0; k < count; k++)
            is_new = is_new && nodes[k] != node;
        if (is_new && count == ORCH_NET_INPUTS_MAX) {
            struct orch_net_node all = {.op = ORCH_NET_FLATTEN, .out = {0, 1, 1}};
            for (int k = 0; k < count; k++)
                all.out.c += size_of(&orch_net_node(b->net, nodes[k])->out);
            nodes[0] = orch_net_layer(b, &all, nodes, count, g_strdup("gathered"));
            count = 1;
        }
        if (is_new)
            nodes[count++] = node;
    }
    return count;
}

static void add_parameter(struct operators_call *c, int operand, bool is_bias)
{
    struct operators_parameter *p = c->in[operand].parameter;
    if (!p || p->is_used)
        return;
    struct orch_net_builder *b = &c->r->builder;
    const struct operators_sizes *s = &p->sizes;
    int64_t shape[4] = {1, 1, 1, 1};
    int rank = CLAMP(s->rank, 1, 4);
    for (int i = 0; i < s->rank; i++)
        shape[MIN(i, 3)] *= s->dims[i];
    orch_net_layer_tensor(b, p->name, is_bias ? ORCH_NET_BIAS : ORCH_NET_WEIGHT, rank, shape);
    struct orch_net_tensor *tensor = b->net->tensors->pdata[b->net->tensors->len - 1];
    tensor->is_frozen = !p->is_trained;
    p->is_used = true;
}

/* Adds the node with its parameters; `bias` is the operand that is one, or -1. */
static int add(struct operators_call *c, const struct orch_net_node *like, bool by_part, int bias)
{
    int nodes[ORCH_NET_INPUTS_MAX];
    int count = collect(c, by_part, nodes);
    int id = orch_net_layer(&c->r->builder, like, nodes, count, name_of(c));
    bool is_recurrent = c->kind && c->kind->shape == OPERATOR_RECURRENT;
    for (int i = 0; i < c->in_count; i++)
        add_parameter(c, i, i == bias || (is_recurrent && c->in[i].sizes.rank == 1));
    return id;
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

/* A number, or element `at` of a list of numbers; a list of one holds for all. */
static int argument(const struct operators_call *c, const char *name, int at, int otherwise)
{
    const json_t *value = json_object_get(c->arguments, name);
    if (json_is_array(value))
        value = json_array_get(value, json_array_size(value) == 1 ? 0 : (size_t)at);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : otherwise;
    return (int)CLAMP(number, 0, 1 << 20);
}

static bool is_set(const struct operators_call *c, const char *name)
{
    return json_is_true(json_object_get(c->arguments, name));
}

/* ---- layers ------------------------------------------------------------------------------------
 */

static bool times(int64_t *product, int64_t factor)
{
    return !__builtin_mul_overflow(*product, MAX(factor, 0), product) && *product < INT64_MAX / 4;
}

static bool is_short(const struct operators_call *c, int operands, int rank)
{
    for (int i = 0; i < operands; i++)
        if (i >= c->in_count || c->in[i].sizes.rank < rank)
            return true;
    return false;
}

static bool add_conv(struct operators_call *c, struct orch_net_node *n)
{
    const struct operators_sizes *w = &c->in[1].sizes;
    if (is_short(c, 2, 3) || c->out.rank < 3 || w->count < 1)
        return false;
    bool is_turned = is_set(c, "transposed");
    int groups = MAX(1, argument(c, "groups", 0, 1)), places = w->rank - 2;
    n->op = is_turned ? ORCH_NET_CONV_TRANSPOSE2D : ORCH_NET_CONV2D;
    n->out = shape_of(&c->out, true, false);
    n->kernel_h = n->kernel_w = n->stride_h = n->stride_w = 1;
    for (int i = 0; i < places; i++) {
        bool is_last = i == places - 1;
        *(is_last ? &n->kernel_w : &n->kernel_h) *= (int)MIN(w->dims[2 + i], 1 << 10);
        *(is_last ? &n->stride_w : &n->stride_h) = MAX(1, argument(c, "stride", i, 1));
        *(is_last ? &n->pad_w : &n->pad_h) = argument(c, "padding", i, 0);
    }
    n->dilation = MAX(1, argument(c, "dilation", 0, 1));
    n->groups = groups;
    n->in_channels = is_turned ? w->dims[0] : w->dims[1] * groups;
    n->out_channels = is_turned ? w->dims[1] * groups : w->dims[0];
    n->has_bias = c->in_count > 2;
    n->macs = is_turned ? c->in[0].sizes.count : c->out.count;
    return times(&n->macs, w->count / MAX(1, is_turned ? n->in_channels : n->out_channels));
}

/* Rows by a matrix; the rows of a batch are one after the other. */
static bool add_linear(struct operators_call *c, struct orch_net_node *n)
{
    int rows = c->kind->first;
    if (is_short(c, rows + 2, 1) || c->out.rank < 1)
        return false;
    const struct operators_sizes *a = &c->in[rows].sizes;
    n->in_channels = a->dims[a->rank - 1];
    n->out_channels = c->out.rank > 1 ? c->out.dims[c->out.rank - 1] : 1;
    n->out = (struct orch_net_shape){n->out_channels, c->out.count / MAX(1, n->out_channels), 1};
    n->op = n->out.h == 1 ? ORCH_NET_LINEAR : ORCH_NET_TOKEN_LINEAR;
    n->has_bias = rows > 0;
    n->macs = c->out.count;
    return times(&n->macs, n->in_channels);
}

static bool add_product(struct operators_call *c, struct orch_net_node *n)
{
    int first = c->kind->first;
    if (is_short(c, first + 2, 2) || c->out.rank < 2)
        return false;
    const struct operators_sizes *a = &c->in[first].sizes;
    const struct operators_operand *b = &c->in[first + 1];
    n->out = shape_of(&c->out, false, true);
    if (b->parameter && b->parameter->sizes.count < b->sizes.count) { /* one matrix for all */
        n->op = ORCH_NET_TOKEN_LINEAR;
        n->out = (struct orch_net_shape){n->out.c, n->out.h * n->out.w, 1};
    }
    n->in_channels = a->dims[a->rank - 1];
    n->out_channels = n->out.c;
    n->macs = c->out.count;
    return times(&n->macs, n->in_channels);
}

/* Each output is a form of two rows: of a matrix of the weights, which has a row of values for each
 * of the first. */
static bool add_bilinear(struct operators_call *c, struct orch_net_node *n)
{
    if (is_short(c, 3, 2) || c->out.rank < 1)
        return false;
    const struct operators_sizes *w = &c->in[1].sizes;
    n->out = shape_of(&c->out, false, false);
    n->in_channels = w->dims[w->rank - 2];
    n->out_channels = w->dims[0];
    n->macs = c->out.count;
    return times(&n->macs, w->count / MAX(1, w->dims[0]));
}

/* Each step and sample is multiplied by all matrices: of the input, of the state, and of a state
 * that is projected. */
static bool add_recurrent(struct operators_call *c, struct orch_net_node *n)
{
    if (is_short(c, 3, 2) || c->out.rank < 2)
        return false;
    const struct operators_sizes *x = &c->in[0].sizes;
    int64_t weights = 0;
    for (int i = 1; i < c->in_count && c->in[i].sizes.rank == 2; i++)
        weights += c->in[i].sizes.count;
    n->in_channels = x->dims[x->rank - 1];
    n->out_channels = c->out.dims[c->out.rank - 1];
    n->out = (struct orch_net_shape){n->out_channels, c->out.count / MAX(1, n->out_channels), 1};
    n->has_bias = c->in_count > 3 && c->in[c->in_count - 1].sizes.rank == 1;
    n->macs = x->count / MAX(1, n->in_channels);
    return times(&n->macs, weights);
}

/* Queries, keys and values: heads x tokens x depth each. */
static bool add_attention(struct operators_call *c, struct orch_net_node *n)
{
    if (is_short(c, 3, 3))
        return false;
    const struct operators_sizes *q = &c->in[0].sizes, *k = &c->in[1].sizes, *v = &c->in[2].sizes;
    int64_t tokens = q->dims[q->rank - 2], depth = q->dims[q->rank - 1];
    int64_t heads = tokens * depth > 0 ? q->count / (tokens * depth) : 0;
    int64_t width = heads * v->dims[v->rank - 1];
    if (heads < 1 || heads > 1 << 20 || width < 1)
        return false;
    n->heads = (int)heads;
    n->is_causal = is_set(c, "is_causal");
    n->out = (struct orch_net_shape){width, tokens, 1};
    n->in_channels = heads * depth + (k->count + v->count) / tokens;
    n->out_channels = width;
    n->macs = heads * tokens;
    return times(&n->macs, k->dims[k->rank - 2]) && times(&n->macs, depth + v->dims[v->rank - 1]);
}

static bool add_pool(struct operators_call *c, struct orch_net_node *n)
{
    n->out = shape_of(&c->out, true, false);
    if (n->op == ORCH_NET_ADAPTIVE_AVGPOOL2D)
        return c->in_count > 0;
    n->kernel_h = MAX(1, argument(c, "kernel_size", 0, 1));
    n->kernel_w = MAX(1, argument(c, "kernel_size", 1, 1));
    n->stride_h = MAX(1, argument(c, "stride", 0, n->kernel_h));
    n->stride_w = MAX(1, argument(c, "stride", 1, n->kernel_w));
    n->pad_h = argument(c, "padding", 0, 0);
    n->pad_w = argument(c, "padding", 1, 0);
    n->ceil_mode = is_set(c, "ceil_mode");
    return c->in_count > 0;
}

/* ---- operators ---------------------------------------------------------------------------------
 */

/* The first operand that has a node, or NULL. */
static const struct operators_operand *first_value(const struct operators_call *c)
{
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i].value && c->in[i].value->node >= 0)
            return &c->in[i];
    return NULL;
}

/* An element-wise result has the shape of its operand's node. */
static struct orch_net_shape elementwise_shape(const struct operators_call *c, bool is_image)
{
    struct orch_net_shape out = shape_of(&c->out, is_image, false);
    for (int i = 0; i < c->in_count; i++) {
        const struct operators_value *v = c->in[i].value;
        const struct orch_net_shape *in =
            v && v->node >= 0 ? &orch_net_node(c->r->builder.net, v->node)->out : NULL;
        if (in && size_of(in) == c->out.count && c->in[i].sizes.count == c->out.count &&
            v->is_image == is_image && c->out.rank &&
            (is_image || in->c == c->out.dims[c->out.rank - 1]))
            return *in;
    }
    return out;
}

static int values_among(const struct operators_call *c)
{
    int count = 0;
    for (int i = 0; i < c->in_count; i++)
        count += c->in[i].value && c->in[i].value->node >= 0;
    return count;
}

/* Sets the layer of an operator without sizes of its own. */
static void set_plain(struct operators_call *c, struct orch_net_node *n, bool is_image)
{
    enum operator_shape shape = c->kind ? c->kind->shape : OPERATOR_COMPUTES;
    int values = values_among(c);
    n->out = elementwise_shape(c, is_image);
    n->in_channels = n->out_channels = n->out.c;
    n->computes = shape != OPERATOR_MOVES;
    if (n->op == ORCH_NET_EMBEDDING && c->in_count)
        n->in_channels = c->in[0].sizes.dims[0];
    if (n->op == ORCH_NET_DROPOUT)
        n->p = json_number_value(json_object_get(c->arguments, "p"));
    n->has_bias = shape == OPERATOR_NORM && c->in_count > 2;
    bool has_parameter = false;
    for (int i = 0; i < c->in_count; i++)
        has_parameter = has_parameter || c->in[i].parameter;
    bool is_pair = values == 2 || (values == 1 && has_parameter);
    if ((shape == OPERATOR_SUM || shape == OPERATOR_FACTOR) && !is_pair)
        n->op = ORCH_NET_GENERIC;
}

/* Layers whose counts look at their input; of constants and parameters alone they have none. */
static bool needs_value(enum orch_net_op op)
{
    static const enum orch_net_op others[] = {ORCH_NET_GENERIC, ORCH_NET_EMBEDDING, ORCH_NET_LINEAR,
                                              ORCH_NET_TOKEN_LINEAR, ORCH_NET_ATTENTION};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i] == op)
            return false;
    return true;
}

/* Whether a mean is over the rows and columns of an image. */
static bool is_pool_of_all(const struct operators_call *c, bool is_image)
{
    const json_t *axes = json_object_get(c->arguments, "dim");
    return is_image && json_array_size(axes) == 2 && c->in_count && c->in[0].sizes.rank == 4 &&
           c->out.count * c->in[0].sizes.dims[2] * c->in[0].sizes.dims[3] == c->in[0].sizes.count;
}

static bool fill(struct operators_call *c, struct orch_net_node *n, bool *is_image)
{
    const struct operators_operand *first = first_value(c);
    enum operator_shape shape = c->kind ? c->kind->shape : OPERATOR_COMPUTES;
    *is_image = first && first->value->is_image && first->sizes.rank == first->value->rank &&
                c->out.rank == first->value->rank;
    switch (shape) {
    case OPERATOR_CONV:
        *is_image = true;
        return add_conv(c, n);
    case OPERATOR_LINEAR:
        *is_image = false;
        return add_linear(c, n);
    case OPERATOR_PRODUCT:
        *is_image = false;
        return add_product(c, n);
    case OPERATOR_BILINEAR:
        *is_image = false;
        return add_bilinear(c, n);
    case OPERATOR_RECURRENT:
        *is_image = false;
        return add_recurrent(c, n);
    case OPERATOR_ATTENTION:
        *is_image = false;
        return add_attention(c, n);
    case OPERATOR_POOL:
        *is_image = true;
        return add_pool(c, n);
    case OPERATOR_MEAN:
        if (is_pool_of_all(c, first && first->value->is_image &&
                                  first->sizes.rank == first->value->rank)) {
            *is_image = true;
            n->out = (struct orch_net_shape){c->out.count, 1, 1};
            return true;
        }
        n->op = ORCH_NET_GENERIC;
        set_plain(c, n, *is_image);
        return true;
    case OPERATOR_NORM:
        *is_image = n->op == ORCH_NET_BATCHNORM2D || *is_image;
        *is_image = *is_image && strcmp(c->name, "native_layer_norm") != 0;
        set_plain(c, n, *is_image);
        return true;
    default:
        *is_image = *is_image && n->op != ORCH_NET_EMBEDDING;
        set_plain(c, n, *is_image);
        return true;
    }
}

static bool add_input(struct operators_call *c, struct operators_value *value, GError **error)
{
    struct operators_reading *r = c->r;
    value->is_image = c->out.rank == 4 || c->out.rank == 5;
    struct orch_net_shape shape = shape_of(&c->out, value->is_image, false);
    bool is_tokens = r->made_with && c->out.rank == 2;
    if (is_tokens)
        shape = (struct orch_net_shape){1, c->out.count, 1};
    if (c->out.count < 1)
        return orch_operators_fail(r, error, "the shape 'out' of an input has a size of 0");
    if (!r->builder.net) {
        g_autofree char *base = g_path_get_basename(r->file);
        orch_net_builder_init(&r->builder, base, "operators", shape, 0);
        value->node = 0;
        return true;
    }
    const struct orch_net_node input = {.op = ORCH_NET_INPUT, .out = shape};
    value->node =
        orch_net_layer(&r->builder, &input, NULL, 0, g_strdup_printf("input%u", r->values->len));
    return true;
}

static bool add_output(struct operators_call *c, GError **error)
{
    struct operators_reading *r = c->r;
    if (c->in_count != 1 || !c->in[0].value || c->in[0].value->node < 0)
        return orch_operators_fail(
            r, error, "the 'in' of an output needs one entry: the result of an operator");
    int node = node_of(c, &c->in[0]);
    orch_net_declare_output(&r->builder, node);
    r->builder.net->classes = orch_net_node(r->builder.net, node)->out.c;
    return true;
}

/* A sum with a vector of parameters right after a product without one is that product's bias. True
 * if it was added to the product's node. */
static bool add_bias(struct operators_call *c, struct operators_value *value)
{
    const struct operators_operand *first = first_value(c);
    if (!c->kind || c->kind->shape != OPERATOR_SUM || c->in_count != 2 || !first)
        return false;
    const struct operators_operand *other = &c->in[first == &c->in[0]];
    struct orch_net_node *node = c->r->builder.net->nodes->pdata[first->value->node];
    bool is_product = node->op == ORCH_NET_TOKEN_LINEAR || node->op == ORCH_NET_LINEAR;
    if (!is_product || node->has_bias || node->id != (int)c->r->builder.net->nodes->len - 1 ||
        !other->parameter || other->sizes.rank != 1 || other->sizes.count != node->out_channels ||
        first->value->count != c->out.count)
        return false;
    node->has_bias = true;
    add_parameter(c, (int)(other - c->in), true);
    value->node = node->id;
    return true;
}

static bool is_of_batch(const struct operators_call *c)
{
    bool is_one = c->out.is_of_batch;
    for (int i = 0; i < c->in_count; i++)
        is_one = is_one || c->in[i].sizes.is_of_batch;
    return is_one;
}

static void note_unknown(struct operators_call *c)
{
    gpointer count = g_hash_table_lookup(c->r->unknown, c->name);
    g_hash_table_insert(c->r->unknown, g_strdup(c->name),
                        GINT_TO_POINTER(GPOINTER_TO_INT(count) + 1));
}

bool orch_operators_add(struct operators_call *c, GError **error)
{
    struct operators_value value = {.node = -1, .count = c->out.count, .rank = c->out.rank};
    enum operator_shape shape = c->kind ? c->kind->shape : OPERATOR_COMPUTES;
    if (shape == OPERATOR_INPUT && !add_input(c, &value, error))
        return false;
    if (!c->r->builder.net)
        return orch_operators_fail(c->r, error, "there is no input before operator '%s'", c->name);
    if (shape == OPERATOR_OUTPUT && !add_output(c, error))
        return false;
    bool is_counter = c->out.count <= 1 && !values_among(c); /* of batches, that a norm keeps */
    if (shape != OPERATOR_INPUT && shape != OPERATOR_OUTPUT && c->out.count && !is_counter &&
        !add_bias(c, &value)) {
        struct orch_net_node n = {.op = c->kind ? c->kind->op : ORCH_NET_GENERIC};
        if (!fill(c, &n, &value.is_image))
            return orch_operators_fail(
                c->r, error, "the shapes in 'in' and 'out' do not fit operator '%s'", c->name);
        if (!c->kind)
            note_unknown(c);
        if (!is_of_batch(c))
            c->r->constant_macs += n.macs;
        if (needs_value(n.op) && !values_among(c))
            n.op = ORCH_NET_GENERIC;
        int bias = shape == OPERATOR_LINEAR                           ? c->kind->first - 1
                   : shape == OPERATOR_CONV || shape == OPERATOR_NORM ? 2
                                                                      : -1;
        value.node = add(c, &n, shape != OPERATOR_ATTENTION, bias);
    }
    g_array_append_val(c->r->values, value);
    return true;
}
