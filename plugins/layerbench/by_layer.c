/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times the convolutions and dense layers of a network one by one, for comparison with the whole
 * pass. On a GPU a layer is launched and runs while the processor goes on, so it matters whether
 * the clock waits for each layer: the sum of layers that were waited for contains a wait for each
 * of them, the whole pass contains one. On a processor both are the same. */
#include "plugins/layerbench/layerbench.h"

#include "lib/net/net.h"

#include <string.h>

/* Describes a layer as the timer knows layers: square, not grouped. False for other layers. */
static bool describe(const struct orch_net *net, const struct orch_net_node *node,
                     const struct params *p, struct orch_torch_layer *out)
{
    *out = (struct orch_torch_layer){
        .batch = p->net_batch,
        .bias = node->has_bias,
        .pass = (enum orch_torch_pass)orch_layerbench_index(LAYERBENCH_PASSES, p->optimizer)};
    if (node->op == ORCH_NET_LINEAR) {
        out->din = node->in_channels;
        out->dout = node->out_channels;
        return true;
    }
    const struct orch_net_node *input = net->nodes->pdata[node->inputs[0]];
    out->is_conv = true;
    out->in_hw = input->out.h;
    out->kernel = node->kernel_h;
    out->cin = node->in_channels;
    out->cout = node->out_channels;
    out->stride = node->stride_h;
    out->pad_same = node->pad_h > 0;
    return input->out.h == input->out.w && node->kernel_h == node->kernel_w &&
           node->stride_h == node->stride_w && node->dilation <= 1 && node->groups <= 1 &&
           node->pad_h == node->pad_w &&
           (node->pad_h == 0 || 2 * node->pad_h + 1 == node->kernel_h);
}

struct sums {
    double waited_ms, queued_ms;
    int timed, left_out;
    GString *csv;
};

static bool time_layer(const struct orch_torch *torch, const struct params *p, const char *device,
                       const char *name, struct orch_torch_layer *layer, struct sums *sums,
                       GError **error)
{
    g_autofree double *times = g_new(double, p->repeats);
    double medians[2];
    for (int waits = 0; waits < 2; waits++) {
        layer->waits_each = waits;
        if (!torch->layer_time(layer, device, (int)p->warmup, (int)p->repeats, times, error))
            return false;
        medians[waits] = orch_layerbench_spread_of(times, (int)p->repeats).median;
    }
    char queued[G_ASCII_DTOSTR_BUF_SIZE], waited[sizeof queued];
    g_ascii_formatd(queued, sizeof queued, "%.6g", medians[0]);
    g_ascii_formatd(waited, sizeof waited, "%.6g", medians[1]);
    g_string_append_printf(sums->csv, "%s,%s,%s,%s\n", name, layer->is_conv ? "conv" : "dense",
                           waited, queued);
    sums->queued_ms += medians[0];
    sums->waited_ms += medians[1];
    sums->timed++;
    return true;
}

static bool time_layers(const struct orch_torch *torch, const struct orch_net *net,
                        const struct params *p, const char *device, struct sums *sums,
                        GError **error)
{
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = net->nodes->pdata[i];
        struct orch_torch_layer layer;
        if ((node->op != ORCH_NET_CONV2D && node->op != ORCH_NET_LINEAR) || node->is_auxiliary)
            continue;
        if (!describe(net, node, p, &layer))
            sums->left_out++;
        else if (!time_layer(torch, p, device, node->name, &layer, sums, error))
            return false;
    }
    return true;
}

bool orch_layerbench_by_layer(const struct orch_torch *torch, const struct orch_net *net,
                              const struct params *p, const char *device,
                              const struct orch_host *host, GError **error)
{
    struct sums sums = {.csv = g_string_new("layer,kind,ms_waited,ms_queued\n")};
    host->phase(host, "timing layers");
    bool ok = time_layers(torch, net, p, device, &sums, error) &&
              g_file_set_contents("layers.csv", sums.csv->str, (gssize)sums.csv->len, error);
    if (ok) {
        host->result(host, "layer_sum", sums.waited_ms);
        host->result(host, "layer_sum_queued", sums.queued_ms);
        host->result(host, "layers_timed", sums.timed);
        host->result(host, "layers_left_out", sums.left_out);
        host->artifact(host, "layers", "layers.csv");
    }
    g_string_free(sums.csv, TRUE);
    return ok;
}
