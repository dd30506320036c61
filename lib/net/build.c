/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/build.h"

#include "lib/base/error.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void node_free(void *pointer)
{
    struct orch_net_node *node = pointer;
    g_free(node->name);
    g_free(node);
}

static void tensor_free(void *pointer)
{
    struct orch_net_tensor *tensor = pointer;
    g_free(tensor->name);
    g_free(tensor);
}

static struct orch_net_node *node_at(const struct orch_net_builder *b, int id)
{
    return b->net->nodes->pdata[id];
}

/* Adds a node that reads `in` (and `other`, if >= 0); its initial shape is that of `in`. */
static struct orch_net_node *add_node(struct orch_net_builder *b, enum orch_net_op op, char *name,
                                      int in, int other)
{
    struct orch_net_node *node = g_new0(struct orch_net_node, 1);
    node->id = (int)b->net->nodes->len;
    node->op = op;
    node->name = name;
    node->group = b->group;
    node->is_auxiliary = b->is_auxiliary;
    node->first_tensor = (int)b->net->tensors->len;
    if (in >= 0) {
        node->inputs[node->input_count++] = in;
        node->out = node_at(b, in)->out;
    }
    if (other >= 0)
        node->inputs[node->input_count++] = other;
    g_ptr_array_add(b->net->nodes, node);
    b->net->group_count = MAX(b->net->group_count, b->group + 1);
    return node;
}

static bool usable(const struct orch_net_builder *b, int in)
{
    return !b->error && in >= 0 && in < (int)b->net->nodes->len;
}

void orch_net_builder_init(struct orch_net_builder *b, const char *name, const char *family,
                           struct orch_net_shape input, int64_t classes)
{
    memset(b, 0, sizeof *b);
    b->net = g_new0(struct orch_net, 1);
    b->net->name = g_strdup(name);
    b->net->family = g_strdup(family);
    b->net->input = input;
    b->net->classes = classes;
    b->net->nodes = g_ptr_array_new_with_free_func(node_free);
    b->net->tensors = g_ptr_array_new_with_free_func(tensor_free);
    b->net->outputs = g_array_new(FALSE, FALSE, sizeof(int));
    add_node(b, ORCH_NET_INPUT, g_strdup("input"), -1, -1)->out = input;
}

void orch_net_declare_output(struct orch_net_builder *b, int id)
{
    if (!b->error)
        g_array_append_val(b->net->outputs, id);
}

struct orch_net *orch_net_builder_finish(struct orch_net_builder *b, GError **error)
{
    struct orch_net *net = g_steal_pointer(&b->net);
    int last = (int)net->nodes->len - 1;
    if (!b->error && net->outputs->len == 0)
        g_array_append_val(net->outputs, last);
    if (!b->error)
        return net;
    g_propagate_error(error, g_steal_pointer(&b->error));
    orch_net_free(net);
    return NULL;
}

static struct orch_net_tensor *add_tensor(struct orch_net_builder *b, struct orch_net_node *node,
                                          enum orch_net_role role, const char *suffix, int rank,
                                          const int64_t *shape)
{
    struct orch_net_tensor *tensor = g_new0(struct orch_net_tensor, 1);
    tensor->name = g_strdup_printf("%s.%s", node->name, suffix);
    tensor->node = node->id;
    tensor->role = role;
    tensor->rank = rank;
    tensor->count = 1;
    for (int i = 0; i < 4; i++) {
        tensor->shape[i] = i < rank ? shape[i] : 1;
        tensor->count *= tensor->shape[i];
    }
    node->tensor_count++;
    g_ptr_array_add(b->net->tensors, tensor);
    return tensor;
}

