/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/links_out.h"

#include "lib/base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct looking {
    const char *root;
    char *real_root;
    GQueue folders; /* char *, relative: to be looked through */
    GHashTable *seen;
    json_t *links;
    unsigned entries;
};

/* What everybody's files lie in says nothing of the project. */
static bool is_common(const struct looking *l, const char *real)
{
    const char *const folders[] = {g_get_home_dir(), g_get_tmp_dir(), "/tmp", "/var/tmp",
                                   "/dev/shm"};
    g_autofree char *venv = g_build_filename(real, "pyvenv.cfg", NULL);
    g_autofree char *conda = g_build_filename(real, "conda-meta", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        if (orch_path_within(folders[i], real))
            return true;
    return orch_path_within(l->real_root, real) || g_file_test(venv, G_FILE_TEST_EXISTS) ||
           g_file_test(conda, G_FILE_TEST_EXISTS);
}

static void take_link(struct looking *l, const char *name, const char *path)
{
    char *found = realpath(path, NULL);
    g_autofree char *real = g_strdup(found);
    free(found);
    bool is_new = real && g_utf8_validate(real, -1, NULL) && g_utf8_validate(name, -1, NULL) &&
                  !orch_path_within(real, l->real_root) && !is_common(l, real);
    if (is_new && g_hash_table_add(l->seen, g_strdup(real)))
        json_array_append_new(l->links, json_pack("[ss]", name, real));
}

static void look_through(struct looking *l, const char *folder)
{
    static const char *const foreign[] = {"node_modules", "site-packages", "__pycache__", NULL};
    g_autofree char *path = g_build_filename(l->root, folder, NULL);
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || g_strv_contains(foreign, entry->d_name))
            continue;
        if (++l->entries > ORCH_LINKS_OUT_ENTRIES)
            break;
        if (entry->d_type != DT_DIR && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
            continue;
        struct stat info;
        char *name =
            *folder ? g_build_filename(folder, entry->d_name, NULL) : g_strdup(entry->d_name);
        g_autofree char *whole = g_build_filename(l->root, name, NULL);
        bool is_there = lstat(whole, &info) == 0;
        if (is_there && S_ISLNK(info.st_mode))
            take_link(l, name, whole);
        if (is_there && S_ISDIR(info.st_mode))
            g_queue_push_tail(&l->folders, g_steal_pointer(&name));
        g_free(name);
    }
    if (dir)
        closedir(dir);
}

const json_t *orch_workspace_links_out(struct orch_workspace *workspace)
{
    if (workspace->links_out)
        return workspace->links_out;
    char *found = realpath(workspace->root, NULL);
    struct looking l = {.root = workspace->root,
                        .real_root = g_strdup(found ? found : workspace->root),
                        .folders = G_QUEUE_INIT,
                        .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        .links = json_array()};
    free(found);
    g_queue_push_tail(&l.folders, g_strdup(""));
    for (char *folder; (folder = g_queue_pop_head(&l.folders)); g_free(folder))
        if (l.entries <= ORCH_LINKS_OUT_ENTRIES)
            look_through(&l, folder);
    g_hash_table_unref(l.seen);
    g_free(l.real_root);
    workspace->links_out = l.links;
    return l.links;
}
