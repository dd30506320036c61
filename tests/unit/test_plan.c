/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of real recipes in scratch repositories: the state and the reason of each trial, the choice
 * of the best of several, and the folder that a trial gets. */
#include "tests/store/fixture.h"
#include "tests/unit/vcs_fixture.h"

#include "core/schedule/schedule.h"
#include "lib/base/json.h"
#include "store/handle/store_dir.h"

/* A recipe in a folder, its plan and what the plan borrows. */
struct scene {
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
};

static void scene_free(struct scene *scene)
{
    orch_plan_free(scene->plan);
    orch_expansion_free(scene->expansion);
    orch_plugins_free(scene->plugins);
    orch_workspace_free(scene->workspace);
}

static struct scene plan_with(const char *dir, const char *experiments,
                              const struct orch_plan_options *options)
{
    struct scene scene = {0};
    g_autofree char *text = g_strconcat("format: 1\nrecipe: scene\n", experiments, NULL);
    g_autofree char *path = path_in(dir, "scene.recipe");
    put(dir, "scene.recipe", text);
    struct orch_diags *diags = orch_diags_new();
    GError *problem = NULL;
    assert_ok(scene.workspace = orch_workspace_new(dir, NULL, error));
    assert_ok(orch_workspace_store(scene.workspace, ORCH_STORE_CREATE, error));
    scene.plugins = orch_plugins_new(NULL);
    scene.expansion =
        orch_recipe_expand(path, scene.plugins, &(struct orch_recipe_options){0}, diags);
    if (scene.expansion)
        scene.plan = orch_plan_new(scene.workspace, scene.plugins, scene.expansion, options, diags,
                                   &problem);
    if (!scene.plan && !problem)
        orch_diags_to_error(diags, &problem);
    if (problem)
        fail_msg("%s", problem->message);
    orch_diags_free(diags);
    assert_ok(orch_plan_store_recipe(scene.plan, error));
    return scene;
}

static struct scene plan_of(const char *dir, const char *experiments)
{
    return plan_with(dir, experiments, &(struct orch_plan_options){.slots = 1});
}

static struct orch_totals run(struct scene *scene)
{
    struct orch_totals totals;
    assert_ok(orch_run_plan(scene->plan,
                            &(struct orch_run_options){.slots = 1, .argv_json = "[\"orch\"]"},
                            &(struct orch_listener){0}, &totals, error));
    return totals;
}

static const struct orch_plan_item *item_of(const struct scene *scene, const char *experiment,
                                            int nth)
{
    for (unsigned i = 0; i < scene->plan->count; i++)
        if (strcmp(scene->plan->items[i].cell->experiment->name, experiment) == 0 && nth-- == 0)
            return &scene->plan->items[i];
    fail_msg("no trial of '%s'", experiment);
    return NULL;
}

static void assert_item(const struct scene *scene, const char *experiment, int nth,
                        enum orch_plan_state state, const char *says)
{
    const struct orch_plan_item *item = item_of(scene, experiment, nth);
    if (item->state != state || !strstr(item->reason, says))
        fail_msg("%s %d is %s (%s), not %s (%s)", experiment, nth,
                 orch_plan_state_name(item->state), item->reason, orch_plan_state_name(state),
                 says);
}

/* A program that reports `score` as a series and `final` as a result, both n (nan for 0, nothing
 * below), and fails when the word is "bad". */
