/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Einsum: sums of products over labelled axes, "bhqd,bhkd->bhqk". A letter is a label; three dots
 * stand for the axes that the letters do not name, which are broadcast and get labels of their own,
 * counted from the right.
 */
#include "features/onnx/onnx_ops.h"

#include <string.h>

enum { LETTERS = 128, LABELS = LETTERS + ONNX_RANK_MAX, OPERANDS_MAX = 8 };

/* The labels of one operand or of the result. */
struct term {
    int labels[ONNX_RANK_MAX];
    int count;
    bool has_dots;
};

struct equation {
    struct term operands[OPERANDS_MAX], result;
    int operand_count;
    bool has_result;
    int64_t sizes[LABELS]; /* 0: the label does not occur */
    int uses[LABELS];
    int dots; /* axes that three dots stand for */
};

static bool bad_equation(const struct onnx_call *c)
{
    return orch_onnx_fail(c, "export the model again",
                          "has an equation that does not fit its inputs");
}

/* Reads one term, in which three dots stand for `dots` axes (-1: not allowed yet). */
static bool read_term(const char *text, size_t length, int dots, struct term *out)
{
    *out = (struct term){0};
    for (size_t i = 0; i < length; i++) {
        bool is_dots = length - i >= 3 && memcmp(text + i, "...", 3) == 0;
        if (text[i] == ' ')
            continue;
        if (is_dots ? out->has_dots : !g_ascii_isalpha(text[i]))
            return false;
        int more = is_dots ? dots : 1;
        if (out->count + more > ONNX_RANK_MAX)
            return false;
        for (int d = 0; d < more; d++)
            out->labels[out->count++] = is_dots ? LETTERS + dots - 1 - d : text[i];
        out->has_dots |= is_dots;
        i += is_dots ? 2 : 0;
    }
    return true;
}

/* How many axes three dots stand for in an operand of that rank; -1: the term is not valid. */
static int dots_of(const char *text, size_t length, int rank)
{
    struct term bare;
    if (!read_term(text, length, 0, &bare) || bare.count > rank)
        return -1;
    return bare.has_dots ? rank - bare.count : 0;
}

/* Takes the sizes of the labels from an operand; sizes of 1 are broadcast. */
static bool take_sizes(struct equation *e, const struct term *term, const struct onnx_value *v)
{
    if (term->count != v->rank)
        return false;
    for (int i = 0; i < term->count; i++) {
        int64_t *size = &e->sizes[term->labels[i]];
        e->uses[term->labels[i]]++;
        if (*size > 1 && v->dims[i] > 1 && *size != v->dims[i])
            return false;
        *size = MAX(*size, v->dims[i]);
    }
    return true;
}

static bool read_operands(const struct onnx_call *c, const char *text, const char *end,
                          struct equation *e)
{
    int index = 0;
    for (const char *at = text; at <= end; index++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t length = (size_t)((comma ? comma : end) - at);
        const struct onnx_value *v = index < OPERANDS_MAX ? onnx_in(c, index) : NULL;
        int dots = v ? dots_of(at, length, v->rank) : -1;
        if (dots < 0 || !read_term(at, length, dots, &e->operands[index]) ||
            !take_sizes(e, &e->operands[index], v))
            return false;
        e->dots = MAX(e->dots, dots);
        at += length + 1;
    }
    e->operand_count = index;
    return index == c->in_count;
}

/* Without an arrow the result has the axes of the dots and the labels that occur once, sorted. */
static bool default_result(struct equation *e)
{
    struct term *r = &e->result;
    for (int d = e->dots - 1; d >= 0; d--)
        r->labels[r->count++] = LETTERS + d;
    for (int label = 0; label < LETTERS; label++) {
        if (e->uses[label] != 1)
            continue;
        if (r->count == ONNX_RANK_MAX)
            return false;
        r->labels[r->count++] = label;
    }
    return true;
}

static bool read_equation(const struct onnx_call *c, const char *text, struct equation *e)
{
    const char *arrow = strstr(text, "->");
    if (!read_operands(c, text, arrow ? arrow : text + strlen(text), e))
        return false;
    if (!arrow)
        return default_result(e);
    if (!read_term(arrow + 2, strlen(arrow + 2), e->dots, &e->result))
        return false;
    for (int i = 0; i < e->result.count; i++)
        if (!e->sizes[e->result.labels[i]])
            return false;
    return true;
}

/* Multiply-adds: one for each combination of all labels and each operand but the first. */
static bool count_products(struct onnx_call *c, const struct equation *e)
{
    c->layer.macs = e->operand_count - 1;
    for (int label = 0; label < LABELS; label++)
        if (e->sizes[label] && !orch_onnx_multiply(c, &c->layer.macs, e->sizes[label]))
            return false;
    return true;
}

/* Whether all operands have a label of the batch's size. */
static bool has_batch(const struct onnx_call *c, const struct equation *e)
{
    for (int label = 0; label < LABELS; label++)
        if (e->sizes[label] && e->sizes[label] % c->g->batch == 0 &&
            e->uses[label] == e->operand_count)
            return true;
    return false;
}

/* A product of two values, as in attention, or a linear layer along the tokens with its weights. */
static void classify(struct onnx_call *c, const struct equation *e)
{
    bool is_layer = false;
    for (int i = 0; i < e->operand_count; i++) {
        if (orch_onnx_value_is_constant(c->in[i]))
            orch_onnx_weight(c, c->in[i], ORCH_NET_WEIGHT, 0, NULL);
        is_layer = is_layer || orch_onnx_value_is_constant(c->in[i]);
    }
    c->layer.op = is_layer ? ORCH_NET_TOKEN_LINEAR : ORCH_NET_ATTENTION;
    if (!is_layer)
        orch_onnx_mixes(c, !has_batch(c, e));
    if (e->operand_count < 2) {
        c->layer.op = ORCH_NET_GENERIC;
        c->count = ONNX_MOVES;
    }
}

bool orch_onnx_run_einsum(struct onnx_call *c)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(c->step, "equation");
    struct equation e = {0};
    if (!orch_onnx_need(c, MAX(1, c->in_count)))
        return false;
    g_autofree char *text = a && a->has_s ? g_strndup((const char *)a->s.data, a->s.len) : NULL;
    if (!text || !read_equation(c, text, &e))
        return bad_equation(c);
    struct onnx_value *out = c->out[0];
    out->type = c->in[0]->type;
    out->rank = e.result.count;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = e.sizes[e.result.labels[i]];
    out->channel = out->rank - 1;
    classify(c, &e);
    return count_products(c, &e);
}
