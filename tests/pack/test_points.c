/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points: states of parts; and the recipes against the list of questions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "features/pack/assignment_points.h"
#include "lib/base/text.h"
#include "lib/yaml/yaml.h"

#include <string.h>

/* ---- states ------------------------------------------------------------------------------------
 */

static struct orch_section *add(struct orch_document *document, const char *question,
                                const char *kind, unsigned planned, unsigned done)
{
    struct orch_section *section = orch_document_add(document, kind, question, NULL);
    section->planned = planned;
    section->done = done;
    return section;
}

static const struct orch_points_part *part_of(const GPtrArray *parts, const char *label)
{
    for (guint i = 0; i < parts->len; i++)
        if (strcmp(((struct orch_points_part *)parts->pdata[i])->label, label) == 0)
            return parts->pdata[i];
    fail_msg("no part '%s'", label);
    return NULL;
}

static void test_states(void **state)
{
    (void)state;
    struct orch_document *document = orch_document_new("somebody");
    add(document, "1a", "table", 2, 2)->points = 4;
    orch_section_missing(add(document, "1b", "table", 2, 1), NULL, "1 of 2 trials is not run");
    add(document, "1b", "best", 2, 2);
    orch_section_missing(add(document, "1c", "table", 2, 0), NULL, "2 of 2 trials are not run");
    add(document, "1d", "table", 0, 0)->state = ORCH_SECTION_SKIPPED;
    orch_section_student(add(document, "1e", "student", 0, 0), "%s", "why?");
    add(document, "1f", "table", 1, 1)->points = 2;
    orch_section_student(add(document, "1f", "student", 0, 0), "%s", "");
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    assert_int_equal(parts->len, 6);
    assert_int_equal(part_of(parts, "1a")->state, ORCH_POINTS_COMPLETE);
    assert_int_equal(part_of(parts, "1b")->state, ORCH_POINTS_PARTIAL);
    assert_string_equal(part_of(parts, "1b")->why, "1 of 2 trials is not run");
    assert_int_equal(part_of(parts, "1c")->state, ORCH_POINTS_NOT_RUN);
    assert_int_equal(part_of(parts, "1d")->state, ORCH_POINTS_SKIPPED);
    assert_int_equal(part_of(parts, "1e")->state, ORCH_POINTS_STUDENT);
    assert_false(part_of(parts, "1e")->needs_text);
    assert_int_equal(part_of(parts, "1f")->state, ORCH_POINTS_COMPLETE);
    assert_true(part_of(parts, "1f")->needs_text);
    assert_true(orch_points_sum(parts, ORCH_POINTS_COMPLETE, NULL) == 6);
    orch_document_free(document);
}

/* One answer at small scale makes the part so; what is missing is said before the size. The sums
 * are those of all parts, and a text of the student's is wanted in measured parts, too. */
static void test_scale_and_sums(void **state)
{
    (void)state;
    struct orch_document *document = orch_document_new("somebody");
    document->recipe = g_strdup("some.recipe");
    orch_section_small(add(document, "1a", "table", 2, 2),
                       "full size (profile course) has 15 trials");
    add(document, "1a", "best", 2, 2)->points = 4;
    orch_section_small(add(document, "1b", "table", 2, 2),
                       "full size (profile course) has 15 trials");
    orch_section_missing(add(document, "1b", "table", 2, 1), "orch run x", "1 of 2 trials");
    add(document, "1c", "table", 1, 1)->points = 2;
    orch_section_student(add(document, "1c", "student", 0, 0), "%s", "");
    struct orch_section *essay = add(document, "1d", "student", 0, 0);
    essay->points = 3;
    orch_section_student(essay, "%s", "");
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    const struct orch_points_part *small = part_of(parts, "1a"), *partial = part_of(parts, "1b");
    unsigned count = 0;
    assert_int_equal(small->state, ORCH_POINTS_SMALL);
    assert_string_equal(small->why, "full size (profile course) has 15 trials");
    assert_string_equal(small->hint, "orch run some.recipe -p course");
    assert_true(orch_points_is_open(small));
    assert_int_equal(partial->state, ORCH_POINTS_PARTIAL);
    assert_string_equal(partial->why, "1 of 2 trials");
    assert_string_equal(partial->hint, "orch run x");
    assert_true(orch_points_sum(parts, ORCH_POINTS_SMALL, &count) == 4);
    assert_int_equal(count, 1);
    assert_true(orch_points_to_write(parts, &count) == 5); /* 1c and 1d */
    assert_int_equal(count, 2);
    assert_true(orch_points_all(parts) == 9);
    json_t *totals = orch_points_totals_json(parts);
    assert_true(json_real_value(json_object_get(totals, "complete at small scale")) == 4);
    assert_true(json_real_value(json_object_get(totals, "to_write")) == 5);
    json_decref(totals);
    orch_document_free(document);
}

