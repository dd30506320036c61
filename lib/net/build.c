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

void orch_net_free(struct orch_net *net)
{
    if (!net)
        return;
    g_free(net->name);
    g_free(net->family);
    g_ptr_array_unref(net->nodes);
    g_ptr_array_unref(net->tensors);
    g_free(net);
}

static struct orch_net_node *node_at(const struct orch_net_builder *b, int id)
{
    return b->net->nodes->pdata[id];
}

/* A new node behind `in` (and `other`, when >= 0); it begins with the shape of `in`. */
static struct orch_net_node *add_node(struct orch_net_builder *b, enum orch_net_op op, char *name,
                                      int in, int other)
{
    struct orch_net_node *node = g_new0(struct orch_net_node, 1);
    node->id = (int)b->net->nodes->len;
    node->op = op;
    node->name = name;
    node->group = b->group;
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
    add_node(b, ORCH_NET_INPUT, g_strdup("input"), -1, -1)->out = input;
}

struct orch_net *orch_net_builder_finish(struct orch_net_builder *b, GError **error)
{
    struct orch_net *net = g_steal_pointer(&b->net);
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

/* Output size of a window; false (with an error naming the layer) when the input is too small. */
static bool window(struct orch_net_builder *b, struct orch_net_node *node)
{
    int64_t h = node->out.h + 2 * node->pad_h - node->kernel_h;
    int64_t w = node->out.w + 2 * node->pad_w - node->kernel_w;
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
    node->out.h = h / node->stride_h + 1;
    node->out.w = w / node->stride_w + 1;
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
    weight->init = init == ORCH_CONV_DEFAULT ? ORCH_NET_INIT_UNIFORM : ORCH_NET_INIT_NORMAL;
    weight->init_scale = init == ORCH_CONV_DEFAULT          ? 1 / sqrt(fan_in)
                         : init == ORCH_CONV_KAIMING_FAN_IN ? sqrt(2 / fan_in)
                                                            : sqrt(2 / fan_out);
}

int orch_net_conv(struct orch_net_builder *b, int in, struct orch_conv conv, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    va_list args;
    va_start(args, name);
    struct orch_net_node *node = add_node(b, ORCH_NET_CONV2D, g_strdup_vprintf(name, args), in, -1);
    va_end(args);
    set_window(node, conv.kernel, conv.stride, conv.pad);
    node->dilation = 1;
    node->groups = MAX(1, conv.groups);
    node->in_channels = node->out.c;
    node->out_channels = conv.out;
    node->has_bias = conv.bias;
    if (!window(b, node))
        return -1;
    node->out.c = conv.out;
    int64_t per_group = node->in_channels / node->groups;
    int64_t shape[4] = {conv.out, per_group, conv.kernel, conv.kernel};
    double area = (double)conv.kernel * conv.kernel;
    double fan_in = (double)per_group * area, fan_out = (double)conv.out / node->groups * area;
    init_conv(add_tensor(b, node, ORCH_NET_WEIGHT, "weight", 4, shape), conv.init, fan_in, fan_out);
    if (conv.bias) {
        struct orch_net_tensor *bias = add_tensor(b, node, ORCH_NET_BIAS, "bias", 1, &conv.out);
        bias->init = conv.init == ORCH_CONV_DEFAULT ? ORCH_NET_INIT_UNIFORM : ORCH_NET_INIT_ZERO;
        bias->init_scale = 1 / sqrt(fan_in);
    }
    node->macs = shape[1] * shape[2] * shape[3] * conv.out * node->out.h * node->out.w;
    return node->id;
}

int orch_net_batchnorm(struct orch_net_builder *b, int in, const char *name, ...)
{
    if (!usable(b, in))
        return -1;
    va_list args;
    va_start(args, name);
    struct orch_net_node *node =
        add_node(b, ORCH_NET_BATCHNORM2D, g_strdup_vprintf(name, args), in, -1);
    va_end(args);
    static const struct {
        const char *suffix;
        enum orch_net_role role;
        enum orch_net_init init;
    } tensors[] = {{"weight", ORCH_NET_WEIGHT, ORCH_NET_INIT_ONE},
                   {"bias", ORCH_NET_BIAS, ORCH_NET_INIT_ZERO},
                   {"running_mean", ORCH_NET_RUNNING_MEAN, ORCH_NET_INIT_ZERO},
                   {"running_var", ORCH_NET_RUNNING_VAR, ORCH_NET_INIT_ONE}};
    node->in_channels = node->out_channels = node->out.c;
    node->eps = 1e-5;
    node->momentum = 0.1;
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

static int pool(struct orch_net_builder *b, enum orch_net_op op, const char *word, int in,
                int kernel, int stride, int pad)
{
    int id = plain(b, op, word, in);
    if (id < 0)
        return -1;
    set_window(node_at(b, id), kernel, stride, pad);
    return window(b, node_at(b, id)) ? id : -1;
}

int orch_net_maxpool(struct orch_net_builder *b, int in, int kernel, int stride, int pad)
{
    return pool(b, ORCH_NET_MAXPOOL2D, "maxpool", in, kernel, stride, pad);
}

int orch_net_avgpool(struct orch_net_builder *b, int in, int kernel, int stride)
{
    return pool(b, ORCH_NET_AVGPOOL2D, "avgpool", in, kernel, stride, 0);
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
    va_list args;
    va_start(args, name);
    struct orch_net_node *node = add_node(b, ORCH_NET_LINEAR, g_strdup_vprintf(name, args), in, -1);
    va_end(args);
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

int orch_net_add(struct orch_net_builder *b, int left, int right)
{
    if (!usable(b, left) || !usable(b, right))
        return -1;
    struct orch_net_shape x = node_at(b, left)->out, y = node_at(b, right)->out;
    if (x.c != y.c || x.h != y.h || x.w != y.w) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, NULL,
                       "network '%s': cannot add %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                       "x%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                       "x%" G_GINT64_FORMAT,
                       b->net->name, x.c, x.h, x.w, y.c, y.h, y.w);
        return -1;
    }
    char *name = g_strdup_printf("add%u", b->net->nodes->len);
    return add_node(b, ORCH_NET_ADD, name, left, right)->id;
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
