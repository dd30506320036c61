/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/verify_show.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

static int number(const json_t *object, const char *name)
{
    return (int)orch_json_int(object, name, 0);
}

/* "1.1a Final" */
static char *name_of(const json_t *item)
{
    const char *question = orch_json_text(item, "question", ""),
               *title = orch_json_text(item, "title", orch_json_text(item, "kind", ""));
    return g_strdup_printf("%s%s%s", question, *question && *title ? " " : "", title);
}

static void print_items(struct orch_cli *cli, const json_t *items)
{
    static const char *const headers[] = {"item",     "outcome",      ">confirmed",
                                          ">differs", ">not checked", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        g_autofree char *name = name_of(item);
        orch_table_add(table, name, NULL);
        orch_table_add(table, orch_json_text(item, "outcome", ""), NULL);
        orch_table_add_int(table, number(item, "confirmed"));
        orch_table_add_int(table, number(item, "differs"));
        orch_table_add_int(table, number(item, "not_checked"));
    }
    fflush(stdout);
    orch_cli_table_print(cli, table, "items");
}

static void print_differences(const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const json_t *differences = json_object_get(item, "differences");
        g_autofree char *name = name_of(item);
        const char *why = orch_json_text(item, "why", NULL);
        if (why)
            orch_cli_print_line("not checked: %s: %s", name, why);
        for (size_t j = 0; j < json_array_size(differences); j++) {
            const json_t *d = json_array_get(differences, j);
            orch_cli_print_line("differs: %s: %s: says %s, its rows give %s", name,
                                orch_json_text(d, "place", ""), orch_json_text(d, "said", ""),
                                orch_json_text(d, "found", ""));
        }
        int more = number(item, "differs") - (int)json_array_size(differences);
        if (more > 0)
            orch_cli_print_line("differs: %s: and %d more", name, more);
    }
}

static void print_lines(const char *head, const json_t *lines)
{
    for (size_t i = 0; i < json_array_size(lines); i++)
        orch_cli_print_line("%s: %s", head, json_string_value(json_array_get(lines, i)));
}

static void print_rerun(const json_t *rerun)
{
    for (size_t i = 0; i < json_array_size(rerun); i++) {
        const json_t *row = json_array_get(rerun, i);
        orch_cli_print_line("run again: %s: %s: %s", orch_json_text(row, "trial", ""),
                            orch_json_text(row, "outcome", ""), orch_json_text(row, "why", ""));
        const json_t *values = json_object_get(row, "values");
        for (size_t j = 0; j < json_array_size(values); j++) {
            const json_t *value = json_array_get(values, j);
            orch_cli_print_line("  %s: %s: %s", orch_json_text(value, "name", ""),
                                orch_json_text(value, "outcome", ""),
                                orch_json_text(value, "why", ""));
        }
    }
}

void orch_cli_verify_show(struct orch_cli *cli, const char *path, const json_t *outcome)
{
    const json_t *items = json_object_get(outcome, "items");
    orch_cli_print_line("%s: %s by %s, %s", path, orch_json_text(outcome, "recipe", ""),
                        orch_json_text(outcome, "who", "nobody"),
                        orch_json_text(outcome, "made", ""));
    orch_cli_print_line("checked: %d runs, %d files, %d source trees; signature: %s",
                        number(outcome, "runs"), number(outcome, "files"), number(outcome, "trees"),
                        orch_json_text(outcome, "signature", "none"));
    if (json_array_size(items))
        print_items(cli, items);
    print_differences(items);
    print_lines("problem", json_object_get(outcome, "problems"));
    print_rerun(json_object_get(outcome, "rerun"));
    print_lines("note", json_object_get(outcome, "notes"));
    orch_cli_print_line(
        "%d numbers confirmed, %d differ, %d not checked%s", number(outcome, "confirmed"),
        number(outcome, "differs"), number(outcome, "not_checked"),
        json_is_true(json_object_get(outcome, "page")) ? "; report.html says the same" : "");
}
