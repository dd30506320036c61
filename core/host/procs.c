/* SPDX-License-Identifier: MIT */
#include "core/host/procs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENVIRON_BYTES_MAX = 1 << 17 };

struct entry {
    struct proc proc;
    pid_t parent;
    char state;
    bool is_descendant;
};

/* Reads the beginning of a small file in /proc. */
static ssize_t read_proc(pid_t pid, const char *name, char *out, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = 0;
    for (ssize_t n; length < bytes - 1 && (n = read(fd, out + length, bytes - 1 - length)) > 0;)
        length += (size_t)n;
    close(fd);
    out[length] = 0;
    return (ssize_t)length;
}

static bool read_entry(pid_t pid, struct entry *out)
{
    char text[512];
    if (read_proc(pid, "stat", text, sizeof text) <= 0)
        return false;
    const char *open_at = strchr(text, '('), *close_at = strrchr(text, ')');
    if (!open_at || !close_at || close_at[1] != ' ')
        return false;
    *out = (struct entry){.proc.pid = pid, .state = close_at[2]};
    g_strlcpy(out->proc.name, open_at + 1,
              MIN(sizeof out->proc.name, (size_t)(close_at - open_at)));
    out->parent = (pid_t)strtol(close_at + 3, NULL, 10);
    return true;
}

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
            !read_entry((pid_t)strtol(item->d_name, NULL, 10), &entry))
            continue;
        g_array_append_val(entries, entry);
        g_hash_table_insert(parents, GINT_TO_POINTER(entry.proc.pid),
                            GINT_TO_POINTER(entry.parent));
    }
    if (proc)
        closedir(proc);
    for (guint i = 0; i < entries->len; i++) {
        struct entry *entry = &g_array_index(entries, struct entry, i);
        entry->is_descendant = descends_from(parents, entry->proc.pid, getpid());
    }
    return entries;
}

/* True if the process's initial environment contains this entry. */
static bool carries(pid_t pid, const char *word, char *buffer)
{
    ssize_t length = read_proc(pid, "environ", buffer, ENVIRON_BYTES_MAX);
    for (ssize_t i = 0; i < length; i += (ssize_t)strlen(buffer + i) + 1)
        if (strcmp(buffer + i, word) == 0)
            return true;
    return false;
}

GArray *orch_procs_of_trial(const char *key)
{
    g_autoptr(GArray) entries = read_entries();
    g_autofree char *word = g_strconcat("ORCH_RUN=", key, NULL);
    g_autofree char *buffer = g_malloc(ENVIRON_BYTES_MAX);
    GArray *procs = g_array_new(FALSE, FALSE, sizeof(struct proc));
    for (guint i = 0; i < entries->len; i++) {
        const struct entry *entry = &g_array_index(entries, struct entry, i);
        if (entry->state == 'Z' || entry->state == 'X' || entry->proc.pid == getpid())
            continue;
        if (entry->is_descendant || carries(entry->proc.pid, word, buffer))
            g_array_append_val(procs, entry->proc);
    }
    return procs;
}

void orch_procs_signal(const GArray *procs, int signal)
{
    for (guint i = 0; i < procs->len; i++)
        kill(g_array_index(procs, struct proc, i).pid, signal);
}

/* PSS of a process in bytes; its resident size if PSS is not available; 0 if it is gone. */
static int64_t memory_of(pid_t pid)
{
    char text[4096];
    if (read_proc(pid, "smaps_rollup", text, sizeof text) > 0) {
        const char *line = strstr(text, "\nPss:");
        if (line)
            return strtoll(line + 5, NULL, 10) * 1024;
    }
    if (read_proc(pid, "statm", text, sizeof text) <= 0)
        return 0;
    const char *space = strchr(text, ' ');
    return space ? strtoll(space, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

int64_t orch_procs_memory_bytes(void)
{
    g_autoptr(GArray) entries = read_entries();
    int64_t total = 0;
    for (guint i = 0; i < entries->len; i++) {
        const struct entry *entry = &g_array_index(entries, struct entry, i);
        if (entry->is_descendant)
            total += memory_of(entry->proc.pid);
    }
    return total;
}
