/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every capture case through libgit2, through the git program, and on SHA-256 objects. What a tree
 * must be is what `git add -A` and `git write-tree` make of it. */
#include "lib/vcs/holders.h"
#include "tests/unit/vcs_fixture.h"

#include "lib/vcs/history.h"

enum kind { KIND_LIBGIT2, KIND_GIT, KIND_SHA256, KIND_SPLIT, KIND_COUNT };
static const char *const backends[] = {"libgit2", "git: partial clone", "git: SHA-256 objects",
                                       "git: split index"};
static enum kind kind;

/* Makes an existing repository one of this kind. */
static void make_kind(const char *dir)
{
    if (kind == KIND_GIT) {
        GIT(dir, "config", "core.repositoryformatversion", "1");
        GIT(dir, "config", "extensions.partialClone",
            "origin"); /* newer ones know worktreeConfig */
    } else if (kind == KIND_SPLIT) {
        GIT(dir, "update-index", "--split-index");
    }
}

static char *new_repository(void)
{
    char *dir = new_repository_of(kind == KIND_SHA256 ? "sha256" : "sha1");
    make_kind(dir);
    return dir;
}

/* The index as bytes: what must not change. */
static char *index_digest(const char *dir)
{
    g_autofree char *path = path_in(dir, ".git/index");
    char *digest = g_malloc0(ORCH_SHA256_CHARS);
    assert_true(orch_file_sha256(path, digest, NULL, NULL));
    return digest;
}

static void assert_captured_as_git_does(const char *dir)
{
    g_autofree char *expected = git_tree_of(dir);
    g_autofree char *before = index_digest(dir);
    struct orch_source *source = capture_in(dir);
    g_autofree char *after = index_digest(dir);
    assert_string_equal(source->tree, expected);
    assert_string_equal(before, after);
    orch_source_free(source);
}

static void test_backend(void **state)
{
    (void)state;
    char *dir = new_repository();
    g_autofree char *below = path_in(dir, "sub/deep");
    struct orch_vcs *vcs = open_in(below);
    g_autofree char *real = realpath(dir, NULL);
    assert_string_equal(orch_vcs_root(vcs), real);
    assert_string_equal(orch_vcs_backend(vcs), backends[kind]);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_clean(void **state)
{
    (void)state;
    char *dir = new_repository();
    g_autofree char *commit = GIT_SAYS(dir, "rev-parse", "HEAD");
    g_autofree char *tree = GIT_SAYS(dir, "rev-parse", "HEAD^{tree}");
    struct orch_source *source = capture_in(dir);
    assert_string_equal(source->tree, tree);
    assert_string_equal(source->commit, commit);
    assert_string_equal(source->branch, "main");
    assert_null(source->remote);
    assert_false(source->dirty);
    assert_int_equal(source->left_out->len, 0);
    g_autofree char *ref = g_strconcat("refs/orch/src/", tree, NULL);
    g_autofree char *kept = GIT_SAYS(dir, "rev-parse", ref);
    assert_string_equal(kept, tree);
    orch_source_free(source);
    free_folder(dir);
}

/* Everything that a work tree can do to a file, at once. */
static void make_dirty(const char *dir)
{
    put(dir, "a.txt", "changed\n");
    put(dir, "new.txt", "new\n");
    put(dir, "new folder/with space.txt", "x\n");
    put(dir, "new folder/line\nend \"quoted\"\t.txt", "y\n");
    put(dir,
        "\xc3\xbcnic\xc3\xb6"
        "de/\xe6\x97\xa5.txt",
        "z\n");
    put(dir, "bad-\xff\xfe.txt", "not UTF-8\n");
    put(dir, "staged.txt", "staged\n");
    put(dir, "skip.o", "ignored\n");
    put(dir, "build/skip.txt", "ignored\n");
    put_bytes(dir, "binary.bin", "\0\1\2\r\n\0", 6);
    put(dir, "empty", "");
    put(dir, "-dash", "no option\n");
    drop_file(dir, "gone.txt");
    drop_file(dir, "sub/deep");
    put(dir, "sub/deep", "a file where a folder was\n");
    GIT(dir, "add", "staged.txt");
    g_autofree char *script = path_in(dir, "run.sh");
    assert_int_equal(chmod(script, 0755), 0);
    g_autofree char *link = path_in(dir, "link");
    assert_int_equal(symlink("sub/b.txt", link), 0);
    g_autofree char *dangling = path_in(dir, "dangling");
    assert_int_equal(symlink("/nowhere/at all", dangling), 0);
}

static void test_dirty(void **state)
{
    (void)state;
    char *dir = new_repository();
    make_dirty(dir);
    assert_captured_as_git_does(dir);
    struct orch_source *source = capture_in(dir);
    assert_true(source->dirty);
    assert_int_equal(source->left_out->len, 0);
    assert_true(tree_has(dir, source->tree, "new folder/line\nend \"quoted\"\t.txt"));
    assert_false(tree_has(dir, source->tree, "skip.o"));
    g_autofree char *run = GIT_SAYS(dir, "ls-tree", source->tree, "run.sh", "link");
    assert_true(g_str_has_prefix(run, "120000"));
    assert_non_null(strstr(run, "100755"));
    orch_source_free(source);
    free_folder(dir);
}

/* A folder replaced by a link to one that holds a file of the same name. */
static void test_folder_becomes_link(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "other/b.txt", "other\n");
    drop_file(dir, "sub");
    g_autofree char *link = path_in(dir, "sub");
    assert_int_equal(symlink("other", link), 0);
    assert_captured_as_git_does(dir);
    free_folder(dir);
}