int orch_net_layer(struct orch_net_builder *b, const struct orch_net_node *like, const int *inputs,
                   int count, char *name)
{
    g_return_val_if_fail(count >= 0 && count <= ORCH_NET_INPUTS_MAX, -1);
    struct orch_net_node *node = add_node(b, like->op, NULL, -1, -1), own = *node;
    *node = *like;
    node->id = own.id;
    node->group = own.group;
    node->is_auxiliary = own.is_auxiliary;
    node->first_tensor = own.first_tensor;
    node->tensor_count = 0;
    node->name = name ? name : g_strdup_printf("%s%d", orch_net_op_name(node->op), node->id);
    node->input_count = count;
    for (int i = 0; i < count; i++)
        node->inputs[i] = inputs[i];
    return node->id;
}

void orch_net_layer_tensor(struct orch_net_builder *b, const char *name, enum orch_net_role role,
                           int rank, const int64_t *shape)
{
    struct orch_net_node *node = node_at(b, (int)b->net->nodes->len - 1);
    struct orch_net_tensor *tensor = add_tensor(b, node, role, "", rank, shape);
    g_free(tensor->name);
    tensor->name = g_strdup(name);
}

/* Number of positions of a window that can move by `room`. A window that extends beyond the edge
 * counts if it starts inside the input or its leading padding, as in PyTorch. */
static int64_t places(int64_t room, int64_t end, int stride, bool ceil_mode)
{
    int64_t count = room / stride + 1;
    return ceil_mode && room % stride && count * stride < end ? count + 1 : count;
}

/* Sets the output size of a window; false, with an error that names the layer, if the input is too
 * small. */
static bool window(struct orch_net_builder *b, struct orch_net_node *node)
{
    int dilation = MAX(1, node->dilation);
    int64_t h = node->out.h + 2 * node->pad_h - dilation * (node->kernel_h - 1) - 1;
    int64_t w = node->out.w + 2 * node->pad_w - dilation * (node->kernel_w - 1) - 1;
    if (h < 0 || w < 0) {
        b->is_too_small = true;
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, NULL,
                       "network '%s': an input of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                       " is too small: layer '%s' (%dx%d window) gets %" G_GINT64_FORMAT
                       "x%" G_GINT64_FORMAT,
                       b->net->name, b->net->input.h, b->net->input.w, node->name, node->kernel_h,
                       node->kernel_w, node->out.h, node->out.w);
        return false;
    }
    node->out.h = places(h, node->out.h + node->pad_h, node->stride_h, node->ceil_mode);
    node->out.w = places(w, node->out.w + node->pad_w, node->stride_w, node->ceil_mode);
    return true;
}

static void set_window(struct orch_net_node *node, int kernel, int stride, int pad)
{
    node->kernel_h = node->kernel_w = kernel;
    node->stride_h = node->stride_w = stride;
    node->pad_h = node->pad_w = pad;
}

/* PyTorch's default for weights, Kaiming uniform with a = sqrt(5), is uniform on +-1/sqrt(fan_in).
 */
static void init_conv(struct orch_net_tensor *weight, enum orch_conv_init init, double fan_in,
                      double fan_out)
{
    const struct {
        enum orch_net_init init;
        double scale;
    } kinds[] = {[ORCH_CONV_KAIMING_FAN_OUT] = {ORCH_NET_INIT_NORMAL, sqrt(2 / fan_out)},
                 [ORCH_CONV_DEFAULT] = {ORCH_NET_INIT_UNIFORM, 1 / sqrt(fan_in)},
                 [ORCH_CONV_KAIMING_FAN_IN] = {ORCH_NET_INIT_NORMAL, sqrt(2 / fan_in)},
                 [ORCH_CONV_KAIMING_UNIFORM] = {ORCH_NET_INIT_UNIFORM, sqrt(6 / fan_in)},
                 [ORCH_CONV_NORMAL_0_1] = {ORCH_NET_INIT_NORMAL, 0.1},
                 [ORCH_CONV_NORMAL_0_01] = {ORCH_NET_INIT_NORMAL, 0.01}};
    weight->init = kinds[init].init;
    weight->init_scale = kinds[init].scale;
}

