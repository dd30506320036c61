/* SPDX-License-Identifier: MIT */
/* The tree is walked through /proc/PID/task/TID/children, which costs a few files for each process
 * of the tree; reading all of /proc would cost as many for each process of the machine. A kernel
 * without that file (CONFIG_PROC_CHILDREN) shows an empty tree, and values of the tree are NaN
 * then.
 *
 * CPU time and bytes are sums over the living processes, each with its children that have ended and
 * were waited for, and over the ended children of this process. A process that ends between two
 * readings moves its sums to its parent, so nothing is lost. */
#include "lib/hw/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, PROCESSES_MAX = 4096 };

/* Sums that only grow, and what is in use now. */
struct sums {
    double cpu_ticks, read_bytes, written_bytes, resident_pages;
    bool has_tree, has_bytes;
};

/* The value from which a sum grows. */
struct base {
    double value;
    bool was_smaller; /* at the previous reading the sum was smaller than this */
};

struct orch_usage_meter {
    const char *proc;
    struct base cpu, read, written;
    bool has_bytes;
    double busy_ticks, all_ticks; /* of the machine */
    GArray *pids;                 /* the tree, int */
};

/* Reads the start of a file; "" if there is none. Returns its length; -1 if there is none. */
static ssize_t read_text(const char *path, char text[TEXT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);
    if (fd >= 0)
        close(fd);
    text[MAX(n, 0)] = 0;
    return n;
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

/* Appends the children that one thread has started. */
static bool add_children(struct orch_usage_meter *meter, const char *path)
{
    char text[TEXT_BYTES];
    if (read_text(path, text) < 0)
        return false;
    for (char *at = text; *at && meter->pids->len < PROCESSES_MAX;) {
        char *end;
        int pid = (int)strtol(at, &end, 10);
        if (end == at || !*end) /* the last number is followed by a blank unless it was cut */
            break;
        g_array_append_val(meter->pids, pid);
        at = end;
    }
    return true;
}

static bool add_children_of(struct orch_usage_meter *meter, const char *process)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s/task", meter->proc, process);
    DIR *tasks = opendir(path);
    bool any = false;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (!g_ascii_isdigit(*task->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s/task/%.20s/children", meter->proc, process,
                 task->d_name);
        any = add_children(meter, path) || any;
    }
    if (tasks)
        closedir(tasks);
    return any;
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* Adds CPU time and memory of a process from /proc/PID/stat: its fields 14 to 17 are ticks of
 * itself and of ended children, in user and in kernel mode, and 24 is its resident pages (proc(5)).
 * Of this process itself only the ended children belong to the tree. */
static void add_stat(struct orch_usage_meter *meter, const char *process, bool is_self,
                     struct sums *sums)
{
    char path[256], text[TEXT_BYTES];
    long long own[2], ended[2], resident;
    snprintf(path, sizeof path, "%s/%s/stat", meter->proc, process);
    const char *name_end = read_text(path, text) > 0 ? strrchr(text, ')') : NULL;
    if (!name_end || sscanf(name_end + 1,
                            " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld %lld %lld %lld %*s "
                            "%*s %*s %*s %*s %*s %lld",
                            &own[0], &own[1], &ended[0], &ended[1], &resident) != 5)
        return;
    sums->cpu_ticks += (double)(ended[0] + ended[1]);
    if (is_self)
        return;
    sums->cpu_ticks += (double)(own[0] + own[1]);
    sums->resident_pages += (double)resident;
}

/* Adds the bytes of a process and of its ended children that it waited for. */
static void add_bytes(struct orch_usage_meter *meter, const char *process, struct sums *sums)
{
    char path[256], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/%s/io", meter->proc, process);
    const char *read = read_text(path, text) > 0 ? strstr(text, "\nread_bytes:") : NULL;
    const char *written = read ? strstr(read, "\nwrite_bytes:") : NULL;
    if (!written) /* of another user, or a kernel that does not count */
        return;
    sums->has_bytes = true;
    sums->read_bytes += strtod(read + strlen("\nread_bytes:"), NULL);
    sums->written_bytes += strtod(written + strlen("\nwrite_bytes:"), NULL);
}

static struct sums read_sums(struct orch_usage_meter *meter)
{
    struct sums sums = {0};
    g_array_set_size(meter->pids, 0);
    sums.has_tree = add_children_of(meter, "self");
    add_stat(meter, "self", true, &sums);
    add_bytes(meter, "self", &sums);
    for (guint i = 0; i < meter->pids->len; i++) { /* grows while it is walked */
        char process[16];
        snprintf(process, sizeof process, "%d", g_array_index(meter->pids, int, i));
        add_stat(meter, process, false, &sums);
        add_bytes(meter, process, &sums);
        add_children_of(meter, process);
    }
    return sums;
}

/* ---- the machine ------------------------------------------------------------------------------
 */

/* Busy and all ticks from the first line of /proc/stat: user nice system idle iowait irq softirq
 * steal. Guest time is part of user. */
static bool read_ticks(struct orch_usage_meter *meter, double *out_busy, double *out_all)
{
    char path[256], text[TEXT_BYTES];
    double ticks[8] = {0};
    snprintf(path, sizeof path, "%s/stat", meter->proc);
    if (read_text(path, text) <= 0 ||
        sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2],
               &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) < 4)
        return false;
    *out_all = 0;
    for (int i = 0; i < 8; i++)
        *out_all += ticks[i];
    *out_busy = *out_all - ticks[3] - ticks[4];
    return true;
}

