/* SPDX-License-Identifier: MIT */
#include "core/host/procs.h"

#include "lib/base/proc_stat.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct orch_proc_stat stat;
    bool is_descendant;
};

/* True if `self` is an ancestor of the process. */
static bool descends_from(GHashTable *parents, pid_t pid, pid_t self)
{
    enum { DEPTH_MAX = 1000 }; /* the table is not a consistent snapshot and may contain a cycle */
    for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
        pid = GPOINTER_TO_INT(g_hash_table_lookup(parents, GINT_TO_POINTER(pid)));
        if (pid == self)
            return true;
    }
    return false;
}

/* All processes, with descendants of this one marked. */
static GArray *read_entries(void)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    g_autoptr(GHashTable) parents = g_hash_table_new(NULL, NULL);
    DIR *proc = opendir("/proc");
    for (struct dirent *item; proc && (item = readdir(proc));) {
        struct entry entry;
        if (!g_ascii_isdigit(item->d_name[0]) ||
            !orch_proc_stat_read((pid_t)strtol(item->d_name, NULL, 10), &entry.stat))
            continue;
        g_array_append_val(entries, entry);
        g_hash_table_insert(parents, GINT_TO_POINTER(entry.stat.pid),
                            GINT_TO_POINTER(entry.stat.parent));
    }
    if (proc)
        closedir(proc);
    for (guint i = 0; i < entries->len; i++) {
        struct entry *entry = &g_array_index(entries, struct entry, i);
        entry->is_descendant = descends_from(parents, entry->stat.pid, getpid());
    }
    return entries;
}

/* True if the process's initial environment contains this entry. */
static bool carries(pid_t pid, const char *word)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/environ", (int)pid), *text = NULL;
    gsize length = 0;
    g_file_get_contents(path, &text, &length, NULL);
    for (gsize i = 0; i < length; i += strlen(text + i) + 1)
        if (strcmp(text + i, word) == 0)
            return true;
    return false;
}

GArray *orch_procs_of_trial(const char *key)
{
    g_autoptr(GArray) entries = read_entries();
    g_autofree char *word = g_strconcat("ORCH_RUN=", key, NULL);
    GArray *procs = g_array_new(FALSE, FALSE, sizeof(struct proc));
    for (guint i = 0; i < entries->len; i++) {
        const struct entry *entry = &g_array_index(entries, struct entry, i);
        if (entry->stat.state == 'Z' || entry->stat.pid == getpid() ||
            !(entry->is_descendant || carries(entry->stat.pid, word)))
            continue;
        struct proc proc = {.pid = entry->stat.pid};
        g_strlcpy(proc.name, entry->stat.name, sizeof proc.name);
        g_array_append_val(procs, proc);
    }
    return procs;
}

void orch_procs_signal(const GArray *procs, int signal)
{
    for (guint i = 0; i < procs->len; i++)
        kill(g_array_index(procs, struct proc, i).pid, signal);
}

/* The value after a label, as in "Pss:  12 kB", in bytes; 0 if the file is gone or lacks it. */
static int64_t field_bytes(pid_t pid, const char *file, const char *label)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, file), *text = NULL;
    const char *line = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL))
        line = strstr(text, label);
    return line ? strtoll(line + strlen(label), NULL, 10) * 1024 : 0;
}

int64_t orch_procs_peak_bytes(pid_t pid)
{
    return field_bytes(pid, "status", "\nVmHWM:");
}

/* PSS of a process in bytes; its resident size if PSS is not available; 0 if it is gone. */
static int64_t memory_of(pid_t pid)
{
    int64_t pss = field_bytes(pid, "smaps_rollup", "\nPss:");
    return pss ? pss : field_bytes(pid, "status", "\nVmRSS:");
}

int64_t orch_procs_memory_bytes(void)
{
    g_autoptr(GArray) entries = read_entries();
    int64_t total = 0;
    for (guint i = 0; i < entries->len; i++) {
        const struct entry *entry = &g_array_index(entries, struct entry, i);
        if (entry->is_descendant)
            total += memory_of(entry->stat.pid);
    }
    return total;
}
