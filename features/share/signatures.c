/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/signatures.h"

#include "core/cli/parts.h"
#include "core/cli/show_lines.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/exchange/signing.h"

#include <string.h>

static const char *const STATES[] = {
    [ORCH_SIGNATURE_GOOD] = "good",
    [ORCH_SIGNATURE_UNKNOWN_KEY] = "unknown key",
    [ORCH_SIGNATURE_BAD] = "bad",
};

/* ---- make --------------------------------------------------------------------------------------
 */

int orch_cli_signatures_make(struct orch_cli *cli, struct orch_store *store, bool is_requested,
                             GError **error)
{
    const char *dir = cli->workspace->folder;
    if (!is_requested && !orch_vcs_signs(dir))
        return 0;
    g_autoptr(GError) problem = NULL;
    int count = orch_sign_runs(store, dir, &problem);
    if (count > 0)
        orch_cli_info(cli, "signed %d run%s", count, orch_plural(count));
    if (count < 0 && is_requested)
        g_propagate_error(error, g_steal_pointer(&problem));
    else if (count < 0)
        orch_cli_warn(cli, "nothing was signed: %s", problem->message);
    return count < 0 && !is_requested ? 0 : count;
}

/* ---- of one run --------------------------------------------------------------------------------
 */

static const struct orch_signed_run *run_of(const struct orch_signature_check *judged,
                                            const char *key)
{
    for (guint i = 0; i < judged->runs->len; i++) {
        const struct orch_signed_run *run = judged->runs->pdata[i];
        if (strcmp(run->key, key) == 0)
            return run;
    }
    return NULL;
}

static char *worth(const struct orch_signature_check *judged, const struct orch_signed_run *run)
{
    if (judged->what == ORCH_SIGNATURE_BAD)
        return g_strdup("a bad signature: see 'orch db check --signatures'");
    if (run->state == ORCH_SIGNED_OTHER)
        return g_strdup("a signature of another run with the same key");
    if (judged->what == ORCH_SIGNATURE_UNKNOWN_KEY)
        return g_strdup_printf("by an unknown key, %s", judged->signer ? judged->signer : "-");
    return g_strdup_printf("by %s%s", judged->signer,
                           run->fits ? "" : ", but the run names another author");
}

/* Returns one text for each signature of a run: "signed by ada@example.org". */
static GPtrArray *texts_of(struct orch_cli *cli, struct orch_store *store, const char *run_key,
                           GError **error)
{
    g_autoptr(GPtrArray) all = orch_signatures_check(store, cli->workspace->folder, run_key, error);
    if (!all)
        return NULL;
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < all->len; i++) {
        const struct orch_signed_run *run = run_of(all->pdata[i], run_key);
        if (run)
            g_ptr_array_add(texts, worth(all->pdata[i], run));
    }
    if (all->len >= ORCH_SIGNATURES_OF_RUN_MAX)
        g_ptr_array_add(texts, g_strdup("and maybe more: 'orch db check --signatures' judges all"));
    return texts;
}

/* The same as JSON: [{state, signer, fits}]; null when they cannot be judged. */
static json_t *json_of(struct orch_cli *cli, struct orch_store *store, const char *run_key)
{
    g_autoptr(GPtrArray) all = orch_signatures_check(store, cli->workspace->folder, run_key, NULL);
    if (!all)
        return json_null();
    json_t *list = json_array();
    for (guint i = 0; i < all->len; i++) {
        const struct orch_signature_check *judged = all->pdata[i];
        const struct orch_signed_run *run = run_of(judged, run_key);
        if (run)
            json_array_append_new(list,
                                  json_pack("{s:s s:s? s:b s:b}", "state", STATES[judged->what],
                                            "signer", judged->signer, "same_digest",
                                            run->state == ORCH_SIGNED_HERE, "fits", run->fits));
    }
    return list;
}

/* 'orch show RUN' says by whom a run is signed. */
static bool show_of_run(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                        json_t *json, GError **error)
{
    (void)options, (void)error; /* signatures that cannot be judged are no reason to show less */
    if (json) {
        json_object_set_new(json, "signatures", json_of(cli, subject->store, subject->run->key));
        return true;
    }
    g_autoptr(GError) problem = NULL;
    g_autoptr(GPtrArray) texts = texts_of(cli, subject->store, subject->run->key, &problem);
    if (!texts)
        orch_cli_show_line("signed", "it cannot be checked here: %s", problem->message);
    for (guint i = 0; texts && i < texts->len; i++)
        orch_cli_show_line("signed", "%s", (const char *)texts->pdata[i]);
    return true;
}

const struct orch_command_part ORCH_PART_SHOW_SIGNATURES = {.command = "show", .show = show_of_run};

/* ---- all signatures ----------------------------------------------------------------------------
 */

static void note_faults(const struct orch_signature_check *judged, GPtrArray *findings)
{
    const char *note = orch_run_short_key(judged->note);
    if (judged->what == ORCH_SIGNATURE_BAD) {
        g_ptr_array_add(findings,
                        g_strdup_printf("signature %s, in the name of %s, is bad: %s", note,
                                        judged->who ? judged->who : "nobody",
                                        judged->is_damaged ? "it is not a signature"
                                                           : "it does not match its runs"));
        return;
    }
    for (guint i = 0; i < judged->runs->len; i++) {
        const struct orch_signed_run *run = judged->runs->pdata[i];
        const char *key = orch_run_short_key(run->key);
        if (run->state == ORCH_SIGNED_OTHER)
            g_ptr_array_add(
                findings,
                g_strdup_printf("run %s has another digest here than in signature %s", key, note));
        else if (run->state == ORCH_SIGNED_HERE && !run->fits)
            g_ptr_array_add(findings,
                            g_strdup_printf("run %s is signed by %s, but names another author", key,
                                            judged->signer));
    }
}

