/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NAME.plugin: what a whole one gives, and the place and hint of everything that can be wrong. */
#include "core/plugin/plugins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/file.h"

#include <glib/gstdio.h>
#include <string.h>

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-test-XXXXXX", NULL);
    return folder ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return orch_tree_remove(folder, NULL) ? 0 : -1;
}

static struct orch_manifest *load_as(const char *file, const char *text, struct orch_diags *diags)
{
    g_autofree char *path = g_build_filename(folder, file, NULL);
    assert_true(orch_file_write(path, text, strlen(text), false, NULL));
    return orch_manifest_load(path, diags);
}

static struct orch_manifest *load_ok(const char *text)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_manifest *manifest = load_as("mytrain.plugin", text, diags);
    for (guint i = 0; i < diags->items->len; i++) {
        g_autofree char *one = orch_diag_format(diags->items->pdata[i]);
        print_error("%s\n", one);
    }
    assert_int_equal(diags->items->len, 0);
    assert_non_null(manifest);
    orch_diags_free(diags);
    return manifest;
}

static const char FULL[] =
    "plugin: mytrain\n"
    "version: 2.1.0\n"
    "about: trains\n"
    "licence: MIT\n"
    "command: [python3, train.py, --lr, \"${lr}\", \"${epochs}\", \"${words}\", \"${opt}\", "
    "\"$$x\",\n"
    "          \"${seed}\", \"${manifest_dir}/x\", \"${flag}${name}${note}${sizes}\"]\n"
    "metrics_from: regex\n"
    "timing: yes\n"
    "needs: {gpus: 1, memory: 1GiB, threads: 2, mpi: false}\n"
    "parameters:\n"
    "  lr: {type: real, default: 0.1, min: 0, max: 10, unit: , help: learning rate}\n"
    "  epochs: 5\n"
    "  words: [a, \"b, c\"]\n"
    "  opt: {choices: [sgd, adam], default: adam, neutral: true}\n"
    "  flag: yes\n"
    "  name: \"12\"\n"
    "  note: {type: string, optional: true}\n"
    "  sizes: [1, 2.5]\n"
    "metrics:\n"
    "  loss: {unit: , better: min, step: epoch, help: training loss, pattern: 'loss=([0-9.]+)'}\n"
    "  rate: {unit: images/s, better: max, pattern: '(\\d+)'}\n"
    "artifacts:\n"
    "  weights: weights.json\n"
    "  log: {path: out/log.txt, help: what it said}\n"
    "cost: {network: lenet5, batch: \"${epochs}\"}\n";

static void check_params(const struct orch_manifest *m)
{
    static const struct {
        const char *name, *type, *def;
        uint32_t flags;
    } expected[] = {
        {"lr", "real", "0.1", 0},
        {"epochs", "int", "5", 0},
        {"words", "list of string", "[a, \"b, c\"]", 0},
        {"opt", "enum", "adam", ORCH_PARAM_NEUTRAL},
        {"flag", "bool", "yes", 0},
        {"name", "string", "12", 0},
        {"note", "string", NULL, ORCH_PARAM_OPTIONAL},
        {"sizes", "list of real", "[1, 2.5]", 0},
    };
    assert_int_equal(m->params->len, G_N_ELEMENTS(expected));
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        const struct orch_param_spec *spec = m->params->pdata[i];
        g_autofree char *type = orch_type_format(spec->type);
        assert_string_equal(spec->name, expected[i].name);
        assert_string_equal(type, expected[i].type);
        assert_int_equal(g_strcmp0(spec->def, expected[i].def), 0);
        assert_int_equal(spec->flags, expected[i].flags);
    }
    assert_string_equal(orch_manifest_param(m, "lr")->max, "10");
    assert_null(orch_manifest_param(m, "lr")->unit);
    assert_string_equal(orch_manifest_param(m, "opt")->choices[1], "adam");
}

static void test_full(void **state)
{
    (void)state;
    struct orch_manifest *m = load_ok(FULL);
    assert_int_equal(m->kind, ORCH_PLUGIN_WRAPPED);
    assert_string_equal(m->name, "mytrain");
    assert_string_equal(m->version, "2.1.0");
    assert_string_equal(m->summary, "trains");
    assert_int_equal(m->flags, ORCH_PLUGIN_TIMING);
    assert_int_equal(m->needs.gpus, 1);
    assert_int_equal(m->needs.memory_bytes, 1 << 30);
    assert_int_equal(m->needs.threads, 2);
    assert_int_equal(m->metrics_from, ORCH_METRICS_REGEX);
    assert_string_equal(m->argv[3], "${lr}");
    assert_int_equal(g_strv_length(m->argv), 11);
    check_params(m);
    const struct orch_metric_spec *loss = orch_manifest_metric(m, "loss");
    assert_int_equal(loss->better, ORCH_BETTER_MIN);
    assert_string_equal(loss->step_unit, "epoch");
    assert_string_equal(loss->pattern, "loss=([0-9.]+)");
    assert_null(orch_manifest_metric(m, "rate")->step_unit);
    assert_string_equal(orch_manifest_artifact(m, "log")->path, "out/log.txt");
    orch_manifest_free(m);
}