/* A document of a recipe in the list has all its parts, with their points. */
static void test_listed(void **state)
{
    (void)state;
    struct orch_document *document = orch_document_new("hw4");
    add(document, "1.1c", "table", 1, 1)->points = 99; /* the list's count */
    g_autoptr(GPtrArray) parts = orch_points_of(document);
    double all = 0;
    for (int i = 0; i < ORCH_POINTS_STATES; i++)
        all += orch_points_sum(parts, (enum orch_points_state)i, NULL);
    assert_true(all == 100);
    assert_true(orch_points_sum(parts, ORCH_POINTS_COMPLETE, NULL) == 6);
    assert_int_equal(part_of(parts, "2.1")->state, ORCH_POINTS_STUDENT);
    assert_int_equal(part_of(parts, "3.1a")->state, ORCH_POINTS_ABSENT);
    orch_document_free(document);
}

/* ---- recipes -----------------------------------------------------------------------------------
 */

static const char *const COMMON[] = {"question", "title", "points", NULL};

static const struct orch_assignment_part *question_of(const GPtrArray *list, const char *recipe,
                                                      const char *part)
{
    for (guint i = 0; i < list->len; i++) {
        const struct orch_assignment_part *q = list->pdata[i];
        if (strcmp(q->recipe, recipe) == 0 && strcmp(q->part, part) == 0)
            return q;
    }
    return NULL;
}

static struct orch_yaml *read_recipe(const char *name)
{
    g_autofree char *path =
        g_strdup_printf("%s/recipes/%s.recipe", g_getenv("ORCH_SOURCE_DIR"), name);
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *root =
        g_file_test(path, G_FILE_TEST_EXISTS) ? orch_yaml_parse_file(path, diags) : NULL;
    orch_diags_free(diags);
    return root;
}

/* Has a part of the recipe's report an item of the kind ("": any)? */
static bool has_item(const struct orch_yaml *report, const char *part, const char *kind)
{
    for (guint i = 0; i < report->items->len; i++) {
        const struct orch_yaml *item = report->items->pdata[i];
        const struct orch_yaml *question = orch_yaml_get(item, "question");
        if (question && strcmp(question->text, part) == 0 &&
            (!*kind || orch_yaml_get_key(item, kind)))
            return true;
    }
    return false;
}

static double points_in(const struct orch_yaml *report, const char *part)
{
    double sum = 0, value;
    for (guint i = 0; i < report->items->len; i++) {
        const struct orch_yaml *item = report->items->pdata[i];
        const struct orch_yaml *question = orch_yaml_get(item, "question");
        const struct orch_yaml *points = orch_yaml_get(item, "points");
        if (question && points && strcmp(question->text, part) == 0 &&
            orch_real_parse(points->text, &value))
            sum += value;
    }
    return sum;
}

/* What the list says of the recipe is in it. */
static void check_list(const GPtrArray *list, const char *recipe, const struct orch_yaml *report)
{
    for (guint i = 0; i < list->len; i++) {
        const struct orch_assignment_part *q = list->pdata[i];
        if (strcmp(q->recipe, recipe) != 0)
            continue;
        for (int k = 0; q->items[k]; k++)
            if (!has_item(report, q->part, q->items[k]))
                fail_msg("%s %s: the list names '%s', the recipe has none", recipe, q->part,
                         q->items[k]);
        if (q->items[0] && points_in(report, q->part) != q->points)
            fail_msg("%s %s: %g points in the list, %g in the recipe", recipe, q->part, q->points,
                     points_in(report, q->part));
    }
}