static bool groups_fit(struct orch_net_builder *b, const struct orch_net_node *node)
{
    if (node->in_channels % node->groups == 0 && node->out_channels % node->groups == 0)
        return true;
    orch_error_set(&b->error, ORCH_ERROR_RECIPE, NULL,
                   "network '%s': layer '%s' has %d groups, which do not divide %" G_GINT64_FORMAT
                   " input and %" G_GINT64_FORMAT " output channels",
                   b->net->name, node->name, node->groups, node->in_channels, node->out_channels);
    return false;
}

/* Takes ownership of the name. */
static int add_conv(struct orch_net_builder *b, int in, struct orch_conv conv, int kernel_w,
                    int pad_w, char *name)
{
    struct orch_net_node *node = add_node(b, ORCH_NET_CONV2D, name, in, -1);
    set_window(node, conv.kernel, conv.stride, conv.pad);
    node->kernel_w = kernel_w;
    node->pad_w = pad_w;
    node->dilation = 1;
    node->groups = MAX(1, conv.groups);
    node->in_channels = node->out.c;
    node->out_channels = conv.out;
    node->has_bias = conv.bias;
    if (!groups_fit(b, node) || !window(b, node))
        return -1;
    node->out.c = conv.out;
    int64_t per_group = node->in_channels / node->groups;
    int64_t shape[4] = {conv.out, per_group, conv.kernel, kernel_w};
    double area = (double)conv.kernel * kernel_w;
    double fan_in = (double)per_group * area,
           fan_out = (double)conv.out * area; /* over all groups, as in PyTorch */
    init_conv(add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 4, shape), conv.init, fan_in, fan_out);
    if (conv.bias) {
        struct orch_net_tensor *bias = add_tensor(b, node, ORCH_NET_BIAS, "bias", 1, &conv.out);
        bool plain = conv.init == ORCH_CONV_DEFAULT || conv.init == ORCH_CONV_NORMAL_0_1;
        bias->init = plain ? ORCH_NET_INIT_UNIFORM : ORCH_NET_INIT_ZERO;
        bias->init_scale = 1 / sqrt(fan_in);
    }
    node->macs = shape[1] * shape[2] * shape[3] * conv.out * node->out.h * node->out.w;
    return node->id;
}

int orch_net_conv(struct orch_net_builder *b, int in, struct orch_conv conv, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    return add_conv(b, in, conv, conv.kernel, conv.pad, text);
}

int orch_net_conv_wide(struct orch_net_builder *b, int in, struct orch_conv conv, int kernel_w,
                       int pad_w, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    return add_conv(b, in, conv, kernel_w, pad_w, text);
}

int orch_net_batchnorm(struct orch_net_builder *b, int in, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_node *node = add_node(b, ORCH_NET_BATCHNORM2D, text, in, -1);
    static const struct {
        const char *suffix;
        enum orch_net_role role;
        enum orch_net_init init;
    } tensors[] = {{"weight", ORCH_NET_WEIGHT, ORCH_NET_INIT_ONE},
                   {"bias", ORCH_NET_BIAS, ORCH_NET_INIT_ZERO},
                   {"running_mean", ORCH_NET_RUNNING_MEAN, ORCH_NET_INIT_ZERO},
                   {"running_var", ORCH_NET_RUNNING_VAR, ORCH_NET_INIT_ONE}};
    node->in_channels = node->out_channels = node->out.c;
    node->eps = b->bn_eps > 0 ? b->bn_eps : 1e-5;
    node->momentum = b->bn_momentum > 0 ? b->bn_momentum : 0.1;
    node->has_bias = true;
    for (unsigned i = 0; i < G_N_ELEMENTS(tensors); i++)
        add_tensor(b, node, tensors[i].role, tensors[i].suffix, 1, &node->out.c)->init =
            tensors[i].init;
    return node->id;
}

static int plain(struct orch_net_builder *b, enum orch_net_op op, const char *word, int in)
{
    if (!usable(b, in))
        return -1;
    char *name = g_strdup_printf("%s%u", word, b->net->nodes->len);
    return add_node(b, op, name, in, -1)->id;
}

int orch_net_relu(struct orch_net_builder *b, int in)
{
    return plain(b, ORCH_NET_RELU, "relu", in);
}