static char *new_project(void)
{
    char *dir = new_bare_minimum("sha1");
    put(dir, ".gitignore", ".orch/\n");
    put(dir, "make.plugin",
        "plugin: make\n"
        "command: [sh, make.sh, \"${n}\", \"${word}\"]\n"
        "parameters: { n: 1, word: x, token: { type: secret, optional: true } }\n"
        "metrics: { score: { better: max, step: step }, loss: { better: min, step: step },\n"
        "           final: max }\n"
        "artifacts: { file: out.txt }\n");
    put(dir, "make.sh",
        "case $1 in -*) ;; 0) echo step 1 score nan loss nan ;;\n"
        "*) echo step 1 score $1 loss $1; echo final $1 ;; esac\n"
        "echo $1 >out.txt\n"
        "test \"$2\" != bad\n");
    put(dir, "use.plugin",
        "plugin: use\n"
        "command: [sh, -c, 'echo seen $$0', \"${from}\"]\n"
        "parameters: { from: 0.0, file: { type: artifact, optional: true } }\n"
        "metrics: { seen: none }\n");
    commit_all(dir, "first");
    return dir;
}

/* ---- what this machine cannot run ----------------------------------------------
 */

static void test_skipped(void **state)
{
    (void)state;
    char *dir = new_project();
    struct scene scene =
        plan_of(dir, "experiments:\n"
                     "  large: { plugin: ./make.plugin, resources: { memory: 4000TiB } }\n"
                     "  wide: { plugin: ./make.plugin, resources: { gpus: 60 } }\n"
                     "  needs: { plugin: ./use.plugin, with: { from: \"${large.final}\" } }\n"
                     "  next: { plugin: ./use.plugin, with: { from: \"${needs.seen}\" } }\n"
                     "  fits: { plugin: ./make.plugin, with: { n: 3 } }\n");
    assert_item(&scene, "needs", 0, ORCH_PLAN_SKIPPED,
                "needs ${large.final}, which is skipped: needs 4000.0 TiB of memory");
    assert_item(&scene, "next", 0, ORCH_PLAN_SKIPPED, "needs ${needs.seen}, which is skipped");
    assert_item(&scene, "large", 0, ORCH_PLAN_SKIPPED,
                "needs 4000.0 TiB of memory, this machine has");
    assert_item(&scene, "wide", 0, ORCH_PLAN_SKIPPED, "needs 60 GPUs, this machine has");
    assert_item(&scene, "fits", 0, ORCH_PLAN_MISSING, "never run");
    struct orch_totals totals = run(&scene);
    assert_int_equal(totals.skipped, 4);
    assert_int_equal(totals.ended[ORCH_VERDICT_OK], 1);
    scene_free(&scene);
    free_folder(dir);
}

/* ---- the best of several ----------------------------------------------------------------------
 */

static void assert_choice(const struct scene *scene, const char *experiment, int64_t n)
{
    const struct orch_plan_item *item = item_of(scene, experiment, 0);
    unsigned index;
    char *why = NULL;
    assert_ok(orch_plan_choose(scene->plan, item->cell->refs->pdata[0], &index, &why, error));
    assert_int_equal(orch_json_int(scene->plan->items[index].cell->params, "n", -1), n);
}

static void test_best(void **state)
{
    (void)state;
    static const char experiments[] =
        "experiments:\n"
        "  make: { plugin: ./make.plugin, sweep: { n: [2, 0, 3, -1, 1] } }\n"
        "  none: { plugin: ./make.plugin, with: { n: -2 } }\n"
        "  most: { plugin: ./use.plugin, with: { from: \"${best(make, score).final}\" } }\n"
        "  least: { plugin: ./use.plugin, with: { from: \"${best(make, loss).final}\" } }\n"
        "  last: { plugin: ./use.plugin, with: { from: \"${best(make, final).score}\" } }\n"
        "  empty: { plugin: ./use.plugin, with: { from: \"${best(none, score).final}\" } }\n";
    char *dir = new_project();
    struct scene scene = plan_of(dir, experiments);
    assert_item(&scene, "most", 0, ORCH_PLAN_WAITING, "waits for 5 trials, to choose");
    struct orch_totals totals = run(&scene);
    assert_int_equal(totals.ended[ORCH_VERDICT_OK], 9);
    assert_int_equal(totals.not_run, 1); /* that which refers to the best of none */
    assert_choice(&scene, "most", 3);
    assert_choice(&scene, "least", 1);
    assert_choice(&scene, "last", 3);
    scene_free(&scene);
    scene = plan_of(dir, experiments);
    assert_item(&scene, "most", 0, ORCH_PLAN_DONE, "just now");
    assert_item(&scene, "empty", 0, ORCH_PLAN_WAITING,
                "no run of ${best(none, score).final} has a finite 'score'");
    scene_free(&scene);
    free_folder(dir);
}

