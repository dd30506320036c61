/* SPDX-License-Identifier: MIT */
/* The current machine, read from /proc, /sys and /etc in well under a millisecond, because every
 * plan and run needs it. The key contains what makes timings comparable and nothing that changes by
 * itself: with clock rates or host names, one machine would get many keys. */
#include "lib/hw/machine.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/hw/cpu.h"
#include "lib/hw/probe.h"
#include "lib/hw/topology.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define GIB (1024.0 * 1024.0 * 1024.0)
#define KEY_CHARS 32

/* "Debian GNU/Linux 12", from NAME and VERSION_ID of os-release(5). */
static char *os_name(const char *root)
{
    g_autofree char *text = orch_probe_text(root, "/etc/os-release");
    if (!text)
        text = orch_probe_text(root, "/usr/lib/os-release");
    g_autofree char *name = NULL, *version = NULL;
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        char **target = g_str_has_prefix(*line, "NAME=")         ? &name
                        : g_str_has_prefix(*line, "VERSION_ID=") ? &version
                                                                 : NULL;
        if (!target || *target)
            continue;
        const char *value = strchr(*line, '=') + 1;
        *target = g_shell_unquote(value, NULL);
        if (!*target)
            *target = g_strdup(value);
    }
    if (!name)
        return g_strdup("unknown OS");
    return version && *version ? g_strdup_printf("%s %s", name, version) : g_strdup(name);
}

static int64_t memory_total(const char *root)
{
    g_autofree char *text = orch_probe_text(root, "/proc/meminfo");
    const char *line = text ? strstr(text, "MemTotal:") : NULL;
    return line ? g_ascii_strtoll(line + strlen("MemTotal:"), NULL, 10) * 1024 : 0;
}

int64_t orch_machine_memory(const char *root)
{
    const int64_t total = memory_total(root), limit = orch_cgroup_memory(root);
    return limit > 0 && (total <= 0 || limit < total) ? limit : total;
}

struct orch_machine *orch_machine_probe_at(const char *root, const unsigned *cpus,
                                           unsigned cpu_count)
{
    struct orch_machine *machine = g_new0(struct orch_machine, 1);
    machine->gpus = g_ptr_array_new_with_free_func((GDestroyNotify)orch_gpu_device_free);
    machine->hidden_gpus = g_ptr_array_new_with_free_func((GDestroyNotify)orch_gpu_device_free);
    struct utsname names;
    bool is_named = uname(&names) == 0;
    machine->arch = g_strdup(is_named ? names.machine : "unknown");
    machine->kernel = g_strdup(is_named ? names.release : "unknown");
    machine->hostname = g_strdup(is_named ? names.nodename : "unknown");
    if (!*root)
        machine->cpu_model = orch_cpu_model_from_cpuid();
    if (!*root)
        machine->vectors = orch_cpu_vectors();
    if (!machine->cpu_model)
        machine->cpu_model = orch_cpu_model_from_proc(root);
    machine->os = os_name(root);

    orch_cpu_count(root, cpus, cpu_count, &machine->sockets, &machine->cores);
    int quota = orch_cgroup_threads(root);
    machine->threads = (int)MAX(cpu_count, 1);
    if (quota > 0)
        machine->threads = MIN(machine->threads, quota);
    machine->cores = MIN(machine->cores, machine->threads);

    machine->memory_bytes = orch_machine_memory(root);
    return machine;
}

struct orch_machine *orch_machine_probe(void)
{
    GArray *cpus = orch_allowed_cpus();
    struct orch_machine *machine =
        orch_machine_probe_at("", (const unsigned *)(void *)cpus->data, cpus->len);
    g_array_free(cpus, TRUE);
    orch_nvml_probe(machine);
    orch_visible_gpus_choose(machine, g_getenv("CUDA_VISIBLE_DEVICES"));
    return machine;
}

