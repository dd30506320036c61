/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scratch repositories for the tests of lib/vcs, made by the git program, which is also the judge
 * of what a tree must be. */
#ifndef ORCH_TEST_VCS_FIXTURE_H
#define ORCH_TEST_VCS_FIXTURE_H

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/vcs/vcs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *scratch; /* a folder for everything, also $HOME and $TMPDIR */

/* Runs git in `dir`; its output without the last line end. `index`: another index file. */
static inline char *git_in(const char *dir, const char *index, const char *const *args)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (char *)(uintptr_t) "git");
    for (; *args; args++)
        g_ptr_array_add(argv, (char *)(uintptr_t)*args);
    g_ptr_array_add(argv, NULL);
    g_auto(GStrv) environment = g_get_environ();
    environment = g_environ_unsetenv(environment, "GIT_DIR");
    environment = g_environ_unsetenv(environment, "GIT_WORK_TREE");
    environment = g_environ_unsetenv(environment, "GIT_INDEX_FILE");
    if (index)
        environment = g_environ_setenv(environment, "GIT_INDEX_FILE", index, TRUE);
    char *out = NULL;
    g_autofree char *err = NULL;
    int status = -1;
    assert_true(g_spawn_sync(dir, (char **)argv->pdata, environment, G_SPAWN_SEARCH_PATH, NULL,
                             NULL, &out, &err, &status, NULL));
    if (status != 0)
        fail_msg("git %s: %s", (char *)argv->pdata[1], err);
    return g_strchomp(out);
}

#define GIT(dir, ...) g_free(git_in(dir, NULL, (const char *const[]){__VA_ARGS__, NULL}))
#define GIT_SAYS(dir, ...) git_in(dir, NULL, (const char *const[]){__VA_ARGS__, NULL})

/* The tree that git itself makes of the work tree, in an index of its own. */
static inline char *git_tree_of(const char *dir)
{
    g_autofree char *index = g_build_filename(scratch, "judge-index", NULL);
    unlink(index);
    g_free(git_in(dir, index, (const char *const[]){"add", "-A", NULL}));
    char *tree = git_in(dir, index, (const char *const[]){"write-tree", NULL});
    unlink(index);
    return tree;
}

static inline void put_bytes(const char *dir, const char *path, const char *bytes, gssize length)
{
    g_autofree char *full = g_build_filename(dir, path, NULL);
    g_autofree char *folder = g_path_get_dirname(full);
    assert_true(orch_dir_make(folder, NULL));
    FILE *file = fopen(full, "w"); /* in place, as an editor that keeps the inode */
    assert_non_null(file);
    size_t count = length < 0 ? strlen(bytes) : (size_t)length;
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void put(const char *dir, const char *path, const char *text)
{
    put_bytes(dir, path, text, -1);
}

static inline char *path_in(const char *dir, const char *path)
{
    return g_build_filename(dir, path, NULL);
}

static inline void drop_file(const char *dir, const char *path)
{
    g_autofree char *full = path_in(dir, path);
    assert_true(orch_tree_remove(full, NULL));
}

static inline char *slurp(const char *dir, const char *path)
{
    g_autofree char *full = path_in(dir, path);
    char *text = NULL;
    assert_true(g_file_get_contents(full, &text, NULL, NULL));
    return text;
}

/* A folder of its own, empty. */
static inline char *new_folder(void)
{
    char *folder = g_build_filename(scratch, "r-XXXXXX", NULL);
    assert_non_null(g_mkdtemp(folder));
    return folder;
}

static inline char *new_bare_minimum(const char *object_format)
{
    char *dir = new_folder();
    g_autofree char *format = g_strconcat("--object-format=", object_format, NULL);
    GIT(dir, "init", "-q", "-b", "main", format);
    return dir;
}

static inline void commit_all(const char *dir, const char *message)
{
    GIT(dir, "add", "-A");
    GIT(dir, "commit", "-q", "-m", message);
}

/* A repository with a commit of a few files. */
static inline char *new_repository_of(const char *object_format)
{
    char *dir = new_bare_minimum(object_format);
    put(dir, "a.txt", "a\n");
    put(dir, "sub/b.txt", "b\n");
    put(dir, "sub/deep/c.txt", "c\n");
    put(dir, "gone.txt", "gone\n");
    put(dir, "run.sh", "#!/bin/sh\n");
    put(dir, ".gitignore", "*.o\nbuild/\n");
    commit_all(dir, "first");
    return dir;
}

static inline void free_folder(char *dir)
{
    assert_true(orch_tree_remove(dir, NULL));
    g_free(dir);
}

static inline struct orch_vcs *open_in(const char *dir)
{
    GError *error = NULL;
    struct orch_vcs *vcs = orch_vcs_open(dir, &error);
    if (error)
        fail_msg("%s", error->message);
    assert_non_null(vcs);
    return vcs;
}

static inline struct orch_source *capture_within(struct orch_vcs *vcs,
                                                 const struct orch_capture_limits *limits)
{
    GError *error = NULL;
    struct orch_source *source = orch_vcs_capture(vcs, limits, &error);
    if (error)
        fail_msg("%s", error->message);
    assert_non_null(source);
    return source;
}

/* Opens, captures, closes. */
static inline struct orch_source *capture_in(const char *dir)
{
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    orch_vcs_close(vcs);
    return source;
}

/* Why `path` was left out; NULL: it was not. */
static inline const char *why_left_out(const struct orch_source *source, const char *path)
{
    for (unsigned i = 0; i < source->left_out->len; i++) {
        const struct orch_left_out *item = source->left_out->pdata[i];
        if (strcmp(item->path, path) == 0)
            return item->why;
    }
    return NULL;
}

static inline bool tree_has(const char *dir, const char *tree, const char *path)
{
    struct orch_vcs *vcs = open_in(dir);
    GError *error = NULL;
    g_autoptr(GPtrArray) paths = orch_vcs_list(vcs, tree, "", &error);
    assert_null(error);
    orch_vcs_close(vcs);
    for (unsigned i = 0; i < paths->len; i++)
        if (strcmp(paths->pdata[i], path) == 0)
            return true;
    return false;
}

static inline int scratch_make(void **state)
{
    (void)state;
    scratch = g_dir_make_tmp("orch-vcs-test-XXXXXX", NULL);
    if (!scratch)
        return -1;
    g_autofree char *home = g_build_filename(scratch, "home", NULL);
    g_mkdir_with_parents(home, 0755);
    /* nothing in a scratch repository is worth a wait */
    static const char config[] = "[core]\n\tfsync = none\n\tfsyncObjectFiles = false\n"
                                 "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
                                 "[init]\n\ttemplateDir = /nonexistent\n";
    g_autofree char *file = g_build_filename(home, ".gitconfig", NULL);
    if (!g_file_set_contents(file, config, -1, NULL))
        return -1;
    g_setenv("HOME", home, TRUE);
    g_setenv("XDG_CONFIG_HOME", home, TRUE);
    g_setenv("GIT_CONFIG_NOSYSTEM", "1", TRUE);
    const char *const names[] = {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"};
    const char *const emails[] = {"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"};
    for (unsigned i = 0; i < 2; i++) {
        g_setenv(names[i], "Test", TRUE);
        g_setenv(emails[i], "test@example.org", TRUE);
    }
    return 0;
}

static inline int scratch_remove(void **state)
{
    (void)state;
    bool ok = orch_tree_remove(scratch, NULL);
    g_free(scratch);
    return ok ? 0 : -1;
}

#endif
