/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of runs and plugins come from files and stores of other people. The pattern here is strict
 * on purpose: what it leaves out can still be typed. */
#include "core/commands/completion_names.h"

#include "core/results/run_list.h"

#include <string.h>

enum { RUNS_MAX = 100, NAME_BYTES_MAX = 100 };

static bool is_safe(const char *name)
{
    static const char inner[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-";
    return g_ascii_isalnum(name[0]) && name[strspn(name, inner)] == 0 &&
           strlen(name) <= NAME_BYTES_MAX;
}

/* Prints a name once. */
static void print_name(GHashTable *printed, const char *name)
{
    if (name && is_safe(name) && g_hash_table_add(printed, g_strdup(name)))
        puts(name);
}

/* Prints the short keys and names of the newest runs, and of those that are running. */
static void print_runs(struct orch_cli *cli, GHashTable *printed)
{
    g_autoptr(GError) unsaid = NULL;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, &unsaid);
    const struct orch_selection newest = {.limit = RUNS_MAX};
    struct orch_run_list *list =
        store ? orch_run_list_make(store, &newest, NULL, true, &unsaid) : NULL;
    if (list && list->ended)
        puts("@last");
    for (guint i = 0; list && i < list->runs->len; i++) {
        const struct orch_listed_run *row = list->runs->pdata[i];
        print_name(printed, orch_cli_short_key(row->key));
        print_name(printed, row->name);
    }
    orch_run_list_free(list);
}

static void print_plugins(struct orch_cli *cli, GHashTable *printed)
{
    g_autofree char *base = orch_cli_recipe_folder();
    g_autoptr(GPtrArray) entries = orch_plugins_list(orch_cli_plugins(cli), base);
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        print_name(printed, entry->manifest ? entry->manifest->name : NULL);
    }
}

bool orch_completion_names(struct orch_cli *cli, const char *kind)
{
    static const struct {
        const char *kind;
        void (*print)(struct orch_cli *, GHashTable *);
    } kinds[] = {{"runs", print_runs}, {"plugins", print_plugins}};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            g_autoptr(GHashTable) printed =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
            kinds[i].print(cli, printed);
            return true;
        }
    return false;
}
