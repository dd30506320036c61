/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/recipe: every class of error at its exact place, precedence, references, cells, the report's
 * rules, canonical form, seeds, and the time that large recipes take. */
#include "core/feature/feature.h"
#include "core/recipe/recipe.h"
#include "core/recipe/report_kinds.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "tests/unit/fake_plugins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#define HEAD "format: 1\nrecipe: t\n" /* two lines */
#define OPTIONS(...) (&(struct orch_recipe_options){__VA_ARGS__})
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct orch_plugins *plugins;

static struct orch_expansion *expand(const char *text, const struct orch_recipe_options *options,
                                     struct orch_diags *diags)
{
    return orch_recipe_expand_text("t.recipe", text, strlen(text), plugins, options, diags);
}

/* "3:5 what | hint\n" for each finding; the option in front where there is no line. */
static char *findings(const struct orch_diags *diags, bool with_hints)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        if (diag->line)
            g_string_append_printf(text, "%d:%d ", diag->line, diag->column);
        else
            g_string_append_printf(text, "%s: ", diag->file);
        g_string_append_printf(text, "%s%s", diag->warning ? "warning: " : "", diag->what);
        if (with_hints && diag->hint)
            g_string_append_printf(text, " | %s", diag->hint);
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

static void refuses_with(const char *text, const struct orch_recipe_options *options,
                         const char *expected)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *out = expand(text, options, diags);
    g_autofree char *found = findings(diags, false);
    g_autofree char *hinted = findings(diags, true);
    if (strcmp(found, expected) != 0 && strcmp(hinted, expected) != 0)
        fail_msg("recipe:\n%s\nexpected:\n%s\nfound:\n%s", text, expected, hinted);
    assert_null(out);
    orch_diags_free(diags);
}

static struct orch_expansion *accepts(const char *text, const struct orch_recipe_options *options)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *out = expand(text, options, diags);
    g_autofree char *found = findings(diags, true);
    if (!out || *found)
        fail_msg("recipe:\n%s\nfound:\n%s", text, found);
    orch_diags_free(diags);
    return out;
}

static const struct orch_cell *cell_at(const struct orch_expansion *out, guint i)
{
    assert_true(i < out->cells->len);
    return out->cells->pdata[i];
}

static const struct orch_experiment *experiment_at(const struct orch_expansion *out, guint i)
{
    assert_true(i < out->experiments->len);
    return out->experiments->pdata[i];
}

/* A parameter's canonical text in a cell. */
static void assert_param(const struct orch_cell *cell, const char *name, const char *expected)
{
    const json_t *value = json_object_get(cell->params, name);
    g_autofree char *text = value ? orch_json_canonical(value) : g_strdup("(absent)");
    assert_string_equal(text, expected);
}

static void assert_labels(const struct orch_expansion *out, const char *expected)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < out->cells->len; i++) {
        const struct orch_cell *cell = out->cells->pdata[i];
        g_autofree char *label = orch_cell_label(cell);
        g_string_append_printf(text, "%s%s\n", cell->wanted ? "" : "- ", label);
    }
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
}

/* ---- errors ------------------------------------------------------------------------------------
 */

struct error_case {
    const char *text, *expected;
};

static void check_cases(const struct error_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        refuses_with(cases[i].text, NULL, cases[i].expected);
}

