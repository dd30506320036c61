/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table of kinds drives parsing, building and formatting. */
#include "lib/net/layer_spec.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/net/build.h"

#include <string.h>

#define SIZE_MAX_VALUES 1000000 /* largest size that a text may name */

enum shape {
    SHAPE_NONE,
    SHAPE_CHANNELS, /* C */
    SHAPE_TOKENS,   /* CxT */
    SHAPE_PLANE,    /* HxW */
    SHAPE_IMAGE,    /* CxHxW */
};

struct kind {
    const char *name;
    enum orch_net_op op;
    enum shape in, out;
    const char *letters; /* sizes that it may have: k s p g h */
    const char *needs;   /* those that it must have */
    bool adds, relu;     /* batchnorm: what follows it */
    const char *example;
};

#define SAME_SHAPE(word, op)                                                                       \
    {                                                                                              \
        word, op, SHAPE_IMAGE, SHAPE_NONE, "", "", .example = word " 64x32x32"                     \
    }

static const struct kind KINDS[] = {
    {"conv", ORCH_NET_CONV2D, SHAPE_IMAGE, SHAPE_CHANNELS, "kspg", "k",
     .example = "conv 64x32x32 -> 128 k3 s2 p1"},
    {"dense", ORCH_NET_LINEAR, SHAPE_CHANNELS, SHAPE_CHANNELS, "", "",
     .example = "dense 512 -> 10"},
    {"maxpool", ORCH_NET_MAXPOOL2D, SHAPE_IMAGE, SHAPE_NONE, "ksp", "k",
     .example = "maxpool 64x32x32 k2"},
    {"avgpool", ORCH_NET_AVGPOOL2D, SHAPE_IMAGE, SHAPE_NONE, "ksp", "k",
     .example = "avgpool 64x32x32 k2"},
    {"adaptivepool", ORCH_NET_ADAPTIVE_AVGPOOL2D, SHAPE_IMAGE, SHAPE_PLANE, "", "",
     .example = "adaptivepool 64x32x32 -> 1x1"},
    SAME_SHAPE("batchnorm", ORCH_NET_BATCHNORM2D),
    {"batchnorm+relu", ORCH_NET_BATCHNORM2D, SHAPE_IMAGE, SHAPE_NONE, "", "", .relu = true,
     .example = "batchnorm+relu 64x32x32"},
    {"batchnorm+add+relu", ORCH_NET_BATCHNORM2D, SHAPE_IMAGE, SHAPE_NONE, "", "", .adds = true,
     .relu = true, .example = "batchnorm+add+relu 64x32x32"},
    SAME_SHAPE("relu", ORCH_NET_RELU),
    SAME_SHAPE("relu6", ORCH_NET_RELU6),
    SAME_SHAPE("tanh", ORCH_NET_TANH),
    SAME_SHAPE("sigmoid", ORCH_NET_SIGMOID),
    SAME_SHAPE("silu", ORCH_NET_SILU),
    SAME_SHAPE("gelu", ORCH_NET_GELU),
    SAME_SHAPE("add", ORCH_NET_ADD),
    {"attention", ORCH_NET_ATTENTION, SHAPE_TOKENS, SHAPE_NONE, "h", "h",
     .example = "attention 768x128 h12"},
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    return NULL;
}

