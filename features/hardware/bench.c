/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/hardware/bench.h"

#include "features/hardware/measure.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/base/subprocess.h"
#include "lib/base/text.h"
#include "lib/devices/hardware.h"

#include <string.h>

#define SECONDS_EACH 0.5
#define GPU_BENCH_S 600

struct bench {
    const struct orch_machine *machine;
    struct orch_ceilings *all;
    orch_bench_progress *progress;
    void *ctx;
};

static void tell(const struct bench *b, const char *what)
{
    if (b->progress)
        b->progress(b->ctx, what);
}

static void add(const struct bench *b, const char *what, const char *how, int threads,
                const char *unit, struct orch_measured measured, const char *with,
                const char *skipped)
{
    struct orch_ceiling *row = g_new0(struct orch_ceiling, 1);
    *row = (struct orch_ceiling){.device = g_strdup("cpu"),
                                 .what = g_strdup(what),
                                 .how = g_strdup(how),
                                 .threads = (unsigned)threads,
                                 .unit = g_strdup(unit),
                                 .measured = measured,
                                 .with = g_strdup(with),
                                 .skipped = g_strdup(skipped)};
    g_ptr_array_add(b->all->rows, row);
}

/* ---- the processor ----------------------------------------------------------------------------
 */

static void measure_cpu(const struct bench *b, int threads)
{
    for (int i = 0; i < ORCH_CPU_PRECISIONS; i++) {
        const char *name = orch_cpu_precision_name((enum orch_cpu_precision)i);
        g_autofree char *what =
            g_strdup_printf("products %s, %d thread%s", name, threads, orch_plural(threads));
        tell(b, what);
        struct orch_cpu_rate rate =
            orch_measure_gemm((enum orch_cpu_precision)i, threads, SECONDS_EACH);
        const char *why = rate.measured.best > 0 ? NULL
                          : *rate.library        ? "the library has no such product here"
                                                 : "no library for it: install oneDNN";
        add(b, "product", name, threads, "FLOP/s", rate.measured, rate.library, why);
    }
    tell(b, "memory");
    for (int i = 0; i < ORCH_TRIADS; i++)
        add(b, "memory", ORCH_TRIAD_SIZES[i].how, threads, "B/s",
            orch_measure_triad(threads, ORCH_TRIAD_SIZES[i].bytes, SECONDS_EACH), "", NULL);
}

static bool measure_disk(const struct bench *b, const char *folder, GError **error)
{
    struct orch_disk_rates disk;
    tell(b, "disk");
    if (!orch_measure_disk(folder, &disk, error))
        return false;
    add(b, "disk", "write", 0, "B/s", (struct orch_measured){disk.write, disk.write, 0, 1}, "",
        NULL);
    add(b, "disk", "read", 0, "B/s", (struct orch_measured){disk.read, disk.read, 0, 1}, "", NULL);
    return true;
}

/* ---- GPUs -------------------------------------------------------------------------------------
 */

static void skip_gpu(const struct bench *b, const char *why)
{
    add(b, "product", "", 0, "FLOP/s", (struct orch_measured){0}, "", why);
    struct orch_ceiling *row = b->all->rows->pdata[b->all->rows->len - 1];
    g_free(row->device);
    row->device = g_strdup("gpu");
}

/* Runs orch-gpu-bench, which measures the GPU with this number among those that it sees, and reads
 * a row from each line. A process of its own, because a CUDA error can make the process that met
 * it unusable. */