static void test_type_changes(void **state)
{
    (void)state;
    char *dir = new_repository();
    drop_file(dir, "a.txt");
    put(dir, "a.txt/inner", "a folder where a file was\n");
    drop_file(dir, "gone.txt");
    g_autofree char *link = path_in(dir, "gone.txt");
    assert_int_equal(symlink("run.sh", link), 0);
    assert_captured_as_git_does(dir);
    free_folder(dir);
}

/* What the index holds and the work tree does not any more, and the other way round. */
static void test_staged(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "staged then deleted", "x\n");
    put(dir, "staged then changed", "x\n");
    put(dir, "intended", "x\n");
    put(dir, "forced.o", "ignored, and added all the same\n");
    GIT(dir, "add", "staged then deleted", "staged then changed");
    GIT(dir, "add", "-f", "forced.o");
    GIT(dir, "add", "-N", "intended");
    drop_file(dir, "staged then deleted");
    put(dir, "staged then changed", "longer than before\n");
    GIT(dir, "rm", "-q", "--cached", "sub/b.txt");
    struct orch_source *source = capture_in(dir);
    assert_false(tree_has(dir, source->tree, "staged then deleted"));
    assert_true(tree_has(dir, source->tree, "forced.o"));
    assert_true(tree_has(dir, source->tree, "intended"));
    assert_true(tree_has(dir, source->tree, "sub/b.txt"));
    g_autofree char *object = g_strconcat(source->tree, ":staged then changed", NULL);
    g_autofree char *text = GIT_SAYS(dir, "cat-file", "-p", object);
    assert_string_equal(text, "longer than before");
    orch_source_free(source);
    free_folder(dir);
}

/* A file that git tracks no more and ignores is no source. */
static void test_untracked_and_ignored(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "data.o", "1\n");
    GIT(dir, "add", "-f", "data.o");
    GIT(dir, "commit", "-q", "-m", "data");
    GIT(dir, "rm", "-q", "--cached", "data.o");
    struct orch_source *source = capture_in(dir);
    assert_false(tree_has(dir, source->tree, "data.o"));
    orch_source_free(source);
    free_folder(dir);
}

/* A change that stat data cannot show: same size, same time as the index. */
static void test_racy_change(void **state)
{
    (void)state;
    char *dir = new_repository();
    GIT(dir, "config", "core.trustctime", "false");
    const struct timespec times[2] = {{1700000000, 0}, {1700000000, 0}};
    g_autofree char *file = path_in(dir, "a.txt");
    g_autofree char *index = path_in(dir, ".git/index");
    put(dir, "a.txt", "1\n");
    assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    GIT(dir, "add", "a.txt");
    assert_int_equal(utimensat(AT_FDCWD, index, times, 0), 0);
    put(dir, "a.txt", "2\n");
    assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    assert_captured_as_git_does(dir);
    free_folder(dir);
}

static void test_no_head(void **state)
{
    (void)state;
    char *dir = new_bare_minimum(kind == KIND_SHA256 ? "sha256" : "sha1");
    put(dir, "x.txt", "x\n");
    if (kind == KIND_SPLIT)
        GIT(dir, "add", "x.txt");
    make_kind(dir);
    g_autofree char *expected = git_tree_of(dir);
    struct orch_source *source = capture_in(dir);
    assert_string_equal(source->tree, expected);
    assert_null(source->commit);
    assert_string_equal(source->branch, "main");
    assert_true(source->dirty);
    orch_source_free(source);
    free_folder(dir);
}

static void test_empty_repository(void **state)
{
    (void)state;
    char *dir = new_bare_minimum(kind == KIND_SHA256 ? "sha256" : "sha1");
    make_kind(dir);
    g_autofree char *expected = git_tree_of(dir);
    struct orch_source *source = capture_in(dir);
    assert_string_equal(source->tree, expected);
    orch_source_free(source);
    free_folder(dir);
}

static void test_detached(void **state)
{
    (void)state;
    char *dir = new_repository();
    GIT(dir, "checkout", "-q", "--detach");
    struct orch_source *source = capture_in(dir);
    assert_null(source->branch);
    assert_non_null(source->commit);
    assert_false(source->dirty);
    orch_source_free(source);
    free_folder(dir);
}

