/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/disturbed.h"

#include "core/stats/group.h"
#include "core/stats/seeds.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/foreign_cpu_fact.h"

#include <math.h>
#include <string.h>

/* Returns a text of the experiment and the swept values without seeds. */
static char *setting_of(const struct orch_run *run)
{
    size_t length = run->facts ? strlen(run->facts) : 0;
    g_autoptr(json_t) facts = length ? orch_json_parse(run->facts, length, length, NULL) : NULL;
    g_autoptr(json_t) swept = json_deep_copy(json_object_get(facts, "coords"));
    orch_seed_names_remove(swept);
    g_autofree char *coords = orch_json_canonical(swept);
    return g_strdup_printf("%s %s", run->experiment ? run->experiment : "", coords ? coords : "");
}

double orch_disturbed_share(const json_t *facts)
{
    double share = NAN;
    orch_json_get_real(json_object_get(facts, ORCH_FACT_FOREIGN_CPU), &share);
    return share;
}

void orch_disturbed_find(struct orch_store *store, const GPtrArray *runs,
                         struct orch_disturbed *out)
{
    *out = (struct orch_disturbed){.left_out = g_hash_table_new(NULL, NULL)};
    g_autoptr(GPtrArray) suspects = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (run && orch_run_is_disturbed(store, run))
            g_ptr_array_add(suspects, runs->pdata[i]);
    }
    if (!suspects->len)
        return;
    g_autoptr(GHashTable) quiet = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (run && !orch_run_is_disturbed(store, run))
            g_hash_table_add(quiet, setting_of(run));
    }
    for (guint i = 0; i < suspects->len; i++) {
        g_autofree char *setting = setting_of(suspects->pdata[i]);
        if (g_hash_table_contains(quiet, setting)) {
            g_hash_table_add(out->left_out, suspects->pdata[i]);
            out->left_out_count++;
        } else {
            out->kept_count++;
        }
    }
}

void orch_disturbed_clear(struct orch_disturbed *disturbed)
{
    g_clear_pointer(&disturbed->left_out, g_hash_table_unref);
}

bool orch_disturbed_has(const struct orch_disturbed *disturbed, const struct orch_run *run)
{
    return disturbed->left_out && g_hash_table_contains(disturbed->left_out, run);
}

char *orch_disturbed_text(guint left_out, guint kept, const char *option)
{
    GString *text = g_string_new(NULL);
    if (left_out)
        g_string_append_printf(
            text,
            "%u run%s left out, because other programs used over %g %% of the CPUs meanwhile%s%s%s",
            left_out, left_out == 1 ? " is" : "s are", 100 * ORCH_FOREIGN_CPU_MAX,
            option ? " (" : "", option ? option : "", option ? " counts them too)" : "");
    if (kept)
        g_string_append_printf(
            text,
            "%s%u run%s may be too slow: other programs used over %g %% of the CPUs, and %s "
            "setting has no undisturbed run",
            text->len ? "; " : "", kept, orch_plural(kept), 100 * ORCH_FOREIGN_CPU_MAX,
            kept == 1 ? "its" : "their");
    if (text->len)
        return g_string_free(text, FALSE);
    g_string_free(text, TRUE);
    return NULL;
}
