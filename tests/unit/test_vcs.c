/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening (none, bare, broken, somebody else's), filters, trees that must not be written out, what
 * counts as a secret, two captures at once, and how long a capture takes. */
#include "tests/unit/vcs_fixture.h"

#include "lib/vcs/plain_root.h"
#include "lib/vcs/secret_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <git2.h>
#include <sys/wait.h>

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Number of opened files whose paths contain 'cert': libraries call these functions instead
 * of the C library's. */
static unsigned certificates_read;

typedef FILE *open_file(const char *path, const char *mode);
__attribute__((visibility("default"))) open_file fopen, fopen64;

static FILE *count_and_open(const char *function, const char *path, const char *mode)
{
    void *symbol = dlsym(RTLD_NEXT, function);
    open_file *next = NULL;
    memcpy(&next, &symbol, sizeof next);
    certificates_read += strstr(path, "cert") != NULL;
    return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return count_and_open("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return count_and_open("fopen64", path, mode);
}

static bool system_has_certificates(void)
{
    g_autoptr(GDir) dir = g_dir_open("/etc/ssl/certs", 0, NULL);
    return dir && g_dir_read_name(dir);
}

/* libgit2 uses certificates for HTTPS, which orch leaves to the git program. Reading them takes
 * longer than all else that a short command does. */
static void test_no_certificates(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    assert_int_equal(certificates_read, 0);
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
    git_libgit2_init(); /* reads them, so that the count can be seen to work */
    if (system_has_certificates() && dlsym(RTLD_DEFAULT, "mbedtls_ssl_init"))
        assert_true(certificates_read > 0);
    git_libgit2_shutdown();
}

static void assert_no_repository(const char *dir)
{
    GError *error = NULL;
    assert_null(orch_vcs_open(dir, &error));
    if (error)
        fail_msg("%s", error->message);
}

/* The message of the failed open; the caller frees. */
static char *open_failure(const char *dir)
{
    GError *error = NULL;
    assert_null(orch_vcs_open(dir, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    char *message = g_strdup(error->message);
    g_error_free(error);
    return message;
}

static void test_none(void **state)
{
    (void)state;
    char *dir = new_folder();
    assert_no_repository(dir);
    g_autofree char *missing = path_in(dir, "missing");
    assert_no_repository(missing);
    g_autofree char *bare = path_in(dir, "bare.git");
    GIT(dir, "init", "-q", "--bare", bare);
    assert_no_repository(bare);
    orch_vcs_close(NULL);
    orch_source_free(NULL);
    free_folder(dir);
}

/* A link that lies outside of the repository leads to a folder inside: its repository is found. */
static void test_link_into_repository(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1"), *other = new_folder();
    put(dir, "sub/a.txt", "a");
    g_autofree char *sub = path_in(dir, "sub");
    g_autofree char *link = path_in(other, "link");
    assert_int_equal(symlink(sub, link), 0);
    struct orch_vcs *vcs = orch_vcs_open(link, NULL);
    assert_non_null(vcs);
    assert_string_equal(orch_vcs_root(vcs), dir);
    orch_vcs_close(vcs);
    free_folder(dir);
    free_folder(other);
}

/* The root of each kind of work tree is the one that git names, although libgit2 is not asked for
 * it. */
static void test_roots_as_git(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1"), *other = new_folder();
    put(dir, "sub/a.txt", "a");
    g_autofree char *sub = path_in(dir, "sub");
    g_autofree char *inner = path_in(dir, "inner");
    g_autofree char *bare = path_in(dir, "bare.git");
    GIT(dir, "init", "-q", inner);
    put(inner, "b/c.txt", "c");
    GIT(dir, "init", "-q", "--bare", bare);
    g_autofree char *below = path_in(inner, "b");
    g_autofree char *refs = path_in(bare, "refs");
    assert_no_repository(bare);
    assert_no_repository(refs);
    const char *const folders[] = {dir, sub, inner, below};
    for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *root = GIT_SAYS(folders[i], "rev-parse", "--show-toplevel");
        struct orch_vcs *vcs = orch_vcs_open(folders[i], NULL);
        assert_non_null(vcs);
        assert_string_equal(orch_vcs_root(vcs), root);
        orch_vcs_close(vcs);
    }
    GIT(dir, "config", "core.worktree", other);
    struct orch_vcs *moved = orch_vcs_open(sub, NULL);
    assert_non_null(moved);
    assert_string_equal(orch_vcs_root(moved), other);
    orch_vcs_close(moved);
    free_folder(dir);
    free_folder(other);
}

/* A repository that is damaged after its root was found makes each call that reads it fail. */
static void test_damaged_later(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    struct orch_vcs *vcs = orch_vcs_open(dir, NULL);
    assert_non_null(vcs);
    put(dir, ".git/HEAD", "nonsense\n");
    for (unsigned i = 0; i < 2; i++) {
        GError *error = NULL;
        assert_null(orch_vcs_capture(vcs, NULL, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
        assert_string_equal(orch_vcs_root(vcs), dir);
        g_error_free(error);
    }
    put(dir, ".git/HEAD", "ref: refs/heads/main\n");
    struct orch_source *source = orch_vcs_capture(vcs, NULL, NULL);
    assert_non_null(source);
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void assert_root_kind(const char *dir, enum orch_root_kind kind)
{
    g_autofree char *root = NULL;
    assert_int_equal(orch_plain_root(dir, &root), kind);
    assert_int_equal(root != NULL, kind == ORCH_ROOT_PLAIN);
}

/* The root is certain for what `git init` makes alone; libgit2 is asked about everything that may
 * move it. */
static void test_plain_roots(void **state)
{
    (void)state;
    static const char *const asked[] = {
        "[core]\n\tbare = true\n", "[core]\n\tbare=false\n", "[core]\n\tworktree = /elsewhere\n",
        "[Include]\n\tpath = other\n", "[extensions]\n\tworktreeConfig = true\n"};
    char *dir = new_folder();
    g_autofree char *work = path_in(dir, "work"), *inner = path_in(dir, "work/inner");
    g_autofree char *git_dir = path_in(work, ".git"), *config = path_in(git_dir, "config");
    g_autofree char *moved = path_in(dir, "moved"), *hooks = path_in(git_dir, "hooks");
    assert_root_kind(dir, ORCH_ROOT_NONE);
    GIT(dir, "init", "-q", work);
    put(work, "inner/a.txt", "a");
    assert_root_kind(work, ORCH_ROOT_PLAIN);
    assert_root_kind(inner, ORCH_ROOT_PLAIN);
    assert_root_kind(git_dir, ORCH_ROOT_ASK);
    assert_root_kind(hooks, ORCH_ROOT_ASK);
    for (unsigned i = 0; i < G_N_ELEMENTS(asked); i++) {
        put(git_dir, "config", asked[i]);
        assert_root_kind(work, ORCH_ROOT_ASK);
    }
    assert_int_equal(unlink(config), 0);
    assert_root_kind(work, ORCH_ROOT_ASK);
    put(git_dir, "config", "[core]\n\tbare = false\n");
    assert_root_kind(work, ORCH_ROOT_PLAIN);
    assert_int_equal(rename(git_dir, moved), 0);
    assert_int_equal(symlink(moved, git_dir), 0);
    assert_root_kind(work, ORCH_ROOT_ASK);
    assert_int_equal(unlink(git_dir), 0);
    put(work, ".git", "gitdir: ../moved\n");
    assert_root_kind(work, ORCH_ROOT_ASK);
    free_folder(dir);
}

/* A damaged repository inside another one: the outer one does not take its place. */
static void test_damaged_inside_another(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *inner = path_in(dir, "inner");
    GIT(dir, "init", "-q", inner);
    put(inner, ".git/HEAD", "nonsense\n");
    struct orch_vcs *vcs = orch_vcs_open(inner, NULL);
    assert_non_null(vcs);
    for (unsigned i = 0; i < 2; i++) {
        GError *error = NULL;
        assert_null(orch_vcs_capture(vcs, NULL, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
        assert_non_null(strstr(error->message, inner));
        assert_string_equal(orch_vcs_root(vcs), inner);
        g_error_free(error);
    }
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* A bare repository that only the git program can read. */
static void test_none_through_git(void **state)
{
    (void)state;
    char *dir = new_folder();
    g_autofree char *bare = path_in(dir, "bare.git");
    GIT(dir, "init", "-q", "--bare", "--object-format=sha256", bare);
    assert_no_repository(bare);
    free_folder(dir);
}

/* A linked work tree whose repository is gone is broken, not absent. */
static void test_broken_link(void **state)
{
    (void)state;
    char *dir = new_folder();
    put(dir, ".git", "gitdir: /nowhere/.git/worktrees/x\n");
    g_autofree char *message = open_failure(dir);
    assert_non_null(strstr(message, "/nowhere/.git/worktrees/x"));
    free_folder(dir);
}

static void test_damaged_index(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    put(dir, ".git/index", "DIRC and nothing sensible behind it");
    struct orch_vcs *vcs = open_in(dir);
    GError *error = NULL;
    assert_null(orch_vcs_capture(vcs, NULL, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    assert_non_null(strstr(error->message, "'git ls-files' failed"));
    assert_non_null(strstr(error->message, "index"));
    g_error_free(error);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_other_owner(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("only root can give a folder away\n");
        skip();
    }
    char *dir = new_repository_of("sha1");
    g_autofree char *git_dir = path_in(dir, ".git");
    assert_int_equal(chown(dir, 65534, 65534), 0);
    assert_int_equal(chown(git_dir, 65534, 65534), 0);
    g_autofree char *message = open_failure(dir);
    assert_non_null(strstr(message, "dubious ownership"));
    g_autofree char *real = realpath(dir, NULL);
    g_autofree char *hint =
        g_strdup_printf("hint: if you trust its owner: git config --global --add "
                        "safe.directory '%s'",
                        real);
    assert_non_null(strstr(message, hint));
    /* the hint works */
    GIT(scratch, "config", "--global", "--add", "safe.directory", real);
    struct orch_vcs *vcs = open_in(dir);
    orch_source_free(capture_within(vcs, NULL));
    orch_vcs_close(vcs);
    GIT(scratch, "config", "--global", "--unset-all", "safe.directory");
    free_folder(dir);
}

/* Without a git program libgit2 still does what it can, and the rest says what is missing. */
static void test_no_git_program(void **state)
{
    (void)state;
    char *plain = new_repository_of("sha1"), *sha256 = new_repository_of("sha256");
    g_autofree char *path = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", "/nonexistent", TRUE);
    orch_source_free(capture_in(plain));
    g_autofree char *message = open_failure(sha256);
    g_setenv("PATH", path, TRUE);
    assert_non_null(strstr(message, "cannot start 'git'"));
    assert_non_null(strstr(message, "hint: install git"));
    free_folder(plain);
    free_folder(sha256);
}

static void test_sparse_checkout(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *head = GIT_SAYS(dir, "rev-parse", "HEAD^{tree}");
    GIT(dir, "sparse-checkout", "init", "--cone", "--sparse-index");
    struct orch_vcs *vcs = open_in(dir);
    assert_true(g_str_has_prefix(orch_vcs_backend(vcs), "git: "));
    struct orch_source *source = capture_within(vcs, NULL);
    assert_string_equal(source->tree, head); /* what is not checked out was not deleted */
    assert_false(source->dirty);
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* ---- filters ----------------------------------------------------------------------------------
 */

static void set_up_filter(const char *dir)
{
    GIT(dir, "config", "--global", "filter.rot.clean", "tr a-z n-za-m");
    GIT(dir, "config", "--global", "filter.rot.smudge", "tr a-z n-za-m");
}

static void test_clean_filter(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    put(dir, ".gitattributes", "# filter=none\n*.rot filter=rot diff\n");
    struct orch_vcs *vcs = open_in(dir);
    assert_string_equal(orch_vcs_backend(vcs), "libgit2"); /* a name without a program */
    orch_vcs_close(vcs);
    set_up_filter(dir);
    commit_all(dir, "attributes");
    put(dir, "text.rot", "hello\n");
    g_autofree char *expected = git_tree_of(dir);
    vcs = open_in(dir);
    assert_string_equal(orch_vcs_backend(vcs), "git: clean filters");
    struct orch_source *source = capture_within(vcs, NULL);
    assert_string_equal(source->tree, expected);
    g_autofree char *object = g_strconcat(source->tree, ":text.rot", NULL);
    g_autofree char *stored = GIT_SAYS(dir, "cat-file", "-p", object);
    assert_string_equal(stored, "uryyb");
    /* a work copy gets the content and not what is stored */
    g_autofree char *dest = g_strconcat(dir, "-out", NULL);
    assert_true(orch_vcs_checkout(vcs, source->tree, dest, NULL));
    g_autofree char *text = slurp(dest, "text.rot");
    assert_string_equal(text, "hello\n");
    assert_true(orch_tree_remove(dest, NULL));
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* A filter that came with the repository: a program of whoever packed it. */
static void test_filter_of_the_repository(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *mark = path_in(scratch, "filter-ran");
    g_autofree char *command = g_strdup_printf("touch '%s'; cat", mark);
    GIT(dir, "config", "filter.evil.clean", command);
    GIT(dir, "config", "filter.evil.smudge", command);
    GIT(dir, "config", "filter.evil.required", "true");
    GIT(dir, "config", "core.fsmonitor", command);
    put(dir, ".gitattributes", "*.evil filter=evil\n");
    put(dir, "text.evil", "hello\n");
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    g_autofree char *object = g_strconcat(source->tree, ":text.evil", NULL);
    g_autofree char *stored = GIT_SAYS(dir, "-c", "core.fsmonitor=false", "cat-file", "-p", object);
    assert_string_equal(stored, "hello");
    g_autofree char *dest = g_strconcat(dir, "-out", NULL);
    assert_true(orch_vcs_checkout(vcs, source->tree, dest, NULL));
    assert_int_not_equal(access(mark, F_OK), 0);
    assert_int_equal(orch_vcs_filters_not_run(vcs)->len, 1);
    assert_string_equal(orch_vcs_filters_not_run(vcs)->pdata[0], "evil");
    assert_true(orch_tree_remove(dest, NULL));
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* The attributes came after the repository was opened, in a folder that git does not track. */
static void test_new_filter(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    set_up_filter(dir);
    struct orch_vcs *vcs = open_in(dir);
    assert_string_equal(orch_vcs_backend(vcs), "libgit2");
    put(dir, "fresh/.gitattributes", "*.rot filter=rot\n");
    put(dir, "fresh/text.rot", "hello\n");
    g_autofree char *expected = git_tree_of(dir);
    struct orch_source *source = capture_within(vcs, NULL);
    assert_string_equal(source->tree, expected);
    assert_string_equal(orch_vcs_backend(vcs), "git: clean filters");
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

static void test_failing_filter(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    GIT(dir, "config", "--global", "filter.bad.clean", "echo no room at the inn >&2; exit 3");
    GIT(dir, "config", "--global", "filter.bad.required", "true");
    put(dir, ".gitattributes", "*.bad filter=bad\n");
    put(dir, "x.bad", "x\n");
    struct orch_vcs *vcs = open_in(dir);
    GError *error = NULL;
    assert_null(orch_vcs_capture(vcs, NULL, &error));
    assert_non_null(strstr(error->message, "no room at the inn"));
    g_error_free(error);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* ---- trees that must not be written out -------------------------------------------------------
 */

/* Object id of the bytes as a tree, unchecked. */
static char *new_tree(const char *dir, const char *mode, const char *name, const char *oid)
{
    g_autoptr(GString) bytes = g_string_new(NULL);
    g_string_append_printf(bytes, "%s %s", mode, name);
    g_string_append_c(bytes, 0);
    for (const char *digit = oid; *digit; digit += 2)
        g_string_append_c(
            bytes, (char)((g_ascii_xdigit_value(digit[0]) << 4) | g_ascii_xdigit_value(digit[1])));
    put_bytes(scratch, "tree-object", bytes->str, (gssize)bytes->len);
    g_autofree char *path = path_in(scratch, "tree-object");
    return GIT_SAYS(dir, "hash-object", "-t", "tree", "-w", "--literally", path);
}

static void assert_refused(const char *dir, const char *tree)
{
    struct orch_vcs *vcs = open_in(dir);
    g_autofree char *dest = g_strconcat(dir, "-out", NULL);
    GError *error = NULL;
    assert_false(orch_vcs_checkout(vcs, tree, dest, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    assert_int_not_equal(access(dest, F_OK), 0); /* nothing is left behind */
    g_error_free(error);
    orch_vcs_close(vcs);
}

static void test_escaping_trees(void **state)
{
    static const char *const names[] = {"..", ".git", ".GIT", ".", "../escape", "/tmp/escape"};
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *blob = GIT_SAYS(dir, "rev-parse", "HEAD:a.txt");
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *flat = new_tree(dir, "100644", names[i], blob);
        g_autofree char *above = new_tree(dir, "40000", names[i], flat);
        g_autofree char *below = new_tree(dir, "40000", "folder", flat);
        assert_refused(dir, flat);
        assert_refused(dir, above);
        assert_refused(dir, below);
    }
    free_folder(dir);
}

/* A link and a folder of one name: what lies in the folder would be written through the link. */
static void test_write_through_link(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *outside = new_folder();
    put(dir, "target", outside);
    g_autofree char *link = GIT_SAYS(dir, "hash-object", "-w", "--no-filters", "target");
    g_autofree char *blob = GIT_SAYS(dir, "rev-parse", "HEAD:a.txt");
    g_autofree char *inner = new_tree(dir, "100644", "file", blob);
    g_autoptr(GString) both = g_string_new(NULL);
    const char *const oids[] = {link, inner};
    const char *const heads[] = {"120000 x", "40000 x"};
    for (unsigned i = 0; i < 2; i++) {
        g_string_append(both, heads[i]);
        g_string_append_c(both, 0);
        for (const char *digit = oids[i]; *digit; digit += 2)
            g_string_append_c(both, (char)((g_ascii_xdigit_value(digit[0]) << 4) |
                                           g_ascii_xdigit_value(digit[1])));
    }
    put_bytes(scratch, "tree-object", both->str, (gssize)both->len);
    g_autofree char *path = path_in(scratch, "tree-object");
    g_autofree char *tree = GIT_SAYS(dir, "hash-object", "-t", "tree", "-w", "--literally", path);
    assert_refused(dir, tree);
    g_autofree char *escaped = path_in(outside, "file");
    assert_int_not_equal(access(escaped, F_OK), 0);
    free_folder(dir);
}

/* An object that is gone: an error, and no half a tree. */
static void test_missing_object(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *tree =
        new_tree(dir, "100644", "lost", "1234567890123456789012345678901234567890");
    assert_refused(dir, tree);
    free_folder(dir);
}

/* ---- secrets ----------------------------------------------------------------------------------
 */

static void test_secret_names(void **state)
{
    static const char *const secret[] = {".env",         "a/.env.local", "prod.env", "ID_RSA",
                                         "x/id_ed25519", "cert.PEM",     "a.b.key",  ".netrc",
                                         "kaggle.json",  ".envrc",       "store.p12"};
    static const char *const harmless[] = {".env.example", "id_rsa.pub", "environment.yml",
                                           "keys.py",      "key",        "pem/readme.md",
                                           ".env/readme",  "train.py"};
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(secret); i++)
        assert_non_null(orch_secret_by_name(secret[i]));
    for (unsigned i = 0; i < G_N_ELEMENTS(harmless); i++)
        assert_null(orch_secret_by_name(harmless[i]));
}

static void test_secret_contents(void **state)
{
    static const char *const secret[] = {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
                                         "-----BEGIN RSA PRIVATE KEY-----\r\n",
                                         "\xef\xbb\xbf-----BEGIN PRIVATE KEY-----\n",
                                         "\n\n-----BEGIN ENCRYPTED PRIVATE KEY-----",
                                         "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
                                         "PuTTY-User-Key-File-3: ssh-ed25519\n",
                                         "AGE-SECRET-KEY-1QQQ"};
    static const char *const harmless[] = {"", "-----BEGIN CERTIFICATE-----\nPRIVATE KEY",
                                           "-----BEGIN PUBLIC KEY-----\n",
                                           "how to make a\n-----BEGIN RSA PRIVATE KEY-----\n"};
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(secret); i++)
        assert_non_null(orch_secret_by_content(secret[i], strlen(secret[i])));
    for (unsigned i = 0; i < G_N_ELEMENTS(harmless); i++)
        assert_null(orch_secret_by_content(harmless[i], strlen(harmless[i])));
}

static void test_public_urls(void **state)
{
    static const struct {
        const char *url, *expected;
    } cases[] = {
        {"https://user:pa%40ss@host.org/a/b.git", "https://host.org/a/b.git"},
        {"https://token@host.org:8080/a@b.git", "https://host.org:8080/a@b.git"},
        {"https://u:p@ss@host.org/a", "https://host.org/a"},
        {"https://host.org/a?private_token=1#x", "https://host.org/a"},
        {"ssh://git@host.org:22/a.git", "ssh://host.org:22/a.git"},
        {"git@host.org:me/a.git", "host.org:me/a.git"},
        {"host:me/a@b.git", "host:me/a@b.git"},
        {"/srv/git/a@b:c.git", "/srv/git/a@b:c.git"},
        {"../up@here/x.git", "../up@here/x.git"},
        {"file:///srv/a@b.git", "file:///srv/a@b.git"},
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *url = orch_url_public(cases[i].url);
        assert_string_equal(url, cases[i].expected);
    }
}

/* ---- odd files --------------------------------------------------------------------------------
 */

static void test_special_files(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    g_autofree char *pipe_path = path_in(dir, "pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    drop_file(dir, "a.txt");
    g_autofree char *was_file = path_in(dir, "a.txt");
    assert_int_equal(mkfifo(was_file, 0600), 0);
    struct orch_source *source = capture_in(dir); /* and does not wait for a writer */
    assert_false(tree_has(dir, source->tree, "pipe"));
    assert_true(source->dirty);
    orch_source_free(source);
    free_folder(dir);
}

/* As another user, for whom a file has no read permission. */
static void test_unreadable(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    put(dir, "closed.txt", "x\n");
    g_autofree char *closed = path_in(dir, "closed.txt");
    assert_int_equal(chmod(closed, 0), 0);
    if (getuid() == 0) {
        assert_int_equal(chmod(scratch, 0755), 0);
        g_autofree char *owner = g_strdup("65534:65534");
        char *argv[] = {(char *)(uintptr_t) "chown", (char *)(uintptr_t) "-R", owner, dir, NULL};
        assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                                 NULL, NULL));
    }
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        struct orch_vcs *vcs = orch_vcs_open(dir, NULL);
        struct orch_source *source = vcs ? orch_vcs_capture(vcs, NULL, NULL) : NULL;
        const char *why = source ? why_left_out(source, "closed.txt") : NULL;
        _exit(why && strcmp(why, "cannot be read: Permission denied") == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free_folder(dir);
}

static void test_many_left_out(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    for (unsigned i = 0; i < 1010; i++) {
        g_autofree char *name = g_strdup_printf("many/%04u", i);
        put(dir, name, "x");
    }
    const struct orch_capture_limits limits = {
        .file_bytes = 1000, .total_bytes = 1000, .file_count = 5};
    struct orch_vcs *vcs = open_in(dir);
    struct orch_source *source = capture_within(vcs, &limits);
    assert_int_equal(source->left_out->len, 1001);
    const struct orch_left_out *last = source->left_out->pdata[1000];
    assert_string_equal(last->path, "(5 more)");
    orch_source_free(source);
    orch_vcs_close(vcs);
    free_folder(dir);
}

/* ---- speed, and two at once -------------------------------------------------------------------
 */

/* A committed tree of `count` files in folders of fifty. */
static char *new_big_repository(unsigned count)
{
    char *dir = new_bare_minimum("sha1");
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *name = g_strdup_printf("d%u/f%u.txt", i / 50, i);
        put(dir, name, name);
    }
    commit_all(dir, "many");
    /* time to pass: entries as young as the index are read, not trusted */
    GIT(dir, "update-index", "--refresh");
    return dir;
}

/* Processor time, which other programs do not change much. */
static double capture_ms(const char *dir)
{
    clock_t started = clock();
    orch_source_free(capture_in(dir));
    return 1e3 * (double)(clock() - started) / CLOCKS_PER_SEC;
}

static void test_clean_capture_is_quick(void **state)
{
    (void)state;
    char *dir = new_big_repository(2000);
    double best = 1e9;
    for (unsigned i = 0; i < 8; i++)
        best = MIN(best, capture_ms(dir));
    print_message("open, capture and close of 2,000 clean files: %.1f ms of processor time\n",
                  best);
#ifdef __SANITIZE_ADDRESS__
    assert_true(best < 500);
#else
    assert_true(best < 50);
#endif
    free_folder(dir);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every object file with its inode and size, sorted. */
static char *objects_of(const char *dir)
{
    GString *text = g_string_new(NULL);
    g_autofree char *objects = path_in(dir, ".git/objects");
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) outer = g_dir_open(objects, 0, NULL);
    for (const char *name; (name = g_dir_read_name(outer));) {
        g_autofree char *folder = path_in(objects, name);
        g_autoptr(GDir) inner = g_dir_open(folder, 0, NULL);
        for (const char *file; inner && (file = g_dir_read_name(inner));) {
            g_autofree char *path = path_in(folder, file);
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            g_ptr_array_add(lines, g_strdup_printf("%s%s %lu %ld\n", name, file,
                                                   (unsigned long)info.st_ino, (long)info.st_size));
        }
    }
    g_ptr_array_sort(lines, compare_lines);
    g_string_append_printf(text, "%u\n", lines->len);
    for (unsigned i = 0; i < lines->len; i++)
        g_string_append(text, lines->pdata[i]);
    return g_string_free(text, FALSE);
}

static void test_second_capture_writes_nothing(void **state)
{
    (void)state;
    char *dir = new_repository_of("sha1");
    put(dir, "a.txt", "changed\n");
    put(dir, "fresh/new.txt", "new\n");
    struct orch_source *first = capture_in(dir);
    g_autofree char *before = objects_of(dir);
    g_autofree char *objects = path_in(dir, ".git/objects");
    const struct timespec long_ago[2] = {{1700000000, 0}, {1700000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, objects, long_ago, 0), 0);
    struct orch_source *second = capture_in(dir);
    g_autofree char *after = objects_of(dir);
    struct stat info;
    assert_int_equal(stat(objects, &info), 0);
    assert_int_equal(info.st_mtim.tv_sec, 1700000000); /* not even a temporary file */
    assert_string_equal(first->tree, second->tree);
    assert_string_equal(before, after);
    orch_source_free(first);
    orch_source_free(second);
    free_folder(dir);
}

/* Many captures of one tree that nobody captured before, all at the same time. */
static void capture_at_once(const char *dir)
{
    enum { PROCESSES = 8 };
    pid_t children[PROCESSES];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char byte;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) /* opens when the parent closes it */
                _exit(2);
            GError *error = NULL;
            struct orch_vcs *vcs = orch_vcs_open(dir, &error);
            struct orch_source *source = vcs ? orch_vcs_capture(vcs, NULL, &error) : NULL;
            if (!source)
                fprintf(stderr, "%s\n", error ? error->message : "no repository");
            _exit(source ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static void test_two_at_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char *dir = new_repository_of(i ? "sha256" : "sha1");
        for (unsigned round = 0; round < 3; round++) {
            g_autofree char *text = g_strdup_printf("round %u\n", round);
            put(dir, "new.txt", text);
            capture_at_once(dir);
        }
        free_folder(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_certificates),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_link_into_repository),
        cmocka_unit_test(test_roots_as_git),
        cmocka_unit_test(test_damaged_later),
        cmocka_unit_test(test_plain_roots),
        cmocka_unit_test(test_damaged_inside_another),
        cmocka_unit_test(test_none_through_git),
        cmocka_unit_test(test_broken_link),
        cmocka_unit_test(test_damaged_index),
        cmocka_unit_test(test_other_owner),
        cmocka_unit_test(test_no_git_program),
        cmocka_unit_test(test_sparse_checkout),
        cmocka_unit_test(test_clean_filter),
        cmocka_unit_test(test_filter_of_the_repository),
        cmocka_unit_test(test_new_filter),
        cmocka_unit_test(test_failing_filter),
        cmocka_unit_test(test_escaping_trees),
        cmocka_unit_test(test_write_through_link),
        cmocka_unit_test(test_missing_object),
        cmocka_unit_test(test_secret_names),
        cmocka_unit_test(test_secret_contents),
        cmocka_unit_test(test_public_urls),
        cmocka_unit_test(test_special_files),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_many_left_out),
        cmocka_unit_test(test_clean_capture_is_quick),
        cmocka_unit_test(test_second_capture_writes_nothing),
        cmocka_unit_test(test_two_at_once),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
