/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures, made and verified by the programs that git uses for commits, with git's settings:
 * `gpg`, or `ssh-keygen -Y` in the namespace "orch" (so that signatures of commits and of runs are
 * not interchangeable). Keys stay with those programs and their agents. The kind of a signature,
 * not the local settings, determines how it is verified, because a group may use both kinds. */
#include "lib/vcs/identity.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/subprocess.h"
#include "lib/vcs/git_config.h"
#include "lib/vcs/setting.h"

#include <string.h>
#include <unistd.h>

#define NAMESPACE "orch"
#define ANSWER_S 120           /* an agent may ask in a window */
#define OUTPUT_BYTES_MAX 65536 /* of a signature, or of a program's messages */
#define SIGNATURE_BYTES_MAX 65536
#define SSH_HEAD "-----BEGIN SSH SIGNATURE-----"
#define PGP_HEAD "-----BEGIN PGP SIGNATURE-----"

static const char no_key[] =
    "git config gpg.format ssh; git config user.signingKey ~/.ssh/id_ed25519.pub";

/* ---- programs ----------------------------------------------------------------------------------
 */

struct result {
    int status;   /* exit status; -1: killed by a signal */
    char *out;    /* stdout */
    char *errors; /* stderr */
};

static void result_clear(struct result *result)
{
    g_free(result->out);
    g_free(result->errors);
    *result = (struct result){0};
}

/* Runs a program with a text on its stdin. Where it may ask for a passphrase on a terminal, there
 * is no limit of time. False with an error if it cannot be started or gives no answer. */
static bool run_program(const char *const *argv, const char *input, bool may_ask,
                        struct result *out, GError **error)
{
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LC_ALL", "C", TRUE);
    struct orch_subprocess_end end;
    GError *problem = NULL;
    const bool asks = may_ask && isatty(STDERR_FILENO);
    const struct orch_subprocess command = {.argv = argv,
                                            .environment = environment,
                                            .input = input,
                                            .input_bytes = strlen(input),
                                            .output_bytes_max = OUTPUT_BYTES_MAX,
                                            .is_cut = true,
                                            .timeout_s = asks ? 0 : ANSWER_S,
                                            .asks = asks};
    if (orch_subprocess_run(&command, &end, &problem)) {
        *out = (struct result){end.signal ? -1 : end.status,
                               g_string_free(g_steal_pointer(&end.out), FALSE),
                               g_steal_pointer(&end.err)};
        orch_subprocess_end_clear(&end);
        return true;
    }
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        orch_error_set(error, ORCH_ERROR_IO,
                       "install the program, or name another in git's configuration", "%s",
                       problem->message);
        g_error_free(problem);
    } else {
        g_propagate_error(error, problem);
    }
    return false;
}

/* A temporary file with a name, for programs that require one; caller unlinks and frees. */
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

static char *take_signature(struct result *result, const char *head, const char *name,
                            GError **error)
{
    if (result->status == 0 && g_str_has_prefix(result->out, head))
        return g_steal_pointer(&result->out);
    g_autofree char *why = orch_who_clean(g_strdup(result->errors));
    orch_error_set(error, ORCH_ERROR_USAGE, no_key, "'%s' made no signature: %s", name,
                   *why ? why : "it printed nothing");
    return NULL;
}

/* A public key itself in ssh's format, instead of the name of its file; else NULL. */
static const char *literal_key(const char *key)
{
    if (g_str_has_prefix(key, "key::"))
        return key + strlen("key::");
    return g_str_has_prefix(key, "ssh-") ? key : NULL;
}

#define DEFAULT_KEY "gpg.ssh.defaultkeycommand"

/* The first key printed by gpg.ssh.defaultKeyCommand; NULL if there is none. Caller frees. */
static char *default_key(GHashTable *settings)
{
    const char *command = g_hash_table_lookup(settings, DEFAULT_KEY);
    g_auto(GStrv) argv = NULL;
    struct result result = {0};
    char *key = NULL;
    if (command && g_shell_parse_argv(command, NULL, &argv, NULL) &&
        run_program((const char *const *)argv, "", false, &result, NULL) && result.status == 0) {
        result.out[strcspn(result.out, "\n")] = 0;
        key = literal_key(result.out) ? g_strdup(result.out) : NULL;
    }
    result_clear(&result);
    return key;
}

