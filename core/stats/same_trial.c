/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fingerprint changes when code is edited, so it cannot identify which runs replace which:
 * tables and winners would average over versions of the code. */
#include "core/stats/same_trial.h"

#include "core/stats/tried_command.h"
#include "lib/base/json.h"
#include "lib/wire/secret.h"

json_t *orch_run_open_params(struct orch_store *store, const struct orch_run *run, GError **error)
{
    json_t *params = orch_store_params(store, run->id, error);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(params, next, name, value)
    {
        if (json_is_string(value) && orch_secret_is_recorded(json_string_value(value), run->key))
            json_object_del(params, name);
    }
    return params;
}

/* Takes `all`, adds the command of 'orch try' and formats it. */
static char *text_of(const struct orch_run *run, json_t *all)
{
    g_auto(GStrv) words = orch_run_setting_words(run);
    for (guint i = 0; all && words && words[i]; i++)
        json_array_append_new(all, json_string(words[i]));
    char *text = all ? orch_json_canonical(all) : NULL; /* NULL: imported text that is not UTF-8 */
    json_decref(all);
    return text ? text : g_strdup(run->key);
}

char *orch_run_trial_text(const struct orch_run *run, const json_t *open_params, bool with_device)
{
    if (!run->seed)
        return g_strdup(run->key);
    return text_of(run, json_pack("[s? s? s? s? O i o]", run->recipe, run->experiment, run->plugin,
                                  with_device ? run->device_key : NULL, open_params, run->repeat,
                                  orch_json_u64(run->seed)));
}

char *orch_run_repeats_text(const struct orch_run *run, const json_t *params)
{
    return text_of(run,
                   json_pack("[s? s? s? O]", run->recipe, run->experiment, run->plugin, params));
}

bool orch_trial_is_repeated(struct orch_store *store, const struct orch_run *run, GHashTable *seen,
                            bool *out_is_seen, GError **error)
{
    g_autoptr(json_t) params = orch_run_open_params(store, run, error);
    if (!params)
        return false;
    *out_is_seen = !g_hash_table_add(seen, orch_run_trial_text(run, params, true));
    return true;
}
