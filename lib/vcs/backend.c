/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions shared by both backends and the code above them. */
#include "lib/vcs/backend.h"

#include "lib/base/error.h"

#include <string.h>

struct orch_entry *orch_entry_new(const char *path, unsigned mode, const char *oid)
{
    struct orch_entry *entry = g_new0(struct orch_entry, 1);
    entry->path = g_strdup(path);
    entry->mode = mode;
    g_strlcpy(entry->oid, oid, sizeof entry->oid);
    return entry;
}

void orch_entry_free(struct orch_entry *entry)
{
    if (!entry)
        return;
    g_free(entry->path);
    g_free(entry);
}

struct orch_change *orch_capture_change(struct orch_capture *job, const char *path)
{
    struct orch_change *change = g_hash_table_lookup(job->changes, path);
    if (!change) {
        change = g_new0(struct orch_change, 1);
        change->path = g_strdup(path);
        g_hash_table_insert(job->changes, change->path, change);
    }
    return change;
}

void orch_left_out_free(struct orch_left_out *item)
{
    if (!item)
        return;
    g_free(item->path);
    g_free(item->why);
    g_free(item);
}

void orch_left_out_add(GPtrArray *list, const char *path, char *why)
{
    struct orch_left_out *item = g_new0(struct orch_left_out, 1);
    item->path = g_strdup(path);
    item->why = why;
    g_ptr_array_add(list, item);
}

char *orch_remote_url(struct orch_vcs *vcs, const char *branch)
{
    g_autofree char *key = branch ? g_strdup_printf("branch.%s.remote", branch) : NULL;
    g_autofree char *name = key ? vcs->backend->setting(vcs, key) : NULL;
    if (!name || strcmp(name, ".") == 0) {
        g_free(name);
        name = g_strdup("origin");
    }
    g_autofree char *url_key = g_strdup_printf("remote.%s.url", name);
    char *url = vcs->backend->setting(vcs, url_key);
    if (!url && strpbrk(name, ":/")) /* a branch may name a URL */
        url = g_strdup(name);
    return url;
}