void orch_machine_free(struct orch_machine *machine)
{
    if (!machine)
        return;
    g_free(machine->cpu_model);
    g_free(machine->arch);
    g_free(machine->os);
    g_free(machine->kernel);
    g_free(machine->hostname);
    g_free(machine->gpu_driver);
    g_free(machine->cuda_version);
    g_free(machine->gpu_note);
    if (machine->gpus)
        g_ptr_array_unref(machine->gpus);
    if (machine->hidden_gpus)
        g_ptr_array_unref(machine->hidden_gpus);
    g_free(machine);
}

char *orch_gpu_device_id(const struct orch_gpu_device *gpu)
{
    return *gpu->uuid ? g_strdup(gpu->uuid) : g_strdup_printf("gpu %u", gpu->index);
}

static long long whole_gib(int64_t bytes)
{
    return (long long)((double)bytes / GIB + 0.5);
}

char *orch_machine_key(const struct orch_machine *machine)
{
    g_autoptr(GString) text = g_string_new("orch machine 1\nfamily linux\n");
    g_string_append_printf(text, "arch %s\ncpu %s\ncores %d\nthreads %d\nmemory %lld GiB\n",
                           machine->arch, machine->cpu_model, machine->cores, machine->threads,
                           whole_gib(machine->memory_bytes));
    /* sorted, because the order of the cards does not matter; hidden ones are part of the machine
     */
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    const GPtrArray *const lists[] = {machine->gpus, machine->hidden_gpus};
    for (unsigned j = 0; j < G_N_ELEMENTS(lists); j++)
        for (unsigned i = 0; i < lists[j]->len; i++) {
            const struct orch_gpu_device *gpu = lists[j]->pdata[i];
            g_ptr_array_add(lines, g_strdup_printf("gpu %s %lld GiB\n", gpu->model,
                                                   whole_gib(gpu->memory_bytes)));
        }
    g_ptr_array_sort(lines, orch_compare_texts);
    for (unsigned i = 0; i < lines->len; i++)
        g_string_append(text, lines->pdata[i]);
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text->str, text->len, digest);
    return g_strndup(digest, KEY_CHARS);
}

static json_t *gpu_facts(const struct orch_gpu_device *gpu)
{
    json_t *facts = json_object();
    json_object_set_new(facts, "index", json_integer(gpu->index));
    json_object_set_new(facts, "model", orch_json_text_or_null(gpu->model));
    json_object_set_new(facts, "uuid", orch_json_text_or_null(gpu->uuid));
    json_object_set_new(facts, "memory_bytes", json_integer(gpu->memory_bytes));
    g_autofree char *capability = g_strdup_printf("%d.%d", gpu->cc_major, gpu->cc_minor);
    json_object_set_new(facts, "compute_capability",
                        gpu->cc_major ? json_string(capability) : json_null());
    return facts;
}

json_t *orch_machine_facts(const struct orch_machine *machine)
{
    json_t *facts = json_object();
    json_object_set_new(facts, "cpu_model", orch_json_text_or_null(machine->cpu_model));
    json_object_set_new(facts, "arch", orch_json_text_or_null(machine->arch));
    if (machine->vectors)
        json_object_set_new(facts, "vectors", json_string(machine->vectors));
    json_object_set_new(facts, "sockets", json_integer(machine->sockets));
    json_object_set_new(facts, "cores", json_integer(machine->cores));
    json_object_set_new(facts, "threads", json_integer(machine->threads));
    json_object_set_new(facts, "memory_bytes", json_integer(machine->memory_bytes));
    json_object_set_new(facts, "os", orch_json_text_or_null(machine->os));
    json_object_set_new(facts, "kernel", orch_json_text_or_null(machine->kernel));
    json_object_set_new(facts, "hostname", orch_json_text_or_null(machine->hostname));
    json_object_set_new(facts, "gpu_driver", orch_json_text_or_null(machine->gpu_driver));
    json_object_set_new(facts, "gpu_note", orch_json_text_or_null(machine->gpu_note));
    json_t *gpus = json_array();
    for (unsigned i = 0; i < machine->gpus->len; i++)
        json_array_append_new(gpus, gpu_facts(machine->gpus->pdata[i]));
    json_object_set_new(facts, "gpus", gpus);
    return facts;
}