static void measure_gpu(const struct bench *b, guint number)
{
    const struct orch_gpu_device *gpu = b->machine->gpus->pdata[number];
    g_autoptr(GError) problem = NULL;
    g_autofree char *program = orch_program_path("orch-gpu-bench", &problem),
                    *seconds = g_strdup_printf("%g", SECONDS_EACH);
    tell(b, gpu->model);
    if (!program) {
        g_autofree char *why =
            g_strdup_printf("this build has no CUDA kernels: %s", orch_program_way(ORCH_PART_CUDA));
        skip_gpu(b, why);
        return;
    }
    const char *argv[] = {program, seconds, NULL};
    g_auto(GStrv) env = g_get_environ();
    env = g_environ_setenv(env, "CUDA_VISIBLE_DEVICES", gpu->visible, TRUE);
    env = g_environ_setenv(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID", TRUE);
    struct orch_subprocess_end end = {0};
    const struct orch_subprocess command = {
        .argv = argv, .environment = env, .timeout_s = GPU_BENCH_S};
    bool ran = orch_subprocess_run(&command, &end, &problem);
    g_auto(GStrv) lines = g_strsplit(ran ? end.out->str : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        g_autoptr(json_t) json = **line ? orch_json_parse(*line, strlen(*line), 65536, NULL) : NULL;
        struct orch_ceiling *row = json ? orch_ceiling_decode(json) : NULL;
        if (row)
            g_ptr_array_add(b->all->rows, row);
    }
    if (!ran || end.status != 0)
        skip_gpu(b, !ran ? problem->message : *end.err ? g_strstrip(end.err) : "it crashed");
    orch_subprocess_end_clear(&end);
}

static void measure_gpus(const struct bench *b)
{
    for (guint i = 0; i < b->machine->gpus->len; i++)
        measure_gpu(b, i);
    if (b->machine->gpus->len)
        return;
    g_autofree char *why = g_strdup_printf("no CUDA device (%s)",
                                           b->machine->gpu_note ? b->machine->gpu_note : "NVML");
    skip_gpu(b, why);
}

/* ---- the device file --------------------------------------------------------------------------
 */

/* The device that 'orch predict --gpu here' uses, and all ceilings. */
static char *device_text(const struct orch_machine *m, const struct orch_ceilings *all)
{
    const struct orch_ceiling *fp32 = orch_ceilings_find(all, "cpu", "product", "fp32", 0),
                              *fp64 = orch_ceilings_find(all, "cpu", "product", "fp64", 0),
                              *bf16 = orch_ceilings_find(all, "cpu", "product", "bf16", 0),
                              *one = orch_ceilings_find(all, "cpu", "product", "fp32", 1),
                              *memory = orch_ceilings_find(all, "cpu", "memory", "triad", 0),
                              *written = orch_ceilings_find(all, "cpu", "disk", "write", 0),
                              *read = orch_ceilings_find(all, "cpu", "disk", "read", 0);
    double best = MAX(fp32->measured.best, one->measured.best);
    GString *text = g_string_new("# written by 'orch doctor --bench'\n");
    g_string_append_printf(text, "machine: \"%s\"\nmeasured: \"%s\"\n", all->machine, all->when);
    g_string_append_printf(text,
                           "gpus:\n  - name: \"%s\"\n    arch: \"%s\"\n    fp32_tflops: %.6f\n",
                           m->hostname, m->cpu_model, best / 1e12);
    if (fp64)
        g_string_append_printf(text, "    fp64_tflops: %.6f\n", fp64->measured.best / 1e12);
    if (bf16 && bf16->measured.best > 0) /* oneDNN has none without wide vectors */
        g_string_append_printf(text, "    bf16_tflops: %.6f\n", bf16->measured.best / 1e12);
    g_string_append_printf(
        text,
        "    bandwidth_gbs: %.3f\n    memory_gb: %.3f\n"
        "    note: \"%s UTC: %d threads, %s; one core %.4f TFLOP/s; disk %.0f MB/s written, %.0f "
        "read\"\nceilings:\n",
        memory->measured.best / 1e9, (double)m->memory_bytes / 1e9, all->when, m->threads,
        fp32->with, one->measured.best / 1e12, written->measured.best / 1e6,
        read->measured.best / 1e6);
    for (guint i = 0; i < all->rows->len; i++) {
        g_autofree char *row = orch_ceiling_encode(all->rows->pdata[i]);
        g_string_append_printf(text, "  - %s\n", row);
    }
    return g_string_free(text, FALSE);
}

static bool keep_device(const struct orch_machine *m, const struct orch_ceilings *all,
                        GError **error)
{
    if (!orch_ceilings_find(all, "cpu", "product", "fp32", 0) ||
        !orch_ceilings_find(all, "cpu", "product", "fp32", 1)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "matrix products could not be measured");
        return false;
    }
    g_autofree char *path = orch_hardware_here_file();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = device_text(m, all);
    if (g_mkdir_with_parents(folder, 0755) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make the folder '%s'", folder);
        return false;
    }
    return g_file_set_contents(path, text, -1, error);
}

struct orch_ceilings *orch_bench_here(const struct orch_machine *machine, const char *folder,
                                      orch_bench_progress *progress, void *ctx, GError **error)
{
    struct orch_ceilings *all = g_new0(struct orch_ceilings, 1);
    all->machine = orch_machine_key(machine);
    all->when = orch_time_format(orch_now_ns(), false);
    all->rows = g_ptr_array_new_with_free_func((GDestroyNotify)orch_ceiling_free);
    const struct bench b = {machine, all, progress, ctx};
    measure_cpu(&b, 1);
    if (machine->threads > 1)
        measure_cpu(&b, machine->threads);
    bool ok = measure_disk(&b, folder, error);
    if (ok)
        measure_gpus(&b);
    if (ok && keep_device(machine, all, error))
        return all;
    orch_ceilings_free(all);
    return NULL;
}

const char *orch_bench_gpu_name(const char *model)
{
    const struct orch_gpu_spec *spec = orch_gpu_find(model);
    return spec ? spec->name : NULL;
}
