/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `orch` says without arguments. */
#include "core/cli/first_words.h"

#include "core/cli/scripts_here.h"
#include "core/feature/feature.h"
#include "core/results/ranked_metric.h"
#include "lib/base/error.h"

#include <string.h>

enum { ALSO_MAX = 2, COMMAND_COLUMNS_MAX = 40 };

/* Lines of a command and what it does. */
struct lines {
    GPtrArray *commands, *does; /* char * */
};

static void add(struct lines *lines, char *command, char *does)
{
    g_ptr_array_add(lines->commands, command);
    g_ptr_array_add(lines->does, does);
}

/* Appends "; also A, B and 3 more" for the entries of a list behind the first; without the program
 * that runs each, as in "python3 train.py", where that is said. */
static char *with_others(const char *text, const GPtrArray *list, bool without_runner)
{
    GString *out = g_string_new(text);
    for (guint i = 1; i < list->len && i <= ALSO_MAX; i++) {
        const char *entry = list->pdata[i], *blank = without_runner ? strchr(entry, ' ') : NULL;
        g_string_append_printf(out, "%s%s", i == 1 ? "; also " : ", ", blank ? blank + 1 : entry);
    }
    if (list->len > ALSO_MAX + 1)
        g_string_append_printf(out, " and %u more", list->len - ALSO_MAX - 1);
    return g_string_free(out, FALSE);
}

/* The lines of a store that can be read. */
static bool add_results(struct lines *lines, struct orch_store *store, GError **error)
{
    struct orch_ranked_metric metric = {0};
    if (!orch_ranked_metric_find(store, &metric, error))
        return false;
    const char *advice = orch_advice(ORCH_ADVICE_STORE_HERE, NULL);
    g_auto(GStrv) parts = advice ? g_strsplit(advice, "\t", 2) : NULL;
    if (parts)
        add(lines, g_strdup(parts[0]), g_strdup(parts[1]));
    const char *best = orch_advice(ORCH_ADVICE_BEST, NULL);
    if (metric.name && best) {
        g_autofree char *word = orch_cli_shell_word(metric.name);
        add(lines, g_strconcat(best, " ", word, metric.option, NULL),
            g_strdup("rank the settings that have run"));
    } else {
        add(lines, g_strdup("orch ls"), g_strdup("list the runs"));
    }
    g_free(metric.name);
    return true;
}

/* The lines of this folder's store, or of the reason why it cannot be read. Returns whether there
 * is a store. */
static bool add_store(struct lines *lines, struct orch_cli *cli)
{
    g_autoptr(GError) problem = NULL;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, &problem);
    if (workspace && !orch_workspace_has_store(workspace))
        return false;
    struct orch_store *store = workspace ? orch_cli_store(cli, ORCH_STORE_READ, &problem) : NULL;
    if (store && add_results(lines, store, &problem))
        return true;
    g_autofree char *what = orch_error_what(problem);
    orch_cli_warn(cli, "%s", what);
    const char *doctor = orch_advice(ORCH_ADVICE_MACHINE, NULL);
    if (doctor)
        add(lines, g_strdup(doctor), g_strdup("show what is wrong, and how to mend it"));
    return true;
}

static void add_files(struct lines *lines, const struct orch_here *here)
{
    if (here->recipes->len) {
        g_autofree char *word = orch_cli_shell_word(here->recipes->pdata[0]);
        add(lines, g_strconcat("orch run ", word, NULL),
            with_others("run its missing trials", here->recipes, false));
    }
    if (here->scripts->len)
        add(lines, g_strconcat("orch try -- ", here->scripts->pdata[0], NULL),
            with_others("record your script as it is", here->scripts, true));
}

static void print_lines(struct orch_cli *cli, const struct lines *lines)
{
    int columns = 0;
    for (guint i = 0; i < lines->commands->len; i++) {
        int own = orch_text_columns(lines->commands->pdata[i]);
        columns = own <= COMMAND_COLUMNS_MAX ? MAX(columns, own) : columns;
    }
    for (guint i = 0; i < lines->commands->len; i++) {
        const char *command = lines->commands->pdata[i];
        int blanks = MAX(columns - orch_text_columns(command), 0) + 2;
        orch_cli_info(cli, "  %s%*s%s", command, blanks, "", (char *)lines->does->pdata[i]);
    }
}

void orch_first_words(struct orch_cli *cli)
{
    g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) does = g_ptr_array_new_with_free_func(g_free);
    struct lines lines = {commands, does};
    struct orch_here here;
    orch_here_read(&here);
    if (here.error)
        orch_cli_warn(cli, "cannot read this folder: %s", g_strerror(here.error));
    bool has_store = add_store(&lines, cli);
    add_files(&lines, &here);
    if (!here.scripts->len && !here.recipes->len)
        add(&lines, g_strdup("orch try -- COMMAND"),
            g_strdup("record any program, and the values that it prints"));
    if (!has_store && !here.recipes->len)
        add(&lines, g_strdup("orch init"), g_strdup("write a first recipe, and make a store"));
    orch_cli_info(cli, "orch runs experiments and records every result. In this folder:\n");
    print_lines(cli, &lines);
    orch_cli_info(cli, "\n'orch help' lists all commands.");
    orch_here_clear(&here);
}
