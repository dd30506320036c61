/* SPDX-License-Identifier: MIT */
/* CPU and memory limits from control groups. A limit may be set at any level, so every level from
 * the process's group up to the root is read and the lowest limit applies. Supports v2 (cpu.max,
 * memory.max) and v1 (cpu.cfs_quota_us, memory.limit_in_bytes). In a container the path in
 * /proc/self/cgroup often is the host's and not visible; walking up then ends at the mount's root,
 * which is the container's own group, so the result is correct there too. */
#include "lib/hw/probe.h"

#include <math.h>
#include <string.h>

/* without a limit, v1 reports the largest page-aligned number */
#define NO_LIMIT_BYTES (INT64_C(1) << 60)

/* Reads the limit of one group folder; 0: no limit. */
typedef double (*limit_reader)(const char *root, const char *folder);

static double cpus_v2(const char *root, const char *folder)
{
    g_autofree char *text = orch_probe_text(root, "%s/cpu.max", folder);
    if (!text || g_str_has_prefix(text, "max"))
        return 0;
    char *rest = NULL;
    double quota = g_ascii_strtod(text, &rest);
    double period = g_ascii_strtod(rest, NULL);
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double cpus_v1(const char *root, const char *folder)
{
    g_autofree char *quota = orch_probe_text(root, "%s/cpu.cfs_quota_us", folder);
    g_autofree char *period = orch_probe_text(root, "%s/cpu.cfs_period_us", folder);
    double q = quota ? g_ascii_strtod(quota, NULL) : 0;
    double p = period ? g_ascii_strtod(period, NULL) : 0;
    return q > 0 && p > 0 ? q / p : 0;
}

static double bytes_of(const char *text)
{
    double bytes = text ? g_ascii_strtod(text, NULL) : 0; /* "max" reads as 0 */
    return bytes > 0 && bytes < (double)NO_LIMIT_BYTES ? bytes : 0;
}

static double memory_v2(const char *root, const char *folder)
{
    g_autofree char *text = orch_probe_text(root, "%s/memory.max", folder);
    return bytes_of(text);
}

static double memory_v1(const char *root, const char *folder)
{
    g_autofree char *text = orch_probe_text(root, "%s/memory.limit_in_bytes", folder);
    return bytes_of(text);
}

/* Lowest limit of group `path` below `mount` and its ancestors; 0: no limit. */
static double least_limit(const char *root, const char *mount, const char *path, limit_reader read)
{
    double least = 0;
    g_autofree char *group = g_strdup(path);
    for (;;) {
        size_t length = strlen(group);
        while (length && group[length - 1] == '/')
            group[--length] = 0;
        g_autofree char *folder = g_strconcat(mount, group, NULL);
        double limit = read(root, folder);
        if (limit > 0 && (least <= 0 || limit < least))
            least = limit;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

/* True if the comma-separated `list` contains `controller`. */
static bool has_controller(const char *list, const char *controller)
{
    g_auto(GStrv) names = g_strsplit(list, ",", -1);
    return g_strv_contains((const char *const *)names, controller);
}

/* Lowest limit in both hierarchies. A line of /proc/self/cgroup is "id:controllers:path"; v2's has
 * no controllers. */
static double limit_of(const char *root, const char *controller, limit_reader v2, limit_reader v1)
{
    double least = 0;
    g_autofree char *text = orch_probe_text(root, "/proc/self/cgroup");
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, ":", 3);
        if (g_strv_length(fields) < 3)
            continue;
        double limit = 0;
        if (!*fields[1]) {
            limit = least_limit(root, "/sys/fs/cgroup", fields[2], v2);
        } else if (has_controller(fields[1], controller)) {
            /* mounted under its list of controllers; usually also linked under each single name */
            g_autofree char *mount = g_strconcat("/sys/fs/cgroup/", fields[1], NULL);
            g_autofree char *single = g_strconcat("/sys/fs/cgroup/", controller, NULL);
            limit = least_limit(root, mount, fields[2], v1);
            if (limit <= 0)
                limit = least_limit(root, single, fields[2], v1);
        }
        if (limit > 0 && (least <= 0 || limit < least))
            least = limit;
    }
    return least;
}

int orch_cgroup_threads(const char *root)
{
    return (int)ceil(MIN(limit_of(root, "cpu", cpus_v2, cpus_v1), 1e6));
}

int64_t orch_cgroup_memory(const char *root)
{
    return (int64_t)limit_of(root, "memory", memory_v2, memory_v1);
}
