/* SPDX-License-Identifier: MIT */
#include "lib/wire/system_metrics.h"

#include <string.h>

struct row {
    const char *name, *unit, *label, *help;
};

static const struct row MACHINE[ORCH_SYSTEM_METRICS] = {
    [ORCH_SYSTEM_CPU_TRIAL] = {"cpu_trial", "%", "use of the processor by the trial",
                               "CPU time of the trial's processes; 100: all threads of its slot"},
    [ORCH_SYSTEM_CPU_MACHINE] = {"cpu_machine", "%", "use of the processor by the machine",
                                 "busy time of all CPUs of the machine"},
    [ORCH_SYSTEM_MEMORY_TRIAL] = {"memory_trial", "MB", "memory of the trial",
                                  "resident memory of the trial's processes"},
    [ORCH_SYSTEM_MEMORY_MACHINE] = {"memory_machine", "%", "memory in use on the machine",
                                    "memory in use on the machine"},
    [ORCH_SYSTEM_DISK_READ] = {"disk_read", "MB/s", "reads from disk",
                               "read from disk by the trial"},
    [ORCH_SYSTEM_DISK_WRITE] = {"disk_write", "MB/s", "writes to disk",
                                "written to disk by the trial"},
};

static const struct row GPU[ORCH_SYSTEM_GPU_METRICS] = {
    [ORCH_SYSTEM_GPU_CORE] = {"core", "%", "use of the GPU's cores", "time in which a kernel ran"},
    [ORCH_SYSTEM_GPU_MEMORY_BUSY] = {"memory_busy", "%", "use of the GPU's memory",
                                     "time in which memory was read or written"},
    [ORCH_SYSTEM_GPU_MEMORY] = {"memory", "MB", "memory of the GPU", "memory in use"},
    [ORCH_SYSTEM_GPU_POWER] = {"power", "W", "power of the GPU", "power drawn by the board"},
    [ORCH_SYSTEM_GPU_TEMPERATURE] = {"temperature", "degC", "temperature of the GPU",
                                     "temperature of the GPU"},
    [ORCH_SYSTEM_GPU_CLOCK] = {"clock", "MHz", "clock of the GPU", "clock of the SMs"},
    [ORCH_SYSTEM_GPU_MEMORY_CLOCK] = {"memory_clock", "MHz", "clock of the GPU's memory",
                                      "clock of the memory"},
};

/* Name and label stay for ever. */
static void fill(struct orch_metric_spec *spec, char *name, char *label, const struct row *row)
{
    spec->name = name;
    spec->unit = (char *)(uintptr_t)row->unit;
    spec->step_unit = (char *)(uintptr_t)ORCH_SYSTEM_STEP_UNIT;
    spec->label = label;
    spec->help = (char *)(uintptr_t)row->help;
    spec->better = ORCH_BETTER_NONE;
}

/* Each GPU but the first is called by its number: "use of GPU 1's cores". */
static char *label_of_gpu(const char *label, unsigned gpu)
{
    const char *the = strstr(label, "the GPU");
    return gpu && the ? g_strdup_printf("%.*sGPU %u%s", (int)(the - label), label, gpu,
                                        the + strlen("the GPU"))
                      : g_strdup(label);
}

/* Made once, on the first call, and never freed. */
static struct orch_metric_spec *make_all(void)
{
    struct orch_metric_spec *all = g_new0(struct orch_metric_spec, ORCH_SYSTEM_ALL);
    for (unsigned i = 0; i < ORCH_SYSTEM_METRICS; i++)
        fill(&all[i], g_strconcat(ORCH_SYSTEM_PREFIX, MACHINE[i].name, NULL),
             (char *)(uintptr_t)MACHINE[i].label, &MACHINE[i]);
    for (unsigned i = ORCH_SYSTEM_METRICS; i < ORCH_SYSTEM_ALL; i++) {
        unsigned gpu = (i - ORCH_SYSTEM_METRICS) / ORCH_SYSTEM_GPU_METRICS;
        const struct row *row = &GPU[(i - ORCH_SYSTEM_METRICS) % ORCH_SYSTEM_GPU_METRICS];
        fill(&all[i], g_strdup_printf(ORCH_SYSTEM_PREFIX "gpu%u_%s", gpu, row->name),
             label_of_gpu(row->label, gpu), row);
    }
    return all;
}

const struct orch_metric_spec *orch_system_metric_at(unsigned index)
{
    static struct orch_metric_spec *all;
    if (g_once_init_enter(&all))
        g_once_init_leave(&all, make_all());
    return &all[index];
}

const struct orch_metric_spec *orch_system_metric_find(const char *name)
{
    for (unsigned i = 0; orch_metric_is_system(name) && i < ORCH_SYSTEM_ALL; i++)
        if (strcmp(orch_system_metric_at(i)->name, name) == 0)
            return orch_system_metric_at(i);
    return NULL;
}

bool orch_metric_is_system(const char *name)
{
    return g_str_has_prefix(name, ORCH_SYSTEM_PREFIX);
}
