/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that a verification proposes. A part whose numbers all follow from its runs gets all
 * points, and one with a number that does not gets none. What was not checked here, or has no
 * number, is left to the grader. */
#include "features/pack/verify_show.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

const char *const ORCH_GRADES[] = {"csv", "gradescope", NULL};

bool orch_grades_check(const char *format, GError **error)
{
    if (!format || g_strv_contains(ORCH_GRADES, format))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "use csv or gradescope",
                   "option '--grades': unknown value '%s'", format);
    return false;
}

static int64_t sum_of(const json_t *outcome, const char *question, const char *key)
{
    const json_t *items = json_object_get(outcome, "items");
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (strcmp(orch_json_text(item, "question", ""), question) == 0)
            sum += orch_json_int(item, key, 0);
    }
    return sum;
}

/* Whether the student answers a part by a text, which nothing can confirm. */
static bool is_text(const json_t *outcome, const char *question)
{
    const json_t *items = json_object_get(outcome, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (strcmp(orch_json_text(item, "question", ""), question) == 0 &&
            strcmp(orch_json_text(item, "kind", ""), "student") == 0)
            return true;
    }
    return false;
}

static struct orch_grade grade_of(const struct orch_graded *handin, const json_t *part)
{
    struct orch_grade g = {.part = orch_json_text(part, "question", ""),
                           .most = json_number_value(json_object_get(part, "points")),
                           .proposed = NAN};
    int64_t confirmed = sum_of(handin->outcome, g.part, "confirmed"),
            left = sum_of(handin->outcome, g.part, "not_checked");
    g.differs = sum_of(handin->outcome, g.part, "differs");
    if (handin->copied) {
        g.proposed = 0;
        g.reason = g_strdup_printf("its runs are also in %s", handin->copied);
    } else if (g.differs) {
        g.proposed = 0;
        g.reason = g_strdup_printf("%d number%s not follow from the runs", (int)g.differs,
                                   g.differs == 1 ? " does" : "s do");
    } else if (is_text(handin->outcome, g.part)) {
        g.reason = g_strdup("the student's text is left to the grader");
    } else if (left || !confirmed) {
        g.reason = left ? g_strdup_printf("%d number%s not checked here", (int)left,
                                          left == 1 ? " was" : "s were")
                        : g_strdup("it has no number");
    } else {
        g.proposed = g.most;
        g.reason = g_strdup_printf("all %d numbers follow from the runs", (int)confirmed);
    }
    return g;
}

void orch_grades_visit(const struct orch_graded *handin, orch_grade_fn visit, void *ctx)
{
    const json_t *parts = json_object_get(handin->outcome, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        struct orch_grade grade = grade_of(handin, json_array_get(parts, i));
        visit(ctx, handin, &grade);
        g_free(grade.reason);
    }
    if (json_array_size(parts))
        return;
    const json_t *problems = json_object_get(handin->outcome, "problems");
    const char *problem = json_string_value(json_array_get(problems, 0));
    struct orch_grade none = {"all", 0, 0,
                              g_strdup(handin->why ? handin->why
                                       : problem   ? problem
                                                   : "its report has no question"),
                              0};
    visit(ctx, handin, &none);
    g_free(none.reason);
}

/* ---- CSV --------------------------------------------------------------------------------------
 */

/* Adds a text of the student, which a spreadsheet must not take for a formula. */
static void add_text(struct orch_table *table, const char *text)
{
    g_autofree char *safe = g_strconcat(*text && strchr("=+-@\t\r", *text) ? "'" : "", text, NULL);
    orch_table_add(table, safe, NULL);
}

static void add_row(void *ctx, const struct orch_graded *handin, const struct orch_grade *grade)
{
    struct orch_table *table = ctx;
    g_autofree char *most = g_strdup_printf("%g", grade->most),
                    *proposed = isnan(grade->proposed) ? g_strdup("")
                                                       : g_strdup_printf("%g", grade->proposed);
    add_text(table, handin->file);
    add_text(table, orch_json_text(handin->outcome, "who", ""));
    add_text(table, grade->part);
    orch_table_add(table, most, NULL);
    orch_table_add(table, proposed, NULL);
    orch_table_add_int(table, grade->differs);
    add_text(table, grade->reason);
}

static void show_csv(const struct orch_cli *cli, const GArray *handins)
{
    static const char *const headers[] = {"hand-in",  "who",     "part",   "points",
                                          "proposed", "differs", "reason", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < handins->len; i++)
        orch_grades_visit(&g_array_index(handins, struct orch_graded, i), add_row, table);
    g_autofree char *text = orch_table_format(table, ORCH_TABLE_CSV);
    orch_cli_write_data(cli, text, strlen(text));
    orch_table_free(table);
}

/* ---- Gradescope: results.json as docs/specs.md of gradescope/autograder_samples has it ---------
 */

static void add_test(void *ctx, const struct orch_graded *handin, const struct orch_grade *grade)
{
    json_t *test =
        json_pack("{s:s s:o s:s s:s}", "name", grade->part, "max_score",
                  orch_json_finite(grade->most), "output", grade->reason, "visibility", "visible");
    if (json_array_size(json_object_get(handin->outcome, "parts"))) /* else it has no question */
        json_object_set_new(test, "number", json_string(grade->part));
    if (!isnan(grade->proposed)) /* else the grader gives it */
        json_object_set_new(test, "score", orch_json_finite(grade->proposed));
    json_array_append_new(ctx, test);
}

static json_t *results_of(const struct orch_graded *handin)
{
    json_t *tests = json_array();
    orch_grades_visit(handin, add_test, tests);
    double score = 0;
    for (size_t i = 0; i < json_array_size(tests); i++)
        score += json_number_value(json_object_get(json_array_get(tests, i), "score"));
    g_autofree char *output =
        g_strdup_printf("orch verify: %d numbers confirmed, %d differ, %d not checked",
                        (int)orch_json_int(handin->outcome, "confirmed", 0),
                        (int)orch_json_int(handin->outcome, "differs", 0),
                        (int)orch_json_int(handin->outcome, "not_checked", 0));
    return json_pack("{s:o s:s s:o}", "score", orch_json_finite(score), "output", output, "tests",
                     tests);
}

void orch_cli_grades_show(const struct orch_cli *cli, const char *format, const GArray *handins,
                          bool is_one)
{
    if (strcmp(format, "csv") == 0) {
        show_csv(cli, handins);
        return;
    }
    json_t *all = json_object();
    for (guint i = 0; i < handins->len; i++) {
        const struct orch_graded *handin = &g_array_index(handins, struct orch_graded, i);
        json_object_set_new(all, handin->file, results_of(handin));
    }
    json_t *one =
        is_one
            ? json_incref(json_object_get(all, g_array_index(handins, struct orch_graded, 0).file))
            : json_incref(all);
    orch_cli_print_json_bare(one);
    json_decref(one);
    json_decref(all);
}
