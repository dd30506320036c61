/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/precision.h"

#include "lib/hw/machine.h"

#include <string.h>
#include <unistd.h>

static bool is_auto(const struct orch_training *t)
{
    return strcmp(t->precision, "auto") == 0;
}

/* fp32 multiplies as PyTorch's convolutions do: in tf32 where a GPU has it. */
static enum orch_torch_precision named(const char *name)
{
    static const struct {
        const char *name;
        enum orch_torch_precision precision;
    } others[] = {
        {"fp32-ieee", ORCH_TORCH_FP32}, {"bf16", ORCH_TORCH_BF16}, {"fp16", ORCH_TORCH_FP16}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].precision;
    return ORCH_TORCH_TF32;
}

static bool gpu_computes_bf16(void)
{
    struct orch_machine *machine = orch_machine_probe();
    bool all = machine->gpus->len > 0;
    for (guint i = 0; i < machine->gpus->len; i++)
        all = all && ((const struct orch_gpu_device *)machine->gpus->pdata[i])->cc_major >= 8;
    orch_machine_free(machine);
    return all;
}

enum orch_torch_precision orch_precision_of(const struct orch_session *s)
{
    if (!is_auto(s->training))
        return named(s->training->precision);
    bool is_cpu = strcmp(s->device, "cpu") == 0;
    return named((is_cpu ? orch_cpu_computes_bf16() : gpu_computes_bf16()) ? "bf16" : "fp32");
}

/* Whether the machine has NVIDIA's driver, which costs no call of its library. */
static bool has_driver(void)
{
    return access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

static bool stays_on_cpu(const struct orch_training *t, bool may_use_gpu)
{
    return strcmp(t->device, "cpu") == 0 || (strcmp(t->device, "auto") == 0 && !may_use_gpu);
}

const char *orch_precision_known(const struct orch_training *t)
{
    if (!is_auto(t))
        return t->precision;
    if (!stays_on_cpu(t, has_driver()))
        return NULL;
    return orch_cpu_computes_bf16() ? "bf16" : "fp32";
}

const char *orch_precision_caution(const struct orch_training *t, bool computes_bf16,
                                   bool may_use_gpu)
{
    if (strcmp(t->precision, "bf16") != 0 || computes_bf16 || !stays_on_cpu(t, may_use_gpu))
        return NULL;
    return "bf16 is slow on this processor, which has no bf16 instructions: use 'precision: auto'";
}

void orch_precision_warn(const struct orch_training *t, const struct orch_host *host)
{
    const char *caution = orch_precision_caution(t, orch_cpu_computes_bf16(), has_driver());
    if (caution)
        host->log(host, ORCH_LOG_WARNING, caution);
}
