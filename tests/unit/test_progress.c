/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress of running trials, read from their journals, and the estimate of the remaining time:
 * from a trial's own pace, its forecast, or other trials of its experiment. */
#include "core/schedule/schedule_private.h"
#include "tests/store/fixture.h"

/* Estimates use the clock at two moments of one test; both are far apart from this tolerance. */
#define TOLERANCE_S 2.0

static char *folder;

/* A run of two experiments with two trials each, all of them still to do. */
struct scene {
    struct orch_experiment experiments[2];
    struct orch_cell cells[4];
    struct orch_plan_item items[4];
    struct job jobs[4];
    unsigned order[4];
    struct orch_manifest *manifest;
    struct orch_expansion expansion;
    struct orch_plan plan;
    struct orch_run_options options;
    struct orch_listener listener;
    struct run run;
    unsigned ticks, running_count;
    char message[200];
};

static void on_tick(void *ctx, const struct orch_running *const *running, unsigned count,
                    const struct orch_totals *totals)
{
    struct scene *scene = ctx;
    (void)running, (void)totals;
    scene->ticks++;
    scene->running_count = count;
}

static void on_message(void *ctx, const char *text)
{
    struct scene *scene = ctx;
    g_strlcpy(scene->message, text, sizeof scene->message);
}

static void free_walls(void *walls)
{
    g_array_unref(walls);
}

static struct scene *scene_new(void)
{
    struct scene *scene = g_new0(struct scene, 1);
    scene->manifest = orch_manifest_new();
    scene->expansion.report = g_ptr_array_new();
    for (unsigned i = 0; i < 4; i++) {
        scene->experiments[i / 2].manifest = scene->manifest;
        scene->cells[i].experiment = &scene->experiments[i / 2];
        scene->items[i] = (struct orch_plan_item){.cell = &scene->cells[i]};
        scene->jobs[i].index = scene->order[i] = i;
    }
    scene->plan =
        (struct orch_plan){.items = scene->items, .count = 4, .expansion = &scene->expansion};
    scene->options = (struct orch_run_options){.slots = 1, .live = true};
    scene->listener = (struct orch_listener){.ctx = scene, .tick = on_tick, .message = on_message};
    scene->run = (struct run){.plan = &scene->plan,
                              .options = &scene->options,
                              .listener = &scene->listener,
                              .jobs = scene->jobs,
                              .order = scene->order,
                              .order_count = 4,
                              .hosts = g_ptr_array_new_with_free_func(g_free),
                              .asked = g_ptr_array_new()};
    scene->run.wall_by_experiment = g_hash_table_new_full(NULL, NULL, NULL, free_walls);
    return scene;
}

static void scene_free(struct scene *scene)
{
    for (guint i = 0; i < scene->run.hosts->len; i++) {
        struct host *host = scene->run.hosts->pdata[i];
        g_free(host->running.trial_dir);
        if (host->running.points)
            g_array_unref(host->running.points);
    }
    g_ptr_array_unref(scene->run.hosts);
    g_ptr_array_unref(scene->run.asked);
    g_ptr_array_unref(scene->expansion.report);
    orch_manifest_free(scene->manifest);
    g_hash_table_unref(scene->run.wall_by_experiment);
    g_free(scene);
}

/* Lets the trial run since `elapsed_s`, with this journal (NULL: none yet). */
static struct orch_running *start(struct scene *scene, unsigned index, double elapsed_s,
                                  const char *journal)
{
    struct host *host = g_new0(struct host, 1);
    g_autofree char *name = g_strdup_printf("trial-%u", index);
    host->running.item = &scene->items[index];
    host->running.trial_dir = g_build_filename(folder, name, NULL);
    host->running.started_mono_ns = orch_mono_ns() - (int64_t)(elapsed_s * 1e9);
    assert_ok(orch_dir_make(host->running.trial_dir, error));
    g_autofree char *path = g_build_filename(host->running.trial_dir, "journal", NULL);
    if (journal)
        assert_ok(orch_file_write(path, journal, strlen(journal), false, error));
    else
        unlink(path);
    scene->jobs[index].status = JOB_RUNNING;
    g_ptr_array_add(scene->run.hosts, host);
    return &host->running;
}