static void test_linked_worktree(void **state)
{
    (void)state;
    char *dir = new_repository();
    g_autofree char *linked = g_strconcat(dir, "-linked", NULL);
    GIT(dir, "worktree", "add", "-q", "-b", "side", linked);
    put(linked, "only here.txt", "x\n");
    put(dir, "only there.txt", "x\n");
    g_autofree char *expected = git_tree_of(linked);
    struct orch_vcs *vcs = open_in(linked);
    struct orch_source *source = capture_within(vcs, NULL);
    g_autofree char *real = realpath(linked, NULL);
    assert_string_equal(orch_vcs_root(vcs), real);
    assert_string_equal(source->tree, expected);
    assert_string_equal(source->branch, "side");
    orch_vcs_close(vcs);
    /* the refs are shared: the other work tree has it too */
    vcs = open_in(dir);
    assert_true(orch_vcs_has_tree(vcs, source->tree));
    orch_vcs_close(vcs);
    orch_source_free(source);
    assert_true(orch_tree_remove(linked, NULL));
    free_folder(dir);
}

static void test_conflict(void **state)
{
    (void)state;
    char *dir = new_repository();
    GIT(dir, "checkout", "-q", "-b", "other");
    put(dir, "a.txt", "theirs\n");
    put(dir, "sub/b.txt", "theirs\n");
    commit_all(dir, "theirs");
    GIT(dir, "checkout", "-q", "main");
    put(dir, "a.txt", "ours\n");
    drop_file(dir, "sub/b.txt");
    commit_all(dir, "ours");
    char *argv[] = {(char *)(uintptr_t) "git", (char *)(uintptr_t) "merge",
                    (char *)(uintptr_t) "other", NULL};
    int status = 0;
    assert_true(
        g_spawn_sync(dir, argv, NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL, NULL, NULL, NULL, &status, NULL));
    assert_int_not_equal(status, 0);
    assert_captured_as_git_does(dir);
    put(dir, "a.txt", "resolved\n");
    drop_file(dir, "sub/b.txt");
    assert_captured_as_git_does(dir);
    free_folder(dir);
}

static void test_line_ends(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, ".gitattributes", "*.txt text=auto\n*.crlf text eol=crlf\n*.id ident\n");
    put(dir, "windows.txt", "one\r\ntwo\r\n");
    put(dir, "file.crlf", "one\r\ntwo\r\n");
    put(dir, "version.id", "$Id: something$\n");
    assert_captured_as_git_does(dir);
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    g_autofree char *dest = g_strconcat(dir, "-out", NULL);
    assert_true(orch_vcs_checkout(vcs, source->tree, dest, NULL));
    g_autofree char *text = slurp(dest, "file.crlf");
    assert_string_equal(text, "one\r\ntwo\r\n");
    assert_true(orch_tree_remove(dest, NULL));
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_submodule(void **state)
{
    (void)state;
    char *inner = new_repository_of(kind == KIND_SHA256 ? "sha256" : "sha1");
    char *dir = new_repository();
    GIT(dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "module");
    commit_all(dir, "module");
    struct orch_source *source = capture_in(dir);
    assert_false(source->dirty);
    assert_null(why_left_out(source, "module"));
    orch_source_free(source);

    g_autofree char *module = path_in(dir, "module");
    put(module, "a.txt", "moved on\n");
    source = capture_in(dir);
    assert_non_null(strstr(why_left_out(source, "module"), "submodule"));
    assert_true(source->dirty);
    orch_source_free(source);

    commit_all(module, "moved on");
    g_autofree char *head = GIT_SAYS(module, "rev-parse", "HEAD");
    source = capture_in(dir);
    g_autofree char *entry = GIT_SAYS(dir, "ls-tree", source->tree, "module");
    assert_true(g_str_has_prefix(entry, "160000 commit "));
    assert_non_null(strstr(entry, head));
    orch_source_free(source);

    /* a clone that has not fetched it: an empty folder, and no change */
    GIT(dir, "submodule", "deinit", "-q", "-f", "module");
    source = capture_in(dir);
    g_autofree char *kept = GIT_SAYS(dir, "ls-tree", source->tree, "module");
    assert_true(g_str_has_prefix(kept, "160000 commit "));
    orch_source_free(source);
    free_folder(dir);
    free_folder(inner);
}

static void test_nested_repository(void **state)
{
    (void)state;
    char *dir = new_repository();
    g_autofree char *nested = path_in(dir, "nested/inner");
    assert_true(orch_dir_make(nested, NULL));
    GIT(nested, "init", "-q");
    put(nested, "x.txt", "x\n");
    commit_all(nested, "x");
    g_autofree char *ignored = path_in(dir, "build/clone");
    assert_true(orch_dir_make(ignored, NULL));
    GIT(ignored, "init", "-q");
    struct orch_source *source = capture_in(dir);
    assert_string_equal(why_left_out(source, "nested/inner"), "a git repository of its own");
    assert_int_equal(source->left_out->len, 1);
    assert_false(source->dirty);
    orch_source_free(source);
    free_folder(dir);
}