/* What the recipe asks is in the list, with every kind of item. */
static void check_report(const GPtrArray *list, const char *recipe, const struct orch_yaml *report)
{
    for (guint i = 0; i < report->items->len; i++) {
        const struct orch_yaml *item = report->items->pdata[i];
        const struct orch_yaml *question = orch_yaml_get(item, "question");
        const struct orch_assignment_part *q =
            question ? question_of(list, recipe, question->text) : NULL;
        if (question && !q)
            fail_msg("%s %s is not in share/questions.tsv", recipe, question->text);
        for (guint k = 0; q && k < item->keys->len; k++) {
            const char *key = ((const struct orch_yaml *)item->keys->pdata[k])->text;
            if (!g_strv_contains(COMMON, key) && strcmp(key, "text") != 0 &&
                !g_strv_contains((const char *const *)q->items, key))
                fail_msg("%s %s: the recipe has '%s', the list does not name it", recipe,
                         question->text, key);
        }
    }
}

static void test_recipes(void **state)
{
    (void)state;
    static const char *const recipes[] = {"hw3", "hw4", "hw7", "lab5", "lecture7"};
    g_autoptr(GPtrArray) list = orch_assignment_parts_read();
    assert_int_equal(list->len, 77);
    for (size_t i = 0; i < G_N_ELEMENTS(recipes); i++) {
        struct orch_yaml *root = read_recipe(recipes[i]);
        const struct orch_yaml *report = root ? orch_yaml_get(root, "report") : NULL;
        for (guint j = 0; !report && j < list->len; j++) {
            const struct orch_assignment_part *q = list->pdata[j];
            if (strcmp(q->recipe, recipes[i]) == 0 && q->items[0])
                fail_msg("the list names items of '%s', which has no report", recipes[i]);
        }
        if (report) {
            check_list(list, recipes[i], report);
            check_report(list, recipes[i], report);
        }
        orch_yaml_free(root);
    }
}

/* ---- the list ----------------------------------------------------------------------------------
 */

#define HEAD "recipe\tpart\tpoints\tkind\tasks\titem\n"
#define ROW "r\t1.1\t4\ttable\twhat it is\ttable,best\n"

static void test_malformed_list(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *place;
    } bad[] = {
        {"", "first line does not name the columns", "t:1:1"},
        {ROW, "first line does not name the columns", "t:1:1"},
        {HEAD ROW "r\t1.2\t4\ttable\twhat\n", "six columns", "t:3:1"},
        {HEAD ROW "\n" ROW, "six columns", "t:3:1"},
        {HEAD "r\t1.2\t4\ttable\twhat\t-\tmore\n", "six columns", "t:2:1"},
        {HEAD "r\t1.2\tfour\ttable\twhat\t-\n", "not a number of points", "t:2:1"},
        {HEAD "r\t1.2\t-1\ttable\twhat\t-\n", "not a number of points", "t:2:1"},
        {HEAD ROW "r\t1.2\t4\ttable\t\t-\n", "a column is empty", "t:3:1"},
        {HEAD ROW ROW, "an earlier row already has this part", "t:3:1"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        GPtrArray *list = orch_assignment_parts_parse("t", bad[i].text, &error);
        if (list || !strstr(error->message, bad[i].what) || !strstr(error->message, bad[i].place) ||
            !strstr(error->message, "hint: "))
            fail_msg("wanted '%s' at %s: %s", bad[i].what, bad[i].place,
                     list ? "taken" : error->message);
        g_error_free(error);
    }
    g_autoptr(GPtrArray) list =
        orch_assignment_parts_parse("t", HEAD ROW "r\t2\t2.5\tessay\twhy\t-", NULL);
    assert_int_equal(list->len, 2);
    const struct orch_assignment_part *first = list->pdata[0], *last = list->pdata[1];
    assert_true(last->points == 2.5 && !last->items[0] && orch_assignment_part_is_essay(last));
    assert_string_equal(first->items[1], "best");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),  cmocka_unit_test(test_scale_and_sums),
        cmocka_unit_test(test_listed),  cmocka_unit_test(test_malformed_list),
        cmocka_unit_test(test_recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
