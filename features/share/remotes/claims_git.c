/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims on a git remote: one ref for each, refs/orch/claims/RESOURCE.
 *
 * `git push --force-with-lease=REF:OLD` is a compare-and-swap on the server: the ref is changed
 * only if it still has the expected value (empty: it must not exist), and the server's lock of the
 * ref decides between two concurrent pushes. The value is a commit without parents and files whose
 * message is the claim: a server that accepts refs/orch/results accepts commits, but some refuse
 * other kinds of objects. No ref is created in the user's repository, FETCH_HEAD and hooks are not
 * touched, and git's garbage collection removes the objects.
 */
#include "features/share/remotes/claims_private.h"

#include "features/share/remotes/results_private.h"

#include "lib/base/error.h"
#include "lib/vcs/git_objects.h"

#include <string.h>

#define PREFIX "refs/orch/claims/"
#define LIST_BYTES_MAX (16 << 20)
#define REFS_AT_ONCE 200
#define ATTEMPTS_MAX 5
#define GRACE_S 10.0

struct place {
    struct results_place *at;
    char *empty_tree; /* created when first needed */
};

/* Runs git in the local repository. */
static bool git(const struct place *place, const char *const *args, const char *input,
                GString **out, GError **error)
{
    GString *text = input ? g_string_new(input) : NULL;
    struct orch_git_run run = {
        .dir = place->at->dir, .args = args, .input = text, .max_output = LIST_BYTES_MAX};
    bool ok = orch_git_run(&run, out, NULL, error);
    if (text)
        g_string_free(text, TRUE);
    return ok;
}

/* Runs git with the remote. `*out_status` is 0, or 1 where that is a valid answer. */
static bool run_remote(const struct place *place, const char *doing, const char *const *args,
                       double grace_s, GString **out, int *out_status, GError **error)
{
    g_autofree char *output = NULL;
    GString *text = NULL;
    int status = 0;
    if (orch_results_run_remote(place->at, args, grace_s, &text, &status, &output, NULL) &&
        (!status || out_status)) {
        if (out_status)
            *out_status = status;
        if (out)
            *out = text;
        else
            g_string_free(text, TRUE);
        return true;
    }
    if (text)
        g_string_free(text, TRUE);
    orch_results_remote_error(place->at, doing, output ? output : "", error);
    return false;
}

static bool is_object_id(const char *text)
{
    size_t length = strspn(text, "0123456789abcdef");
    return !text[length] && (length == 40 || length == 64);
}

/* ---- listing -----------------------------------------------------------------------------------
 */

/* Parses lines "OID\trefs/orch/claims/RESOURCE"; others are skipped. */
static void parse_refs(const char *text, GPtrArray *out)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] && out->len < CLAIMS_MAX; i++) {
        char *tab = strchr(lines[i], '\t');
        if (!tab)
            continue;
        *tab = 0;
        const char *name = g_str_has_prefix(tab + 1, PREFIX) ? tab + 1 + strlen(PREFIX) : "";
        if (!is_object_id(lines[i]) || !orch_sha256_is_valid(name))
            continue;
        struct claims_entry *entry = g_new0(struct claims_entry, 1);
        g_strlcpy(entry->resource, name, sizeof entry->resource);
        entry->token = g_strdup(lines[i]);
        g_ptr_array_add(out, entry);
    }
}

static bool list_refs(const struct place *place, const char *pattern, GPtrArray *out,
                      GError **error)
{
    GString *text = NULL;
    const char *args[] = {"ls-remote", "--refs", "--", place->at->remote, pattern, NULL};
    if (!run_remote(place, "read claims of", args, 0, &text, NULL, error))
        return false;
    parse_refs(text->str, out);
    g_string_free(text, TRUE);
    return true;
}

/* The entries' objects that are present here and are commits of a claim's size: object id ->
 * itself. */
