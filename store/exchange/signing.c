/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/exchange/signing.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

#define HEAD "orch runs 1\n"
#define RUNS_MAX 5000 /* per signature, so that the note stays well below 1 MiB */
#define NOTE_BYTES_MAX (1 << 20)
/* After this many signatures that carry the user's name but are not the user's, the rest are not
 * checked. At worst, the runs they name are signed again. */
#define STRANGERS_MAX 200

/* ---- the note ----------------------------------------------------------------------------------
 */

static void free_signed_run(gpointer pointer)
{
    struct orch_signed_run *run = pointer;
    g_free(run->key);
    g_free(run->digest);
    g_free(run);
}

static void free_check(gpointer pointer)
{
    struct orch_signature_check *judged = pointer;
    g_free(judged->note);
    g_free(judged->who);
    g_free(judged->signer);
    g_ptr_array_unref(judged->runs);
    g_free(judged);
}

/* "KEY DIGEST": a key of 36 hex digits and dashes, a digest of 64 hex digits. */
static struct orch_signed_run *parse_line(const char *line)
{
    const size_t key = ORCH_KEY_CHARS - 1;
    if (strspn(line, "0123456789abcdef-") != key || line[key] != ' ' ||
        !orch_sha256_is_valid(line + key + 1))
        return NULL;
    struct orch_signed_run *run = g_new0(struct orch_signed_run, 1);
    run->key = g_strndup(line, key);
    run->digest = g_strdup(line + key + 1);
    return run;
}

/* Parses a note's text into runs and signature; false when it is malformed. The caller frees
 * `*out_signature`. */
static bool parse_note(const char *text, GPtrArray *runs, char **out_signature)
{
    g_autoptr(json_t) note =
        text ? orch_json_parse(text, strlen(text), NOTE_BYTES_MAX, NULL) : NULL;
    const json_t *lines = json_object_get(note, "runs");
    const char *signature = orch_json_text(note, "signature", NULL);
    if (orch_json_int(note, "format", 0) != 1 || !signature || !json_array_size(lines) ||
        json_array_size(lines) > RUNS_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const char *line = json_string_value(json_array_get(lines, i));
        struct orch_signed_run *run = line ? parse_line(line) : NULL;
        if (!run)
            return false;
        g_ptr_array_add(runs, run);
    }
    *out_signature = g_strdup(signature);
    return true;
}

static GString *signed_text(const GPtrArray *runs)
{
    GString *text = g_string_new(HEAD);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_signed_run *run = runs->pdata[i];
        g_string_append_printf(text, "%s %s\n", run->key, run->digest);
    }
    return text;
}

static char *line_of(const struct orch_signed_run *run)
{
    return g_strdup_printf("%s %s", run->key, run->digest);
}

static char *note_text(const GPtrArray *runs, const char *signature)
{
    g_autoptr(json_t) lines = json_array();
    for (guint i = 0; i < runs->len; i++) {
        g_autofree char *line = line_of(runs->pdata[i]);
        json_array_append_new(lines, json_string(line));
    }
    g_autoptr(json_t) note =
        json_pack("{s:i s:O s:s}", "format", 1, "runs", lines, "signature", signature);
    return orch_json_canonical(note);
}

/* ---- sign --------------------------------------------------------------------------------------
 */

/** Runs that are to be signed. */
struct signing {
    const char *dir;
    GHashTable *left; /* "KEY DIGEST" of the user's runs that none of the user's signatures names */
    char *own_signer; /* the signer reported for a signature made now; NULL: not determined yet */
    unsigned judged;  /* checked signatures that are not the user's */
};

static bool is_requested(const struct signing *s, const GPtrArray *runs)
{
    for (guint i = 0; i < runs->len; i++) {
        g_autofree char *line = line_of(runs->pdata[i]);
        if (g_hash_table_contains(s->left, line))
            return true;
    }
    return false;
}

/* Determines the signer that this machine's git reports for a signature of this user: a name, or
 * the fingerprint of an unknown key. */
static bool find_own_signer(struct signing *s, GError **error)
{
    static const char text[] = "orch who 1\n";
    enum orch_signature what;
    g_autofree char *signature = s->own_signer ? NULL : orch_vcs_sign(s->dir, text, error);
    g_autofree char *signer = NULL;
    if (!signature)
        return s->own_signer;
    if (!orch_vcs_verify(s->dir, text, signature, &what, &signer, error))
        return false;
    s->own_signer = signer ? g_steal_pointer(&signer) : g_strdup("");
    return true;
}

/* A note's contents are untrusted: a note in the user's name is the user's only if its signature
 * is. */
static bool is_own(struct signing *s, const GPtrArray *runs, const char *signature, bool *out,
                   GError **error)
{
    enum orch_signature what;
    g_autofree char *signer = NULL;
    g_autoptr(GString) text = signed_text(runs);
    *out = false;
    if (!orch_vcs_verify(s->dir, text->str, signature, &what, &signer, error))
        return false;
    if (what == ORCH_SIGNATURE_BAD || !signer)
        return true;
    *out = what == ORCH_SIGNATURE_GOOD && orch_who_is_same(signer, orch_user_name());
    if (*out)
        return true;
    if (!find_own_signer(s, error))
        return false;
    *out = strcmp(signer, s->own_signer) == 0;
    return true;
}

/* Removes the runs that a note of the user has signed. */
static bool take_note(struct signing *s, const struct orch_signature_row *row, GError **error)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(free_signed_run);
    g_autofree char *signature = NULL;
    bool own;
    if (s->judged >= STRANGERS_MAX || !orch_who_is_same(row->who, orch_user_name()) ||
        !parse_note(row->text, runs, &signature) || !is_requested(s, runs))
        return true;
    if (!is_own(s, runs, signature, &own, error))
        return false;
    s->judged += !own;
    for (guint i = 0; own && i < runs->len; i++) {
        g_autofree char *line = line_of(runs->pdata[i]);
        g_hash_table_remove(s->left, line);
    }
    return true;
}