/* ---- earlier runs -----------------------------------------------------------------------------
 */

static void test_earlier_runs(void **state)
{
    (void)state;
    char *dir = new_project();
    struct scene scene =
        plan_of(dir, "experiments:\n"
                     "  bad: { plugin: ./make.plugin, with: { word: bad } }\n"
                     "  new: { plugin: ./make.plugin, reuse: never }\n"
                     "  old: { plugin: ./make.plugin, with: { word: \"it's $1\", n: 5 } }\n"
                     "  plain: { plugin: ./make.plugin, with: { word: y } }\n"
                     "  same: { plugin: ./make.plugin, with: { word: s } }\n");
    struct orch_totals totals = run(&scene);
    assert_int_equal(totals.ended[ORCH_VERDICT_OK], 4);
    assert_int_equal(totals.ended[ORCH_VERDICT_FAILED], 1);
    scene_free(&scene);
    static const char changed[] = "experiments:\n"
                                  "  bad: { plugin: ./make.plugin, with: { word: bad } }\n"
                                  "  new: { plugin: ./make.plugin, reuse: never }\n"
                                  "  old: { plugin: ./make.plugin, with: { word: now, n: 6 } }\n"
                                  "  plain: { plugin: ./make.plugin, with: { word: z } }\n"
                                  "  same: { plugin: ./make.plugin, with: { word: s } }\n";
    scene = plan_of(dir, changed);
    assert_item(&scene, "bad", 0, ORCH_PLAN_MISSING, "failed before: exit status 1");
    assert_int_equal(item_of(&scene, "bad", 0)->attempts, 1);
    assert_item(&scene, "new", 0, ORCH_PLAN_MISSING, "reuse: never");
    assert_item(&scene, "old", 0, ORCH_PLAN_STALE, "was");
    assert_string_equal(item_of(&scene, "old", 0)->other_settings,
                        "-s old.n=5 -s 'old.word=it'\\''s $1'");
    assert_item(&scene, "plain", 0, ORCH_PLAN_STALE, "word was y, is z");
    assert_string_equal(item_of(&scene, "plain", 0)->other_settings, "-s plain.word=y");
    assert_item(&scene, "same", 0, ORCH_PLAN_DONE, "ok just now by");
    scene_free(&scene);
    scene = plan_with(dir, changed, &(struct orch_plan_options){.slots = 1, .force = true});
    assert_item(&scene, "same", 0, ORCH_PLAN_MISSING, "forced to run again");
    scene_free(&scene);
    free_folder(dir);
}

/* Records a run of the item that ended `s` seconds ago on another device. */
static void put_run(const struct scene *scene, const struct orch_plan_item *item, int64_t s,
                    const char *device_key, const char *state)
{
    char key[ORCH_KEY_CHARS];
    struct fixture_points points;
    struct orch_record record;
    orch_key_make(key);
    fixture_record(&record, key, &points);
    record.recipe_key = scene->expansion->key;
    record.recipe = "scene";
    record.experiment = item->cell->experiment->name;
    record.plugin = "make";
    record.fingerprint = item->fingerprint;
    record.device_key = device_key;
    record.repeat = item->cell->repeat;
    record.seed = item->cell->seed;
    record.state = state;
    record.param_count = 0;
    record.ended_ns = orch_now_ns() - s * INT64_C(1000000000);
    record.started_ns = record.ended_ns - 1;
    record.who = "ada";
    assert_ok(orch_store_record(scene->plan->store, &record, error));
}