/* Names of the kinds that can be parsed, NULL-terminated. */
static const char *const *net_layer_kinds(void)
{
    static const char *names[G_N_ELEMENTS(KINDS) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        names[i] = KINDS[i].name;
    return names;
}

/* ---- parsing -----------------------------------------------------------------------------------
 */

static bool size_parse(const char *text, int64_t *out)
{
    int64_t value;
    if (!g_ascii_isdigit(text[0]) || !orch_int_parse(text, &value) || value > SIZE_MAX_VALUES)
        return false;
    *out = value;
    return true;
}

/* Reads as many sizes as the shape has, joined by x, each at least 1. */
static bool shape_parse(const char *text, enum shape shape, int64_t *sizes)
{
    static const unsigned counts[] = {0, 1, 2, 2, 3};
    g_auto(GStrv) parts = g_strsplit(text, "x", -1);
    if (g_strv_length(parts) != counts[shape])
        return false;
    for (unsigned i = 0; i < counts[shape]; i++)
        if (!size_parse(parts[i], &sizes[i]) || sizes[i] < 1)
            return false;
    return true;
}

static bool read_input(const char *text, const struct kind *kind, struct orch_net_layer_spec *s)
{
    int64_t sizes[3] = {1, 1, 1};
    if (!shape_parse(text, kind->in, sizes))
        return false;
    s->channels = sizes[0];
    s->height = sizes[1];
    s->width = sizes[2];
    return true;
}

static bool read_output(const char *text, const struct kind *kind, struct orch_net_layer_spec *s)
{
    int64_t sizes[3] = {1, 1, 1};
    if (!shape_parse(text, kind->out, sizes))
        return false;
    s->out = sizes[0];
    s->out_width = kind->out == SHAPE_PLANE ? sizes[1] : 0;
    return true;
}

/* "k3", "bias", "b16". */
static bool read_option(const char *word, const struct kind *kind, struct orch_net_layer_spec *s)
{
    const struct {
        char letter;
        int *at;
        int least;
    } letters[] = {{'k', &s->kernel, 1},
                   {'s', &s->stride, 1},
                   {'p', &s->pad, 0},
                   {'g', &s->groups, 1},
                   {'h', &s->heads, 1}};
    int64_t value = 0;
    if (strcmp(word, "bias") == 0 && kind->op == ORCH_NET_CONV2D)
        return s->bias = true;
    if (!size_parse(word + 1, &value))
        return false;
    if (word[0] == 'b' && value > 0) {
        s->batch = value;
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(letters); i++)
        if (word[0] == letters[i].letter && strchr(kind->letters, word[0]) &&
            value >= letters[i].least) {
            *letters[i].at = (int)value;
            return true;
        }
    return false;
}

static bool has_needs(const struct kind *kind, const struct orch_net_layer_spec *s)
{
    return (!strchr(kind->needs, 'k') || s->kernel > 0) &&
           (!strchr(kind->needs, 'h') || s->heads > 0);
}

/* Reads the words after the kind. Returns the word that does not fit, "" for a missing one, or NULL
 * if all is well. */
static const char *read_words(char **words, const struct kind *kind, struct orch_net_layer_spec *s)
{
    if (!words[0] || !read_input(words[0], kind, s))
        return words[0] ? words[0] : "";
    char **next = words + 1;
    if (kind->out != SHAPE_NONE) {
        if (!next[0] || strcmp(next[0], "->") != 0)
            return next[0] ? next[0] : "";
        if (!next[1] || !read_output(next[1], kind, s))
            return next[1] ? next[1] : "";
        next += 2;
    }
    for (; *next; next++)
        if (!read_option(*next, kind, s))
            return *next;
    return has_needs(kind, s) ? NULL : "";
}

static void set_defaults(const struct kind *kind, struct orch_net_layer_spec *s)
{
    if (kind->op == ORCH_NET_CONV2D) {
        s->stride = MAX(1, s->stride);
        s->groups = MAX(1, s->groups);
    }
    if (kind->op == ORCH_NET_MAXPOOL2D || kind->op == ORCH_NET_AVGPOOL2D)
        s->stride = s->stride ? s->stride : s->kernel;
    if (kind->op == ORCH_NET_LINEAR)
        s->bias = true;
}

static void set_kind_error(const char *text, const char *word, GError **error)
{
    g_autofree char *near = orch_suggest_hint(word, net_layer_kinds());
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)net_layer_kinds());
    g_autofree char *hint = near ? NULL : g_strdup_printf("write one of %s", all);
    orch_error_set(error, ORCH_ERROR_RECIPE, near ? near : hint, "layer '%s': unknown kind '%s'",
                   text, word);
}

