/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/hardware/bench.h"

#include "core/hardware/hardware.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

/* Formats the device file that 'orch predict --gpu here' reads. */
static char *device_text(const struct orch_machine *m, const struct orch_bench *v)
{
    g_autofree char *when = orch_time_format(orch_now_ns(), false);
    return g_strdup_printf("# written by 'orch doctor --bench'\n"
                           "gpus:\n"
                           "  - name: \"%s\"\n"
                           "    arch: \"%s\"\n"
                           "    fp32_tflops: %.6f\n"
                           "    bandwidth_gbs: %.3f\n"
                           "    memory_gb: %.3f\n"
                           "    note: \"%s UTC: %d threads, %s; one core %.4f TFLOP/s; disk %.0f "
                           "MB/s written, %.0f read\"\n",
                           m->hostname, m->cpu_model, v->all_cores / 1e12, v->memory / 1e9,
                           (double)m->memory_bytes / 1e9, when, m->threads, v->library,
                           v->one_core / 1e12, v->disk.write / 1e6, v->disk.read / 1e6);
}

static bool keep_device(const struct orch_machine *m, const struct orch_bench *v, GError **error)
{
    g_autofree char *path = orch_hardware_here_file();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = device_text(m, v);
    if (g_mkdir_with_parents(folder, 0755) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make the folder '%s'", folder);
        return false;
    }
    return g_file_set_contents(path, text, -1, error);
}

bool orch_bench_here(const struct orch_machine *machine, const char *folder, struct orch_bench *out,
                     GError **error)
{
    *out = (struct orch_bench){0};
    out->one_core = orch_measure_gemm(1, 1, &out->library);
    for (int i = 0; i < 2; i++) /* best of two, and at least the rate of one core */
        out->all_cores = MAX(out->all_cores, orch_measure_gemm(machine->threads, 1, &out->library));
    out->all_cores = MAX(out->all_cores, out->one_core);
    out->memory = orch_measure_memory(machine->threads, 1);
    if (!(out->one_core > 0) || !(out->all_cores > 0)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "matrix products could not be measured");
        return false;
    }
    return orch_measure_disk(folder, &out->disk, error) && keep_device(machine, out, error);
}

const char *orch_bench_gpu_name(const char *model)
{
    const struct orch_gpu_spec *spec = orch_gpu_find(model);
    return spec ? spec->name : NULL;
}