static void test_ages(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *says;
    } ages[] = {{5, "just now by ada (any machine)"},
                {5 * 60 + 5, "5 min ago"},
                {7 * 3600 + 5, "7 h ago"},
                {3 * 86400 + 5, "3 d ago"}};
    static const char experiments[] =
        "experiments:\n  make: { plugin: ./make.plugin, sweep: { n: [1, 2, 3, 4] } }\n"
        "  timed: { plugin: ./make.plugin, with: { n: 9 }, reuse: device }\n";
    char *dir = new_project();
    struct scene scene = plan_of(dir, experiments);
    for (int i = 0; i < 4; i++)
        put_run(&scene, item_of(&scene, "make", i), ages[i].s, "8x Tesla", "ok");
    put_run(&scene, item_of(&scene, "timed", 0), 5, "8x Tesla", "ok");
    scene_free(&scene);
    scene = plan_of(dir, experiments);
    for (int i = 0; i < 4; i++)
        assert_item(&scene, "make", i, ORCH_PLAN_DONE, ages[i].says);
    assert_item(&scene, "timed", 0, ORCH_PLAN_MISSING,
                "done by ada on 8x Tesla; timings are not reused on another machine");
    scene_free(&scene);
    free_folder(dir);
}

/* ---- references -------------------------------------------------------------------------------
 */

/* A run from elsewhere came without its artifact, so what refers to it cannot start. */
static void test_missing_artifact(void **state)
{
    (void)state;
    static const char experiments[] =
        "experiments:\n"
        "  make: { plugin: ./make.plugin }\n"
        "  use: { plugin: ./use.plugin, with: { from: \"${make.final}\" } }\n"
        "  read: { plugin: ./use.plugin, with: { file: \"${make.file}\" } }\n";
    char *dir = new_project();
    struct scene scene = plan_of(dir, experiments);
    put_run(&scene, item_of(&scene, "make", 0), 5, "8x Tesla", "ok");
    scene_free(&scene);
    scene = plan_of(dir, experiments);
    assert_item(&scene, "make", 0, ORCH_PLAN_MISSING, "file");
    scene_free(&scene);
    free_folder(dir);
}

/* ---- the folder of a trial --------------------------------------------------------------------
 */

/* Writes the folder of the first trial of 'make', apart, and returns the program's folder in it. */
static char *write_folder(struct scene *scene, struct orch_trialdir *out)
{
    const struct orch_run_slot slot = {.threads = 1, .is_apart = true};
    const struct orch_plan_item *item = item_of(scene, "make", 0);
    assert_ok(orch_trialdir_prepare(scene->plan, item, NULL, &slot, "[]", out, error));
    assert_ok(orch_trialdir_write(scene->plan, item, &slot, out, error));
    return g_build_filename(out->path, "work", NULL);
}

static void assert_link(const char *dir, const char *name, const char *target)
{
    g_autofree char *path = path_in(dir, name);
    g_autofree char *found = g_file_read_link(path, NULL);
    if (g_strcmp0(found, target) != 0)
        fail_msg("'%s' is a link to '%s', not to '%s'", name, found ? found : "(none)", target);
}

static unsigned index_of(const struct scene *scene, const char *experiment)
{
    return (unsigned)(item_of(scene, experiment, 0) - scene->plan->items);
}

/* What a reference stands for is the last point of a series, a result or the path of an artifact;
 * a run from elsewhere may lack it. */
