/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/plain_root.h"

#include "lib/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX ((size_t)1 << 16)

static bool has(const char *dir, const char *name, GFileTest kind)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    return g_file_test(path, kind);
}

/* True if the folder itself may be a git directory, such as a bare repository. */
static bool is_like_git_dir(const char *dir)
{
    return has(dir, "HEAD", G_FILE_TEST_IS_REGULAR) && has(dir, "objects", G_FILE_TEST_IS_DIR);
}

/* True if the settings cannot move the root: no other work tree, no included file, not bare. */
static bool is_plain_config(const char *git_dir)
{
    static const char *const moving[] = {"worktree", "include", "extensions"};
    g_autofree char *path = g_build_filename(git_dir, "config", NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, CONFIG_BYTES_MAX, &text, &length, NULL) || strlen(text) != length)
        return false;
    g_autofree char *lower = g_ascii_strdown(text, -1);
    for (unsigned i = 0; i < G_N_ELEMENTS(moving); i++)
        if (strstr(lower, moving[i]))
            return false;
    for (const char *at = lower; (at = strstr(at, "bare"));) {
        at += strlen("bare");
        if (!g_str_has_prefix(at, " = false\n"))
            return false;
    }
    return true;
}

/* True if both are this user's: git refuses the repositories of others. */
static bool is_own(const char *root, const char *git_dir, dev_t device)
{
    struct stat work, git;
    return lstat(root, &work) == 0 && lstat(git_dir, &git) == 0 && S_ISDIR(git.st_mode) &&
           work.st_uid == geteuid() && git.st_uid == geteuid() && work.st_dev == device &&
           git.st_dev == device;
}

enum orch_root_kind orch_plain_root(const char *dir, char **out_root)
{
    *out_root = NULL;
    char *real = realpath(dir, NULL); /* the parent of a linked folder is that of its target */
    g_autofree char *at = orch_path_absolute(real ? real : dir, NULL);
    bool is_sure = real != NULL;
    free(real);
    struct stat start = {0};
    is_sure = is_sure && stat(at, &start) == 0;
    for (;;) {
        g_autofree char *git_dir = g_build_filename(at, ".git", NULL);
        is_sure = is_sure && !is_like_git_dir(at);
        if (access(git_dir, F_OK) == 0) {
            if (!is_sure || !is_own(at, git_dir, start.st_dev) || !is_like_git_dir(git_dir) ||
                !has(git_dir, "refs", G_FILE_TEST_IS_DIR) || !is_plain_config(git_dir))
                return ORCH_ROOT_ASK;
            *out_root = g_steal_pointer(&at);
            return ORCH_ROOT_PLAIN;
        }
        char *up = g_path_get_dirname(at);
        bool is_top = strcmp(up, at) == 0;
        g_free(at);
        at = up;
        if (is_top)
            return ORCH_ROOT_NONE;
    }
}
