/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/run_code.h"

/* Returns a text that is equal for runs of one source tree; outside of a repository, of runs that
 * read the same files. NULL without an error when neither is recorded. The caller frees. */
static char *code_of(struct orch_store *store, const struct orch_run *run, GError **error)
{
    if (run->source_tree)
        return g_strdup(run->source_tree);
    g_autoptr(GPtrArray) inputs = orch_store_inputs(store, run->id, error);
    GString *text = g_string_new(NULL);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        if (input->sha256)
            g_string_append_printf(text, "%s %s\n", input->name, input->sha256);
    }
    if (text->len)
        return g_string_free(text, FALSE);
    g_string_free(text, TRUE);
    return NULL;
}

bool orch_run_code_add(struct orch_store *store, const struct orch_run *run, GHashTable *codes,
                       GError **error)
{
    GError *problem = NULL;
    char *code = code_of(store, run, &problem);
    if (code)
        g_hash_table_add(codes, code);
    if (problem)
        g_propagate_error(error, problem);
    return !problem;
}

bool orch_run_code_is_in(struct orch_store *store, const struct orch_run *run, GHashTable *codes,
                         bool *out, GError **error)
{
    GError *problem = NULL;
    g_autofree char *code = code_of(store, run, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    *out = code && g_hash_table_contains(codes, code);
    return true;
}
