/* SPDX-License-Identifier: MIT */
#include "core/host/foreign_cpu.h"

#include "lib/base/file.h"
#include "lib/base/proc_stat.h"

#include <glib.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STAT_BYTES_MAX = 1 << 20 };

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double used_by(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static double used_by_us(void)
{
    return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

/* Busy ticks in a line "cpu3 user nice system idle iowait irq softirq steal ...". Guest time is
 * part of user. */
static double busy_ticks(const char *line)
{
    static const bool is_busy[] = {true, true, true, false, false, true, true, true};
    double ticks = 0;
    const char *at = line + strcspn(line, " ");
    for (unsigned i = 0; i < G_N_ELEMENTS(is_busy); i++) {
        char *end;
        guint64 value = g_ascii_strtoull(at, &end, 10);
        if (end == at)
            break; /* older kernels have fewer fields */
        if (is_busy[i])
            ticks += (double)value;
        at = end;
    }
    return ticks;
}

/* Busy time in seconds of the trial's CPUs since boot; NaN if none of them is listed. */
static double busy_seconds(const struct foreign_cpu *foreign)
{
    g_autofree char *text = NULL;
    if (!orch_file_read(foreign->path, STAT_BYTES_MAX, &text, NULL, NULL))
        return (double)NAN;
    double ticks = 0;
    bool any = false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **at = lines; *at; at++) {
        const char *line = *at;
        guint64 number;
        if (g_str_has_prefix(line, "cpu") && g_ascii_isdigit(line[3]) &&
            (number = g_ascii_strtoull(line + 3, NULL, 10)) < foreign->cpu_count &&
            foreign->is_ours[number]) {
            ticks += busy_ticks(line);
            any = true;
        }
    }
    return any ? ticks / (double)sysconf(_SC_CLK_TCK) : (double)NAN;
}

void orch_foreign_cpu_begin(struct foreign_cpu *foreign, const char *path, const int *cpus,
                            unsigned count)
{
    if (!path && !(path = g_getenv("ORCH_PROC_STAT")))
        path = "/proc/stat";
    *foreign = (struct foreign_cpu){
        .path = path, .is_ours = g_new0(bool, CPU_SETSIZE), .cpu_count = CPU_SETSIZE};
    for (unsigned i = 0; i < count; i++)
        if (cpus[i] < CPU_SETSIZE)
            foreign->is_ours[cpus[i]] = true;
    cpu_set_t allowed;
    if (!count && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        for (unsigned i = 0; i < CPU_SETSIZE; i++)
            foreign->is_ours[i] = CPU_ISSET(i, &allowed);
    foreign->busy_s = busy_seconds(foreign);
    foreign->own_s = used_by_us();
    foreign->ended_s = (double)NAN;
}

void orch_foreign_cpu_end(struct foreign_cpu *foreign)
{
    foreign->ended_s = busy_seconds(foreign);
}

void orch_foreign_cpu_clear(struct foreign_cpu *foreign)
{
    g_free(foreign->is_ours);
    foreign->is_ours = NULL;
}

struct process {
    struct orch_proc_stat stat;
    bool is_program;
};

/* Marks the children of marked processes; false if there are no more. */
static bool mark_children(GArray *all)
{
    bool any = false;
    for (guint i = 0; i < all->len; i++) {
        struct process *child = &g_array_index(all, struct process, i);
        for (guint j = 0; j < all->len && !child->is_program; j++) {
            const struct process *parent = &g_array_index(all, struct process, j);
            child->is_program = parent->is_program && parent->stat.pid == child->stat.parent;
            any = any || child->is_program;
        }
    }
    return any;
}

double orch_foreign_cpu_of_program(int pid)
{
    g_autoptr(GDir) folder = g_dir_open("/proc", 0, NULL);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct process));
    const char *name;
    struct process process;
    double used_s = 0;
    while (folder && (name = g_dir_read_name(folder)))
        if (g_ascii_isdigit(*name) && orch_proc_stat_read(atoi(name), &process.stat)) {
            process.is_program = process.stat.pid == pid;
            g_array_append_val(all, process);
        }
    while (mark_children(all))
        ;
    for (guint i = 0; i < all->len; i++) {
        const struct process *at = &g_array_index(all, struct process, i);
        if (at->is_program)
            used_s += at->stat.user_s + at->stat.system_s + at->stat.children_s;
    }
    return used_s;
}

double orch_foreign_cpu_share(const struct foreign_cpu *foreign, double wall_s)
{
    return orch_foreign_cpu_share_of_other(foreign, wall_s, 0);
}

double orch_foreign_cpu_share_of_other(const struct foreign_cpu *foreign, double wall_s,
                                       double program_s)
{
    if (isnan(foreign->busy_s) || !(wall_s >= FOREIGN_CPU_WALL_S))
        return (double)NAN;
    unsigned count = 0;
    for (unsigned i = 0; i < foreign->cpu_count; i++)
        count += foreign->is_ours[i];
    double busy_s = isnan(foreign->ended_s) ? busy_seconds(foreign) : foreign->ended_s;
    double others_s = busy_s - foreign->busy_s - (used_by_us() - foreign->own_s) - program_s;
    return isnan(others_s) || !count ? (double)NAN : CLAMP(others_s / (wall_s * count), 0.0, 1.0);
}