bool orch_net_layer_parse(const char *text, struct orch_net_layer_spec *out, GError **error)
{
    g_auto(GStrv) raw = g_strsplit_set(text, " \t", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (char **word = raw; *word; word++)
        if (**word)
            g_ptr_array_add(words, *word);
    g_ptr_array_add(words, NULL);
    const char *first = words->pdata[0] ? words->pdata[0] : "";
    const struct kind *kind = kind_named(first);
    if (!kind) {
        set_kind_error(text, first, error);
        return false;
    }
    struct orch_net_layer_spec spec = {.kind = kind->name};
    const char *wrong = read_words((char **)words->pdata + 1, kind, &spec);
    if (wrong) {
        g_autofree char *hint = g_strdup_printf("write it as '%s'", kind->example);
        orch_error_set(error, ORCH_ERROR_RECIPE, hint, "layer '%s': %s%s%s", text,
                       *wrong ? "cannot use '" : "something is missing", wrong, *wrong ? "'" : "");
        return false;
    }
    set_defaults(kind, &spec);
    g_autoptr(GError) cause = NULL;
    int first_node;
    struct orch_net *net = orch_net_layer_make(&spec, &first_node, &cause);
    if (!net) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "change its sizes", "layer '%s': %s", text,
                       cause->message);
        return false;
    }
    orch_net_free(net);
    *out = spec;
    return true;
}

/* ---- building ----------------------------------------------------------------------------------
 */

/* What a window or heads cannot be; lib/net/build.h checks the rest. */
static bool fits(const struct orch_net_layer_spec *s, GError **error)
{
    bool is_pool = g_str_has_suffix(s->kind, "pool") && s->kernel > 0;
    int64_t height = s->height + 2 * (int64_t)s->pad, width = s->width + 2 * (int64_t)s->pad;
    if (s->kernel > height || s->kernel > width)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "a window of %dx%d is larger than the padded input, %" G_GINT64_FORMAT
                       "x%" G_GINT64_FORMAT,
                       s->kernel, s->kernel, height, width);
    else if (is_pool && s->pad > s->kernel / 2)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "padding %d of a pool is more than half of its window, %d", s->pad,
                       s->kernel);
    else if (s->groups > 1 && (s->channels % s->groups || s->out % s->groups))
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "%d groups must divide %" G_GINT64_FORMAT " input and %" G_GINT64_FORMAT
                       " output channels",
                       s->groups, s->channels, s->out);
    else if (s->heads > 0 && s->channels % s->heads)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "%d heads do not divide %" G_GINT64_FORMAT " channels", s->heads,
                       s->channels);
    else
        return true;
    return false;
}

static int build_norm(struct orch_net_builder *b, const struct kind *kind, int other)
{
    int id = orch_net_batchnorm(b, 0, "layer");
    if (kind->adds)
        id = orch_net_add(b, id, other);
    if (kind->relu)
        orch_net_relu(b, id);
    return kind->adds ? 2 : 1;
}

/* Adds the layer; returns its first node. */
static int build(struct orch_net_builder *b, const struct kind *kind,
                 const struct orch_net_layer_spec *s)
{
    struct orch_conv conv = {.out = s->out,
                             .kernel = s->kernel,
                             .stride = s->stride,
                             .pad = s->pad,
                             .groups = s->groups,
                             .bias = s->bias,
                             .init = ORCH_CONV_DEFAULT};
    bool adds = kind->adds || kind->op == ORCH_NET_ADD;
    int other = adds ? orch_net_activation(b, 0, ORCH_NET_SIGMOID) : -1; /* second input */
    switch (kind->op) {
    case ORCH_NET_CONV2D:
        return orch_net_conv(b, 0, conv, "layer");
    case ORCH_NET_LINEAR:
        return orch_net_linear(b, orch_net_flatten(b, 0), s->out, 0, "layer");
    case ORCH_NET_MAXPOOL2D:
        return orch_net_maxpool(b, 0, s->kernel, s->stride, s->pad);
    case ORCH_NET_AVGPOOL2D:
        return orch_net_avgpool_pad(b, 0, s->kernel, s->stride, s->pad);
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return orch_net_adaptive_avgpool(b, 0, (int)s->out, (int)s->out_width);
    case ORCH_NET_BATCHNORM2D:
        return build_norm(b, kind, other);
    case ORCH_NET_ADD:
        return orch_net_add(b, 0, other);
    case ORCH_NET_ATTENTION:
        return orch_net_attention(b, 0, s->heads);
    default:
        return orch_net_activation(b, 0, kind->op);
    }
}