static void test_secrets(void **state)
{
    static const char *const secret_paths[] = {
        ".env",      "conf/.env.local", "id_rsa", "keys/server.pem", "keys/Server.KEY",
        "notes.txt", "staged.pem"};
    (void)state;
    char *dir = new_repository();
    for (unsigned i = 0; i < G_N_ELEMENTS(secret_paths); i++)
        put(dir, secret_paths[i], "TOKEN=1\n");
    put(dir, "notes.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n");
    put(dir, ".env.example", "TOKEN=\n");
    GIT(dir, "add", "staged.pem");
    struct orch_source *source = capture_in(dir);
    for (unsigned i = 0; i < G_N_ELEMENTS(secret_paths); i++) {
        assert_non_null(why_left_out(source, secret_paths[i]));
        assert_false(tree_has(dir, source->tree, secret_paths[i]));
    }
    assert_string_equal(why_left_out(source, "notes.txt"), "looks like a private key");
    assert_true(tree_has(dir, source->tree, ".env.example"));
    assert_int_equal(source->left_out->len, G_N_ELEMENTS(secret_paths));
    /* its bytes never reached the object store */
    g_autofree char *object = GIT_SAYS(dir, "hash-object", "notes.txt");
    g_autofree char *all = GIT_SAYS(dir, "cat-file", "--batch-all-objects", "--batch-check");
    assert_null(strstr(all, object));
    orch_source_free(source);
    free_folder(dir);
}

/* Committed, it is taken; a change of it is not. */
static void test_committed_secret(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, ".env", "TOKEN=\n");
    commit_all(dir, "template");
    g_autofree char *head = GIT_SAYS(dir, "rev-parse", "HEAD^{tree}");
    struct orch_source *source = capture_in(dir);
    assert_int_equal(source->left_out->len, 0);
    assert_false(source->dirty);
    orch_source_free(source);

    put(dir, ".env", "TOKEN=real\n");
    source = capture_in(dir);
    assert_string_equal(source->tree, head);
    assert_non_null(strstr(why_left_out(source, ".env"), "the committed version was taken"));
    assert_true(source->dirty);
    orch_source_free(source);
    GIT(dir, "add", ".env");
    source = capture_in(dir);
    assert_string_equal(source->tree, head);
    orch_source_free(source);
    free_folder(dir);
}

static void test_limits(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "big", "0123456789012345678901234567890123456789");
    put(dir, "a.txt", "a changed file comes first\n");
    put(dir, "m1", "123456789");
    put(dir, "m2", "1234567890");
    put(dir, "m3", "12345678901");
    const struct orch_capture_limits limits = {
        .file_bytes = 32, .total_bytes = 27 + 9 + 10, .file_count = 100};
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, &limits);
    assert_string_equal(why_left_out(source, "big"), "larger than 32 B");
    assert_string_equal(why_left_out(source, "m3"), "more than 46 B are not committed");
    assert_int_equal(source->left_out->len, 2);
    assert_true(tree_has(dir, source->tree, "m2"));
    assert_false(tree_has(dir, source->tree, "big"));
    orch_source_free(source);

    const struct orch_capture_limits few = {
        .file_bytes = 1000, .total_bytes = 1000, .file_count = 2};
    source = capture_within(vcs, &few);
    assert_string_equal(why_left_out(source, "m2"), "more than 2 files are not committed");
    assert_int_equal(source->left_out->len, 3);
    assert_true(tree_has(dir, source->tree, "m1"));
    orch_source_free(source);
    orch_vcs_close(vcs);

    /* committed, it is bound by nothing; changed, its committed version is taken */
    commit_all(dir, "all");
    vcs = open_in(dir);
    source = capture_within(vcs, &limits);
    assert_int_equal(source->left_out->len, 0);
    assert_false(source->dirty);
    orch_source_free(source);
    put(dir, "big", "0123456789012345678901234567890123456789 more");
    source = capture_within(vcs, &limits);
    assert_string_equal(why_left_out(source, "big"),
                        "larger than 32 B; the committed version was taken");
    assert_true(tree_has(dir, source->tree, "big"));
    assert_true(source->dirty);
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_own_folder(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, ".orch/results.db", "rows\n");
    struct orch_source *source = capture_in(dir);
    assert_false(source->dirty);
    assert_int_equal(source->left_out->len, 0);
    orch_source_free(source);
    /* even when somebody committed it, it makes no source of its own */
    GIT(dir, "add", "-f", ".orch");
    GIT(dir, "commit", "-q", "-m", "oops");
    put(dir, ".orch/results.db", "more rows\n");
    put(dir, ".orch/objects/x", "x\n");
    source = capture_in(dir);
    assert_false(source->dirty);
    orch_source_free(source);
    free_folder(dir);
}

