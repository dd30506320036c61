/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures, made and judged by the programs that git uses for commits, with git's settings:
 * `gpg`, or `ssh-keygen -Y` in the namespace "orch" (so that a signature of a commit is none of a
 * run, nor the other way round). Keys stay with those programs and their agents. A signature is
 * judged by what it is, not by what is set here: a group may mix both kinds. */
#include "lib/vcs/identity.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/vcs/setting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACE "orch"
#define OUTPUT_BYTES_MAX 65536 /* a signature, or what is said of one */
#define SIGNATURE_BYTES_MAX 65536
#define SSH_HEAD "-----BEGIN SSH SIGNATURE-----"
#define PGP_HEAD "-----BEGIN PGP SIGNATURE-----"

static const char no_key[] =
    "for ssh: git config gpg.format ssh; git config user.signingKey ~/.ssh/id_ed25519.pub; for "
    "GnuPG: git config user.signingKey KEYID";

/* ---- programs ----------------------------------------------------------------------------------
 */

struct said {
    int status;   /* of its exit; -1: killed */
    char *out;    /* stdout */
    char *errors; /* stderr */
};

static void said_clear(struct said *said)
{
    g_free(said->out);
    g_free(said->errors);
    *said = (struct said){0};
}

/* A nameless file that holds a text, at its beginning; -1 on error. */
static int text_file(const char *text)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("orch-sign-XXXXXX", &path, NULL);
    size_t length = strlen(text);
    if (fd < 0)
        return -1;
    unlink(path);
    for (size_t done = 0; done < length;) {
        ssize_t n = write(fd, text + done, length - done);
        if (n < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Up to the end; what is more than the maximum is thrown away. */
static char *read_all(int fd)
{
    GString *text = g_string_new(NULL);
    char buffer[4096];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (text->len < OUTPUT_BYTES_MAX)
            g_string_append_len(text, buffer, n);
    }
    return g_string_free(text, FALSE);
}

/* Runs a program with a text on its stdin. False with an error when it cannot be started. */
static bool ask(const char *const *argv, const char *input, struct said *out, GError **error)
{
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LC_ALL", "C", TRUE);
    int in = text_file(input), err = text_file(""), pipe_out = -1, status = 0;
    GPid pid;
    GError *problem = NULL;
    bool ok = in >= 0 && err >= 0 &&
              g_spawn_async_with_pipes_and_fds(
                  NULL, argv, (const char *const *)environment,
                  G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES, NULL,
                  NULL, in, -1, err, NULL, NULL, 0, &pid, NULL, &pipe_out, NULL, &problem);
    if (ok) {
        out->out = read_all(pipe_out);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        lseek(err, 0, SEEK_SET);
        out->errors = read_all(err);
    } else {
        orch_error_set(error, ORCH_ERROR_IO, "install it, or name it in git's configuration",
                       "cannot start '%s': %s", argv[0],
                       problem ? problem->message : "no temporary file");
    }
    g_clear_error(&problem);
    const int open_ends[] = {in, err, pipe_out};
    for (unsigned i = 0; i < G_N_ELEMENTS(open_ends); i++)
        if (open_ends[i] >= 0)
            close(open_ends[i]);
    return ok;
}

/* A named temporary file, for programs that want a name; the caller unlinks and frees. */
static char *named_file(const char *text, GError **error)
{
    char *path = NULL;
    int fd = g_file_open_tmp("orch-sign-XXXXXX", &path, error);
    if (fd < 0)
        return NULL;
    close(fd);
    if (orch_file_write(path, text, strlen(text), false, error))
        return path;
    unlink(path);
    g_free(path);
    return NULL;
}

static void remove_file(char *path)
{
    if (path)
        unlink(path);
    g_free(path);
}

static const char *program(GHashTable *settings, const char *name, const char *other,
                           const char *usual)
{
    const char *set = g_hash_table_lookup(settings, name);
    if (!set && other)
        set = g_hash_table_lookup(settings, other);
    return set && *set ? set : usual;
}

#define SSH_PROGRAM(settings) program(settings, "gpg.ssh.program", NULL, "ssh-keygen")
#define GPG_PROGRAM(settings) program(settings, "gpg.openpgp.program", "gpg.program", "gpg")

/* ---- sign --------------------------------------------------------------------------------------
 */

static char *take_signature(struct said *said, const char *head, const char *name, GError **error)
{
    if (said->status == 0 && g_str_has_prefix(said->out, head))
        return g_steal_pointer(&said->out);
    g_autofree char *why = orch_who_clean(g_strdup(said->errors));
    orch_error_set(error, ORCH_ERROR_USAGE, no_key, "'%s' made no signature: %s", name,
                   *why ? why : "it said nothing");
    return NULL;
}

/* A key itself, as ssh writes public ones, where another setting would name its file. */
static const char *literal_key(const char *key)
{
    if (g_str_has_prefix(key, "key::"))
        return key + strlen("key::");
    return g_str_has_prefix(key, "ssh-") ? key : NULL;
}

/* The first key that gpg.ssh.defaultKeyCommand prints; NULL: none. The caller frees. */
static char *default_key(GHashTable *settings)
{
    const char *command = g_hash_table_lookup(settings, "gpg.ssh.defaultkeycommand");
    g_auto(GStrv) argv = NULL;
    struct said said = {0};
    char *key = NULL;
    if (command && g_shell_parse_argv(command, NULL, &argv, NULL) &&
        ask((const char *const *)argv, "", &said, NULL) && said.status == 0) {
        said.out[strcspn(said.out, "\n")] = 0;
        key = literal_key(said.out) ? g_strdup(said.out) : NULL;
    }
    said_clear(&said);
    return key;
}

static char *sign_ssh(GHashTable *settings, const char *dir, const char *text, GError **error)
{
    const char *set = g_hash_table_lookup(settings, "user.signingkey");
    g_autofree char *key = set && *set ? g_strdup(set) : default_key(settings);
    if (!key) {
        orch_error_set(error, ORCH_ERROR_USAGE, no_key,
                       "no key to sign with: git's "
                       "'user.signingKey' is not set");
        return NULL;
    }
    const char *literal = literal_key(key);
    char *path = literal ? named_file(literal, error)
                         : orch_git_setting_path(settings, "user.signingkey", dir);
    const char *name = SSH_PROGRAM(settings);
    const char *const argv[] = {name,      "-Y", "sign", "-n",
                                NAMESPACE, "-f", path,   literal ? "-U" : NULL,
                                NULL}; /* -U: the agent has its other half */
    struct said said = {0};
    char *signature =
        path && ask(argv, text, &said, error) ? take_signature(&said, SSH_HEAD, name, error) : NULL;
    if (literal)
        remove_file(path);
    else
        g_free(path);
    said_clear(&said);
    return signature;
}

static char *sign_gpg(GHashTable *settings, const char *dir, const char *text, GError **error)
{
    const char *set = g_hash_table_lookup(settings, "user.signingkey");
    g_autofree char *key = set && *set ? g_strdup(set) : orch_vcs_identity(dir);
    if (!key) {
        orch_error_set(error, ORCH_ERROR_USAGE, no_key,
                       "no key to sign with: git knows neither "
                       "'user.signingKey' nor 'user.name'");
        return NULL;
    }
    const char *name = GPG_PROGRAM(settings);
    const char *const argv[] = {name, "--detach-sign", "--armor", "--local-user", key, NULL};
    struct said said = {0};
    char *signature =
        ask(argv, text, &said, error) ? take_signature(&said, PGP_HEAD, name, error) : NULL;
    said_clear(&said);
    return signature;
}

char *orch_vcs_sign(const char *dir, const char *text, GError **error)
{
    static const struct {
        const char *format;
        char *(*sign)(GHashTable *, const char *, const char *, GError **);
    } table[] = {{"openpgp", sign_gpg}, {"ssh", sign_ssh}};
    g_autoptr(GHashTable) settings = orch_git_settings(dir);
    const char *format = g_hash_table_lookup(settings, "gpg.format");
    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].format, format ? format : "openpgp") == 0)
            return table[i].sign(settings, dir, text, error);
    orch_error_set(error, ORCH_ERROR_USAGE, "git config gpg.format ssh, or openpgp",
                   "git's 'gpg.format' is '%s', and orch signs with openpgp or ssh", format);
    return NULL;
}