int orch_net_tanh(struct orch_net_builder *b, int in)
{
    return plain(b, ORCH_NET_TANH, "tanh", in);
}

int orch_net_activation(struct orch_net_builder *b, int in, enum orch_net_op op)
{
    return plain(b, op, orch_net_op_name(op), in);
}

int orch_net_gelu_tanh(struct orch_net_builder *b, int in)
{
    int id = plain(b, ORCH_NET_GELU, "gelu", in);
    if (id >= 0)
        node_at(b, id)->is_tanh_form = true;
    return id;
}

static int pool(struct orch_net_builder *b, enum orch_net_op op, const char *word, int in,
                int kernel, int stride, int pad, bool ceil_mode)
{
    int id = plain(b, op, word, in);
    if (id < 0)
        return -1;
    set_window(node_at(b, id), kernel, stride, pad);
    node_at(b, id)->ceil_mode = ceil_mode;
    return window(b, node_at(b, id)) ? id : -1;
}

int orch_net_maxpool(struct orch_net_builder *b, int in, int kernel, int stride, int pad)
{
    return pool(b, ORCH_NET_MAXPOOL2D, "maxpool", in, kernel, stride, pad, false);
}

int orch_net_maxpool_ceil(struct orch_net_builder *b, int in, int kernel, int stride, int pad)
{
    return pool(b, ORCH_NET_MAXPOOL2D, "maxpool", in, kernel, stride, pad, true);
}

int orch_net_avgpool(struct orch_net_builder *b, int in, int kernel, int stride)
{
    return orch_net_avgpool_pad(b, in, kernel, stride, 0);
}

int orch_net_avgpool_pad(struct orch_net_builder *b, int in, int kernel, int stride, int pad)
{
    return pool(b, ORCH_NET_AVGPOOL2D, "avgpool", in, kernel, stride, pad, false);
}

int orch_net_adaptive_avgpool(struct orch_net_builder *b, int in, int h, int w)
{
    int id = plain(b, ORCH_NET_ADAPTIVE_AVGPOOL2D, "avgpool", in);
    if (id < 0)
        return -1;
    node_at(b, id)->out.h = h;
    node_at(b, id)->out.w = w;
    return id;
}

int orch_net_linear(struct orch_net_builder *b, int in, int64_t out, double normal_sd,
                    const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_node *node = add_node(b, ORCH_NET_LINEAR, text, in, -1);
    node->in_channels = node->out.c * node->out.h * node->out.w;
    node->out_channels = out;
    node->has_bias = true;
    node->out = (struct orch_net_shape){out, 1, 1};
    node->macs = node->in_channels * out;
    int64_t shape[2] = {out, node->in_channels};
    struct orch_net_tensor *weight = add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 2, shape);
    struct orch_net_tensor *bias = add_tensor(b, node, ORCH_NET_BIAS, "bias", 1, &out);
    double bound = 1 / sqrt((double)node->in_channels);
    weight->init = normal_sd > 0 ? ORCH_NET_INIT_NORMAL : ORCH_NET_INIT_UNIFORM;
    weight->init_scale = normal_sd > 0 ? normal_sd : bound;
    bias->init = normal_sd > 0 ? ORCH_NET_INIT_ZERO : ORCH_NET_INIT_UNIFORM;
    bias->init_scale = bound;
    return node->id;
}

void orch_net_linear_uniform(struct orch_net_builder *b, int id, double bound)
{
    if (!usable(b, id))
        return;
    const struct orch_net_node *node = node_at(b, id);
    struct orch_net_tensor *weight = b->net->tensors->pdata[node->first_tensor];
    struct orch_net_tensor *bias = b->net->tensors->pdata[node->first_tensor + 1];
    weight->init = ORCH_NET_INIT_UNIFORM;
    weight->init_scale = bound;
    bias->init = ORCH_NET_INIT_ZERO;
}