static GHashTable *readable(const struct place *place, const GPtrArray *entries, GError **error)
{
    GString *tokens = g_string_new(NULL), *output = NULL;
    for (guint i = 0; i < entries->len; i++)
        g_string_append_printf(tokens, "%s\n", ((struct claims_entry *)entries->pdata[i])->token);
    const char *args[] = {"cat-file", "--batch-check", NULL};
    bool ok = git(place, args, tokens->str, &output, error);
    g_string_free(tokens, TRUE);
    if (!ok)
        return NULL;
    GHashTable *there = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) lines = g_strsplit(output->str, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
        if (g_strv_length(words) == 3 && strcmp(words[1], "commit") == 0 && strlen(words[2]) <= 4 &&
            g_ascii_strtoull(words[2], NULL, 10) <= CLAIMS_TEXT_MAX)
            g_hash_table_add(there, g_strdup(words[0]));
    }
    g_string_free(output, TRUE);
    return there;
}

/* Fetches the objects of some refs without creating a local ref. */
static bool fetch(const struct place *place, const GPtrArray *entries, GError **error)
{
    for (guint from = 0; from < entries->len; from += REFS_AT_ONCE) {
        static const char *const words[] = {"fetch",         "--quiet",
                                            "--no-tags",     "--no-write-fetch-head",
                                            "--refmap=",     "--no-recurse-submodules",
                                            "--no-prune",    "--no-auto-maintenance",
                                            "--no-progress", "--"};
        g_autoptr(GPtrArray) args = g_ptr_array_new();
        g_autoptr(GPtrArray) refs = g_ptr_array_new_with_free_func(g_free);
        for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
            g_ptr_array_add(args, (gpointer)(uintptr_t)words[i]);
        g_ptr_array_add(args, place->at->remote);
        for (guint i = from; i < entries->len && i < from + REFS_AT_ONCE; i++) {
            const struct claims_entry *entry = entries->pdata[i];
            g_ptr_array_add(refs, g_strconcat(PREFIX, entry->resource, NULL));
            g_ptr_array_add(args, refs->pdata[refs->len - 1]);
        }
        g_ptr_array_add(args, NULL);
        if (!run_remote(place, "read claims of", (const char *const *)args->pdata, 0, NULL, NULL,
                        error))
            return false;
    }
    return true;
}

/* The message of a commit object. */
static const char *message_of(const char *commit, size_t length, size_t *out_length)
{
    const char *gap = g_strstr_len(commit, (gssize)length, "\n\n");
    *out_length = gap ? length - (size_t)(gap + 2 - commit) : 0;
    return gap ? gap + 2 : commit;
}

static void read_claim(void *ctx, unsigned index, const char *bytes, size_t length)
{
    struct claims_entry *const *entries = ctx, *entry = entries[index];
    size_t text_length;
    const char *text = message_of(bytes, length, &text_length);
    entry->claim = orch_claims_parse(entry->resource, text, text_length);
}

/* Reads the claims of entries whose objects are present here. */
static bool read_claims(const struct place *place, const GPtrArray *entries, GHashTable *there,
                        GError **error)
{
    GString *tokens = g_string_new(NULL);
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++) {
        struct claims_entry *entry = entries->pdata[i];
        if (!g_hash_table_contains(there, entry->token))
            continue;
        g_string_append_printf(tokens, "%s\n", entry->token);
        g_ptr_array_add(chosen, entry);
    }
    bool ok = !chosen->len ||
              orch_git_objects(place->at->dir, tokens, "commit", read_claim, chosen->pdata, error);
    g_string_free(tokens, TRUE);
    return ok;
}

/* Copies known claims into the entries; returns the entries that must be read (borrowed). */
static GPtrArray *entries_to_read(const GPtrArray *entries, GHashTable *known)
{
    GPtrArray *fresh = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++) {
        struct claims_entry *entry = entries->pdata[i];
        const struct claims_entry *before = g_hash_table_lookup(known, entry->resource);
        if (!before || strcmp(before->token, entry->token) != 0)
            g_ptr_array_add(fresh, entry);
        else if (before->claim)
            entry->claim = orch_claim_copy(before->claim);
    }
    return fresh;
}