/* ---- judge -------------------------------------------------------------------------------------
 */

struct judgement {
    enum orch_signature what;
    char *signer;
};

/* The first line of a text, cleaned. The caller frees; NULL: it is empty. */
static char *first_line(const char *text)
{
    char *line = orch_who_clean(g_strndup(text, strcspn(text, "\n")));
    if (!*line)
        g_clear_pointer(&line, g_free);
    return line;
}

/* 'Good "orch" signature with ED25519 key SHA256:...': who made it is not known here. */
static bool judge_key(GHashTable *settings, const char *text, const char *file,
                      struct judgement *out, GError **error)
{
    const char *const argv[] = {
        SSH_PROGRAM(settings), "-Y", "check-novalidate", "-n", NAMESPACE, "-s", file, NULL};
    struct said said = {0};
    if (!ask(argv, text, &said, error))
        return false;
    const char *print = said.status == 0 ? strstr(said.out, "SHA256:") : NULL;
    if (said.status == 0) {
        out->what = ORCH_SIGNATURE_UNKNOWN_KEY;
        out->signer = first_line(print ? print : said.out);
    }
    said_clear(&said);
    return true;
}

/* Whose key it is, by the file of allowed signers; NULL: nobody's. The caller frees. */
static char *principal_of(GHashTable *settings, const char *allowed, const char *file)
{
    const char *const argv[] = {
        SSH_PROGRAM(settings), "-Y", "find-principals", "-f", allowed, "-s", file, NULL};
    struct said said = {0};
    char *principal = ask(argv, "", &said, NULL) && said.status == 0 ? first_line(said.out) : NULL;
    said_clear(&said);
    return principal;
}