static void test_structure_errors(void **state)
{
    (void)state;
    static const struct error_case cases[] = {
        {"- 1\n", "1:1 a recipe must be a map (name: value), found a list | begin the file with "
                  "'format: 1'\n"},
        {"recipe: t\nexperiments: { a: { plugin: train } }\n",
         "1:1 the recipe has no 'format' | begin the file with 'format: 1'\n"},
        {"format: 2\nrecipe: t\nexperiments: { a: { plugin: train } }\n",
         "1:9 unknown format '2', expected 1\n"},
        {"format: 1\nexperiments: { a: { plugin: train } }\n", "1:1 the recipe has no name\n"},
        {HEAD, "1:1 a recipe needs 'experiments'\n"},
        {HEAD "experiments: {}\n", "3:1 'experiments' is empty\n"},
        {HEAD "experiments:\n", "3:1 'experiments' is empty\n"},
        {HEAD "experiments: [a]\n",
         "3:14 'experiments' must be a map (name: value), found a list\n"},
        {HEAD "experimentz: {}\nexperiments: { a: { plugin: train } }\n",
         "3:1 unknown key 'experimentz' in the recipe | did you mean 'experiments'?\n"},
        {HEAD "experiments: { a: { plugin: train, params: {} } }\n",
         "3:36 unknown key 'params' in experiment 'a' | parameters go under 'with:'\n"},
        {HEAD "experiments: { A: { plugin: train } }\n",
         "3:16 'A' cannot be the name of an experiment\n"},
        {HEAD "experiments: { best: { plugin: train } }\n",
         "3:16 'best' cannot be the name of an experiment, because ${best...} already has a "
         "meaning\n"},
        {HEAD "experiments: { a: train }\n", "3:16 experiment 'a' has neither a plugin nor a "
                                             "program\n3:19 experiment 'a' must be a map, "
                                             "found a text\n"},
        {HEAD "experiments: { a: { plugin: trains } }\n",
         "3:29 no plugin 'trains' | see 'orch plugin ls'\n"},
        {HEAD "experiments: { a: { plugin: train }, a: { plugin: train } }\n",
         "3:38 duplicate key 'a' (first at line 3, column 16)\n"},
        {HEAD "seed: -1\nexperiments: { a: { plugin: train } }\n",
         "3:7 'seed': '-1' is not an integer from 0 to 2^64 - 1\n"},
        {HEAD "share: everything\nexperiments: { a: { plugin: train } }\n",
         "3:8 'share': 'everything' is not one of none, source\n"},
        {HEAD "experiments: { a: { plugin: train, reuse: sometimes } }\n",
         "3:43 'reuse': 'sometimes' is not one of device, any, never\n"},
        {HEAD "experiments: { a: { plugin: train, inputs: [/etc/passwd] } }\n",
         "3:45 'inputs': '/etc/passwd' is not a relative path\n"},
        {HEAD "experiments: { a: { plugin: train, resources: { gpu: 1 } } }\n",
         "3:49 unknown key 'gpu' in 'resources' | did you mean 'gpus'?\n"},
        {HEAD "experiments: { a: { plugin: train, program: 'x ${lrr}' } }\n",
         "3:45 plugin 'train' has no parameter 'lrr'\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

static void test_value_errors(void **state)
{
    (void)state;
    g_unsetenv("ORCH_TEST_UNSET");
    static const struct error_case cases[] = {
        {HEAD "experiments:\n  a:\n    plugin: train\n    with: { learning: 1 }\n",
         "6:13 unknown parameter 'learning' for plugin 'train' | see 'orch plugin show train'\n"},
        {HEAD "experiments:\n  a:\n    plugin: train\n    with: { epoch: 1 }\n",
         "6:13 unknown parameter 'epoch' for plugin 'train' | did you mean 'epochs'? see 'orch "
         "plugin "
         "show train'\n"},
        {HEAD "experiments: { a: { plugin: train, with: { lr: [0.1] } } }\n",
         "3:48 parameter 'lr' (real) must be one value, found a list | to run every value, put the "
         "list "
         "under 'sweep:'\n"},
        {HEAD "experiments: { a: { plugin: train, with: { lr: { x: 1 } } } }\n",
         "3:48 parameter 'lr' (real) must be one value, found a map\n"},
        {HEAD "experiments: { a: { plugin: train, with: { lr: } } }\n",
         "3:44 parameter 'lr' (real) has no value here\n"},
        {HEAD
         "experiments: { a: { plugin: train, with: { dataset: \"${env:ORCH_TEST_UNSET}\" } } }\n",
         "3:53 environment variable 'ORCH_TEST_UNSET' is not set | set it, or give a default: "
         "${env:ORCH_TEST_UNSET:-...}\n"},
        {HEAD "experiments: { a: { plugin: train, with: { dataset: \"${oops}\" } } }\n",
         "3:53 '${oops}' is not a reference\n"},
        {HEAD "experiments: { a: { plugin: train, with: { dataset: \"x${\" } } }\n",
         "3:53 '${' without '}' in 'x${'\n"},
        {HEAD "experiments: { a: { plugin: sleep } }\n",
         "3:16 experiment 'a': parameter 'seconds' of plugin 'sleep' has no value | add 'seconds: "
         "...' under 'with:'; see 'orch plugin show sleep'\n"},
        {HEAD "experiments: { a: { plugin: finetune, with: { token: abc } } }\n",
         "3:54 parameter 'token' is a secret, and may not be written into a recipe | write token: "
         "\"${env:TOKEN}\"\n"},
        {HEAD "experiments: { a: { plugin: finetune, sweep: { token: [a, b] } } }\n",
         "3:48 parameter 'token' is a secret and cannot be swept\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

/* Words of lib/wire: only place and parameter are ours. */
static void test_typed_errors(void **state)
{
    (void)state;
    static const struct {
        const char *with;
        int column;
    } cases[] = {
        {"lr: fast", 48},       /* wrong type */
        {"lr: 11", 48},         /* above the maximum */
        {"lr: -1", 48},         /* below the minimum */
        {"epochs: 1.5", 52},    /* no integer */
        {"net: resnet21", 49},  /* none of the choices */
        {"lr: uniform(0)", 48}, /* another tool's generator */
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf(
            HEAD "experiments: { a: { plugin: train, with: { %s } } }\n", cases[i].with);
        struct orch_diags *diags = orch_diags_new();
        assert_null(expand(text, NULL, diags));
        assert_int_equal(diags->error_count, 1);
        const struct orch_diag *diag = diags->items->pdata[0];
        assert_string_equal(diag->file, "t.recipe");
        assert_int_equal(diag->line, 3);
        assert_int_equal(diag->column, cases[i].column);
        g_autofree char *name = g_strndup(cases[i].with, strcspn(cases[i].with, ":"));
        g_autofree char *begins = g_strdup_printf("parameter '%s': ", name);
        assert_true(g_str_has_prefix(diag->what, begins));
        orch_diags_free(diags);
    }
}

static void test_sweep_errors(void **state)
{
    (void)state;
    static const struct error_case cases[] = {
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: [] } } }\n",
         "3:49 sweep 'lr' is empty\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: 0.1 } } }\n",
         "3:49 sweep 'lr' must be a list, found a text | write one value under 'with:', several as "
         "a "
         "list: [a, b]\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: 'uniform(0, 1)' } } }\n",
         "3:49 sweep 'lr' needs a list of values\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: { min: 0, max: 1 } } } }\n",
         "3:49 sweep 'lr' needs a list of values\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: [0.1, 1e-1] } } }\n",
         "3:55 sweep 'lr' has the value 0.1 twice | for more trials of equal values, use "
         "'repeat'\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: 'range(0, 5)' } } }\n",
         "3:49 parameter 'lr': 'range(0, 5)' is not a range of integers that can be swept\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { epochs: 'range(5, 1)' } } }\n",
         "3:53 parameter 'epochs': 'range(5, 1)' is not a range of integers that can be swept\n"},
        {HEAD "experiments: { a: { plugin: train, with: { lr: 1 }, sweep: { lr: [1, 2] } } }\n",
         "3:62 'lr' is set under 'sweep' and again under 'with' (line 3, column 44)\n"},
        {HEAD "experiments: { a: { plugin: train, sweep: { lr: [1, 2] }, zip: { lr: [1, 2] } } }\n",
         "3:66 'lr' is set under 'zip' and again under 'sweep' (line 3, column 45)\n"},
        {HEAD "experiments: { a: { plugin: train, zip: { lr: [1, 2], batch: [1, 2, 3] } } }\n",
         "3:62 zip 'batch' has 3 values, 'lr' has 2\n"},
        {HEAD "experiments: { a: { plugin: train, zip: { lr: [1, 2], epochs: 'range(1, 4)' } } }\n",
         "3:63 zip 'epochs' has 3 values, 'lr' has 2\n"},
        {HEAD
         "experiments: { a: { plugin: train, repeat: 10000, sweep: { lr: [1, 2, 3, 4, 5, 6, 7], "
         "batch: [1, 2] } } }\n",
         "3:16 experiment 'a' has 140000 trials and the recipe at least 140000, but at most "
         "100000 are allowed\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

static void test_profile_and_problem_errors(void **state)
{
    (void)state;
    static const struct error_case cases[] = {
        {HEAD "profile: lap\nprofiles: { laptop: }\nexperiments: { a: { plugin: train } }\n",
         "3:10 unknown profile 'lap' | did you mean 'laptop'?\n"},
        {HEAD "profiles: { laptop: { sweep: {} } }\nexperiments: { a: { plugin: train } }\n",
         "3:23 unknown key 'sweep' in profile 'laptop'\n"},
        {HEAD "profiles: { p: { experiments: { b: { repeat: 2 } } } }\n"
              "experiments: { a: { plugin: train } }\n",
         "3:33 unknown experiment 'b' in profile 'p' | did you mean 'a'?\n"},
        {HEAD "profiles: { p: { experiments: { a: { reuse: any } } } }\n"
              "experiments: { a: { plugin: train } }\n",
         "3:38 unknown key 'reuse' in profile 'p', experiment 'a'\n"},
        {HEAD "profiles: { p: { with: { epoch: 2 } } }\nexperiments: { a: { plugin: train } }\n",
         "3:26 no experiment has a parameter 'epoch' | did you mean 'epochs'?\n"},
        {HEAD "with: { epoch: 2 }\nexperiments: { a: { plugin: train } }\n",
         "3:9 no experiment has a parameter 'epoch' | did you mean 'epochs'?\n"},
        {HEAD "profiles: { p: { with: { lr: 1 } } }\n"
              "experiments: { a: { plugin: train, sweep: { lr: [1, 2] } } }\n",
         "3:26 'lr' has no effect: every experiment with this parameter sweeps it or has a value "
         "of its "
         "own "
         "in this profile\n"},
        {HEAD "with: { lr: 1 }\nexperiments: { a: { plugin: train, with: { lr: 2 } } }\n",
         "3:9 'lr' has no effect: every experiment with this parameter sets or sweeps it itself\n"},
        {HEAD "problems: { p1: [a, b] }\nexperiments: { a: { plugin: train } }\n",
         "3:21 unknown experiment 'b' in problem 'p1' | did you mean 'a'?\n"},
        {HEAD "problems: { p1: [] }\nexperiments: { a: { plugin: train } }\n",
         "3:13 'problems': 'p1' has no experiments\n"},
        {HEAD "problems: { a: [a] }\nexperiments: { a: { plugin: train } }\n",
         "3:13 'problems': 'a' is already the name of an experiment\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

static void test_one_pass(void **state)
{
    (void)state;
    refuses_with(HEAD "sed: 3\n"
                      "with: { batchs: 3 }\n"
                      "experiments:\n"
                      "  a: { plugin: train, with: { lrr: 0.1 }, repeat: 0x }\n"
                      "  b: { plugin: finetune, with: { weights: \"${c.weights}\" } }\n"
                      "  s: { plugin: sleep }\n"
                      "report:\n"
                      "  - { table: { rows: lr, value: last acc, column: mode } }\n",
                 NULL,
                 "3:1 unknown key 'sed' in the recipe\n"
                 "4:9 no experiment has a parameter 'batchs'\n"
                 "6:31 unknown parameter 'lrr' for plugin 'train'\n"
                 "6:51 'repeat': '0x' is not an integer\n"
                 "7:43 unknown experiment 'c' in '${c.weights}'\n"
                 "8:3 experiment 's': parameter 'seconds' of plugin 'sleep' has no value\n"
                 "10:33 unknown metric 'acc' in the report\n"
                 "10:43 unknown key 'column' in 'table'\n");
}

static void test_option_errors(void **state)
{
    (void)state;
    static const char text[] = HEAD "problems: { p1: a }\n"
                                    "experiments: { a: { plugin: train } }\n";
    refuses_with(text, OPTIONS(.settings = LIST("epoch=3")),
                 "-s epoch=3: no experiment has a parameter 'epoch' | did you mean 'epochs'?\n");
    refuses_with(text, OPTIONS(.settings = LIST("a.epoch=3")),
                 "-s a.epoch=3: unknown parameter 'epoch' for plugin 'train' | did you mean "
                 "'epochs'? see 'orch plugin show train'\n");
    refuses_with(text, OPTIONS(.settings = LIST("b.lr=3")),
                 "-s b.lr=3: unknown experiment 'b' | did you mean 'a'?\n");
    refuses_with(text, OPTIONS(.settings = LIST("lr")),
                 "-s lr: 'lr' is not param=value | for example -s lr=0.1\n");
    refuses_with(text, OPTIONS(.sweeps = LIST("lr=")), "-x lr=: sweep 'lr' is empty\n");
    refuses_with(text, OPTIONS(.settings = LIST("lr=1"), .sweeps = LIST("lr=1,2")),
                 "-x lr=1,2: 'lr' is also set by '-s lr=1'\n");
    refuses_with(text, OPTIONS(.profile = "big"), "--profile big: unknown profile 'big'\n");
    refuses_with(text, OPTIONS(.targets = LIST("p2")),
                 "t.recipe: 'p2' is neither an experiment nor a name under 'problems' in recipe "
                 "'t' | did you mean 'p1'?\n");
    refuses_with(text, OPTIONS(.part = 6, .part_count = 5),
                 "--part 6/5: there is no part 6 of 5\n");
    struct orch_diags *diags = orch_diags_new();
    assert_null(expand(text, OPTIONS(.settings = LIST("lr=0.1,0.2")), diags));
    const struct orch_diag *diag = diags->items->pdata[0];
    assert_string_equal(diag->file, "-s lr=0.1,0.2");
    assert_string_equal(diag->hint, "to run each value, use -x lr=0.1,0.2");
    orch_diags_free(diags);
}

static void test_report_errors(void **state)
{
    (void)state;
#define ITEM(text)                                                                                 \
    HEAD "experiments: { a: { plugin: train }, s: { plugin: script, with: { x: 1 } } "             \
         "}\nreport:\n- " text "\n"
    static const struct error_case cases[] = {
        {HEAD "experiments: { a: { plugin: train } }\nreport: {}\n",
         "4:9 'report' must be a list, found a map\n"},
        {ITEM("text"), "5:3 a report item must be a map, found a text\n"},
        {ITEM("{ title: x }"), "5:3 a report item has no content\n"},
        {ITEM("{ tabel: { rows: lr } }"),
         "5:5 unknown key 'tabel' in a report item | did you mean 'table'?\n"},
        {ITEM("{ text: x, work: }"),
         "5:14 a report item must have exactly one kind, found 'text' and 'work'\n"},
        {ITEM("{ table: lr }"), "5:12 'table' must be a map, found a text\n"},
        {ITEM("{ text: [x] }"), "5:11 'text' must be a text, found a list\n"},
        {ITEM("{ table: { rows: lr } }"), "5:12 'table' needs 'value'\n"},
        {ITEM("{ table: { rows: lrs, value: count } }"),
         "5:20 unknown parameter 'lrs' in the report | did you mean 'lr'?\n"},
        {ITEM("{ table: { rows: lr, value: final loss } }"),
         "5:31 'final loss': 'final' is not a summary of a metric, such as last, best or mean\n"},
        {ITEM("{ table: { rows: lr, value: last los } }"),
         "5:31 unknown metric 'los' in the report | did you mean 'loss'?\n"},
        {ITEM("{ table: { rows: x, value: last loss, experiments: s } }"),
         "5:30 unknown metric 'loss' in the report | known are: score, curve\n"},
        {ITEM("{ table: { rows: lr, value: count, experiments: [b] } }"),
         "5:52 unknown experiment 'b' in the report | did you mean 'a'?\n"},
        {ITEM("{ best: { value: last parameters } }"),
         "5:20 it is not known whether larger values of metric 'parameters' are better\n"},
        {ITEM("{ table: { rows: lr, value: best parameters } }"),
         "5:31 it is not known whether larger values of metric 'parameters' are better\n"},
        {ITEM("{ plot: { x: epoch, y: parameters } }"),
         "5:16 metric 'parameters' has one value per trial, so it has no curve by epoch\n"},
        {ITEM("{ plot: { x: epoch, y: loss, kind: pie } }"), "5:38 unknown kind of plot 'pie'\n"},
        {ITEM("{ plot: { x: epoch, y: loss, log_y: maybe } }"),
         "5:39 'maybe' is not true or false\n"},
        {ITEM("{ plot: { x: [epoch, lr], y: loss } }"),
         "5:16 'x' must be one value, found a list\n"},
        {ITEM("{ images: { artifact: sample } }"),
         "5:25 unknown artifact 'sample' in the report | did you mean 'samples'?\n"},
        {ITEM("{ points: many, work: }"), "5:13 'points': 'many' is not a number\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

/* Wrong kinds of things in the less travelled places, one for each message. */
static void test_kind_errors(void **state)
{
    (void)state;
#define A(more) HEAD "experiments: { a: { plugin: train" more " } }\n"
#define F(more) HEAD "experiments: { a: { plugin: finetune" more " } }\n"
    static const struct error_case cases[] = {
        {A(", program: 'x \"y'"),
         "3:45 'program' cannot be read as a command: a quote is not closed\n"},
        {A(", program: ''"), "3:45 'program' is empty\n"},
        {A(", program: { x: 1 }"),
         "3:45 'program' must be a text or a list of texts, found a map\n"},
        {A(", program: [python3, '${nett}']"), "3:55 plugin 'train' has no parameter 'nett'\n"},
        {A(", repeat: [1, 2]"), "3:44 'repeat' must be one value, found a list\n"},
        {A(", inputs: { x: 1 }"), "3:44 'inputs' must be a text or a list of texts, found a map\n"},
        {HEAD "profiles: { p: { experiments: { a: 3 } } }\nexperiments: { a: { plugin: train } }\n",
         "3:36 'a' must be a map (name: value), found a text\n"},
        {HEAD "profiles: { p: 3 }\nexperiments: { a: { plugin: train } }\n",
         "3:16 profile 'p' must be a map, found a text\n"},
        {HEAD
         "experiments: { s: { plugin: script, with: { x: 1 }, resources: { memory: 1MiB } } }\n",
         "3:74 'memory': plugin 'script' needs at least 1.0 GiB\n"},
        {F(", with: { milestones: [[1], 2] }"),
         "3:60 parameter 'milestones': each element must be one value, found a list\n"},
        {F(", sweep: { milestones: [3, [x, { y: 1 }]] }"),
         "3:68 parameter 'milestones': each element must be one value, found a map\n"},
        {A(", sweep: { batch: 'range(-2, 2)' }"),
         "3:52 parameter 'batch': -2 is below its minimum 1\n"},
        {A(", sweep: { batch: [1, 0] }"), "3:56 parameter 'batch': 0 is below its minimum 1\n"},
        {HEAD "experiments:\n  p: { plugin: train }\n  f: { plugin: finetune, with: { weights: "
              "\"${p[lr=fast].weights}\" } }\n",
         "5:43 parameter 'lr': 'fast' is not a real number\n"},
        {HEAD "experiments:\n  p: { plugin: train }\n  f: { plugin: finetune, with: { weights: "
              "\"${p[lr].weights}\" } }\n",
         "5:43 '${p[lr].weights}' is not a reference\n"},
        {HEAD "experiments:\n  p: { plugin: train }\n  f: { plugin: finetune, with: { weights: "
              "\"${p[lr=1.weights}\" } }\n",
         "5:43 '${p[lr=1.weights}' is not a reference\n"},
        {ITEM("{ plot: { x: epoche, y: loss } }"),
         "5:16 unknown parameter or metric 'epoche' in the report | did you mean 'epochs'?\n"},
        {ITEM("{ plot: { x: epoch, y: curve } }"),
         "5:16 'curve' is recorded per step, not per epoch\n"},
        {ITEM("{ plot: { x: epoch, y: loss, reference: high } }"),
         "5:43 'high' is not a real number\n"},
        {HEAD "experiments:\n  p: { plugin: train, sweep: { batch: 'range(1, 20)' } }\n  f: { "
              "plugin: finetune, with: { weights: \"${p.weights}\" } }\n",
         "5:43 '${p.weights}' of f matches 19 trials: batch=1; batch=2; batch=3; batch=4; and 15 "
         "more\n"},
        {HEAD "experiments:\n  a: { plugin: train, about: this: that }\n",
         "4:34 not valid YAML: missing comma in flow mapping\n"},
        {HEAD "about: this: that\nexperiments: { a: { plugin: train } }\n",
         "3:12 not valid YAML: invalid nested block mapping on the same line | put quotes around a "
         "text that holds ': '\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

/* ---- warnings ----------------------------------------------------------------------------------
 */

static void warns_with(const char *text, const struct orch_recipe_options *options,
                       const char *expected)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *out = expand(text, options, diags);
    g_autofree char *found = findings(diags, true);
    assert_non_null(out);
    assert_string_equal(found, expected);
    orch_expansion_free(out);
    orch_diags_free(diags);
}

/* What is left out of the fingerprint tells no trials apart. */
/* Neutral parameters distinguish trials only where a sweep or zip gives them. */
static void test_neutral(void **state)
{
    (void)state;
#define NEUTRAL(what) HEAD "experiments: { a: { plugin: train, " what " } }\n"
    static const struct {
        const char *text;
        bool lr, threads;
    } cases[] = {
        {NEUTRAL("with: { threads: 2 }"), true, false},
        {NEUTRAL("with: { threads: 2 }, sweep: { lr: [1, 2] }"), true, false},
        {NEUTRAL("sweep: { threads: [1, 2] }"), true, true},
        {NEUTRAL("zip: { threads: [1, 2], lr: [1, 2] }"), true, true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_expansion *out = accepts(cases[i].text, NULL);
        const struct orch_cell *cell = out->cells->pdata[0];
        const struct orch_manifest *manifest = cell->experiment->manifest;
        assert_int_equal(orch_cell_identifies(cell, orch_manifest_param(manifest, "lr")),
                         cases[i].lr);
        assert_int_equal(orch_cell_identifies(cell, orch_manifest_param(manifest, "threads")),
                         cases[i].threads);
        orch_expansion_free(out);
    }
    warns_with(NEUTRAL("sweep: { threads: [1, 2, 4] }"), NULL, "");
}

/* ---- precedence --------------------------------------------------------------------------------
 */

static const char LEVELS[] =
    HEAD "with: { batch: 1, epochs: 1 }\n"
         "profile: p\n"
         "profiles:\n"
         "  p:\n"
         "    with: { epochs: 3, lr: 3, net: mlp }\n"
         "    experiments:\n"
         "      b: { with: { lr: 4 } }\n"
         "  q:\n"
         "experiments:\n"
         "  a: { plugin: train, with: { epochs: 2 } }\n"
         "  b: { plugin: train, sweep: { lr: [0.1, 0.2], net: [mlp, resnet20] } }\n";

static void assert_origin(const struct orch_expansion *out, guint i, const char *name,
                          const char *expected)
{
    const char *origin = g_hash_table_lookup(experiment_at(out, i)->origins, name);
    assert_string_equal(origin, expected);
}

static void test_precedence(void **state)
{
    (void)state;
    struct orch_expansion *out = accepts(LEVELS, NULL);
    assert_labels(out, "a\nb net=mlp\nb net=resnet20\n");
    const struct orch_cell *a = cell_at(out, 0), *b = cell_at(out, 1);
    assert_param(a, "dataset", "\"fashion-mnist\"");
    assert_param(a, "batch", "1");
    assert_param(a, "epochs", "3");
    assert_param(a, "lr", "3.0");
    assert_param(b, "lr", "4.0");
    assert_origin(out, 0, "dataset", "default of plugin 'train' 1.2.0");
    assert_origin(out, 0, "batch", "t.recipe:3:9");
    assert_origin(out, 0, "epochs", "t.recipe:7:13");
    assert_origin(out, 1, "lr", "t.recipe:9:20");
    assert_origin(out, 1, "net", "t.recipe:13:48");
    assert_string_equal(out->profile, "p");
    orch_expansion_free(out);

    out = accepts(LEVELS, OPTIONS(.profile = "q"));
    assert_labels(out, "a\nb lr=0.1 net=mlp\nb lr=0.1 net=resnet20\n"
                       "b lr=0.2 net=mlp\nb lr=0.2 net=resnet20\n");
    assert_param(cell_at(out, 0), "epochs", "2");
    assert_param(cell_at(out, 1), "epochs", "1");
    orch_expansion_free(out);
}

static void test_options(void **state)
{
    (void)state;
    struct orch_expansion *out =
        accepts(LEVELS, OPTIONS(.settings = LIST("lr=5", "a.lr=6", "net=resnet32", "dataset=a,b")));
    assert_labels(out, "a\nb\n"); /* -s replaces sweeps */
    assert_param(cell_at(out, 0), "lr", "6.0");
    assert_param(cell_at(out, 1), "lr", "5.0");
    assert_param(cell_at(out, 1), "net", "\"resnet32\"");
    assert_param(cell_at(out, 1), "dataset", "\"a,b\""); /* the comma is text */
    assert_origin(out, 0, "lr", "-s");
    orch_expansion_free(out);

    out = accepts(LEVELS,
                  OPTIONS(.sweeps = LIST("a.lr=0.1,0.01", "b.epochs=range(1,4)", "b.net=[mlp]")));
    assert_labels(
        out, "a lr=0.1\na lr=0.01\nb net=mlp epochs=1\nb net=mlp epochs=2\nb net=mlp epochs=3\n");
    assert_origin(out, 0, "lr", "-x");
    orch_expansion_free(out);

    static const char lists[] = HEAD "experiments: { f: { plugin: finetune } }\n";
    out = accepts(lists, OPTIONS(.settings = LIST("milestones=[30%, 60%]")));
    assert_param(cell_at(out, 0), "milestones", "[\"30%\",\"60%\"]");
    orch_expansion_free(out);
    out = accepts(lists, OPTIONS(.sweeps = LIST("milestones=[30%,60%],[90%]")));
    assert_int_equal(out->cells->len, 2);
    assert_param(cell_at(out, 1), "milestones", "[\"90%\"]");
    orch_expansion_free(out);
}

static void test_zip(void **state)
{
    (void)state;
    struct orch_expansion *out =
        accepts(HEAD "experiments:\n"
                     "  a:\n"
                     "    plugin: train\n"
                     "    sweep: { net: [mlp, resnet20] }\n"
                     "    zip: { lr: [0.1, 0.2], batch: [32, 64] }\n"
                     "    repeat: 2\n"
                     "profiles: { p: { experiments: { a: { with: { batch: 8 }, repeat: 1 } } } }\n",
                NULL);
    assert_labels(out, "a net=mlp lr=0.1 batch=32 #1\na net=mlp lr=0.1 batch=32 #2\n"
                       "a net=mlp lr=0.2 batch=64 #1\na net=mlp lr=0.2 batch=64 #2\n"
                       "a net=resnet20 lr=0.1 batch=32 #1\na net=resnet20 lr=0.1 batch=32 #2\n"
                       "a net=resnet20 lr=0.2 batch=64 #1\na net=resnet20 lr=0.2 batch=64 #2\n");
    struct orch_expansion *part = accepts(out->verbatim, OPTIONS(.profile = "p"));
    assert_labels(part, "a net=mlp lr=0.1\na net=mlp lr=0.2\n"
                        "a net=resnet20 lr=0.1\na net=resnet20 lr=0.2\n");
    assert_string_equal(part->key, out->key);
    orch_expansion_free(part);
    orch_expansion_free(out);
}

/* ---- references --------------------------------------------------------------------------------
 */

#define PRETRAIN(rest) HEAD "experiments:\n  pretrain: { plugin: train, " rest " }\n"

static const struct orch_ref *ref_of(const struct orch_cell *cell)
{
    assert_int_equal(cell->refs->len, 1);
    return cell->refs->pdata[0];
}

static unsigned target_of(const struct orch_cell *cell)
{
    const struct orch_ref *ref = ref_of(cell);
    assert_int_equal(ref->cells->len, 1);
    return g_array_index(ref->cells, unsigned, 0);
}

static void test_single_serves_all(void **state)
{
    (void)state;
    struct orch_expansion *out = accepts(
        PRETRAIN("repeat: 1") "  f: { plugin: finetune, repeat: 3, sweep: { lr: [1, 2] }, with: { "
                              "weights: \"${pretrain.weights}\" } }\n",
        NULL);
    assert_int_equal(out->cells->len, 7);
    for (guint i = 1; i < 7; i++)
        assert_int_equal(target_of(cell_at(out, i)), 0);
    const struct orch_ref *ref = ref_of(cell_at(out, 1));
    assert_string_equal(ref->param, "weights");
    assert_string_equal(ref->artifact, "weights");
    assert_string_equal(ref->text, "${pretrain.weights}");
    assert_false(ref->is_result);
    assert_param(cell_at(out, 1), "weights", "(absent)");
    orch_expansion_free(out);
}

static void test_join(void **state)
{
    (void)state;
    struct orch_expansion *out =
        accepts(PRETRAIN("repeat: 2, sweep: { net: [mlp, resnet20] }") //
                "  f: { plugin: finetune, repeat: 2, sweep: { lr: [1, 2], net: [resnet20, mlp] },\n"
                "       with: { weights: \"${pretrain.weights}\" } }\n",
                NULL);
    assert_int_equal(out->cells->len, 4 + 8);
    for (guint i = 4; i < 12; i++) {
        const struct orch_cell *cell = cell_at(out, i), *other = cell_at(out, target_of(cell));
        assert_int_equal(cell->repeat, other->repeat);
        assert_string_equal(json_string_value(json_object_get(cell->params, "net")),
                            json_string_value(json_object_get(other->params, "net")));
    }
    orch_expansion_free(out);
}

static void test_selectors_and_best(void **state)
{
    (void)state;
    static const char base[] = PRETRAIN("repeat: 2, sweep: { net: [mlp, resnet20], lr: [1, 2] }");
    g_autofree char *selected =
        g_strconcat(base,
                    "  f: { plugin: finetune, with: { weights: \"${pretrain[net=resnet20, lr=1e0, "
                    "repeat=2].weights}\" } }\n",
                    NULL);
    struct orch_expansion *out = accepts(selected, NULL);
    g_autofree char *label = orch_cell_label(cell_at(out, target_of(cell_at(out, 8))));
    assert_string_equal(label, "pretrain net=resnet20 lr=1 #2");
    orch_expansion_free(out);

    g_autofree char *best =
        g_strconcat(base,
                    "  f: { plugin: finetune, repeat: 2, sweep: { net: [mlp, resnet20] },\n"
                    "       with: { weights: \"${best(pretrain, val_accuracy).weights}\" } }\n",
                    NULL);
    out = accepts(best, NULL);
    const struct orch_ref *ref = ref_of(cell_at(out, 9)); /* net=mlp #2 */
    assert_string_equal(ref->best_metric, "val_accuracy");
    assert_true(ref->best_is_max);
    assert_int_equal(ref->cells->len, 2); /* lr=1 and lr=2 of net=mlp #2 */
    for (guint i = 0; i < 2; i++) {
        const struct orch_cell *cell = cell_at(out, g_array_index(ref->cells, unsigned, i));
        assert_int_equal(cell->repeat, 2);
        assert_param(cell, "net", "\"mlp\"");
    }
    orch_expansion_free(out);
}

static void test_results_and_sweeps_of_references(void **state)
{
    (void)state;
    struct orch_expansion *out =
        accepts(PRETRAIN("with: { lr: 1 }") "  other: { plugin: train }\n"
                                            "  f:\n"
                                            "    plugin: finetune\n"
                                            "    with: { start: \"${pretrain.val_accuracy}\" }\n"
                                            "    sweep: { weights: [\"${pretrain.weights}\", "
                                            "\"${other.weights}\"] }\n",
                NULL);
    const struct orch_cell *first = cell_at(out, 2), *second = cell_at(out, 3);
    assert_int_equal(first->refs->len, 2);
    const struct orch_ref *start = first->refs->pdata[0], *weights = second->refs->pdata[1];
    assert_true(start->is_result);
    assert_int_equal(g_array_index(weights->cells, unsigned, 0), 1);
    assert_string_equal(json_string_value(json_object_get(second->coords, "weights")),
                        "${other.weights}");
    orch_expansion_free(out);
}

static void test_reference_errors(void **state)
{
    (void)state;
#define FINE(ref) "  f: { plugin: finetune, with: { weights: \"" ref "\" } }\n"
    static const struct error_case cases[] = {
        {PRETRAIN("repeat: 1") FINE("${pretrian.weights}"),
         "5:43 unknown experiment 'pretrian' in '${pretrian.weights}' | did you mean "
         "'pretrain'?\n"},
        {PRETRAIN("repeat: 1") FINE("${pretrain.weight}"),
         "5:43 plugin 'train' of experiment 'pretrain' has no artifact or result 'weight' | did "
         "you mean "
         "'weights'?\n"},
        {PRETRAIN("repeat: 1") FINE("${pretrain.loss}"),
         "5:43 parameter 'weights' (artifact) cannot have the value '${pretrain.loss}', which is a "
         "number\n"},
        {PRETRAIN("repeat: 1") FINE("${f.weights}"), "5:43 experiment 'f' refers to itself\n"},
        {PRETRAIN("repeat: 1") FINE("x/${pretrain.weights}"),
         "5:43 the reference '${pretrain.weights}' must be the whole value of a parameter\n"},
        {PRETRAIN("repeat: 1") FINE("${pretrain[nett=mlp].weights}"),
         "5:43 plugin 'train' of experiment 'pretrain' has no parameter 'nett' | did you mean "
         "'net'?\n"},
        {PRETRAIN("repeat: 1") FINE("${best(pretrain, parameters).weights}"),
         "5:43 it is not known whether larger values of metric 'parameters' of plugin "
         "'train' are better\n"},
        {PRETRAIN("repeat: 1") FINE("${best(pretrain, los).weights}"),
         "5:43 plugin 'train' of experiment 'pretrain' has no metric 'los' | did you mean "
         "'loss'?\n"},
        {PRETRAIN("repeat: 1") FINE("${best(pretrain).weights}"),
         "5:43 '${best(pretrain).weights}' is not a reference\n"},
        {HEAD "experiments:\n  s: { plugin: script, with: { x: 1 } }\n" FINE("${s.model}"),
         "5:43 plugin 'script' of experiment 's' has no artifact or result 'model' | known are: "
         "score, "
         "curve\n"},
        {PRETRAIN("sweep: { net: [mlp, resnet20] }") FINE("${pretrain.weights}"),
         "5:43 '${pretrain.weights}' of f matches 2 trials: net=mlp; net=resnet20 | choose one: "
         "${pretrain[net=mlp].weights} or ${best(pretrain, loss).weights}\n"},
        {PRETRAIN("sweep: { net: [mlp, resnet20] }") FINE("${pretrain[net=resnet32].weights}"),
         "5:43 '${pretrain[net=resnet32].weights}' of f matches no trial of 'pretrain' (net=mlp; "
         "net=resnet20) | choose one: ${pretrain[net=mlp].weights} or ${best(pretrain, "
         "loss).weights}\n"},
        {PRETRAIN("repeat: 2") "  f: { plugin: finetune, repeat: 3, with: { weights: "
                               "\"${pretrain.weights}\" } }\n",
         "5:54 '${pretrain.weights}' of f #3 matches no trial of 'pretrain' (#1; #2) | give both "
         "the "
         "same 'repeat', or none to 'pretrain'\n"},
        {HEAD "experiments:\n"
              "  a: { plugin: finetune, with: { weights: \"${b.weights}\" } }\n"
              "  b: { plugin: finetune, with: { weights: \"${a.weights}\" } }\n",
         "5:43 references form a cycle: a -> b -> a\n"},
        {HEAD "profile: p\nprofiles: { p: { experiments: { pretrain: { skip: too long } } } }\n"
              "experiments:\n  pretrain: { plugin: train }\n" FINE("${pretrain.weights}"),
         "7:43 '${pretrain.weights}' needs experiment 'pretrain', which profile 'p' skips\n"},
    };
    check_cases(cases, G_N_ELEMENTS(cases));
}

/* ---- targets, part, smoke ----------------------------------------------------------------------
 */

static const char CHAIN[] =
    HEAD "problems: { p1: [f], p2: [g, f] }\n"
         "experiments:\n"
         "  pretrain: { plugin: train, sweep: { net: [mlp, resnet20, resnet32] } }\n"
         "  f:\n"
         "    plugin: finetune\n"
         "    with: { weights: \"${pretrain.weights}\" }\n"
         "    sweep: { net: [mlp, resnet20, resnet32] }\n"
         "    repeat: 2\n"
         "  g: { plugin: finetune, with: { weights: \"${best(f, loss).weights}\" } }\n";

static void test_targets(void **state)
{
    (void)state;
    struct orch_expansion *out = accepts(CHAIN, OPTIONS(.targets = LIST("p1")));
    assert_labels(out, "- pretrain net=mlp\n- pretrain net=resnet20\n- pretrain net=resnet32\n"
                       "f net=mlp #1\nf net=mlp #2\nf net=resnet20 #1\nf net=resnet20 #2\n"
                       "f net=resnet32 #1\nf net=resnet32 #2\n");
    assert_int_equal(out->problems->len, 2);
    orch_expansion_free(out);
    out = accepts(CHAIN, OPTIONS(.targets = LIST("p1", "g"), .part = 2, .part_count = 3));
    assert_labels(out, "- pretrain net=mlp\n- pretrain net=resnet32\n"
                       "f net=mlp #2\nf net=resnet32 #1\n");
    assert_int_equal(target_of(cell_at(out, 3)), 1);
    assert_int_equal(cell_at(out, 3)->index, 7);
    orch_expansion_free(out);
}

static void test_smoke(void **state)
{
    (void)state;
    struct orch_expansion *out = accepts(CHAIN, OPTIONS(.smoke = true));
    assert_true(out->smoke);
    assert_labels(out,
                  "pretrain net=mlp\npretrain net=resnet32\nf net=mlp #1\nf net=resnet32 #1\ng\n");
    assert_int_equal(ref_of(cell_at(out, 4))->cells->len, 2);
    orch_expansion_free(out);
    /* a selector may need what smoke leaves out */
    out = accepts(
        HEAD
        "experiments:\n"
        "  pretrain: { plugin: train, sweep: { net: [mlp, resnet20, resnet32] } }\n"
        "  f: { plugin: finetune, with: { weights: \"${pretrain[net=resnet20].weights}\" } }\n",
        OPTIONS(.smoke = true));
    assert_labels(out, "pretrain net=mlp\n- pretrain net=resnet20\npretrain net=resnet32\nf\n");
    assert_int_equal(target_of(cell_at(out, 3)), 1);
    orch_expansion_free(out);
}

static void test_skip(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "profile: p\n"
             "profiles: { p: { experiments: { a: { skip: needs a GPU }, b: { skip: false } } } }\n"
             "experiments: { a: { plugin: train }, b: { plugin: train } }\n";
    struct orch_expansion *out = accepts(text, NULL);
    assert_labels(out, "b\n");
    assert_true(experiment_at(out, 0)->skipped);
    assert_string_equal(experiment_at(out, 0)->skip_reason, "needs a GPU");
    orch_expansion_free(out);
    struct orch_diags *diags = orch_diags_new();
    out = expand(text, OPTIONS(.targets = LIST("a")), diags);
    assert_int_equal(diags->warning_count, 1);
    assert_int_equal(out->cells->len, 0);
    orch_expansion_free(out);
    orch_diags_free(diags);
}

/* ---- experiments -------------------------------------------------------------------------------
 */

static void test_fields(void **state)
{
    (void)state;
    g_setenv("ORCH_TEST_SET", "va$lue", TRUE);
    struct orch_expansion *out = accepts(
        HEAD "about: what it is\n"
             "seed: 18446744073709551615\n"
             "share: source\n"
             "require_clean: true\n"
             "experiments:\n"
             "  a:\n"
             "    plugin: train\n"
             "    program: python3 'my script.py' ${lr} ${env:ORCH_TEST_SET} ${recipe.dir} $$x\n"
             "    with: { dataset: \"${env:ORCH_TEST_SET}/${env:ORCH_TEST_UNSET:-d}/$${x}\" }\n"
             "    resources: { gpus: 2, cores: 4, memory: 2GiB, time: 1h30min }\n"
             "    retries: 3\n"
             "    timeout: 5min\n"
             "    inputs: [mine.py, lib/*.py]\n"
             "    share: none\n"
             "  b: { plugin: train }\n",
        NULL);
    const struct orch_experiment *a = experiment_at(out, 0), *b = experiment_at(out, 1);
    assert_string_equal(out->about, "what it is");
    assert_true(out->seed == UINT64_MAX);
    assert_true(out->require_clean);
    assert_int_equal(a->line, 8);
    assert_int_equal(a->column, 3);
    assert_int_equal(a->gpus, 2);
    assert_int_equal(a->cores, 4);
    assert_true(a->memory_bytes == INT64_C(2) << 30);
    assert_true(a->time_s == 5400.0);
    assert_true(a->timeout_s == 300.0);
    assert_int_equal(a->retries, 3);
    assert_int_equal(b->retries, 1);
    assert_string_equal(a->inputs[1], "lib/*.py");
    assert_null(a->inputs[2]);
    assert_false(a->share_source);
    assert_true(b->share_source);
    assert_param(cell_at(out, 0), "dataset", "\"va$lue/d/${x}\"");
    g_autofree char *command = g_strjoinv("|", a->program);
    g_autofree char *expected =
        g_strdup_printf("python3|my script.py|${lr}|va$$lue|%s|$$x", out->folder);
    assert_string_equal(command, expected);
    assert_ptr_equal(a->manifest, a->own_manifest);
    assert_int_equal(a->manifest->kind, ORCH_PLUGIN_WRAPPED);
    assert_string_equal(a->manifest->name, "train");
    assert_non_null(orch_manifest_metric(a->manifest, "val_accuracy"));
    assert_null(b->own_manifest);
    orch_expansion_free(out);
}

static void assert_reuse(const char *text, guint i, enum orch_recipe_reuse reuse, const char *why)
{
    struct orch_expansion *out = accepts(text, NULL);
    assert_int_equal(experiment_at(out, i)->reuse, reuse);
    assert_string_equal(experiment_at(out, i)->reuse_why, why);
    orch_expansion_free(out);
}

static void test_reuse(void **state)
{
    (void)state;
#define TWO                                                                                        \
    HEAD "experiments: { a: { plugin: train }, b: { plugin: sleep, with: { seconds: 1 } } }\n"
    assert_reuse(TWO, 0, ORCH_RECIPE_REUSE_ANY, "default");
    assert_reuse(TWO, 1, ORCH_RECIPE_REUSE_DEVICE, "plugin 'sleep' is a timing plugin");
    assert_reuse(TWO "report: [{ table: { rows: lr, value: last loss } }]\n", 0,
                 ORCH_RECIPE_REUSE_ANY, "default");
    assert_reuse(TWO "report: [{ table: { rows: lr, value: [last loss, mean images_per_s] } }]\n",
                 0, ORCH_RECIPE_REUSE_DEVICE, "report reads images_per_s (images/s)");
    assert_reuse(TWO "report: [{ table: { rows: lr, value: train_time } }]\n", 0,
                 ORCH_RECIPE_REUSE_DEVICE, "report reads train_time (s)");
    assert_reuse(TWO "report: [{ table: { rows: [lr, gpu], value: last loss } }]\n", 0,
                 ORCH_RECIPE_REUSE_DEVICE, "report groups by gpu");
    assert_reuse(TWO
                 "report: [{ coverage: { rows: experiment, columns: machine, experiments: b } }]\n",
                 0, ORCH_RECIPE_REUSE_ANY, "default");
    assert_reuse(HEAD "experiments: { b: { plugin: sleep, with: { seconds: 1 }, reuse: any } }\n",
                 0, ORCH_RECIPE_REUSE_ANY, "says the recipe");
}

static void test_report(void **state)
{
    (void)state;
    struct orch_expansion *out =
        accepts(HEAD "experiments: { a: { plugin: train, sweep: { lr: [1, 2] } } }\n"
                     "report:\n"
                     "  - { question: 1.1c, title: Which?, points: 2.5, table: { rows: lr, "
                     "columns: [net, repeat],\n"
                     "      value: [last val_accuracy, best val_accuracy], where: lr > 1 } }\n"
                     "  - plot: { kind: line, x: epoch, y: loss, by: lr, facet: net, log_y: true, "
                     "reference: 0.5 }\n"
                     "  - plot: { x: step, y: loss }\n"
                     "  - plot: { x: train_time, y: last val_accuracy, kind: scatter }\n"
                     "  - best: { value: last val_accuracy, by: lr }\n"
                     "  - compare: { value: last loss, by: lr, baseline: 1 }\n"
                     "  - images: { artifact: samples }\n"
                     "  - text: Some words.\n"
                     "  - coverage:\n"
                     "  - work: true\n"
                     "  - collaborators: {}\n",
                NULL);
    assert_int_equal(out->report->len, 11);
    const struct orch_report_item *table = out->report->pdata[0], *text = out->report->pdata[7];
    assert_string_equal(table->kind->name, "table");
    assert_string_equal(table->question, "1.1c");
    assert_true(table->points == 2.5);
    assert_int_equal(table->line, 5);
    g_autofree char *spec = orch_json_canonical(table->spec);
    assert_string_equal(spec, "{\"columns\":[\"net\",\"repeat\"],\"rows\":\"lr\",\"value\":[\"last "
                              "val_accuracy\",\"best val_accuracy\"],\"where\":\"lr > 1\"}");
    assert_string_equal(json_string_value(text->spec), "Some words.");
    orch_expansion_free(out);
}

/* ---- canonical form and seeds ------------------------------------------------------------------
 */

static char *key_of(const char *text)
{
    struct orch_expansion *out = accepts(text, NULL);
    char *key = g_strdup(out->key);
    orch_expansion_free(out);
    return key;
}

static void test_canonical(void **state)
{
    (void)state;
    g_autofree char *one = key_of(HEAD "with: { batch: 64 }\n"
                                       "experiments:\n"
                                       "  a: { plugin: train, sweep: { lr: [0.1, 0.01] } }\n"
                                       "  b: { plugin: finetune, with: { milestones: [x] } }\n");
    g_autofree char *same = key_of("# a comment\n"
                                   "experiments:\n"
                                   "  b:\n"
                                   "    with: { milestones: 'x' }   # another\n"
                                   "    plugin: \"finetune\"\n"
                                   "  a:\n"
                                   "    sweep: { lr: [1e-1, '1e-2'] }\n"
                                   "    plugin: train\n"
                                   "with: { batch: \"64\" }\n"
                                   "recipe: t\n"
                                   "format: 1\n");
    g_autofree char *order = key_of(HEAD "with: { batch: 64 }\n"
                                         "experiments:\n"
                                         "  a: { plugin: train, sweep: { lr: [0.01, 0.1] } }\n"
                                         "  b: { plugin: finetune, with: { milestones: [x] } }\n");
    assert_string_equal(one, same);
    assert_string_not_equal(one, order);
    assert_int_equal(strlen(one), 64);
    g_setenv("ORCH_TEST_SET", "hidden", TRUE);
    struct orch_expansion *out = accepts(
        HEAD
        "experiments: { b: { plugin: finetune, with: { token: \"${env:ORCH_TEST_SET}\" } } }\n",
        OPTIONS(.settings = LIST("lr=0.5")));
    assert_string_equal(out->canonical,
                        "{\"experiments\":{\"b\":{\"plugin\":\"finetune\",\"with\":{}}},"
                        "\"format\":1,\"recipe\":\"t\"}");
    assert_param(cell_at(out, 0), "token", "\"hidden\"");
    orch_expansion_free(out);
}

static void test_seeds(void **state)
{
    (void)state;
    /* by Python: sha256(b"orch seed" + struct.pack("<QQ", seed, k)).digest()[:8], little endian */
    assert_true(orch_recipe_seed(0, 1) == UINT64_C(0x6e6174a39eccc645));
    assert_true(orch_recipe_seed(UINT64_C(0x0102030405060708), 3) == UINT64_C(0xfa500a0ee84c585b));
    struct orch_expansion *out = accepts(
        HEAD "experiments: { a: { plugin: train, repeat: 2, sweep: { lr: [1, 2] } } }\n", NULL);
    /* by Python's hashlib */
    assert_true(orch_recipe_device_seed(orch_recipe_seed(0, 1), "1x Tesla K80") ==
                UINT64_C(0x7dcc2ce816777603));
    assert_true(orch_recipe_device_seed(7, NULL) == 7);
    assert_true(cell_at(out, 0)->seed == orch_recipe_seed(0, 1));
    assert_true(cell_at(out, 1)->seed == orch_recipe_seed(0, 2));
    assert_true(cell_at(out, 2)->seed == cell_at(out, 0)->seed); /* arms are paired */
    orch_expansion_free(out);
}

/* ---- size --------------------------------------------------------------------------------------
 */

static double expand_seconds(const char *text, guint expected_cells)
{
    int64_t start = orch_mono_ns();
    struct orch_expansion *out = accepts(text, NULL);
    double seconds = (double)(orch_mono_ns() - start) / 1e9;
    assert_int_equal(out->cells->len, expected_cells);
    orch_expansion_free(out);
    return seconds;
}

static void test_speed(void **state)
{
    (void)state;
    double small = expand_seconds(
        HEAD "experiments: { a: { plugin: train, repeat: 10, sweep: { lr: [1, 2, 3, 4, 5], batch: "
             "[1, 2] } } }\n",
        100);
    double large = expand_seconds(HEAD "experiments:\n"
                                       "  p: { plugin: train, repeat: 50, sweep: { net: [mlp, "
                                       "resnet20], batch: 'range(1, 51)' } }\n"
                                       "  f: { plugin: finetune, repeat: 50, sweep: { net: [mlp, "
                                       "resnet20], batch: 'range(1, 51)' },"
                                       " with: { weights: \"${p.weights}\" } }\n",
                                  10000);
    double best =
        expand_seconds(HEAD "experiments:\n"
                            "  p: { plugin: train, sweep: { batch: 'range(1, 40001)' } }\n"
                            "  f: { plugin: finetune, sweep: { epochs: 'range(1, 40001)' },"
                            " with: { weights: \"${best(p, loss).weights}\" } }\n",
                       80000);
    print_message("100 cells %.4f s, 10000 joined %.3f s, 80000 with best %.3f s\n", small, large,
                  best);
    assert_true(small < 0.1); /* 2 ms here; wide enough for sanitizers on a busy host */
    assert_true(large < 2);
    assert_true(best < 10);
}

/* `unit` that often, '@' in it being the number. */
static char *repeated(const char *head, const char *unit, guint count)
{
    GString *text = g_string_new(head);
    const char *at = strchr(unit, '@');
    for (guint i = 0; i < count; i++) {
        g_string_append_len(text, unit, at - unit);
        g_string_append_printf(text, "%u%s", i, at + 1);
    }
    return g_string_free(text, FALSE);
}

/* Each is refused within a bounded time, however much is wrong with it. */
static void test_hostile(void **state)
{
    (void)state;
#define ONE HEAD "experiments: { a: { plugin: train } }\n"
    static const struct {
        const char *head, *unit;
        guint count;
    } cases[] = {
        {ONE "x: ", "@_0123456789abcdefghijklmnopqrstuvwxyz", 400000}, /* over 10 MB */
        {ONE, "format: @\n", 20000},                                   /* duplicate keys */
        {ONE "x: &x [1]\n", "y@: [*x, *x]\n", 20000},                  /* aliases */
        {ONE "with: ", "[@,", 100000},                                 /* depth */
        {ONE, "key@: 1\n", 60000},                                     /* unknown keys */
        {HEAD "experiments:\n", "  e@: {plugin: train}\n", 30000},     /* experiments */
        {HEAD "experiments:\n", "  e@: {plugin: train, with: {x: 1}}\n", 20000},
        {ONE "with:\n", "  key@: 1\n", 60000}, /* settings */
        {ONE "profiles:\n", "  p@: { with: { x: 1 } }\n", 30000},
        {ONE "problems:\n", "  p@: [b, c, d]\n", 40000},
        {ONE "report:\n", "  - { table: { rows: x@, value: y } }\n", 20000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = repeated(cases[i].head, cases[i].unit, cases[i].count);
        struct orch_diags *diags = orch_diags_new();
        clock_t start = clock();
        assert_null(expand(text, NULL, diags));
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        assert_true(diags->error_count > 0);
        if (seconds > 15) /* of the processor; at most 0.2 here, and wide enough for sanitizers */
            fail_msg("case %u took %.1f s of the processor", i, seconds);
        orch_diags_free(diags);
    }
}

static void test_file(void **state)
{
    (void)state;
    struct orch_diags *diags = orch_diags_new();
    assert_null(orch_recipe_expand("/nonexistent.recipe", plugins, NULL, diags));
    assert_int_equal(diags->error_count, 1);
    orch_diags_free(diags);
}

static int set_up(void **state)
{
    (void)state;
    plugins = orch_plugins_new(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_plugins_free(plugins);
    return 0;
}

int main(void)
{
    orch_features_set(ORCH_FEATURES);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure_errors),
        cmocka_unit_test(test_value_errors),
        cmocka_unit_test(test_typed_errors),
        cmocka_unit_test(test_sweep_errors),
        cmocka_unit_test(test_profile_and_problem_errors),
        cmocka_unit_test(test_one_pass),
        cmocka_unit_test(test_option_errors),
        cmocka_unit_test(test_report_errors),
        cmocka_unit_test(test_kind_errors),
        cmocka_unit_test(test_neutral),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_single_serves_all),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_selectors_and_best),
        cmocka_unit_test(test_results_and_sweeps_of_references),
        cmocka_unit_test(test_reference_errors),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_smoke),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