/* "0.5x MODEL" */
static char *shared_key(const struct orch_gpu_device *gpu, double share)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(number, sizeof number, "%.6g", share);
    return g_strdup_printf("%sx %s", number, gpu->model);
}

char *orch_machine_device_key(const struct orch_machine *machine, const unsigned *gpus,
                              unsigned gpu_count, double gpu_share, int threads)
{
    if (gpu_count == 1 && gpu_share < 1 && gpus[0] < machine->gpus->len)
        return shared_key(machine->gpus->pdata[gpus[0]], gpu_share);
    if (!gpu_count)
        return g_strdup_printf("%s, %d %s", machine->cpu_model, threads,
                               threads == 1 ? "thread" : "threads");
    g_autoptr(GPtrArray) models = g_ptr_array_new();
    for (unsigned i = 0; i < gpu_count; i++) {
        const struct orch_gpu_device *gpu =
            gpus[i] < machine->gpus->len ? machine->gpus->pdata[gpus[i]] : NULL;
        g_ptr_array_add(models, gpu ? gpu->model : (char *)(uintptr_t) "unknown GPU");
    }
    g_ptr_array_sort(models, orch_compare_texts);
    GString *text = g_string_new(NULL);
    for (unsigned i = 0, run; i < models->len; i += run) {
        for (run = 1; i + run < models->len &&
                      !orch_compare_texts(&models->pdata[i], &models->pdata[i + run]);)
            run++;
        g_string_append_printf(text, "%s%ux %s", i ? " + " : "", run,
                               (const char *)models->pdata[i]);
    }
    return g_string_free(text, FALSE);
}

/* The number before "x "; 0 if there is none. */
static unsigned count_at(const char *text, const char **out_rest)
{
    char *end = NULL;
    int64_t count = g_ascii_strtoll(text, &end, 10);
    bool is_count = end > text && g_str_has_prefix(end, "x ") && count > 0 && count <= 10000;
    *out_rest = is_count ? end + 2 : text;
    return is_count ? (unsigned)count : 0;
}

/* The share before "x ", above 0 and below 1; 1 with `*out_rest` = text if there is none. */
static double share_at(const char *text, const char **out_rest)
{
    char *end = NULL;
    double share = g_str_has_prefix(text, "0.") ? g_ascii_strtod(text, &end) : 1;
    bool is_share = end && g_str_has_prefix(end, "x ") && share > 0 && share < 1;
    *out_rest = is_share ? end + 2 : text;
    return is_share ? share : 1;
}

struct orch_device_parts orch_device_key_parse(const char *key)
{
    struct orch_device_parts parts = {0};
    const char *rest, *next;
    parts.gpu_share = share_at(key ? key : "", &rest);
    parts.gpus = parts.gpu_share < 1 ? 1 : count_at(rest, &rest);
    parts.device = g_strdup(rest);
    for (next = rest; parts.gpus && (next = strstr(next, " + ")) != NULL;)
        parts.gpus += count_at(next + 3, &next);
    char *comma = parts.gpus ? NULL : strrchr(parts.device, ',');
    if (comma && (g_str_has_suffix(comma, " thread") || g_str_has_suffix(comma, " threads"))) {
        parts.threads = (int)CLAMP(g_ascii_strtoll(comma + 1, NULL, 10), 0, 100000);
        *comma = '\0';
    }
    return parts;
}

bool orch_device_key_is_share(const char *key)
{
    const char *rest;
    return key && share_at(key, &rest) < 1;
}

bool orch_device_key_has_own_gpus(const char *key)
{
    struct orch_device_parts parts = orch_device_key_parse(key);
    g_free(parts.device);
    return parts.gpus > 0 && parts.gpu_share >= 1;
}

double orch_machine_load(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1;
}