static GPtrArray *without(const GPtrArray *entries, GHashTable *there)
{
    GPtrArray *missing = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++)
        if (!g_hash_table_contains(there, ((struct claims_entry *)entries->pdata[i])->token))
            g_ptr_array_add(missing, entries->pdata[i]);
    return missing;
}

static bool read_fresh(const struct place *place, const GPtrArray *fresh, GError **error)
{
    g_autoptr(GHashTable) there = readable(place, fresh, error);
    g_autoptr(GPtrArray) missing = there ? without(fresh, there) : NULL;
    if (missing && missing->len) {
        g_clear_pointer(&there, g_hash_table_unref);
        if (fetch(place, missing, error))
            there = readable(place, fresh, error);
    }
    return there && read_claims(place, fresh, there, error);
}

static bool list(void *self, GHashTable *known, GPtrArray *out, int64_t *out_now_ns, GError **error)
{
    g_autoptr(GError) problem = NULL;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        GPtrArray *entries = g_ptr_array_new();
        if (!list_refs(self, PREFIX "*", entries, error)) {
            g_ptr_array_unref(entries);
            return false;
        }
        g_autoptr(GPtrArray) fresh = entries_to_read(entries, known);
        g_clear_error(&problem);
        /* a ref that was deleted after the listing makes the fetch fail, so the listing is
         * repeated */
        if (!fresh->len || read_fresh(self, fresh, &problem)) {
            g_ptr_array_extend_and_steal(out, entries);
            *out_now_ns = orch_now_ns();
            return true;
        }
        g_ptr_array_set_free_func(entries, orch_claims_entry_free);
        g_ptr_array_unref(entries);
    }
    g_propagate_error(error, g_steal_pointer(&problem));
    return false;
}

/* ---- changing ----------------------------------------------------------------------------------
 */

static char *write_object(const struct place *place, const char *type, const char *bytes,
                          GError **error)
{
    GString *id = NULL;
    const char *args[] = {"hash-object", "-t", type, "-w", "--stdin", NULL};
    if (!git(place, args, bytes, &id, error))
        return NULL;
    return g_strchomp(g_string_free(id, FALSE));
}

/* Creates the commit that contains a claim. The caller frees. */
static char *write_claim(struct place *place, const char *text, GError **error)
{
    if (!place->empty_tree)
        place->empty_tree = write_object(place, "tree", "", error);
    if (!place->empty_tree)
        return NULL;
    g_autofree char *commit = g_strdup_printf("tree %s\nauthor orch <orch> 0 +0000\n"
                                              "committer orch <orch> 0 +0000\n\n%s\n",
                                              place->empty_tree, text);
    return write_object(place, "commit", commit, error);
}

struct push {
    struct claims_change *changes;
    unsigned count;
    char **ids;   /* ids of the commits; NULL: the ref is deleted */
    GString *why; /* refusals for other reasons than that another process was first */
};

/* Parses a line of `git push --porcelain`: FLAG \t FROM:TO \t SUMMARY. */
static void take_answer(struct push *push, const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, "\t", 3);
    const char *ref = g_strv_length(words) == 3 ? strstr(words[1], ":" PREFIX) : NULL;
    for (unsigned i = 0; ref && i < push->count; i++) {
        struct claims_change *change = &push->changes[i];
        if (strcmp(ref + strlen(":" PREFIX), change->resource) != 0)
            continue;
        change->done = *line != '!';
        if (*line == '!' && !strstr(words[2], "stale info"))
            g_string_append_printf(push->why, "%s%s", push->why->len ? "; " : "", words[2]);
    }
}

