/* SPDX-License-Identifier: MIT */
/* CPU model. On x86 the brand string comes from the CPUID instruction, because opening
 * /proc/cpuinfo takes 10 ms on kernels 4.15 to 5.17, which sample the clock of every core, and
 * every start of a run needs the model. ARM kernels give numbers instead of a name; a table names
 * the cores used in GPU servers. */
#include "lib/hw/cpu.h"

#include "lib/hw/machine.h"
#include "lib/hw/probe.h"

#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* MIDR implementer and part, from the vendors' reference manuals and Linux's cputype.h. */
static const struct {
    unsigned implementer, part;
    const char *name;
} arm_cores[] = {
    {0x41, 0xd03, "ARM Cortex-A53"},   {0x41, 0xd07, "ARM Cortex-A57"},
    {0x41, 0xd08, "ARM Cortex-A72"},   {0x41, 0xd0b, "ARM Cortex-A76"},
    {0x41, 0xd0c, "ARM Neoverse-N1"},  {0x41, 0xd40, "ARM Neoverse-V1"},
    {0x41, 0xd42, "ARM Cortex-A78AE"}, {0x41, 0xd49, "ARM Neoverse-N2"},
    {0x41, 0xd4f, "ARM Neoverse-V2"},  {0x43, 0x0af, "Cavium ThunderX2"},
    {0x46, 0x001, "Fujitsu A64FX"},    {0x48, 0xd01, "HiSilicon Kunpeng-920"},
    {0x4e, 0x004, "NVIDIA Carmel"},    {0xc0, 0xac3, "Ampere-1"},
};

/* Removes blanks at both ends and reduces others to one. Consumes `text`. */
static char *squeeze(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        bool blank = g_ascii_isspace(*in);
        if (!blank)
            *out++ = *in;
        else if (out > text && out[-1] != ' ')
            *out++ = ' ';
    }
    while (out > text && out[-1] == ' ')
        out--;
    *out = 0;
    return text;
}

/* Value of the first line "key : value" in `text`; NULL if there is none or it is empty. Caller
 * frees. */
static char *field(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *rest = line + length;
        if (strncmp(line, key, length) != 0)
            continue;
        rest += strspn(rest, " \t");
        if (*rest != ':')
            continue;
        char *value = squeeze(g_strndup(rest + 1, strcspn(rest + 1, "\n")));
        if (*value)
            return value;
        g_free(value);
    }
    return NULL;
}

static char *arm_model(const char *cpuinfo)
{
    g_autofree char *implementer = field(cpuinfo, "CPU implementer");
    g_autofree char *part = field(cpuinfo, "CPU part");
    if (!implementer || !part)
        return NULL;
    guint64 i = g_ascii_strtoull(implementer, NULL, 0), p = g_ascii_strtoull(part, NULL, 0);
    for (unsigned n = 0; n < G_N_ELEMENTS(arm_cores); n++)
        if (arm_cores[n].implementer == i && arm_cores[n].part == p)
            return g_strdup(arm_cores[n].name);
    return g_strdup_printf("ARM implementer 0x%02x part 0x%03x", (unsigned)i, (unsigned)p);
}

char *orch_cpu_model_from_proc(const char *root)
{
    /* x86; ARM with ACPI and LoongArch; POWER; RISC-V; old ARM boards */
    static const char *const keys[] = {"model name", "Model Name", "cpu", "uarch"};
    g_autofree char *text = orch_probe_text(root, "/proc/cpuinfo");
    char *model = NULL;
    for (unsigned i = 0; text && !model && i < G_N_ELEMENTS(keys); i++)
        model = field(text, keys[i]);
    if (text && !model)
        model = arm_model(text);
    if (text && !model)
        model = field(text, "Hardware");
    return model ? model : g_strdup("unknown CPU");
}

char *orch_cpu_model_from_cpuid(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned words[12 + 1] = {0}; /* 48 characters and a NUL */
    if (__get_cpuid_max(0x80000000, NULL) < 0x80000004)
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        unsigned *w = words + 4 * i;
        __get_cpuid(0x80000002 + i, &w[0], &w[1], &w[2], &w[3]);
    }
    char *model = squeeze(g_strdup((const char *)words));
    if (*model)
        return model;
    g_free(model);
#endif
    return NULL;
}

unsigned orch_cpu_core(const char *root, unsigned cpu)
{
    static const char *const files[] = {"core_cpus_list", "thread_siblings_list"};
    for (unsigned i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *text =
            orch_probe_text(root, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, files[i]);
        if (text && g_ascii_isdigit(*text))
            return (unsigned)g_ascii_strtoull(text, NULL, 10);
    }
    return cpu;
}

void orch_cpu_count(const char *root, const unsigned *cpus, unsigned cpu_count, int *out_sockets,
                    int *out_cores)
{
    g_autoptr(GHashTable) sockets = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) cores = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < cpu_count; i++) {
        g_autofree char *package = orch_probe_text(
            root, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpus[i]);
        gint64 id = package ? g_ascii_strtoll(package, NULL, 10) : 0;
        g_hash_table_add(sockets, GINT_TO_POINTER((int)MAX(id, 0)));
        g_hash_table_add(cores, GUINT_TO_POINTER(orch_cpu_core(root, cpus[i])));
    }
    *out_sockets = (int)MAX(g_hash_table_size(sockets), 1);
    *out_cores = (int)MAX(g_hash_table_size(cores), 1);
}

bool orch_cpu_computes_bf16(void)
{
#if defined(__x86_64__) || defined(__i386__)
    enum { AVX512_BF16 = 1u << 5, AMX_BF16 = 1u << 22 }; /* EAX of leaf 7.1, EDX of leaf 7.0 */
    unsigned a = 0, b = 0, c = 0, d = 0, a1 = 0, b1 = 0, c1 = 0, d1 = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           ((d & AMX_BF16) ||
            (a >= 1 && __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1) && (a1 & AVX512_BF16)));
#elif defined(__aarch64__)
    enum { HAS_BF16 = 1u << 14 }; /* HWCAP2_BF16 */
    return getauxval(AT_HWCAP2) & HAS_BF16;
#else
    return false;
#endif
}

const char *orch_cpu_vectors(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f"))
        return orch_cpu_computes_bf16() ? "AVX-512 with bf16" : "AVX-512";
    return __builtin_cpu_supports("avx2") ? "AVX2" : __builtin_cpu_supports("avx") ? "AVX" : "SSE";
#elif defined(__aarch64__)
    enum { HAS_SVE = 1u << 22 }; /* HWCAP_SVE */
    bool is_wide = getauxval(AT_HWCAP) & HAS_SVE;
    return orch_cpu_computes_bf16() ? is_wide ? "SVE with bf16" : "NEON with bf16"
           : is_wide                ? "SVE"
                                    : "NEON";
#else
    return NULL;
#endif
}