static void test_gc_keeps(void **state)
{
    (void)state;
    char *dir = new_repository();
    make_dirty(dir);
    struct orch_source *source = capture_in(dir);
    GIT(dir, "reset", "-q", "--hard");
    GIT(dir, "clean", "-qfd");
    GIT(dir, "reflog", "expire", "--expire=now", "--all");
    GIT(dir, "gc", "-q", "--prune=now");
    struct orch_vcs *vcs = open_in(dir);
    assert_true(orch_vcs_has_tree(vcs, source->tree));
    g_autofree char *dest = g_strconcat(dir, "-out", NULL);
    GError *error = NULL;
    if (!orch_vcs_checkout(vcs, source->tree, dest, &error))
        fail_msg("%s", error->message);
    g_autofree char *text = slurp(dest, "new.txt");
    assert_string_equal(text, "new\n");
    assert_true(orch_tree_remove(dest, NULL));

    /* let go by the last store that needs it, it goes; what is kept stays, and what nobody noted */
    struct orch_source *clean = capture_within(vcs, NULL);
    g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(kept, clean->tree);
    const struct orch_holder one = {"id", "/nowhere/one.db"}, copy = {"id", "/nowhere/copy.db"};
    g_autoptr(GPtrArray) absent = g_ptr_array_new_with_free_func(g_free);
    assert_int_equal(orch_vcs_release(vcs, &one, kept, absent, NULL), 0);
    assert_true(orch_vcs_hold(vcs, &one, source->tree, NULL) &&
                orch_vcs_hold(vcs, &one, source->tree, NULL) &&
                orch_vcs_hold(vcs, &one, clean->tree, NULL) &&
                orch_vcs_hold(vcs, &copy, source->tree, NULL));
    assert_int_equal(orch_vcs_release(vcs, &one, kept, absent, NULL), 0);
    assert_int_equal(absent->len, 1);
    assert_non_null(strstr(absent->pdata[0], "/nowhere/copy.db"));
    assert_int_equal(orch_vcs_release(vcs, &copy, kept, absent, NULL), 1);
    assert_int_equal(orch_vcs_release(vcs, &copy, kept, absent, NULL), 0);
    assert_int_equal(absent->len, 1);
    orch_vcs_close(vcs);
    GIT(dir, "gc", "-q", "--prune=now");
    vcs = open_in(dir);
    assert_false(orch_vcs_has_tree(vcs, source->tree));
    assert_true(orch_vcs_has_tree(vcs, clean->tree));
    orch_vcs_close(vcs);
    orch_source_free(clean);
    orch_source_free(source);
    free_folder(dir);
}

