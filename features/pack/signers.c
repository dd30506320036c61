/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summarises who signed the runs of a pack. */
#include "features/pack/unpack.h"

#include "features/pack/statement.h"
#include "store/exchange/signing.h"

#include <string.h>

/* Counts the runs by signer, and runs whose signature does not fit. */
struct tally {
    GHashTable *by; /* signer -> GHashTable of run keys */
    unsigned bad;
};

static void add(struct tally *tally, const struct orch_signature_check *judged)
{
    const char *who = judged->signer ? judged->signer : "an unknown key";
    if (judged->what == ORCH_SIGNATURE_BAD) {
        tally->bad++;
        return;
    }
    g_autofree char *name = judged->what == ORCH_SIGNATURE_GOOD
                                ? g_strdup(who)
                                : g_strdup_printf("an unknown key (%s)", who);
    GHashTable *keys = g_hash_table_lookup(tally->by, name);
    if (!keys) {
        keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(tally->by, g_strdup(name), keys);
    }
    for (guint i = 0; i < judged->runs->len; i++) {
        const struct orch_signed_run *run = judged->runs->pdata[i];
        if (run->state == ORCH_SIGNED_HERE && run->fits)
            g_hash_table_add(keys, g_strdup(run->key));
    }
}

static char *words_of(const struct tally *tally, unsigned runs)
{
    GString *out = g_string_new(NULL);
    GHashTableIter iter;
    gpointer who, keys;
    g_hash_table_iter_init(&iter, tally->by);
    while (g_hash_table_iter_next(&iter, &who, &keys))
        g_string_append_printf(out, "%s%u of %u runs by %s", out->len ? ", " : "",
                               g_hash_table_size(keys), runs, (char *)who);
    if (tally->bad)
        g_string_append_printf(out, "%s%u bad", out->len ? ", " : "", tally->bad);
    if (out->len)
        return g_string_free(out, FALSE);
    g_string_free(out, TRUE);
    return NULL;
}

bool orch_pack_judge_signatures(struct orch_pack *pack, GError **error)
{
    struct orch_store *store = orch_store_open(pack->db, ORCH_STORE_READ, error);
    if (!store)
        return false;
    struct tally tally = {
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref),
        0};
    GError *reason = NULL;
    g_autoptr(GPtrArray) judged = orch_signatures_check(store, NULL, NULL, &reason);
    for (guint i = 0; judged && i < judged->len; i++)
        add(&tally, judged->pdata[i]);
    g_autofree char *runs = judged ? words_of(&tally, pack->runs_good)
                                   : g_strdup_printf("not judged: %s", reason->message);
    g_autofree char *whole = orch_statement_judge(pack);
    pack->signed_by =
        whole && runs ? g_strdup_printf("%s, %s", whole, runs) : g_strdup(whole ? whole : runs);
    if (tally.bad)
        g_ptr_array_add(pack->problems,
                        g_strdup_printf("%u signature%s not fit what is signed", tally.bad,
                                        tally.bad == 1 ? " does" : "s do"));
    g_clear_error(&reason);
    g_hash_table_unref(tally.by);
    orch_store_close(store);
    return true;
}