static double read_memory(struct orch_usage_meter *meter)
{
    char path[256], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/meminfo", meter->proc);
    bool any = read_text(path, text) > 0;
    const char *total = any ? strstr(text, "MemTotal:") : NULL;
    const char *available = any ? strstr(text, "MemAvailable:") : NULL;
    double all = total ? strtod(total + strlen("MemTotal:"), NULL) : 0;
    return all > 0 && available ? 1 - strtod(available + strlen("MemAvailable:"), NULL) / all
                                : (double)NAN;
}

static double read_busy(struct orch_usage_meter *meter)
{
    double busy, all, before_busy = meter->busy_ticks, before_all = meter->all_ticks;
    if (!read_ticks(meter, &busy, &all))
        return (double)NAN;
    meter->busy_ticks = busy;
    meter->all_ticks = all;
    return all > before_all ? CLAMP((busy - before_busy) / (all - before_all), 0.0, 1.0)
                            : (double)NAN;
}

/* ---- public -----------------------------------------------------------------------------------
 */

struct orch_usage_meter *orch_usage_meter_new(const char *proc)
{
    struct orch_usage_meter *meter = g_new0(struct orch_usage_meter, 1);
    meter->proc = proc;
    meter->pids = g_array_new(FALSE, FALSE, sizeof(int));
    struct sums now = read_sums(meter);
    meter->cpu.value = now.cpu_ticks;
    meter->read.value = now.read_bytes;
    meter->written.value = now.written_bytes;
    meter->has_bytes = now.has_bytes;
    read_busy(meter);
    return meter;
}

void orch_usage_meter_free(struct orch_usage_meter *meter)
{
    if (!meter)
        return;
    g_array_unref(meter->pids);
    g_free(meter);
}

/* Returns the growth of a sum since its base, and moves the base. A process that ended while the
 * tree was read is in no sum, and in its parent's at the next reading: the base stays, or that part
 * would be counted twice. If the sum is smaller a second time, nobody waited for the process, and
 * the base follows. */
static double grow(struct base *base, double now)
{
    double before = base->value;
    bool is_smaller = now < before;
    base->value = is_smaller && !base->was_smaller ? before : now;
    base->was_smaller = is_smaller;
    return is_smaller ? 0 : now - before;
}

void orch_usage_meter_read(struct orch_usage_meter *meter, struct orch_machine_usage *out)
{
    const double none = (double)NAN, page_mb = (double)sysconf(_SC_PAGESIZE) / 1e6;
    struct sums now = read_sums(meter);
    /* who waits for a child and ends at once makes two sums in a row too small: a few more looks */
    for (int look = 0; look < 3 && now.has_tree && now.cpu_ticks < meter->cpu.value; look++)
        now = read_sums(meter);
    bool has_bytes = meter->has_bytes && now.has_bytes && now.has_tree;
    double ticks = grow(&meter->cpu, now.cpu_ticks);
    double read = grow(&meter->read, now.read_bytes);
    double written = grow(&meter->written, now.written_bytes);
    meter->has_bytes = now.has_bytes;
    *out = (struct orch_machine_usage){
        .cpu_tree_s = now.has_tree ? ticks / (double)sysconf(_SC_CLK_TCK) : none,
        .cpu_machine = read_busy(meter),
        .memory_tree_mb = now.has_tree ? now.resident_pages * page_mb : none,
        .memory_machine = read_memory(meter),
        .read_mb = has_bytes ? read / 1e6 : none,
        .written_mb = has_bytes ? written / 1e6 : none,
    };
}