static void test_values_of_references(void **state)
{
    (void)state;
    static const char experiments[] =
        "experiments:\n"
        "  make: { plugin: ./make.plugin }\n"
        "  last: { plugin: ./use.plugin, with: { from: \"${make.loss}\" } }\n"
        "  result: { plugin: ./use.plugin, with: { from: \"${make.final}\" } }\n";
    char *dir = new_project();
    struct scene scene = plan_of(dir, experiments);
    put_run(&scene, item_of(&scene, "make", 0), 5, "8x Tesla", "ok");
    scene_free(&scene);
    scene = plan_of(dir, experiments);
    const struct orch_run_slot slot = {.threads = 1};
    const unsigned chosen[] = {index_of(&scene, "make")};
    struct orch_trialdir trial;
    assert_item(&scene, "make", 0, ORCH_PLAN_DONE, "by ada");
    assert_ok(orch_trialdir_prepare(scene.plan, item_of(&scene, "last", 0), chosen, &slot, "[]",
                                    &trial, error));
    assert_string_equal(json_string_value(json_object_get(trial.params, "from")), "inf");
    orch_trialdir_clear(&trial);
    assert_fails(orch_trialdir_prepare(scene.plan, item_of(&scene, "result", 0), chosen, &slot,
                                       "[]", &trial, error),
                 ORCH_ERROR_TRIAL, "has no artifact or result 'final', which ${make.final} needs");
    scene_free(&scene);
    free_folder(dir);
}

/* A path is relative to the recipe, and absolute for the trial; nothing and "" stay as they are. */
static void test_paths_of_a_trial(void **state)
{
    (void)state;
    char *dir = new_folder();
    put(dir, "make.plugin",
        "plugin: make\ncommand: [sh, -c, true]\nmetrics: { score: none }\n"
        "parameters: { data: { type: path }, empty: { type: path, default: \"\" },\n"
        "              none: { type: path, optional: true }, word: data/x }\n");
    put(dir, "data/x", "1\n");
    struct scene scene =
        plan_of(dir, "experiments:\n  make: { plugin: ./make.plugin, with: { data: data/x } }\n");
    const struct orch_run_slot slot = {.threads = 1};
    struct orch_trialdir trial;
    assert_ok(orch_trialdir_prepare(scene.plan, item_of(&scene, "make", 0), NULL, &slot, "[]",
                                    &trial, error));
    g_autofree char *data = path_in(dir, "data/x");
    assert_string_equal(orch_json_text(trial.params, "data", ""), data);
    assert_string_equal(orch_json_text(trial.params, "empty", "?"), "");
    assert_string_equal(orch_json_text(trial.params, "word", "?"), "data/x");
    orch_trialdir_clear(&trial);
    scene_free(&scene);
    free_folder(dir);
}

/* Where a folder of the store is a file, the error names it and nothing is left behind. */
static void test_no_place_for_a_trial(void **state)
{
    (void)state;
    static const enum orch_store_dir kinds[] = {ORCH_STORE_DIR_TRIAL, ORCH_STORE_DIR_CHECKPOINT};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        char *dir = new_folder();
        put(dir, "make.plugin",
            "plugin: make\ncommand: [sh, -c, true]\nmetrics: { score: none }\n");
        struct scene scene = plan_of(dir, "experiments:\n  make: { plugin: ./make.plugin }\n");
        const struct orch_run_slot slot = {.threads = 1};
        const struct orch_plan_item *item = item_of(&scene, "make", 0);
        struct orch_trialdir trial;
        assert_ok(orch_trialdir_prepare(scene.plan, item, NULL, &slot, "[]", &trial, error));
        g_autofree char *inside = orch_store_dir_path(scene.plan->store, kinds[i], trial.key);
        g_autofree char *place = g_path_get_dirname(inside);
        if (g_file_test(place, G_FILE_TEST_EXISTS))
            assert_ok(orch_tree_remove(place, error));
        put("/", place, "a file");
        GError *problem = NULL;
        assert_false(orch_trialdir_write(scene.plan, item, &slot, &trial, &problem));
        assert_non_null(problem);
        g_autofree char *base = g_path_get_basename(place);
        if (!strstr(problem->message, base))
            fail_msg("no '%s' in: %s", base, problem->message);
        g_clear_error(&problem);
        assert_false(g_file_test(trial.path, G_FILE_TEST_EXISTS));
        orch_trialdir_clear(&trial);
        scene_free(&scene);
        free_folder(dir);
    }
}

