/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LSTM, GRU and RNN: T steps, each with the products of a cell's gates. */
#include "features/onnx/onnx_ops.h"

#include <string.h>

/* Sets output `i`, if a step uses it, to these axes. */
static void set_axes(struct onnx_call *c, int i, int rank, const int64_t *dims)
{
    if (i >= c->out_count || !c->out[i])
        return;
    c->out[i]->type = c->in[0]->type;
    c->out[i]->rank = rank;
    memcpy(c->out[i]->dims, dims, (size_t)rank * sizeof *dims);
    c->out[i]->channel = rank - 1;
}

/* True if the weights W and R are those of gates x hidden rows for inputs of that width. */
static bool weights_fit(const struct onnx_call *c, int64_t width, int64_t gates)
{
    const struct onnx_value *w = c->in[1], *r = c->in[2];
    return w->rank == 3 && r->rank == 3 && w->dims[2] == width && r->dims[1] == w->dims[1] &&
           w->dims[1] == gates * r->dims[2] && w->dims[0] == r->dims[0];
}

/* Multiply-adds: for each step, image and direction the product of the input and of the state with
 * each gate's weights. */
static bool count_macs(struct onnx_call *c, int64_t steps, int64_t batch)
{
    const struct onnx_value *w = c->in[1], *r = c->in[2];
    const int64_t factors[] = {steps, batch, w->dims[0], w->dims[1]};
    c->layer.macs = w->dims[2] + r->dims[2];
    for (size_t i = 0; i < G_N_ELEMENTS(factors); i++)
        if (!orch_onnx_multiply(c, &c->layer.macs, factors[i]))
            return false;
    return true;
}

/* Inputs: X (T x N x C, with layout 1 N x T x C), W, R, B. Outputs: all states, and the last. */
bool orch_onnx_run_recurrent(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 3))
        return false;
    const struct onnx_value *x = c->in[0], *r = c->in[2];
    if (x->rank != 3 || !weights_fit(c, x->dims[2], c->op->variant)) {
        g_autofree char *shape = orch_onnx_value_format(x);
        return orch_onnx_shape_error(c, x, "has weights that do not fit its input %s", shape);
    }
    bool batch_first = orch_onnx_attribute_int(c->step, "layout", 0) != 0;
    int64_t steps = x->dims[batch_first], batch = x->dims[!batch_first];
    orch_onnx_mixes(c, batch % c->g->batch != 0);
    int64_t directions = r->dims[0], hidden = r->dims[2];
    const int64_t all[2][4] = {{steps, directions, batch, hidden},
                               {batch, steps, directions, hidden}};
    const int64_t last[2][3] = {{directions, batch, hidden}, {batch, directions, hidden}};
    set_axes(c, 0, 4, all[batch_first]);
    set_axes(c, 1, 3, last[batch_first]);
    set_axes(c, 2, 3, last[batch_first]);
    c->layer.in_channels = x->dims[2];
    c->layer.out_channels = hidden;
    orch_onnx_weight(c, c->in[1], ORCH_NET_WEIGHT, 0, NULL);
    orch_onnx_weight(c, r, ORCH_NET_WEIGHT, 0, NULL);
    orch_onnx_weight(c, onnx_in(c, 3), ORCH_NET_BIAS, 0, NULL);
    c->layer.has_bias = onnx_in(c, 3) != NULL;
    return count_macs(c, steps, batch);
}