static void test_short_forms(void **state)
{
    (void)state;
    struct orch_manifest *m = load_ok(
        "command: ./run.sh  --lr ${lr}\nparameters: {lr: 1e-3}\nmetrics: {accuracy: max}\n");
    assert_string_equal(m->name, "mytrain");
    assert_string_equal(m->version, "1.0.0");
    assert_int_equal(m->metrics_from, ORCH_METRICS_LINES);
    assert_int_equal(g_strv_length(m->argv), 3);
    assert_int_equal(orch_manifest_param(m, "lr")->type, ORCH_REAL);
    assert_int_equal(orch_manifest_metric(m, "accuracy")->better, ORCH_BETTER_MAX);
    orch_manifest_free(m);
    m = load_ok("command: [a]\nmetrics: any\n");
    assert_true(m->any_metric);
    orch_manifest_free(m);
}

static void test_wrapped_cost(void **state)
{
    (void)state;
    g_autofree char *path = g_build_filename(folder, "mytrain.plugin", NULL);
    struct orch_manifest *m = load_ok("command: [a, \"${n}\"]\nparameters: {n: 4}\n"
                                      "cost: {network: \"net${n}\", batch: \"${n}\", epochs: 1.5,"
                                      " training: yes}\n");
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    json_t *params = json_pack("{s:i}", "n", 8);
    json_t *cost = orch_plugins_cost(plugins, m, params, NULL);
    json_t *expected = json_pack("{s:s, s:i, s:f, s:i}", "network", "net8", "batch", 8, "epochs",
                                 1.5, "training", 1);
    assert_true(json_equal(cost, expected));
    json_decref(cost);
    json_decref(expected);
    json_decref(params);
    orch_plugins_free(plugins);
    orch_manifest_free(m);
}

/* Everything wrong: the text, where the first finding is, a part of what it says and of its hint.
 */
static const struct wrong {
    const char *text;
    int line, column;
    const char *what, *hint;
} WRONG[] = {
    {"a: [b\n", 0, 0, "", NULL}, /* a syntax error has the parser's own words */
    {"[1, 2]\n", 1, 1, "must be a map", "command"},
    {"about: x\n", 1, 1, "needs 'command'", "command: ["},
    {"command:\n", 0, 0, "command is empty", "command: ["},
    {"command: {a: b}\n", 1, 10, "must be a list", "command: ["},
    {"comand: [a]\ncommand: [a]\n", 1, 1, "unknown key 'comand'", "command"},
    {"plugin: other\ncommand: [a]\n", 1, 9, "named 'other'", "rename the file"},
    {"version: 1.0\ncommand: [a]\n", 1, 10, "N.N.N", "1.0.0"},
    {"timing: maybe\ncommand: [a]\n", 1, 9, "neither true nor false", "true or false"},
    {"metrics_from: line\ncommand: [a]\n", 1, 15, "unknown metrics_from 'line'", "'lines'"},
    {"needs: {gpu: 1}\ncommand: [a]\n", 1, 9, "unknown key 'gpu'", "'gpus'"},
    {"needs: {gpus: -1}\ncommand: [a]\n", 1, 15, "-1", NULL},
    {"needs: {memory: lots}\ncommand: [a]\n", 1, 17, "lots", NULL},
    {"command: [a, \"${lr}\"]\n", 1, 14, "unknown name '${lr}'", "declare it"},
    {"command: [a, \"${sed}\"]\n", 1, 14, "unknown name '${sed}'", "'seed'"},
    {"command: [a, \"${seed\"]\n", 1, 14, "without '}'", "close it"},
    {"command: [a, $x]\n", 1, 14, "'$' without a name", "$$"},
    {"command: [a]\nparameters: [x]\n", 2, 13, "must be a map", "parameters:"},
    {"command: [a]\nparameters: {1r: 1}\n", 2, 14, "'1r' is not valid", "a letter"},
    {"command: [a]\nmetrics_from: regex\nmetrics: any\n", 3, 10, "any' finds nothing", "metrics_from: lines"},
    {"command: [a]\nmetrics: all\n", 2, 10, "must be a map", "any"},
    {"command: [a]\nparameters: {x: }\n", 2, 14, "neither a type", "type: real"},
    {"command: [a]\nparameters: {x: {type: reel}}\n", 2, 24, "unknown type 'reel'", "'real'"},
    {"command: [a]\nparameters: {x: {tipe: real, default: 1}}\n", 2, 18, "'tipe'", "'type'"},
    {"command: [a]\nparameters: {x: {type: int, default: abc}}\n", 2, 38, "default of", NULL},
    {"command: [a]\nparameters: {x: {type: int, min: 5, default: 2}}\n", 2, 46, "minimum", NULL},
    {"command: [a]\nparameters: {x: {type: int, min: 5, max: 2}}\n", 2, 42, "max of", NULL},
    {"command: [a]\nparameters: {x: {type: string, min: 5}}\n", 2, 37, "has no min and max", NULL},
    {"command: [a]\nparameters: {x: {type: enum}}\n", 2, 17, "needs 'choices'", "choices:"},
    {"command: [a]\nparameters: {x: {choices: [sgd, adam], default: adm}}\n", 2, 49, "'adm'",
     "adam"},
    {"command: [a]\nparameters: {x: {type: int, choices: [a]}}\n", 2, 38,
     "only type 'enum' has 'choices'", "enum"},
    {"command: [a]\nmetrics: {x: up}\n", 2, 14, "unknown better 'up'", "none, min, max"},
    {"command: [a]\nmetrics: {x: {beter: min}}\n", 2, 15, "'beter'", "'better'"},
    {"command: [a]\nmetrics_from: regex\nmetrics: {x: min}\n", 3, 11, "no 'pattern'", "pattern:"},
    {"command: [a]\nmetrics_from: regex\nmetrics: {x: {pattern: 'a('}}\n", 3, 24, "'x'", NULL},
    {"command: [a]\nmetrics_from: regex\nmetrics: {x: {pattern: 'a'}}\n", 3, 24, "no group",
     "parentheses"},
    {"command: [a]\nartifacts: {w: }\n", 2, 13, "has no path", "weights.json"},
    {"command: [a]\nartifacts: {w: /etc/passwd}\n", 2, 16, "outside", "inside"},
    {"command: [a]\nartifacts: {w: a/../../b}\n", 2, 16, "outside", "inside"},
    {"command: [a]\ncost: {netwerk: a}\n", 2, 8, "'netwerk'", "'network'"},
    {"command: [a]\ncost: {batch: \"${n}\"}\n", 2, 15, "unknown name '${n}'", NULL},
    {"command: [a]\nabout: x\nabout: y\n", 3, 1, "about", NULL},
};