static void put_wall(struct scene *scene, unsigned experiment, double wall_s)
{
    GArray *walls =
        g_hash_table_lookup(scene->run.wall_by_experiment, &scene->experiments[experiment]);
    if (!walls) {
        walls = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(scene->run.wall_by_experiment, &scene->experiments[experiment], walls);
    }
    g_array_append_val(walls, wall_s);
}

static double eta_s(struct scene *scene)
{
    scene->run.last_tick_ns = 0;
    orch_schedule_tick(&scene->run);
    return scene->run.totals.eta_s;
}

static void assert_eta(struct scene *scene, double expected_s)
{
    double found_s = eta_s(scene);
    if (!(fabs(found_s - expected_s) < TOLERANCE_S))
        fail_msg("%g s are left, not %g s", found_s, expected_s);
}

/* ---- the points -------------------------------------------------------------------------------
 */

static void add(GArray *points, double t_s, double done, double of, double *total)
{
    struct orch_event event = {
        .kind = ORCH_EVENT_PROGRESS, .t_ms = t_s * 1e3, .value = done, .total = of};
    orch_running_add(points, &event, total);
}

static void test_points_of_a_new_phase(void **state)
{
    (void)state;
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
    double total = 0;
    add(points, 1, 1, 10, &total);
    add(points, 2, 2, 10, &total);
    add(points, 2, 3, 10, &total); /* no time has passed */
    add(points, 1, 3, 10, &total); /* the clock went back */
    add(points, NAN, 3, 10, &total);
    add(points, 3, INFINITY, 10, &total);
    assert_int_equal(points->len, 2);
    add(points, 4, 1, 10, &total); /* done went back */
    assert_int_equal(points->len, 1);
    add(points, 5, 2, 20, &total); /* the total grew */
    assert_int_equal(points->len, 1);
    assert_true(total == 20);
    add(points, 6, 3, 5, &total); /* the total fell */
    assert_int_equal(points->len, 1);
    assert_true(g_array_index(points, struct orch_running_point, 0).t_s == 6);
    add(points, 7, 4, 5, &total);
    assert_int_equal(points->len, 2);
}

static void test_points_are_bounded(void **state)
{
    (void)state;
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
    double total = 1e6;
    for (int i = 1; i <= 5000; i++) {
        add(points, i, i, 1e6, &total);
        assert_true(points->len <= 4096);
    }
    const struct orch_running_point *first = &g_array_index(points, struct orch_running_point, 0);
    const struct orch_running_point *last = first + points->len - 1;
    assert_int_equal(points->len, 2048 + 5000 - 4096);
    assert_true(first->t_s == 2 && first->done == 2); /* every other one is left */
    assert_true(first[1].t_s == 4);
    assert_true(last->t_s == 5000);
}

/* ---- what a journal says ----------------------------------------------------------------------
 */

static void test_newest_events(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    struct orch_running *running =
        start(scene, 0, 20,
              "{\"event\":\"phase\",\"name\":\"warmup\"}\n"
              "{\"event\":\"progress\",\"done\":1,\"total\":10,\"t_ms\":1000}\n"
              "{\"event\":\"metric\",\"name\":\"loss\",\"step\":1,\"value\":0.5,\"t_ms\":1500}\n"
              "{\"event\":\"phase\",\"name\":\"training\"}\n"
              "{\"event\":\"progress\",\"done\":4,\"total\":10,\"t_ms\":4000}\n"
              "{\"event\":\"metrics\",\"points\":[[\"time\",2,4100,9],[\"loss\",2,4100,0.25],"
              "[\"acc\",2,4100,0.75]]}\n"
              "{\"event\":\"metrics\",\"points\":[]}\n"
              "{\"event\":\"note\",\"text\":\"fine\"}\n");
    start(scene, 1, 5, NULL);
    put_wall(scene, 1, 7);
    assert_true(!isnan(eta_s(scene)));
    assert_int_equal(scene->ticks, 1);
    assert_int_equal(scene->running_count, 2);
    assert_string_equal(running->phase, "training");
    assert_int_equal(running->value_count, 2); /* those before the time */
    assert_string_equal(running->values[0].name, "loss");
    assert_string_equal(running->values[1].name, "acc");
    assert_true(running->values[0].value == 0.25 && running->values[1].value == 0.75);
    assert_true(running->done == 4 && running->total == 10);
    assert_int_equal(running->points->len, 2);
    eta_s(scene); /* the same journal again adds nothing */
    assert_int_equal(running->points->len, 2);
    scene_free(scene);
}