static int cannot_join(struct orch_net_builder *b, const char *what, int left, int right)
{
    const struct orch_net_node *one = node_at(b, left), *two = node_at(b, right);
    struct orch_net_shape x = one->out, y = two->out;
    orch_error_set(&b->error, ORCH_ERROR_RECIPE, NULL,
                   "network '%s': cannot %s '%s' (%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   "x%" G_GINT64_FORMAT ") and '%s' (%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   "x%" G_GINT64_FORMAT ")",
                   b->net->name, what, one->name, x.c, x.h, x.w, two->name, y.c, y.h, y.w);
    return -1;
}

int orch_net_add(struct orch_net_builder *b, int left, int right)
{
    if (!usable(b, left) || !usable(b, right))
        return -1;
    struct orch_net_shape x = node_at(b, left)->out, y = node_at(b, right)->out;
    if (x.c != y.c || x.h != y.h || x.w != y.w)
        return cannot_join(b, "add", left, right);
    char *name = g_strdup_printf("add%u", b->net->nodes->len);
    return add_node(b, ORCH_NET_ADD, name, left, right)->id;
}

int orch_net_concat(struct orch_net_builder *b, const int *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (!usable(b, inputs[i]))
            return -1;
    g_return_val_if_fail(count >= 1 && count <= ORCH_NET_INPUTS_MAX, -1);
    struct orch_net_shape out = node_at(b, inputs[0])->out;
    for (int i = 1; i < count; i++) {
        const struct orch_net_shape *x = &node_at(b, inputs[i])->out;
        if (x->h != out.h || x->w != out.w)
            return cannot_join(b, "join", inputs[0], inputs[i]);
        out.c += x->c;
    }
    int id = plain(b, ORCH_NET_CONCAT, "concat", inputs[0]);
    struct orch_net_node *node = node_at(b, id);
    for (int i = 1; i < count; i++)
        node->inputs[node->input_count++] = inputs[i];
    node->out = out;
    return id;
}

int orch_net_mul(struct orch_net_builder *b, int in, int factors)
{
    if (!usable(b, in) || !usable(b, factors))
        return -1;
    struct orch_net_shape x = node_at(b, in)->out, y = node_at(b, factors)->out;
    if (x.c != y.c || y.h != 1 || y.w != 1)
        return cannot_join(b, "multiply", in, factors);
    char *name = g_strdup_printf("mul%u", b->net->nodes->len);
    return add_node(b, ORCH_NET_MUL, name, in, factors)->id;
}

int orch_net_lrn(struct orch_net_builder *b, int in, int size)
{
    int id = plain(b, ORCH_NET_LRN, "lrn", in);
    if (id >= 0)
        node_at(b, id)->kernel_h = size;
    return id;
}

int orch_net_stochastic_depth(struct orch_net_builder *b, int in, double p)
{
    int id = plain(b, ORCH_NET_STOCHASTIC_DEPTH, "depth", in);
    if (id >= 0)
        node_at(b, id)->p = p;
    return id;
}

int orch_net_flatten(struct orch_net_builder *b, int in)
{
    int id = plain(b, ORCH_NET_FLATTEN, "flatten", in);
    if (id < 0)
        return -1;
    struct orch_net_shape *out = &node_at(b, id)->out;
    *out = (struct orch_net_shape){out->c * out->h * out->w, 1, 1};
    return id;
}

int orch_net_dropout(struct orch_net_builder *b, int in, double p)
{
    int id = plain(b, ORCH_NET_DROPOUT, "dropout", in);
    if (id >= 0)
        node_at(b, id)->p = p;
    return id;
}

int orch_net_pad_shortcut(struct orch_net_builder *b, int in, int64_t channels, int stride)
{
    int id = plain(b, ORCH_NET_PAD_SHORTCUT, "shortcut", in);
    if (id < 0)
        return -1;
    struct orch_net_node *node = node_at(b, id);
    node->in_channels = node->out.c;
    node->out_channels = channels;
    node->stride_h = node->stride_w = stride;
    node->out = (struct orch_net_shape){channels, (node->out.h + stride - 1) / stride,
                                        (node->out.w + stride - 1) / stride};
    return id;
}