static bool judge_ssh(GHashTable *settings, const char *dir, const char *text, const char *file,
                      struct judgement *out, GError **error)
{
    g_autofree char *allowed = orch_git_setting_path(settings, "gpg.ssh.allowedsignersfile", dir);
    g_autofree char *principal = allowed ? principal_of(settings, allowed, file) : NULL;
    if (principal) {
        const char *const argv[] = {SSH_PROGRAM(settings),
                                    "-Y",
                                    "verify",
                                    "-n",
                                    NAMESPACE,
                                    "-f",
                                    allowed,
                                    "-I",
                                    principal,
                                    "-s",
                                    file,
                                    NULL};
        struct said said = {0};
        bool is_good = ask(argv, text, &said, NULL) && said.status == 0;
        said_clear(&said);
        if (is_good) {
            out->what = ORCH_SIGNATURE_GOOD;
            out->signer = g_steal_pointer(&principal);
            return true;
        }
    }
    return judge_key(settings, text, file, out, error);
}

/* Lines "[GNUPG:] WORD KEY USER". Of those that judge there must be one: a second signature in the
 * same file could say something else. */
static void read_status(const char *status, struct judgement *out)
{
    static const struct {
        const char *word;
        enum orch_signature what;
        bool has_user; /* behind the key */
    } words[] = {{"GOODSIG ", ORCH_SIGNATURE_GOOD, true},
                 {"EXPSIG ", ORCH_SIGNATURE_UNKNOWN_KEY, false},
                 {"EXPKEYSIG ", ORCH_SIGNATURE_UNKNOWN_KEY, false},
                 {"REVKEYSIG ", ORCH_SIGNATURE_BAD, false},
                 {"BADSIG ", ORCH_SIGNATURE_BAD, false},
                 {"ERRSIG ", ORCH_SIGNATURE_UNKNOWN_KEY, false}};
    g_auto(GStrv) lines = g_strsplit(status, "\n", -1);
    unsigned found = 0;
    for (char **line = lines; *line; line++)
        for (unsigned i = 0; g_str_has_prefix(*line, "[GNUPG:] ") && i < G_N_ELEMENTS(words); i++) {
            const char *at = *line + strlen("[GNUPG:] ");
            if (!g_str_has_prefix(at, words[i].word))
                continue;
            at += strlen(words[i].word);
            size_t key = strcspn(at, " ");
            g_free(out->signer);
            out->what = words[i].what;
            out->signer =
                words[i].has_user && at[key] ? first_line(at + key + 1) : g_strndup(at, key);
            found++;
        }
    if (found == 1 && out->what != ORCH_SIGNATURE_BAD)
        return;
    out->what = ORCH_SIGNATURE_BAD;
    g_clear_pointer(&out->signer, g_free);
}

static bool judge_gpg(GHashTable *settings, const char *dir, const char *text, const char *file,
                      struct judgement *out, GError **error)
{
    (void)dir;
    const char *const argv[] = {GPG_PROGRAM(settings),
                                "--batch",
                                "--no-auto-key-retrieve",
                                "--status-fd=1",
                                "--verify",
                                file,
                                "-",
                                NULL};
    struct said said = {0};
    if (!ask(argv, text, &said, error))
        return false;
    read_status(said.out, out);
    said_clear(&said);
    return true;
}

bool orch_vcs_verify(const char *dir, const char *text, const char *signature,
                     enum orch_signature *out, char **out_signer, GError **error)
{
    static const struct {
        const char *head;
        bool (*judge)(GHashTable *, const char *, const char *, const char *, struct judgement *,
                      GError **);
    } table[] = {{SSH_HEAD, judge_ssh}, {PGP_HEAD, judge_gpg}};
    struct judgement judgement = {ORCH_SIGNATURE_BAD, NULL};
    bool ok = true;
    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        if (!g_str_has_prefix(signature, table[i].head) || strlen(signature) > SIGNATURE_BYTES_MAX)
            continue;
        g_autoptr(GHashTable) settings = orch_git_settings(dir);
        char *file = named_file(signature, error);
        ok = file && table[i].judge(settings, dir, text, file, &judgement, error);
        remove_file(file);
    }
    if (!ok) {
        g_free(judgement.signer);
        return false;
    }
    *out = judgement.what;
    *out_signer = judgement.signer;
    return true;
}