static void test_ticks(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    orch_schedule_tick(&scene->run);
    orch_schedule_tick(&scene->run); /* less than a tenth of a second later */
    assert_int_equal(scene->ticks, 1);
    scene->run.last_tick_ns = 0;
    scene->listener.tick = NULL;
    orch_schedule_tick(&scene->run);
    scene->listener.tick = on_tick;
    scene->options.live = false;
    orch_schedule_tick(&scene->run);
    assert_int_equal(scene->ticks, 1);
    orch_schedule_emit(&scene->run, "%d trials", 3);
    assert_string_equal(scene->message, "3 trials");
    scene->listener.message = NULL;
    orch_schedule_emit(&scene->run, "nobody listens");
    assert_string_equal(scene->message, "3 trials");
    scene_free(scene);
}

/* ---- the remaining time -----------------------------------------------------------------------
 */

static bool forecast_60(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out)
{
    const struct scene *scene = ctx;
    if (item->cell->experiment != &scene->experiments[0])
        return false;
    *out = (struct orch_forecast){.time_s.low = 50, .time_s.mid = 60, .time_s.high = 70};
    return true;
}

static void test_nothing_is_known(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    assert_true(isnan(eta_s(scene)));
    start(scene, 0, 30, NULL);
    assert_true(isnan(eta_s(scene)));
    scene->run.order_count = 0; /* only running trials are left, the first of them unknown */
    start(scene, 2, 30, NULL);
    put_wall(scene, 1, 40);
    assert_true(isnan(eta_s(scene)));
    put_wall(scene, 0, 50);
    assert_eta(scene, 20);
    scene_free(scene);
}

/* Trials without a forecast take the median of the ended trials of their experiment. */
static void test_estimate_from_ended_trials(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    put_wall(scene, 0, 90);
    put_wall(scene, 0, 10);
    put_wall(scene, 0, 20);
    put_wall(scene, 1, 100);
    assert_eta(scene, 20 + 20 + 100 + 100);
    scene->options.slots = 2;
    assert_eta(scene, (20 + 20 + 100 + 100) / 2);
    start(scene, 0, 5, NULL); /* 15 s are left of it; on average half of the longest is */
    assert_eta(scene, (20 + 100 + 100) / 2.0 + 15 / 2.0);
    scene->options.slots = 1;
    assert_eta(scene, 20 + 100 + 100 + 15);
    scene_free(scene);
}

/* Ends a trial after so many seconds. */
static void end(struct scene *scene, unsigned index, enum job_status status, double seconds)
{
    struct job *job = &scene->jobs[index];
    job->status = status;
    job->well = status == JOB_ENDED;
    orch_schedule_keep_wall(&scene->run, job, 1000 * seconds);
}

/* Trials that were stopped would have taken the mean of their experiment's others. */
static void test_saved_share(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    for (unsigned i = 0; i < 4; i++)
        scene->items[i].cell = scene->items[0].cell;
    assert_true(isnan(orch_schedule_saved_share(&scene->run)));
    end(scene, 0, JOB_PRUNED, 2);
    assert_true(isnan(orch_schedule_saved_share(&scene->run))); /* none has ended */
    end(scene, 1, JOB_ENDED, 8);
    end(scene, 2, JOB_ENDED, 12);
    end(scene, 3, JOB_PRUNED, 3);
    /* 20 - 5 s of 20 + 20 s are saved */
    assert_float_equal(orch_schedule_saved_share(&scene->run), 15.0 / 40, 1e-12);
    /* one goes on: while it runs, nothing is known of it */
    scene->jobs[3].status = JOB_RUNNING;
    assert_float_equal(orch_schedule_saved_share(&scene->run), 8.0 / 30, 1e-12);
    /* it began anew: it took 3 + 9 s instead of 10, which is less than the 8 s that the other
     * saved, and it is not counted among those that were never stopped */
    end(scene, 3, JOB_ENDED, 9);
    assert_float_equal(orch_schedule_saved_share(&scene->run), 6.0 / 40, 1e-12);
    scene_free(scene);
}

/* Trials that are longer than those that ended saved nothing; nor is that taken from what others
 * did. */