static bool take_notes(struct signing *s, struct orch_store *store, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_signatures(store, NULL, error);
    bool ok = rows != NULL;
    for (guint i = 0; ok && i < rows->len && g_hash_table_size(s->left); i++)
        ok = take_note(s, rows->pdata[i], error);
    return ok;
}

static GPtrArray *left_to_sign(struct orch_store *store, const char *dir, GError **error)
{
    g_autoptr(GPtrArray) runs = orch_store_run_digests(store, error);
    if (!runs)
        return NULL;
    struct signing s = {dir, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), NULL, 0};
    g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(free_signed_run);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run_digest *run = runs->pdata[i];
        g_autofree char *line = g_strdup_printf("%s %s", run->key, run->digest);
        struct orch_signed_run *one =
            orch_who_is_same(run->who, orch_user_name()) ? parse_line(line) : NULL;
        if (!one)
            continue;
        g_ptr_array_add(own, one);
        g_hash_table_add(s.left, g_steal_pointer(&line));
    }
    bool ok = take_notes(&s, store, error);
    for (guint i = own->len; ok && i-- > 0;) {
        g_autofree char *line = line_of(own->pdata[i]);
        if (!g_hash_table_contains(s.left, line))
            g_ptr_array_remove_index(own, i);
    }
    g_hash_table_unref(s.left);
    g_free(s.own_signer);
    return ok ? g_steal_pointer(&own) : NULL;
}

static bool sign_some(struct orch_store *store, const char *dir, const GPtrArray *runs,
                      GError **error)
{
    g_autoptr(GString) text = signed_text(runs);
    g_autofree char *signature = orch_vcs_sign(dir, text->str, error);
    if (!signature)
        return false;
    g_autofree char *note = note_text(runs, signature);
    const struct orch_signed_run *first = runs->pdata[0];
    return orch_store_note(store, first->key, "signature", true, note, error);
}

int orch_sign_runs(struct orch_store *store, const char *dir, GError **error)
{
    g_autoptr(GPtrArray) left = left_to_sign(store, dir, error);
    if (!left)
        return -1;
    for (guint begin = 0; begin < left->len; begin += RUNS_MAX) {
        g_autoptr(GPtrArray) some = g_ptr_array_new();
        for (guint i = begin; i < MIN(left->len, begin + RUNS_MAX); i++)
            g_ptr_array_add(some, left->pdata[i]);
        if (!sign_some(store, dir, some, error))
            return -1;
    }
    return (int)left->len;
}

/* ---- judge -------------------------------------------------------------------------------------
 */

static void look_at(struct orch_signed_run *run, GHashTable *here,
                    const struct orch_signature_check *judged)
{
    const struct orch_run_digest *known = g_hash_table_lookup(here, run->key);
    run->state = !known                                       ? ORCH_SIGNED_MISSING
                 : g_strcmp0(known->digest, run->digest) == 0 ? ORCH_SIGNED_HERE
                                                              : ORCH_SIGNED_OTHER;
    run->fits = run->state == ORCH_SIGNED_HERE && (judged->what != ORCH_SIGNATURE_GOOD ||
                                                   orch_who_is_same(judged->signer, known->who));
}

static struct orch_signature_check *judge(const struct orch_signature_row *row, GHashTable *here,
                                          const char *dir, GError **error)
{
    struct orch_signature_check *judged = g_new0(struct orch_signature_check, 1);
    g_autofree char *signature = NULL;
    judged->note = g_strdup(row->key);
    judged->who = g_strdup(row->who);
    judged->made_ns = row->made_ns;
    judged->what = ORCH_SIGNATURE_BAD;
    judged->runs = g_ptr_array_new_with_free_func(free_signed_run);
    judged->is_damaged = !parse_note(row->text, judged->runs, &signature);
    g_autoptr(GString) text = signed_text(judged->runs);
    if (!judged->is_damaged &&
        !orch_vcs_verify(dir, text->str, signature, &judged->what, &judged->signer, error)) {
        free_check(judged);
        return NULL;
    }
    for (guint i = 0; i < judged->runs->len; i++)
        look_at(judged->runs->pdata[i], here, judged);
    return judged;
}

static bool names_run(const struct orch_signature_check *judged, const char *key)
{
    for (guint i = 0; i < judged->runs->len; i++)
        if (strcmp(((const struct orch_signed_run *)judged->runs->pdata[i])->key, key) == 0)
            return true;
    return false;
}

GPtrArray *orch_signatures_check(struct orch_store *store, const char *dir, const char *run_key,
                                 GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_signatures(store, run_key, error);
    g_autoptr(GPtrArray) runs = rows && rows->len ? orch_store_run_digests(store, error) : NULL;
    if (!rows || (rows->len && !runs))
        return NULL;
    g_autoptr(GHashTable) here = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; runs && i < runs->len; i++)
        g_hash_table_insert(here, ((struct orch_run_digest *)runs->pdata[i])->key, runs->pdata[i]);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_check);
    for (guint i = 0; i < rows->len && !(run_key && i >= ORCH_SIGNATURES_OF_RUN_MAX); i++) {
        struct orch_signature_check *judged = judge(rows->pdata[i], here, dir, error);
        if (!judged)
            return NULL;
        if (!run_key || names_run(judged, run_key))
            g_ptr_array_add(all, judged);
        else
            free_check(judged);
    }
    return g_steal_pointer(&all);
}