static bool push_open(const struct place *place, struct push *push, GError **error)
{
    static const char *const words[] = {"push",
                                        "--porcelain",
                                        "--no-verify",
                                        "--no-signed",
                                        "--no-follow-tags",
                                        "--no-progress",
                                        "--recurse-submodules=no"};
    g_autoptr(GPtrArray) args = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(args, g_strdup(words[i]));
    for (unsigned i = 0; i < push->count; i++)
        if (!push->changes[i].done)
            g_ptr_array_add(
                args,
                g_strdup_printf("--force-with-lease=" PREFIX "%s:%s", push->changes[i].resource,
                                push->changes[i].old_token ? push->changes[i].old_token : ""));
    g_ptr_array_add(args, g_strdup("--"));
    g_ptr_array_add(args, g_strdup(place->at->remote));
    for (unsigned i = 0; i < push->count; i++)
        if (!push->changes[i].done)
            g_ptr_array_add(args,
                            g_strdup_printf("%s:" PREFIX "%s", push->ids[i] ? push->ids[i] : "",
                                            push->changes[i].resource));
    g_ptr_array_add(args, NULL);
    GString *output = NULL;
    int status;
    g_string_truncate(push->why, 0);
    /* a push that is cut off may have changed the ref: nobody would give that claim back */
    if (!run_remote(place, "send claims to", (const char *const *)args->pdata, GRACE_S, &output,
                    &status, error))
        return false;
    g_auto(GStrv) lines = g_strsplit(output->str, "\n", -1);
    for (unsigned i = 0; lines[i]; i++)
        take_answer(push, lines[i]);
    g_string_free(output, TRUE);
    return true;
}

/* Checks whether a ref that was not changed still has its expected value. Then the server refused
 * the change for a reason of its own (or another push held the ref's lock). */
static bool is_unchanged_there(const struct place *place, const struct push *push, bool *out,
                               GError **error)
{
    g_autoptr(GPtrArray) there = g_ptr_array_new_with_free_func(orch_claims_entry_free);
    *out = false;
    if (!list_refs(place, PREFIX "*", there, error))
        return false;
    g_autoptr(GHashTable) tokens = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < there->len; i++) {
        struct claims_entry *entry = there->pdata[i];
        g_hash_table_insert(tokens, entry->resource, entry->token);
    }
    for (unsigned i = 0; i < push->count; i++)
        *out = *out || (!push->changes[i].done &&
                        g_strcmp0(g_hash_table_lookup(tokens, push->changes[i].resource),
                                  push->changes[i].old_token) == 0);
    return true;
}

static bool push_all(const struct place *place, struct push *push, GError **error)
{
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        bool is_refused = false;
        if (!push_open(place, push, error))
            return false;
        if (!push->why->len)
            return true;
        if (!is_unchanged_there(place, push, &is_refused, error))
            return false;
        if (!is_refused)
            return true;
        g_usleep(50000 * (gulong)(i + 1));
    }
    orch_error_set(error, ORCH_ERROR_IO, "check that you may push to the remote",
                   "'%s' refuses claims: %s", place->at->remote, push->why->str);
    return false;
}

static bool swap(void *self, struct claims_change *changes, unsigned count, GError **error)
{
    struct place *place = self;
    struct push push = {changes, count, g_new0(char *, count + 1), g_string_new(NULL)};
    bool ok = true;
    for (unsigned i = 0; ok && i < count; i++) {
        changes[i].done = false;
        if (changes[i].text)
            ok = (push.ids[i] = write_claim(place, changes[i].text, error)) != NULL;
    }
    ok = ok && push_all(place, &push, error);
    for (unsigned i = 0; i < count; i++) {
        if (ok && changes[i].done)
            changes[i].new_token = g_steal_pointer(&push.ids[i]);
        g_free(push.ids[i]);
    }
    g_free(push.ids);
    g_string_free(push.why, TRUE);
    return ok;
}

static void free_place(void *self)
{
    struct place *place = self;
    orch_results_place_close(place->at);
    g_free(place->empty_tree);
    g_free(place);
}

struct orch_claims *orch_claims_open_git(const char *repository, const char *store_folder,
                                         const char *remote, const char *who, GError **error)
{
    struct place *self = g_new0(struct place, 1);
    self->at = orch_results_place_open(repository, store_folder, error);
    if (!self->at || !orch_results_place_set_remote(self->at, remote, error)) {
        free_place(self);
        return NULL;
    }
    struct claims_place place = {.self = self, .list = list, .swap = swap, .free = free_place};
    return orch_claims_new(&place, who);
}
