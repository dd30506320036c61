/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch verify FOLDER`: compares the hand-ins of a class. */
#include "features/pack/verify_show.h"

#include "features/pack/class_pages.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

enum { SHOWN_MAX = 200, DIFFERENCES_MAX = 5 };

/* ---- output ------------------------------------------------------------------------------------
 */

static bool is_good(const struct orch_submission *handin)
{
    return handin->outcome && json_is_true(json_object_get(handin->outcome, "good")) &&
           !handin->undeclared && !handin->copies;
}

static const char *outcome_of(const struct orch_submission *handin)
{
    if (!handin->outcome)
        return "no pack";
    if (orch_json_int(handin->outcome, "differs", 0))
        return "differs";
    if (!json_is_true(json_object_get(handin->outcome, "good")))
        return "problems";
    if (handin->copies || handin->undeclared)
        return handin->copies ? "copied" : "undeclared";
    return orch_json_int(handin->outcome, "not_checked", 0) ? "partly checked" : "confirmed";
}

/* Columns of numbers or words. Columns that are not worth printing (see tells) are only in JSON. */
enum column {
    RECIPE,
    CONFIRMED,
    DIFFERS,
    NOT_CHECKED,
    SHARED,
    UNDECLARED,
    COPIED,
    SIGNATURE,
    COLUMNS
};
static const char *const COLUMN_NAMES[] = {"recipe",  ">confirmed",  ">differs", ">not checked",
                                           ">shared", ">undeclared", ">copied",  "signature"};

static int64_t number_of(const struct orch_submission *handin, enum column column)
{
    switch (column) {
    case CONFIRMED:
        return orch_json_int(handin->outcome, "confirmed", 0);
    case DIFFERS:
        return orch_json_int(handin->outcome, "differs", 0);
    case NOT_CHECKED:
        return orch_json_int(handin->outcome, "not_checked", 0);
    case SHARED:
        return handin->shared;
    case UNDECLARED:
        return handin->undeclared;
    default:
        return handin->copies;
    }
}

static const char *word_of(const struct orch_submission *handin, enum column column)
{
    return column == RECIPE ? orch_json_text(handin->outcome, "recipe", "-")
                            : orch_json_text(handin->outcome, "signature", "none");
}

static bool is_word(enum column column)
{
    return column == RECIPE || column == SIGNATURE;
}

/* Returns whether a column is worth printing: some number is not 0, or the words are not all
 * equal. */
static bool is_worth_showing(const GPtrArray *handins, enum column column)
{
    bool any = column == CONFIRMED;
    for (guint i = 0; i < handins->len; i++)
        any = any || (is_word(column) ? strcmp(word_of(handins->pdata[i], column),
                                               word_of(handins->pdata[0], column)) != 0
                                      : number_of(handins->pdata[i], column) != 0);
    return any;
}

static struct orch_table *table_of(const GPtrArray *handins, const char *folder, bool has_all)
{
    const char *headers[COLUMNS + 4] = {"hand-in", "who", "outcome"};
    enum column columns[COLUMNS];
    int count = 0;
    for (int i = 0; i < COLUMNS; i++)
        if (has_all || is_worth_showing(handins, (enum column)i)) {
            headers[3 + count] = COLUMN_NAMES[i];
            columns[count++] = (enum column)i;
        }
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < handins->len; i++) {
        const struct orch_submission *handin = handins->pdata[i];
        const char *name = handin->file + strlen(folder);
        orch_table_add(table, name + strspn(name, "/"), NULL);
        orch_table_add_who(table, orch_json_text(handin->outcome, "who", NULL));
        orch_table_add(table, outcome_of(handin), NULL);
        for (int j = 0; j < count; j++) {
            if (is_word(columns[j]))
                orch_table_add(table, word_of(handin, columns[j]), NULL);
            else
                orch_table_add_int(table, number_of(handin, columns[j]));
        }
    }
    return table;
}

/* Prints "6 hand-ins: 5 confirmed, 1 differs; no signatures". */
static void print_sum(const GPtrArray *handins)
{
    static const char *const words[] = {"confirmed",  "partly checked", "differs", "copied",
                                        "undeclared", "problems",       "no pack"};
    printf("%u hand-in%s:", handins->len, orch_plural(handins->len));
    const char *between = " ";
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        unsigned count = 0;
        for (guint j = 0; j < handins->len; j++)
            count += strcmp(outcome_of(handins->pdata[j]), words[i]) == 0;
        if (count)
            printf("%s%u %s", between, count, words[i]);
        between = count ? ", " : between;
    }
    const char *signature = word_of(handins->pdata[0], SIGNATURE);
    if (!is_worth_showing(handins, SIGNATURE))
        printf("; signatures: %s", signature);
    putchar('\n');
}

/* Prints the first reported numbers that differ from those computed from the rows. */
static void print_numbers(const struct orch_submission *handin)
{
    const json_t *items = json_object_get(handin->outcome, "items");
    int shown = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const json_t *list = json_object_get(item, "differences");
        for (size_t j = 0; j < json_array_size(list) && shown < DIFFERENCES_MAX; j++, shown++) {
            const json_t *d = json_array_get(list, j);
            orch_cli_print_line("%s: %s %s: %s: says %s, its rows give %s", handin->file,
                                orch_json_text(item, "question", ""),
                                orch_json_text(item, "title", ""), orch_json_text(d, "place", ""),
                                orch_json_text(d, "said", ""), orch_json_text(d, "found", ""));
        }
    }
    int more = (int)orch_json_int(handin->outcome, "differs", 0) - shown;
    if (more > 0)
        orch_cli_print_line("%s: %d more differ ('orch verify %s' lists them)", handin->file, more,
                            handin->file);
}

static void print_handin(const struct orch_submission *handin)
{
    if (handin->why)
        orch_cli_print_line("%s: %s", handin->file, handin->why);
    const json_t *problems = json_object_get(handin->outcome, "problems");
    for (size_t i = 0; i < json_array_size(problems) && i < 5; i++)
        orch_cli_print_line("%s: %s", handin->file, json_string_value(json_array_get(problems, i)));
    print_numbers(handin);
}

static void print_common(const GPtrArray *found)
{
    for (guint i = 0; i < found->len && i < SHOWN_MAX; i++) {
        const struct orch_in_common *c = found->pdata[i];
        if (!*c->run) {
            orch_cli_print_line("%s: %s and %s: %s", c->kind, c->file, c->other, c->what);
            continue;
        }
        orch_cli_print_line("%s: %s: %s %s%s%s%s%s: %s", c->kind, c->file, c->experiment,
                            orch_run_short_key(c->run), c->other ? " and " : "",
                            c->other ? c->other : "", c->other ? " " : "",
                            c->other ? orch_run_short_key(c->other_run) : "", c->what);
    }
    if (found->len > SHOWN_MAX)
        orch_cli_print_line("and %u more (--json has all)", found->len - SHOWN_MAX);
}

static json_t *common_json(const GPtrArray *found)
{
    json_t *out = json_array();
    for (guint i = 0; i < found->len; i++) {
        const struct orch_in_common *c = found->pdata[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s?, s:s}", "kind",
                                             c->kind, "file", c->file, "other", c->other,
                                             "experiment", c->experiment, "run", c->run,
                                             "other_run", c->other_run, "what", c->what));
    }
    return out;
}

static void give(struct orch_cli *cli, const GPtrArray *handins, const GPtrArray *found,
                 const char *folder)
{
    struct orch_table *table = table_of(handins, folder, cli->json);
    if (cli->json) {
        json_t *outcomes = json_array();
        for (guint i = 0; i < handins->len; i++) {
            const struct orch_submission *handin = handins->pdata[i];
            json_t *outcome = handin->outcome ? json_incref(handin->outcome) : json_null();
            json_object_del(outcome, "facts");
            json_array_append_new(outcomes, json_pack("{s:s, s:o, s:s?}", "file", handin->file,
                                                      "outcome", outcome, "why", handin->why));
        }
        orch_cli_print_json(json_pack("{s:o, s:o, s:o}", "handins", orch_cli_table_to_json(table),
                                      "outcomes", outcomes, "in_common", common_json(found)));
        return;
    }
    orch_cli_table_print(cli, table, "handins");
    for (guint i = 0; i < handins->len; i++)
        print_handin(handins->pdata[i]);
    print_common(found);
    print_sum(handins);
}

/* The hand-in that has copies of this one's runs, as found; NULL: none. */
static const char *copied_with(const struct orch_submission *handin, const GPtrArray *found)
{
    for (guint i = 0; handin->copies && i < found->len; i++) {
        const struct orch_in_common *c = found->pdata[i];
        if (strcmp(c->kind, "copied run") == 0 && c->other &&
            (c->file == handin->file || c->other == handin->file))
            return c->file == handin->file ? c->other : c->file;
    }
    return handin->copies ? "another hand-in" : NULL;
}

/* The hand-ins as they are graded (struct orch_graded). The caller unrefs. */
static GArray *graded_of(const GPtrArray *handins, const GPtrArray *found, const char *folder)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct orch_graded));
    for (guint i = 0; i < handins->len; i++) {
        const struct orch_submission *handin = handins->pdata[i];
        const char *name = handin->file + strlen(folder), *with = copied_with(handin, found);
        const char *other = with && g_str_has_prefix(with, folder) ? with + strlen(folder) : with;
        const struct orch_graded graded = {.file = name + strspn(name, "/"),
                                           .outcome = handin->outcome,
                                           .why = handin->why,
                                           .copied = other ? other + strspn(other, "/") : NULL};
        g_array_append_val(rows, graded);
    }
    return rows;
}

int orch_cli_verify_class(struct orch_cli *cli, const struct orch_verify_class *what,
                          GError **error)
{
    const char *folder = what->folder;
    g_autoptr(GPtrArray) handins = orch_submissions_find(folder, error);
    if (!handins ||
        !orch_submissions_verify(handins, cli->plugin_paths, what->is_full, what->jobs, error))
        return -1;
    g_autoptr(GPtrArray) found = orch_class_compare(handins);
    bool good = true;
    for (guint i = 0; i < handins->len; i++)
        good = good && is_good(handins->pdata[i]);
    g_autoptr(GArray) graded = graded_of(handins, found, folder);
    if (what->output && !orch_class_pages_write(graded, found, folder, what->output, error))
        return -1;
    if (what->grades)
        orch_cli_grades_show(cli, what->grades, graded, false);
    else
        give(cli, handins, found, folder);
    if (what->output)
        orch_cli_info(cli, "the page of the class is '%s/index.html'", what->output);
    fflush(stdout);
    return good ? ORCH_EXIT_OK : ORCH_EXIT_CHECK;
}