/* What a branch, an id's beginning or HEAD~1 means, as git says. */
static void test_resolve(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "a.txt", "other\n");
    commit_all(dir, "second");
    GIT(dir, "branch", "side", "HEAD~1");
    GIT(dir, "tag", "-a", "-m", "x", "marked", "HEAD");
    struct orch_vcs *vcs = open_in(dir);
    g_autofree char *head = GIT_SAYS(dir, "rev-parse", "HEAD");
    g_autofree char *start = g_strndup(head, 10);
    const char *const revs[] = {"side", "HEAD~1", "main", "marked", start};
    for (size_t i = 0; i < G_N_ELEMENTS(revs); i++) {
        g_autofree char *name = g_strconcat(revs[i], "^{commit}", NULL);
        g_autofree char *tree_name = g_strconcat(revs[i], "^{tree}", NULL);
        g_autofree char *commit = GIT_SAYS(dir, "rev-parse", name);
        g_autofree char *tree = GIT_SAYS(dir, "rev-parse", tree_name);
        g_autofree char *found = NULL, *found_tree = NULL;
        GError *error = NULL;
        assert_true(orch_vcs_resolve(vcs, revs[i], &found, &found_tree, &error));
        assert_string_equal(found, commit);
        assert_string_equal(found_tree, tree);
        assert_true(orch_vcs_keep(vcs, found_tree, &error));
        g_autofree char *ref = g_strconcat("refs/orch/src/", tree, NULL);
        g_autofree char *kept = GIT_SAYS(dir, "rev-parse", ref);
        assert_string_equal(kept, tree);
    }
    const char *const wrong[] = {"", "nowhere", "--all", "HEAD~9", "main:a.txt"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        char *commit, *tree;
        GError *error = NULL;
        assert_false(orch_vcs_resolve(vcs, wrong[i], &commit, &tree, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
        g_error_free(error);
    }
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_amend_keeps_tree(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "new.txt", "x\n");
    struct orch_source *before = capture_in(dir);
    commit_all(dir, "second");
    struct orch_source *committed = capture_in(dir);
    GIT(dir, "commit", "-q", "--amend", "-m", "other words");
    struct orch_source *amended = capture_in(dir);
    assert_string_equal(before->tree, committed->tree);
    assert_string_equal(committed->tree, amended->tree);
    assert_string_not_equal(committed->commit, amended->commit);
    assert_true(before->dirty);
    assert_false(amended->dirty);
    orch_source_free(before);
    orch_source_free(committed);
    orch_source_free(amended);
    free_folder(dir);
}

static void test_remote(void **state)
{
    (void)state;
    char *dir = new_repository();
    GIT(dir, "remote", "add", "origin", "https://user:secret@example.org/group/hw.git?token=x");
    struct orch_source *source = capture_in(dir);
    assert_string_equal(source->remote, "https://example.org/group/hw.git");
    orch_source_free(source);
    GIT(dir, "remote", "add", "mine", "git@example.org:me/hw.git");
    GIT(dir, "config", "branch.main.remote", "mine");
    source = capture_in(dir);
    assert_string_equal(source->remote, "example.org:me/hw.git");
    orch_source_free(source);
    GIT(dir, "config", "branch.main.remote", ".");
    source = capture_in(dir);
    assert_string_equal(source->remote, "https://example.org/group/hw.git");
    orch_source_free(source);
    free_folder(dir);
}

static void assert_subtree(struct orch_vcs *vcs, const char *tree, const char *const *paths,
                           const char *const *expected)
{
    GError *error = NULL;
    g_autofree char *part = orch_vcs_subtree(vcs, tree, paths, &error);
    if (!part)
        fail_msg("%s", error->message);
    g_autoptr(GPtrArray) found = orch_vcs_list(vcs, part, "", NULL);
    for (unsigned i = 0; expected[i]; i++) {
        assert_true(i < found->len);
        assert_string_equal(found->pdata[i], expected[i]);
    }
    assert_int_equal(found->len, g_strv_length((char **)(uintptr_t)expected));
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_subtree(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "sub/x.py", "x\n");
    put(dir, "sub/deep/y.py", "y\n");
    put(dir, "z.py", "z\n");
    put(dir, "odd[1].py", "odd\n");
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    const char *tree = source->tree;
    assert_subtree(vcs, tree, LIST("a.txt"), LIST("a.txt"));
    assert_subtree(vcs, tree, LIST("./sub/", "a.txt"),
                   LIST("a.txt", "sub/b.txt", "sub/deep/c.txt", "sub/deep/y.py", "sub/x.py"));
    assert_subtree(vcs, tree, LIST("*.py"), LIST("odd[1].py", "z.py"));
    assert_subtree(vcs, tree, LIST("odd[1].py"), LIST("odd[1].py"));
    assert_subtree(vcs, tree, LIST("**/*.py"),
                   LIST("odd[1].py", "sub/deep/y.py", "sub/x.py", "z.py"));
    assert_subtree(vcs, tree, LIST("s?b/*.py"), LIST("sub/x.py"));
    assert_subtree(vcs, tree, LIST("sub/d*"), LIST("sub/deep/c.txt", "sub/deep/y.py"));
    g_autofree char *all = orch_vcs_subtree(vcs, tree, LIST("."), NULL);
    assert_string_equal(all, tree);

    const char *const bad[] = {"nothing.py", "sub/*.rs", "../a.txt", "/etc/passwd"};
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        assert_null(orch_vcs_subtree(vcs, tree, LIST("a.txt", bad[i]), &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
        assert_non_null(strstr(error->message, bad[i]));
        g_error_free(error);
    }

    /* what is not asked for changes nothing */
    g_autofree char *before = orch_vcs_subtree(vcs, tree, LIST("sub", "a.txt"), NULL);
    put(dir, "README.md", "words\n");
    struct orch_source *later = capture_within(vcs, NULL);
    assert_string_not_equal(later->tree, tree);
    g_autofree char *after = orch_vcs_subtree(vcs, later->tree, LIST("sub", "a.txt"), NULL);
    assert_string_equal(before, after);
    orch_source_free(later);
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_list_and_diff(void **state)
{
    (void)state;
    char *dir = new_repository();
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *first = capture_within(vcs, NULL);
    put(dir, "a.txt", "changed\n");
    put(dir, "new.txt", "new\n");
    drop_file(dir, "gone.txt");
    g_autofree char *script = path_in(dir, "run.sh");
    assert_int_equal(chmod(script, 0755), 0);
    struct orch_source *second = capture_within(vcs, NULL);
    g_autoptr(GPtrArray) below = orch_vcs_list(vcs, first->tree, "sub/", NULL);
    assert_int_equal(below->len, 2);
    assert_string_equal(below->pdata[0], "sub/b.txt");
    assert_string_equal(below->pdata[1], "sub/deep/c.txt");

    g_autoptr(GPtrArray) changes = orch_vcs_diff(vcs, first->tree, second->tree, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < changes->len; i++) {
        const struct orch_left_out *change = changes->pdata[i];
        g_string_append_printf(text, "%s %s|", change->why, change->path);
    }
    assert_string_equal(text->str, "changed a.txt|removed gone.txt|added new.txt|changed run.sh|");

    GError *error = NULL;
    g_autofree char *patch = orch_vcs_diff_text(vcs, first->tree, second->tree, 65536, &error);
    assert_non_null(patch);
    assert_non_null(strstr(patch, "--- a/a.txt\n+++ b/a.txt\n"));
    assert_non_null(strstr(patch, "\n-a\n+changed\n"));
    g_autofree char *cut = orch_vcs_diff_text(vcs, first->tree, second->tree, 100, &error);
    assert_true(strlen(cut) > 0 && strlen(cut) <= 100 && cut[strlen(cut) - 1] == '\n');
    assert_true(g_str_has_prefix(patch, cut));

    g_autofree char *absent = g_strnfill(strlen(first->tree), '1');
    assert_false(orch_vcs_has_tree(vcs, absent));
    assert_false(orch_vcs_has_tree(vcs, first->commit + 1));
    assert_false(orch_vcs_has_tree(vcs, "--help"));
    assert_null(orch_vcs_list(vcs, absent, "", &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    g_error_free(error);
    orch_source_free(first);
    orch_source_free(second);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_checkout(void **state)
{
    (void)state;
    char *dir = new_repository();
    make_dirty(dir);
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    g_autofree char *dest = g_strconcat(dir, "-out/deep/er", NULL);
    GError *error = NULL;
    if (!orch_vcs_checkout(vcs, source->tree, dest, &error))
        fail_msg("%s", error->message);
    /* git finds the same tree in what was written */
    GIT(dest, "init", "-q", kind == KIND_SHA256 ? "--object-format=sha256" : "--quiet");
    g_autofree char *again = git_tree_of(dest);
    assert_string_equal(again, source->tree);
    struct stat here, there;
    g_autofree char *original = path_in(dir, "a.txt");
    g_autofree char *written = path_in(dest, "a.txt");
    assert_int_equal(stat(original, &here), 0);
    assert_int_equal(stat(written, &there), 0);
    assert_int_not_equal(here.st_ino, there.st_ino);

    assert_false(orch_vcs_checkout(vcs, source->tree, dest, &error));
    assert_non_null(strstr(error->message, "not an empty folder"));
    g_clear_error(&error);
    g_autofree char *empty = g_strconcat(dir, "-out/empty", NULL);
    assert_true(orch_dir_make(empty, NULL));
    assert_true(orch_vcs_checkout(vcs, source->tree, empty, NULL));
    g_autofree char *text = slurp(empty, "a.txt");
    assert_string_equal(text, "changed\n");
    g_autofree char *out = g_strconcat(dir, "-out", NULL);
    assert_true(orch_tree_remove(out, NULL));
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_ignored(void **state)
{
    (void)state;
    char *dir = new_repository();
    put(dir, "build/deep/x", "x\n");
    put(dir, "sub/y.o", "y\n");
    put(dir, "fresh/z.o", "z\n");
    put(dir, "fresh/z.c", "z\n");
    put(dir, "data set/.gitignore", "*\n");
    put(dir, "data set/1", "1\n");
    put(dir, ".orch/.gitignore", "*\n");
    put(dir, ".orch/results.db", "rows\n");
    struct orch_vcs *vcs = open_in(dir);
    g_autoptr(GPtrArray) ignored = orch_vcs_ignored(vcs, NULL);
    assert_non_null(ignored);
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < ignored->len; i++)
        g_string_append_printf(text, "%s|", (const char *)ignored->pdata[i]);
    assert_string_equal(text->str, "build|data set|fresh/z.o|sub/y.o|");
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* A hook's variables name another repository and index. */
static void test_hook_variables(void **state)
{
    (void)state;
    char *dir = new_repository(), *other = new_repository();
    put(dir, "new.txt", "x\n");
    g_autofree char *expected = git_tree_of(dir);
    g_autofree char *git_dir = path_in(other, ".git");
    g_autofree char *index = path_in(other, ".git/index");
    g_setenv("GIT_DIR", git_dir, TRUE);
    g_setenv("GIT_WORK_TREE", other, TRUE);
    g_setenv("GIT_INDEX_FILE", index, TRUE);
    g_autofree char *before = index_digest(other);
    struct orch_source *source = capture_in(dir);
    g_unsetenv("GIT_DIR");
    g_unsetenv("GIT_WORK_TREE");
    g_unsetenv("GIT_INDEX_FILE");
    g_autofree char *after = index_digest(other);
    assert_string_equal(source->tree, expected);
    assert_string_equal(before, after);
    orch_source_free(source);
    free_folder(dir);
    free_folder(other);
}

static struct orch_vcs_commit *at(const GPtrArray *path, guint index)
{
    assert_true(index < path->len);
    return path->pdata[index];
}

/* main: one - two - three - merge - four; side: two - s1 - s2 - merge. */
static char *new_history(void)
{
    char *dir = new_repository();
    put(dir, "a", "1\n");
    commit_all(dir, "one");
    GIT(dir, "tag", "one");
    put(dir, "a", "2\n");
    commit_all(dir, "two");
    GIT(dir, "checkout", "-q", "-b", "side");
    put(dir, "s", "1\n");
    commit_all(dir, "s1");
    put(dir, "s", "2\n");
    commit_all(dir, "s2");
    GIT(dir, "checkout", "-q", "main");
    put(dir, "a", "3\n");
    commit_all(dir, "three");
    GIT(dir, "merge", "-q", "--no-ff", "-m", "merge", "side");
    put(dir, "a", "4\n");
    commit_all(dir, "four\n\nwith a body");
    return dir;
}

static char *commit_of(struct orch_vcs *vcs, const char *rev)
{
    char *commit = NULL;
    g_autofree char *tree = NULL;
    assert_true(orch_vcs_resolve(vcs, rev, &commit, &tree, NULL));
    return commit;
}

static void assert_path(struct orch_vcs *vcs, const char *from, const char *to, const char *wanted)
{
    g_autofree char *a = commit_of(vcs, from), *b = commit_of(vcs, to);
    GError *error = NULL;
    g_autoptr(GPtrArray) path = orch_vcs_path(vcs, a, b, &error);
    if (!path)
        fail_msg("%s", error->message);
    g_autoptr(GString) subjects = g_string_new(NULL);
    for (guint i = 0; i < path->len; i++)
        g_string_append_printf(subjects, "%s%s", i ? " " : "", at(path, i)->subject);
    assert_string_equal(subjects->str, wanted);
}

/* The path follows first parents, begins with its first commit, and has what git says of each. */
static void test_path(void **state)
{
    (void)state;
    char *dir = new_history();
    struct orch_vcs *vcs = open_in(dir);
    assert_path(vcs, "one", "main", "one two three merge four");
    assert_path(vcs, "side", "main", "s2 three merge four");
    assert_path(vcs, "main", "main", "four");
    g_autofree char *one = commit_of(vcs, "one"), *main = commit_of(vcs, "main");
    g_autoptr(GPtrArray) path = orch_vcs_path(vcs, one, main, NULL);
    const struct orch_vcs_commit *merge = at(path, 3);
    g_autofree char *tree = GIT_SAYS(dir, "rev-parse", "main~1^{tree}");
    g_autofree char *author = GIT_SAYS(dir, "log", "-1", "--format=%an", "main~1");
    g_autofree char *when = GIT_SAYS(dir, "log", "-1", "--format=%at", "main~1");
    assert_string_equal(merge->tree, tree);
    assert_string_equal(merge->author, author);
    assert_int_equal(merge->authored_s, g_ascii_strtoll(when, NULL, 10));
    assert_int_equal(merge->parents, 2);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* In a clone whose history is cut off, the path between two commits that are there is found. */
static void test_path_in_shallow_clone(void **state)
{
    (void)state;
    char *dir = new_history(), *clone = new_folder();
    g_autofree char *url = g_strconcat("file://", dir, NULL);
    GIT(clone, "clone", "-q", "--depth", "2", "--branch", "main", url, "c");
    g_autofree char *inner = path_in(clone, "c");
    struct orch_vcs *vcs = open_in(inner);
    assert_path(vcs, "main~1", "main", "merge four");
    orch_vcs_close(vcs);
    free_folder(clone);
    free_folder(dir);
}

static void test_common_ancestor(void **state)
{
    (void)state;
    char *dir = new_history();
    GIT(dir, "checkout", "-q", "--orphan", "alone");
    commit_all(dir, "alone");
    struct orch_vcs *vcs = open_in(dir);
    g_autofree char *side = commit_of(vcs, "side"), *three = commit_of(vcs, "main~2");
    g_autofree char *two = commit_of(vcs, "main~3"), *alone = commit_of(vcs, "alone");
    g_autofree char *common = orch_vcs_common_ancestor(vcs, side, three, NULL);
    assert_string_equal(common, two);
    GError *error = NULL;
    assert_null(orch_vcs_common_ancestor(vcs, side, alone, &error));
    assert_null(error);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* Runs none of the hooks that a capture could set off. */
static void test_no_hooks(void **state)
{
    (void)state;
    char *dir = new_repository();
    const char *const hooks[] = {"post-index-change", "reference-transaction"};
    for (unsigned i = 0; i < G_N_ELEMENTS(hooks); i++) {
        g_autofree char *path = g_build_filename(".git/hooks", hooks[i], NULL);
        g_autofree char *full = path_in(dir, path);
        put(dir, path, "#!/bin/sh\ntouch hook-ran\n");
        assert_int_equal(chmod(full, 0755), 0);
    }
    put(dir, "new.txt", "x\n");
    orch_source_free(capture_in(dir));
    g_autofree char *trace = path_in(dir, "hook-ran");
    assert_int_not_equal(access(trace, F_OK), 0);
    free_folder(dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        /* what depends on how objects and the index are stored, for all kinds */
        cmocka_unit_test(test_backend),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_dirty),
        cmocka_unit_test(test_racy_change),
        cmocka_unit_test(test_no_head),
        cmocka_unit_test(test_subtree),
        cmocka_unit_test(test_checkout),
        /* what differs between the two backends */
        cmocka_unit_test(test_list_and_diff),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_path_in_shallow_clone),
        cmocka_unit_test(test_common_ancestor),
        cmocka_unit_test(test_gc_keeps),
        cmocka_unit_test(test_folder_becomes_link),
        cmocka_unit_test(test_type_changes),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_untracked_and_ignored),
        cmocka_unit_test(test_empty_repository),
        cmocka_unit_test(test_detached),
        cmocka_unit_test(test_linked_worktree),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_submodule),
        cmocka_unit_test(test_nested_repository),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_committed_secret),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_own_folder),
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_amend_keeps_tree),
        cmocka_unit_test(test_remote),
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_hook_variables),
        cmocka_unit_test(test_no_hooks),
    };
    const size_t all = G_N_ELEMENTS(tests), of_storage = 7;
    const size_t counts[KIND_COUNT] = {all, all, of_storage, of_storage};
    static const char *const parts[] = {"libgit2", "git", "storage", "storage"};
    int failed = 0;
    for (kind = 0; kind < KIND_COUNT; kind++) {
        if (argc > 1 && strcmp(argv[1], parts[kind]) != 0)
            continue;
        print_message("through %s\n", backends[kind]);
        failed += _cmocka_run_group_tests(backends[kind], tests, counts[kind], scratch_make,
                                          scratch_remove);
    }
    return failed;
}