/* Counts the distinct runs that each signer has signed; the sets are signer -> keys. */
static void count_signed(const GPtrArray *all, GHashTable *by_signer, GHashTable *any)
{
    for (guint i = 0; i < all->len; i++) {
        const struct orch_signature_check *judged = all->pdata[i];
        for (guint j = 0; judged->what == ORCH_SIGNATURE_GOOD && j < judged->runs->len; j++) {
            const struct orch_signed_run *run = judged->runs->pdata[j];
            if (!run->fits)
                continue;
            GHashTable *keys = g_hash_table_lookup(by_signer, judged->signer);
            if (!keys) {
                keys = g_hash_table_new(g_str_hash, g_str_equal);
                g_hash_table_insert(by_signer, judged->signer, keys);
            }
            g_hash_table_add(keys, run->key);
            g_hash_table_add(any, run->key);
        }
    }
}

static struct orch_table *make_table(const GPtrArray *all)
{
    static const char *const headers[] = {"signature", "state", "signer", "said to be by",
                                          "made",      ">runs", ">here",  NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < all->len; i++) {
        const struct orch_signature_check *judged = all->pdata[i];
        g_autofree char *made = orch_time_format(judged->made_ns, true);
        int64_t here = 0;
        for (guint j = 0; j < judged->runs->len; j++)
            here += ((struct orch_signed_run *)judged->runs->pdata[j])->state == ORCH_SIGNED_HERE;
        orch_table_add(table, orch_run_short_key(judged->note), json_string(judged->note));
        orch_table_add(table, STATES[judged->what], NULL);
        orch_table_add(table, judged->signer ? judged->signer : "-",
                       orch_json_text_or_null(judged->signer));
        orch_table_add_who(table, judged->who);
        orch_table_add(table, made, NULL);
        orch_table_add_int(table, judged->runs->len);
        orch_table_add_int(table, here);
    }
    return table;
}

static void print_counts(struct orch_cli *cli, GHashTable *by_signer, guint signed_runs, guint runs)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_autoptr(GList) signers = g_list_sort(g_hash_table_get_keys(by_signer), (GCompareFunc)strcmp);
    for (const GList *at = signers; at; at = at->next)
        g_string_append_printf(line, "%s%u by %s", line->len ? ", " : ": ",
                               g_hash_table_size(g_hash_table_lookup(by_signer, at->data)),
                               (const char *)at->data);
    orch_cli_info(cli, "signed: %u of %u runs%s; %u unsigned", signed_runs, runs, line->str,
                  runs - signed_runs);
}

static json_t *counts_json(GHashTable *by_signer)
{
    json_t *counts = json_object();
    GHashTableIter iter;
    void *signer, *keys;
    g_hash_table_iter_init(&iter, by_signer);
    while (g_hash_table_iter_next(&iter, &signer, &keys))
        json_object_set_new(counts, signer, json_integer(g_hash_table_size(keys)));
    return counts;
}

/* Verifies all signatures of the store. Problems are added to the subject's faults. */
static bool show_all(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                     json_t *json, GError **error)
{
    (void)options;
    struct orch_store *store = subject->store;
    g_autoptr(GPtrArray) all = orch_signatures_check(store, cli->workspace->folder, NULL, error);
    g_autoptr(GPtrArray) runs = all ? orch_store_run_digests(store, error) : NULL;
    if (!runs)
        return false;
    g_autoptr(GHashTable) by_signer =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_hash_table_unref);
    g_autoptr(GHashTable) any = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < all->len; i++)
        note_faults(all->pdata[i], subject->faults);
    count_signed(all, by_signer, any);
    guint signed_runs = g_hash_table_size(any);
    if (json) {
        json_object_set_new(json, "signed", json_integer(signed_runs));
        json_object_set_new(json, "unsigned", json_integer(runs->len - signed_runs));
        json_object_set_new(json, "signed_by", counts_json(by_signer));
        json_object_set_new(json, "signatures", orch_cli_table_to_json(make_table(all)));
        return true;
    }
    if (all->len)
        orch_cli_table_print(cli, make_table(all), "signatures");
    fflush(stdout);
    print_counts(cli, by_signer, signed_runs, runs->len);
    return true;
}

struct check_options {
    bool signatures;
};

static const struct orch_option CHECK_OPTIONS[] = {
    ORCH_OPTION(struct check_options, signatures, FLAG, "signatures",
                .help = "also verify the signatures of the runs"),
    {0}};

static bool check_is_asked(const void *options)
{
    return ((const struct check_options *)options)->signatures;
}

const struct orch_command_part ORCH_PART_CHECK_SIGNATURES = {
    .command = "db check",
    .options = CHECK_OPTIONS,
    .option_bytes = sizeof(struct check_options),
    .about = " With --signatures the exit status is also 7 when a signature does not match its run "
             "or is not by the run's author. Signatures by unknown keys, and unsigned runs, are "
             "only counted. See 'orch help sharing'.",
    .is_asked = check_is_asked,
    .show = show_all,
};