static const struct orch_diag *first_error(const struct orch_diags *diags)
{
    for (guint i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        if (!diag->warning)
            return diag;
    }
    return NULL;
}

static void check_wrong(const struct wrong *wrong)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_manifest *manifest = load_as("mytrain.plugin", wrong->text, diags);
    const struct orch_diag *diag = first_error(diags);
    g_autofree char *shown = diag ? orch_diag_format(diag) : g_strdup("nothing");
    bool ok = !manifest && diag && strstr(diag->what, wrong->what) &&
              (wrong->line == 0 || (diag->line == wrong->line && diag->column == wrong->column)) &&
              (!wrong->hint || (diag->hint && strstr(diag->hint, wrong->hint)));
    if (!ok)
        fail_msg("%s-> %s\n(expected %d:%d '%s', hint '%s')", wrong->text, shown, wrong->line,
                 wrong->column, wrong->what, wrong->hint ? wrong->hint : "");
    orch_diags_free(diags);
}

static void test_wrong(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(WRONG); i++)
        check_wrong(&WRONG[i]);
}

static void test_all_in_one_pass(void **state)
{
    (void)state;
    struct orch_diags *diags = orch_diags_new();
    assert_null(load_as("mytrain.plugin",
                        "plugin: x\nversion: 1\nfoo: 1\nparameters: {a: , b: {type: q}}\n"
                        "metrics: {m: up}\ncommand: [\"${z}\"]\n",
                        diags));
    assert_int_equal(diags->error_count, 7);
    orch_diags_free(diags);
}

static void test_warnings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"command: [a]\nparameters: {x: 1}\n", "'x' changes nothing"},
        {"command: a | b\n", "does not run in a shell"},
        {"command: [a, \"${seed}\"]\nparameters: {seed: 1}\n", "the trial's own value ${seed}"},
        {"command: [a]\nmetrics: {x: {pattern: '(a)'}}\n", "is not used"},
        {"command: [a, \"${x}\"]\nparameters: {x: {default: 1, optional: true}}\n", "'optional'"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_diags *diags = orch_diags_new();
        struct orch_manifest *manifest = load_as("mytrain.plugin", cases[i].text, diags);
        assert_non_null(manifest);
        assert_int_equal(diags->warning_count, 1);
        const struct orch_diag *diag = diags->items->pdata[0];
        assert_non_null(strstr(diag->what, cases[i].what));
        orch_manifest_free(manifest);
        orch_diags_free(diags);
    }
    /* with the protocol every parameter reaches the program */
    orch_manifest_free(load_ok("command: [a]\nmetrics_from: protocol\nparameters: {x: 1}\n"
                               "artifacts: {w: }\n"));
}

static void test_file_name(void **state)
{
    (void)state;
    struct orch_diags *diags = orch_diags_new();
    assert_null(load_as("My Train.plugin", "command: [a]\n", diags));
    assert_int_equal(diags->error_count, 1);
    orch_diags_free(diags);
    diags = orch_diags_new();
    g_autofree char *absent = g_build_filename(folder, "absent.plugin", NULL);
    assert_null(orch_manifest_load(absent, diags));
    assert_int_equal(diags->error_count, 1);
    orch_diags_free(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_short_forms),
        cmocka_unit_test(test_wrapped_cost),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_all_in_one_pass),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_file_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
