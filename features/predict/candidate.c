/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/candidate.h"

#include "lib/base/error.h"

#include <math.h>

/* The rates of this machine's processor with the threads that are asked for. Another machine's are
 * not known by threads. */
static void set_processor(const struct orch_time_question *q, const struct orch_gpu_spec *gpu,
                          struct orch_candidate *out)
{
    struct orch_processor_rates rates;
    const struct orch_gpu_spec *here =
        q->hardware ? orch_hardware_gpu(q->hardware, "here", NULL) : NULL;
    bool is_bf16 = out->precision == ORCH_BF16;
    if (here != gpu || !here ||
        (!is_bf16 && out->precision != ORCH_FP32 && out->precision != ORCH_FP32_IEEE))
        return;
    struct orch_ceilings *ceilings = orch_ceilings_load();
    if (ceilings &&
        orch_ceilings_processor(ceilings, is_bf16 ? "bf16" : "fp32", q->threads, &rates))
        orch_prior_set_processor(&out->prior, &rates);
    orch_ceilings_free(ceilings);
}

/* Names chips whose tensor cores have the format. */
static void refuse_format(enum orch_number_format format, const struct orch_candidate *c,
                          GError **error)
{
    g_autoptr(GString) others = g_string_new(NULL);
    g_autoptr(GHashTable) chips = g_hash_table_new(g_str_hash, g_str_equal);
    for (const struct orch_gpu_spec *g = orch_gpu_specs(); g->name; g++)
        if (orch_number_format_peak(g, format) > 0 &&
            g_hash_table_add(chips, (gpointer)(uintptr_t)orch_gpu_spec_chip(g)))
            g_string_append_printf(others, "%s%s", others->len ? ", " : "", g->name);
    const char *usable = orch_gpu_peak(c->gpu, ORCH_BF16) > 0   ? "bf16"
                         : orch_gpu_peak(c->gpu, ORCH_FP16) > 0 ? "fp16"
                                                                : "fp32";
    g_autofree char *hint =
        g_strdup_printf("use --precision %s, or a GPU that has them: %s", usable, others->str);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s has no known tensor cores for %s",
                   c->gpu->name, c->precision_name);
}

/* GPUs that split layers fit into a node, and the network between usual nodes is known. */
static bool check_nodes(const struct orch_time_question *q, const struct orch_gpu_spec *gpu,
                        GError **error)
{
    const struct orch_time_nodes nodes =
        orch_time_question_nodes(q, gpu, orch_time_question_most(q));
    if (nodes.link && nodes.gpus % MAX(1, q->parallel.tp) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "add --network and --per-node ('orch gpu links')",
                   nodes.link ? "%s is usually in nodes of %d GPUs, which cannot split layers so"
                              : "%s has no known network between groups of %d",
                   gpu->name, nodes.within->gpus);
    return false;
}

bool orch_candidate_choose(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                           const struct orch_gpu_spec *gpu, struct orch_candidate *out,
                           GError **error)
{
    /* PyTorch allows tf32 in convolutions, not in matrix products */
    enum orch_precision usual =
        q->net && orch_net_is_attention(q->net) ? ORCH_FP32_IEEE : ORCH_FP32;
    /* a TPU multiplies in bf16 alone; a ranking leaves it out, as bf16 beside fp32 misleads */
    if (q->gpus && q->gpus->len == 1 && !(orch_gpu_peak(gpu, usual) > 0))
        usual = ORCH_BF16;
    static const char *const formats[ORCH_FORMAT_COUNT] = {
        [ORCH_FORMAT_FP8] = "fp8", [ORCH_FORMAT_FP4] = "fp4"};
    const enum orch_number_format format = q->kernels.format;
    *out = (struct orch_candidate){.gpu = gpu};
    out->precision_is_recorded = !q->has_precision && tiers &&
                                 orch_step_tiers_precision(tiers, q->net, gpu, &out->precision);
    if (!out->precision_is_recorded)
        out->precision = orch_precision_run(gpu, q->has_precision ? q->precision : usual);
    out->precision_name =
        formats[format] ? formats[format] : orch_precision_names()[out->precision];
    out->rate = orch_rate_of(q->hardware, gpu->name, q->cloud, q->spot, q->price);
    bool may_transfer = !q->ppp_is_measured && isnan(q->ppp_comp) && q->model != ORCH_TIME_PRIOR;
    bool has_units = format == ORCH_FORMAT_16 || orch_number_format_peak(gpu, format) > 0;
    if (!check_nodes(q, gpu, error))
        return false;
    if (!has_units)
        refuse_format(format, out, error);
    if (!has_units || !orch_prior_for(gpu, out->precision, q->net,
                                      may_transfer ? &q->kernels : NULL, &out->prior, error))
        return false;
    if (gpu->unit == ORCH_GPU_HOST)
        set_processor(q, gpu, out);
    if (q->ppp_is_measured && !orch_step_tiers_ppp(tiers, gpu, out->precision, &out->ppp, error))
        return false;
    if (q->ppp_is_measured)
        orch_prior_set_ppp(&out->prior, out->ppp.share);
    else if (!isnan(q->ppp_comp))
        out->prior.device.compute_share = q->ppp_comp;
    if (q->model == ORCH_TIME_TRANSFERRED && !out->prior.is_transferred) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --model prior",
                       "the transferred model does not cover %s at %s", gpu->name,
                       orch_precision_names()[out->precision]);
        return false;
    }
    if (format != ORCH_FORMAT_16 && !out->prior.is_by_kernels) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --precision bf16",
                       "steps in %s are forecast only by the transferred model",
                       out->precision_name);
        return false;
    }
    if (q->net && orch_net_is_sequence(q->net) &&
        !out->prior.is_by_kernels) /* the calibration data has no sequence networks */
        out->prior.error_90 = MAX(out->prior.error_90, orch_transfer_error_widest());
    return true;
}