static void test_saved_share_of_two_experiments(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    assert_true(scene->items[0].cell->experiment == scene->items[1].cell->experiment);
    assert_true(scene->items[2].cell->experiment == scene->items[3].cell->experiment);
    end(scene, 0, JOB_ENDED, 10);
    end(scene, 1, JOB_PRUNED, 4);
    end(scene, 2, JOB_ENDED, 5);
    end(scene, 3, JOB_PRUNED, 7);
    assert_float_equal(orch_schedule_saved_share(&scene->run), 6.0 / (6 + 14 + 12), 1e-12);
    /* of an attempt of another run the time is not known here */
    scene->jobs[1].stopped_s = NAN;
    assert_float_equal(orch_schedule_saved_share(&scene->run), 0, 1e-12);
    scene_free(scene);
}

static void test_estimate_from_forecasts(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    struct orch_forecaster forecaster = {.ctx = scene, .forecast = forecast_60};
    scene->options.forecaster = &forecaster;
    put_wall(scene, 1, 100);
    assert_eta(scene, 60 + 60 + 100 + 100);
    struct orch_running *running = start(scene, 0, 40, NULL);
    running->has_forecast = true;
    running->forecast_s.mid = 60;
    assert_eta(scene, 20 + 60 + 100 + 100);
    running->forecast_s.mid = 30; /* it is late: nothing is left, not less than nothing */
    assert_eta(scene, 60 + 100 + 100);
    scene_free(scene);
}

/* A trial's own pace counts more than its forecast: 3 of 10 steps in 3 s, 6 are left at 4 s. */
static void test_estimate_from_pace(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    put_wall(scene, 0, 50);
    put_wall(scene, 1, 0);
    struct orch_running *running =
        start(scene, 0, 4,
              "{\"event\":\"progress\",\"done\":1,\"total\":100,\"t_ms\":1000}\n"
              "{\"event\":\"progress\",\"done\":4,\"total\":100,\"t_ms\":4000}\n");
    running->has_forecast = true;
    running->forecast_s.mid = 1000;
    assert_eta(scene, 96 + 50);
    scene_free(scene);
}

/* Without ended trials of the experiment, its others take what a running one will have taken. */
static void test_estimate_from_a_running_trial(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    put_wall(scene, 1, 0);
    start(scene, 2, 3, NULL);
    struct orch_running *running =
        start(scene, 0, 20, "{\"event\":\"progress\",\"done\":0,\"total\":10,\"t_ms\":1000}\n");
    assert_true(isnan(eta_s(scene))); /* nothing is done yet */
    running->done = 5;
    g_array_set_size(running->points, 0);
    g_autofree char *path = g_build_filename(running->trial_dir, "journal", NULL);
    static const char more[] = "{\"event\":\"progress\",\"done\":5,\"total\":10,\"t_ms\":9000}\n";
    assert_ok(orch_file_write(path, more, strlen(more), false, error));
    assert_eta(scene, 40 + 20); /* 40 s for the other one, 20 s for the rest of this one */
    scene_free(scene);
}

/* A pace of zero is no pace, and a trial beyond its total has none either. */
static void test_no_pace(void **state)
{
    (void)state;
    static const char *const journals[] = {
        "{\"event\":\"progress\",\"done\":4,\"total\":10,\"t_ms\":1000}\n"
        "{\"event\":\"progress\",\"done\":4,\"total\":10,\"t_ms\":4000}\n",
        "{\"event\":\"progress\",\"done\":9,\"total\":10,\"t_ms\":1000}\n"
        "{\"event\":\"progress\",\"done\":12,\"total\":10,\"t_ms\":4000}\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(journals); i++) {
        struct scene *scene = scene_new();
        put_wall(scene, 0, 50);
        put_wall(scene, 1, 0);
        start(scene, 0, 20, journals[i]);
        assert_eta(scene, 50 + 30);
        scene_free(scene);
    }
}

int main(void)
{
    folder = fixture_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_of_a_new_phase),
        cmocka_unit_test(test_points_are_bounded),
        cmocka_unit_test(test_newest_events),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_estimate_from_ended_trials),
        cmocka_unit_test(test_saved_share),
        cmocka_unit_test(test_saved_share_of_two_experiments),
        cmocka_unit_test(test_estimate_from_forecasts),
        cmocka_unit_test(test_estimate_from_pace),
        cmocka_unit_test(test_estimate_from_a_running_trial),
        cmocka_unit_test(test_no_pace),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_remove(folder);
    return failed;
}