/* ---- sequences ------------------------------------------------------------------------------ */

static void init_normal(struct orch_net_tensor *tensor, double deviation)
{
    tensor->init = ORCH_NET_INIT_NORMAL;
    tensor->init_scale = deviation;
}

int orch_net_embedding(struct orch_net_builder *b, int in, int64_t rows, int64_t width,
                       const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_node *node = add_node(b, ORCH_NET_EMBEDDING, text, in, -1);
    node->in_channels = rows;
    node->out_channels = node->out.c = width;
    int64_t shape[2] = {rows, width};
    init_normal(add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 2, shape), 0.02);
    return node->id;
}

int orch_net_embedding_rows(struct orch_net_builder *b, int id, enum orch_net_rows rows)
{
    if (usable(b, id))
        node_at(b, id)->rows = rows;
    return id;
}

int orch_net_embedding_positions(struct orch_net_builder *b, int id, int first)
{
    if (usable(b, id))
        node_at(b, id)->first_row = first;
    return orch_net_embedding_rows(b, id, ORCH_NET_ROWS_POSITIONS);
}

int orch_net_layernorm(struct orch_net_builder *b, int in, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_node *node = add_node(b, ORCH_NET_LAYERNORM, text, in, -1);
    node->in_channels = node->out_channels = node->out.c;
    node->has_bias = true;
    node->eps = 1e-5;
    add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 1, &node->out.c)->init = ORCH_NET_INIT_ONE;
    add_tensor(b, node, ORCH_NET_BIAS, "bias", 1, &node->out.c);
    return node->id;
}

int orch_net_token_linear(struct orch_net_builder *b, int in, int64_t out, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    char *text = NULL;
    if (name) {
        va_list args;
        va_start(args, name);
        text = g_strdup_vprintf(name, args);
        va_end(args);
    }
    struct orch_net_node *node =
        add_node(b, ORCH_NET_TOKEN_LINEAR,
                 text ? text : g_strdup_printf("tied%u", b->net->nodes->len), in, -1);
    int64_t shape[2] = {out, node->out.c};
    node->in_channels = node->out.c;
    node->out_channels = node->out.c = out;
    node->macs = shape[0] * shape[1] * node->out.h * node->out.w;
    node->has_bias = text != NULL;
    if (text) {
        init_normal(add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 2, shape), 0.02);
        add_tensor(b, node, ORCH_NET_BIAS, "bias", 1, &out);
    }
    return node->id;
}

int orch_net_attention(struct orch_net_builder *b, int in, int heads)
{
    int id = plain(b, ORCH_NET_ATTENTION, "attention", in);
    if (id < 0)
        return -1;
    struct orch_net_node *node = node_at(b, id);
    node->heads = heads;
    node->in_channels = node->out.c;
    node->out_channels = node->out.c = node->out.c / 3;
    /* scores of each query with each key, then the weighted sum of the values */
    node->macs = 2 * node->out.h * node->out.h * node->out.c;
    return id;
}

int orch_net_causal_attention(struct orch_net_builder *b, int in, int heads)
{
    int id = orch_net_attention(b, in, heads);
    if (id >= 0)
        node_at(b, id)->is_causal = true;
    return id;
}

int orch_net_first_token(struct orch_net_builder *b, int in)
{
    int id = plain(b, ORCH_NET_FIRST_TOKEN, "first_token", in);
    if (id >= 0)
        node_at(b, id)->out.h = node_at(b, id)->out.w = 1;
    return id;
}

int orch_net_generic(struct orch_net_builder *b, const int *inputs, int count,
                     struct orch_net_shape out, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!usable(b, inputs[i]))
            return -1;
    g_return_val_if_fail(count >= 1 && count <= ORCH_NET_INPUTS_MAX, -1);
    struct orch_net_node *node = add_node(b, ORCH_NET_GENERIC, g_strdup(name), inputs[0], -1);
    for (int i = 1; i < count; i++)
        node->inputs[node->input_count++] = inputs[i];
    node->out = out;
    return node->id;
}