/* Outside of a repository: links stay links, large files become links, pipes are left out. */
static void test_folder_of_odd_files(void **state)
{
    (void)state;
    static const char recipe[] = "experiments:\n  make: { plugin: ./make.plugin }\n";
    char *dir = new_folder();
    g_autofree char *large = path_in(dir, "large.bin"), *pipe = path_in(dir, "pipe"),
                    *link = path_in(dir, "link"), *empty = path_in(dir, "empty"),
                    *script = path_in(dir, "make.sh");
    put(dir, "make.plugin", "plugin: make\ncommand: [./make.sh]\nmetrics: { score: none }\n");
    put(dir, "make.sh", "#!/bin/sh\ntrue\n");
    put(dir, "deep/er/file.txt", "deep\n");
    put(dir, ".orch/secret", "no\n");
    put(dir, "large.bin", "");
    assert_int_equal(chmod(script, 0755), 0);
    assert_int_equal(truncate(large, (32 << 20) + 1), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(mkdir(empty, 0700), 0);
    struct scene scene = plan_of(dir, recipe);
    struct orch_trialdir trial;
    g_autofree char *work = write_folder(&scene, &trial);
    g_autofree char *text = slurp(work, "deep/er/file.txt");
    assert_string_equal(text, "deep\n");
    assert_link(work, "large.bin", large);
    assert_link(work, "link", "nowhere");
    static const struct {
        const char *name;
        bool is_there;
    } rows[] = {{"make.sh", true}, {"empty", true}, {"pipe", false}, {".orch", false}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = path_in(work, rows[i].name);
        assert_int_equal(g_file_test(path, G_FILE_TEST_EXISTS), rows[i].is_there);
    }
    g_autofree char *copied = path_in(work, "make.sh");
    assert_int_equal(access(copied, X_OK), 0);
    orch_trialdir_clear(&trial);
    scene_free(&scene);
    free_folder(dir);
}

/* At most 64 MiB are copied: 16 files of 4 MiB, or 15 and a little beside them. The rest are links.
 */
static void test_folder_beyond_the_budget(void **state)
{
    (void)state;
    enum { FILES = 24, FILE_BYTES = 4 << 20 };
    char *dir = new_folder();
    put(dir, "make.plugin", "plugin: make\ncommand: [sh, -c, true]\nmetrics: { score: none }\n");
    for (int i = 0; i < FILES; i++) {
        g_autofree char *name = g_strdup_printf("%d.bin", i);
        g_autofree char *path = path_in(dir, name);
        put(dir, name, "");
        assert_int_equal(truncate(path, FILE_BYTES), 0);
    }
    struct scene scene = plan_of(dir, "experiments:\n  make: { plugin: ./make.plugin }\n");
    struct orch_trialdir trial;
    g_autofree char *work = write_folder(&scene, &trial);
    int links = 0;
    for (int i = 0; i < FILES; i++) {
        g_autofree char *name = g_strdup_printf("%d.bin", i);
        g_autofree char *path = path_in(work, name);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_size, FILE_BYTES);
        links += g_file_test(path, G_FILE_TEST_IS_SYMLINK);
    }
    assert_in_range(links, FILES - 16, FILES - 15);
    orch_trialdir_clear(&trial);
    scene_free(&scene);
    free_folder(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_earlier_runs),
        cmocka_unit_test(test_ages),
        cmocka_unit_test(test_missing_artifact),
        cmocka_unit_test(test_values_of_references),
        cmocka_unit_test(test_paths_of_a_trial),
        cmocka_unit_test(test_no_place_for_a_trial),
        cmocka_unit_test(test_folder_of_odd_files),
        cmocka_unit_test(test_folder_beyond_the_budget),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
