/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/paleo/roofline_roofs.h"

#include "lib/devices/ceilings.h"
#include "lib/devices/hardware.h"
#include "lib/hw/machine.h"

#include <string.h>

/* True for the device that stands for this machine's processor. */
static bool is_this_processor(const struct orch_gpu_spec *spec)
{
    g_autofree char *path = orch_hardware_here_file();
    return spec->unit == ORCH_GPU_HOST && strcmp(spec->source, path) == 0;
}

static void replace(struct orch_roof *roof, const struct orch_ceiling *measured)
{
    if (measured)
        *roof = (struct orch_roof){measured->measured.best, true};
}

struct orch_roofline_roofs orch_roofline_roofs_of(const struct orch_gpu_spec *spec)
{
    struct orch_roofline_roofs roofs = {.memory = {spec->bandwidth_gbs * 1e9, false}};
    bool is_cpu = is_this_processor(spec);
    const char *device = is_cpu ? "cpu" : spec->name;
    for (int i = 0; i < ORCH_PRECISION_COUNT; i++)
        roofs.peaks[i].rate = orch_gpu_peak(spec, (enum orch_precision)i);
    if (spec->unit == ORCH_GPU_HOST) /* its fp16 is computed in fp32 */
        roofs.peaks[ORCH_FP16].rate = 0;
    struct orch_ceilings *all = orch_ceilings_load();
    const struct orch_ceiling *memory =
        orch_ceilings_find(all, device, "memory", is_cpu ? "triad" : "copy", 0);
    replace(&roofs.memory, memory);
    for (int i = 0; i < ORCH_PRECISION_COUNT; i++)
        replace(&roofs.peaks[i],
                orch_ceilings_find(all, device, "product", orch_precision_names()[i], 0));
    if (roofs.peaks[ORCH_FP32].is_measured)
        roofs.peaks[ORCH_FP32_IEEE] = roofs.peaks[ORCH_FP32];
    if (memory) {
        roofs.when = g_strdup(all->when);
        roofs.threads = (int)memory->threads;
    }
    orch_ceilings_free(all);
    return roofs;
}

void orch_roofline_roofs_release(struct orch_roofline_roofs *roofs)
{
    g_free(roofs->when);
    roofs->when = NULL;
}

bool orch_roofline_is_on(const struct orch_gpu_spec *spec, const char *device_key,
                         bool is_this_machine)
{
    struct orch_device_parts parts = orch_device_key_parse(device_key);
    bool is_whole = parts.gpus && parts.gpu_share >= 1;
    bool is_on = spec->unit == ORCH_GPU_HOST ? !parts.gpus && is_this_machine
                                             : is_whole && orch_gpu_find(parts.device) == spec;
    g_free(parts.device);
    return is_on;
}