static char *sign_ssh(GHashTable *settings, const char *dir, const char *text, GError **error)
{
    const char *set = g_hash_table_lookup(settings, "user.signingkey");
    g_autofree char *key = set && *set ? g_strdup(set) : default_key(settings);
    if (!key) {
        GPtrArray *names = orch_git_guard(dir)->names;
        bool is_own = g_ptr_array_find_with_equal_func(names, DEFAULT_KEY, g_str_equal, NULL);
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            is_own ? "if you trust the command: git config --global " DEFAULT_KEY " ..." : no_key,
            "no key to sign with: git's 'user.signingKey' is not set%s",
            is_own ? ", and '" DEFAULT_KEY "' is not run because only this repository sets it"
                   : "");
        return NULL;
    }
    const char *literal = literal_key(key);
    char *path = literal ? named_file(literal, error)
                         : orch_git_setting_path(settings, "user.signingkey", dir);
    const char *name = SSH_PROGRAM(settings);
    const char *const argv[] = {name,      "-Y", "sign", "-n",
                                NAMESPACE, "-f", path,   literal ? "-U" : NULL,
                                NULL}; /* -U: the private key is in the agent */
    struct result result = {0};
    char *signature = path && run_program(argv, text, true, &result, error)
                          ? take_signature(&result, SSH_HEAD, name, error)
                          : NULL;
    if (literal)
        remove_file(path);
    else
        g_free(path);
    result_clear(&result);
    return signature;
}

static char *sign_gpg(GHashTable *settings, const char *dir, const char *text, GError **error)
{
    const char *set = g_hash_table_lookup(settings, "user.signingkey");
    g_autofree char *key = set && *set ? g_strdup(set) : orch_vcs_identity(dir);
    if (!key) {
        orch_error_set(error, ORCH_ERROR_USAGE, no_key,
                       "no key to sign with: neither 'user.signingKey' nor 'user.name' is set in "
                       "git's configuration");
        return NULL;
    }
    const char *name = GPG_PROGRAM(settings);
    const char *const argv[] = {name, "--detach-sign", "--armor", "--local-user", key, NULL};
    struct result result = {0};
    char *signature = run_program(argv, text, true, &result, error)
                          ? take_signature(&result, PGP_HEAD, name, error)
                          : NULL;
    result_clear(&result);
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
    orch_error_set(error, ORCH_ERROR_USAGE, "run 'git config gpg.format ssh', or openpgp",
                   "git's 'gpg.format' is '%s', but orch can sign only with openpgp or ssh",
                   format);
    return NULL;
}

/* ---- verification ------------------------------------------------------------------------------
 */

struct judgement {
    enum orch_signature what;
    char *signer;
};

/* The first line of a text, cleaned; NULL if it is empty. Caller frees. */
static char *first_line(const char *text)
{
    char *line = orch_who_clean(g_strndup(text, strcspn(text, "\n")));
    if (!*line)
        g_clear_pointer(&line, g_free);
    return line;
}

/* Parses 'Good "orch" signature with ED25519 key SHA256:...': valid, but the signer is unknown. */
static bool judge_key(GHashTable *settings, const char *text, const char *file,
                      struct judgement *out, GError **error)
{
    const char *const argv[] = {
        SSH_PROGRAM(settings), "-Y", "check-novalidate", "-n", NAMESPACE, "-s", file, NULL};
    struct result result = {0};
    if (!run_program(argv, text, false, &result, error))
        return false;
    const char *print = result.status == 0 ? strstr(result.out, "SHA256:") : NULL;
    if (result.status == 0) {
        out->what = ORCH_SIGNATURE_UNKNOWN_KEY;
        out->signer = first_line(print ? print : result.out);
    }
    result_clear(&result);
    return true;
}

/* Owner of the key according to the file of allowed signers; NULL if unknown. Caller frees. */
static char *principal_of(GHashTable *settings, const char *allowed, const char *file)
{
    const char *const argv[] = {
        SSH_PROGRAM(settings), "-Y", "find-principals", "-f", allowed, "-s", file, NULL};
    struct result result = {0};
    char *principal = run_program(argv, "", false, &result, NULL) && result.status == 0
                          ? first_line(result.out)
                          : NULL;
    result_clear(&result);
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
        struct result result = {0};
        bool is_good = run_program(argv, text, false, &result, NULL) && result.status == 0;
        result_clear(&result);
        if (is_good) {
            out->what = ORCH_SIGNATURE_GOOD;
            out->signer = g_steal_pointer(&principal);
            return true;
        }
    }
    return judge_key(settings, text, file, out, error);
}

/* Parses lines "[GNUPG:] WORD KEY USER". Exactly one of them must be a verdict, because a second
 * signature in the same file could contradict the first. */
static void read_status(const char *status, struct judgement *out)
{
    static const struct {
        const char *word;
        enum orch_signature what;
        bool has_user; /* the user follows the key */
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
    struct result result = {0};
    if (!run_program(argv, text, false, &result, error))
        return false;
    read_status(result.out, out);
    result_clear(&result);
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