struct orch_net *orch_net_layer_make(const struct orch_net_layer_spec *spec, int *out_first,
                                     GError **error)
{
    const struct kind *kind = kind_named(spec->kind);
    g_return_val_if_fail(kind, NULL);
    if (!fits(spec, error))
        return NULL;
    struct orch_net_builder b;
    struct orch_net_shape input = {spec->channels, spec->height, spec->width};
    if (kind->op == ORCH_NET_ATTENTION)
        input.c *= 3;
    orch_net_builder_init(&b, spec->kind, spec->kind, input, 0);
    *out_first = build(&b, kind, spec);
    return orch_net_builder_finish(&b, error);
}

/* ---- formatting --------------------------------------------------------------------------------
 */

static const struct kind *kind_of(const struct orch_net_node *node,
                                  const struct orch_net_fusion *fusion)
{
    enum orch_net_op op = fusion ? ORCH_NET_BATCHNORM2D : node->op;
    bool adds = fusion && fusion->shortcut >= 0, relu = fusion && fusion->relu;
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (KINDS[i].op == op && KINDS[i].adds == adds && KINDS[i].relu == relu)
            return &KINDS[i];
    return NULL;
}

const char *orch_net_layer_kind(const struct orch_net_node *node,
                                const struct orch_net_fusion *fusion)
{
    const struct kind *kind = kind_of(node, fusion);
    return kind ? kind->name : orch_net_op_name(node->op);
}

static void append_shape(GString *text, enum shape shape, const struct orch_net_shape *s)
{
    if (shape != SHAPE_PLANE)
        g_string_append_printf(text, "%" G_GINT64_FORMAT, s->c);
    if (shape != SHAPE_CHANNELS)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, shape == SHAPE_PLANE ? "" : "x", s->h);
    if (shape == SHAPE_IMAGE || shape == SHAPE_PLANE)
        g_string_append_printf(text, "x%" G_GINT64_FORMAT, s->w);
}

/* A size of both directions: "k3", of a rectangular window "k1x7". */
static void append_sizes(GString *text, char letter, int h, int w, int usual)
{
    if (h == usual && w == usual)
        return;
    g_string_append_printf(text, " %c%d", letter, h);
    if (w != h)
        g_string_append_printf(text, "x%d", w);
}

static void append_window(GString *text, const struct orch_net_node *node)
{
    bool is_conv = node->op == ORCH_NET_CONV2D;
    if (node->kernel_h <= 0)
        return;
    append_sizes(text, 'k', node->kernel_h, node->kernel_w, 0);
    append_sizes(text, 's', node->stride_h, node->stride_w, is_conv ? 1 : node->kernel_h);
    append_sizes(text, 'p', node->pad_h, node->pad_w, 0);
    append_sizes(text, 'g', node->groups, node->groups, is_conv ? 1 : node->groups);
    append_sizes(text, 'd', node->dilation, node->dilation, is_conv ? 1 : node->dilation);
    if (is_conv && node->has_bias)
        g_string_append(text, " bias");
    if (node->ceil_mode)
        g_string_append(text, " ceil");
}

char *orch_net_layer_format(const struct orch_net *net, const struct orch_net_node *node,
                            const struct orch_net_fusion *fusion)
{
    const struct kind *kind = kind_of(node, fusion);
    const struct orch_net_node *start = fusion ? orch_net_node(net, fusion->norm) : node;
    struct orch_net_shape in =
        start->input_count ? orch_net_node(net, start->inputs[0])->out : start->out;
    enum shape shape = kind ? kind->in : SHAPE_IMAGE, out = kind ? kind->out : SHAPE_IMAGE;
    GString *text = g_string_new(orch_net_layer_kind(node, fusion));
    g_string_append_c(text, ' ');
    if (node->op == ORCH_NET_ATTENTION)
        in.c /= 3;
    if (node->op == ORCH_NET_LINEAR)
        in.c = node->in_channels;
    append_shape(text, shape, &in);
    if (out != SHAPE_NONE) {
        g_string_append(text, " -> ");
        append_shape(text, out, &node->out);
    }
    if (!fusion)
        append_window(text, node);
    if (node->heads > 0)
        g_string_append_printf(text, " h%d", node->heads);
    return g_string_free(text, FALSE);
}
