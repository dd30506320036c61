/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks and batches whose counts an integer holds. */
#include "lib/base/error.h"
#include "lib/net/net.h"

/* 2^63, beyond which a count has no integer */
#define COUNT_MAX 9223372036854775808.0

/* In floating point, as the integers may have wrapped around: twice the multiply-adds and a
 * softmax, and for other layers up to five operations a value or its bytes, of inputs and outputs.
 */
static double most_counted(const struct orch_net *net)
{
    double most = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        double values = (double)node->out.c * (double)node->out.h * (double)node->out.w;
        for (int k = 0; k < node->input_count; k++) {
            const struct orch_net_shape *in = &orch_net_node(net, node->inputs[k])->out;
            values += (double)in->c * (double)in->h * (double)in->w;
        }
        most += 3 * (double)node->macs + 8 * values;
    }
    return most;
}

bool orch_net_counts_check(const struct orch_net *net, int64_t batch, GError **error)
{
    if (most_counted(net) * (double)batch < COUNT_MAX)
        return true;
    orch_error_set(
        error, ORCH_ERROR_RECIPE,
        batch > 1 ? "use a smaller batch or input" : "use a smaller input",
        "network '%s': the operations of %" G_GINT64_FORMAT " sample%s of %" G_GINT64_FORMAT
        "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT " are too many to count",
        net->name, batch, batch == 1 ? "" : "s", net->input.c, net->input.h, net->input.w);
    return false;
}
