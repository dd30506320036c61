/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AI Gauge's linear form, regressors side by side, groups held out, networks layer by layer: each
 * on data whose law is known. */
#include "features/learn/heldout.h"
#include "features/learn/layerwise.h"
#include "features/learn/regressors.h"
#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char *const GPUS[] = {"K80", "P100", "V100"};
static const double PEAKS[] = {4, 10, 15};
static const char *const NETS[] = {"alexnet", "resnet50", "vgg16"};

/* ---- the linear form ---------------------------------------------------------------------------
 */

static double law_of(const struct orch_aigauge_job *j, double category)
{
    return 30 + category - 2 * j->workers + 1.5 * j->batch / (j->threads + 1) +
           8 * j->batch / (j->workers * j->flops);
}

/* Jobs of all kinds; times follow the form with I of the GPU, or of the network. */
static struct orch_aigauge_job *make_jobs(size_t count, bool by_gpu, double *y)
{
    static const double categories[] = {12, 3, 7};
    struct orch_aigauge_job *jobs = g_new0(struct orch_aigauge_job, count);
    uint64_t random = 5;
    for (size_t i = 0; i < count; i++) {
        size_t gpu = orch_random_below(&random, 3), net = orch_random_below(&random, 3);
        jobs[i] = (struct orch_aigauge_job){GPUS[gpu],
                                            NETS[net],
                                            1 + (double)orch_random_below(&random, 4),
                                            16 << orch_random_below(&random, 4),
                                            1 + (double)orch_random_below(&random, 8),
                                            PEAKS[gpu]};
        y[i] = law_of(&jobs[i], categories[by_gpu ? gpu : net]);
    }
    return jobs;
}

static void form_recovers_its_law_in_both_readings(void **state)
{
    (void)state;
    for (int by_gpu = 0; by_gpu < 2; by_gpu++) {
        double y[80];
        g_autofree struct orch_aigauge_job *jobs = make_jobs(80, by_gpu, y);
        struct orch_aigauge *right =
            orch_aigauge_fit(jobs, y, 60, by_gpu ? ORCH_AIGAUGE_BY_GPU : ORCH_AIGAUGE_BY_NET, NULL);
        struct orch_aigauge *wrong =
            orch_aigauge_fit(jobs, y, 60, by_gpu ? ORCH_AIGAUGE_BY_NET : ORCH_AIGAUGE_BY_GPU, NULL);
        assert_non_null(right);
        assert_int_equal(right->terms->len, 7); /* 1, three categories, W, B/(T+1), B/(W F) */
        assert_int_equal(right->rank, 6);       /* the categories together are the constant */
        double most = 0, misses = 0;
        for (int i = 60; i < 80; i++) {
            most = fmax(most, fabs(orch_aigauge_predict(right, &jobs[i]) - y[i]));
            misses = fmax(misses, fabs(orch_aigauge_predict(wrong, &jobs[i]) - y[i]));
        }
        assert_true(most < 1e-8); /* rounding of 60 equations */
        assert_true(misses > 1);
        const struct orch_aigauge_term *terms = (const void *)right->terms->data;
        assert_string_equal(terms[4].name, "W");
        assert_true(fabs(terms[4].coefficient + 2) < 1e-8);
        assert_true(fabs(terms[5].coefficient - 1.5) < 1e-8);
        assert_true(fabs(terms[6].coefficient - 8) < 1e-8);
        orch_aigauge_free(right);
        orch_aigauge_free(wrong);
    }
}

static void form_takes_few_and_equal_jobs(void **state)
{
    (void)state;
    double y[80];
    g_autofree struct orch_aigauge_job *jobs = make_jobs(80, true, y);
    struct orch_aigauge *two = orch_aigauge_fit(jobs, y, 2, ORCH_AIGAUGE_BY_GPU, NULL);
    assert_non_null(two);
    assert_true(fabs(orch_aigauge_predict(two, &jobs[0]) - y[0]) < 1e-8);
    orch_aigauge_free(two);
    for (int i = 0; i < 80; i++)
        jobs[i].workers = 1; /* now W says what the constant says */
    struct orch_aigauge *one = orch_aigauge_fit(jobs, y, 80, ORCH_AIGAUGE_BY_GPU, NULL);
    assert_non_null(one);
    assert_int_equal(one->rank, 5);
    struct orch_aigauge_job stranger = jobs[0];
    stranger.gpu = "H100";
    assert_true(isfinite(orch_aigauge_predict(one, &stranger)));
    orch_aigauge_free(one);
}

static void form_refuses_what_has_no_place_in_it(void **state)
{
    (void)state;
    double y[80];
    g_autofree struct orch_aigauge_job *jobs = make_jobs(80, true, y);
    g_autoptr(GError) none = NULL, flops = NULL, time = NULL;
    assert_null(orch_aigauge_fit(jobs, y, 0, ORCH_AIGAUGE_BY_GPU, &none));
    jobs[3].flops = 0;
    assert_null(orch_aigauge_fit(jobs, y, 80, ORCH_AIGAUGE_BY_GPU, &flops));
    assert_non_null(strstr(flops->message, "training 4"));
    jobs[3].flops = 1;
    y[7] = (double)NAN;
    assert_null(orch_aigauge_fit(jobs, y, 80, ORCH_AIGAUGE_BY_GPU, &time));
    assert_non_null(strstr(time->message, "training 8"));
}

/* ---- regressors --------------------------------------------------------------------------------
 */

static struct orch_rows *rows_of(const char *text, const char *target, const char *group)
{
    g_autoptr(GError) error = NULL;
    struct orch_rows_options options = {.target = target, .group = group};
    struct orch_csv *csv = orch_csv_parse("test", text, strlen(text), &error);
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, &error) : NULL;
    if (!rows)
        fail_msg("%s", error ? error->message : "no rows");
    orch_csv_free(csv);
    return rows;
}

static struct orch_rows *rows_of_jobs(const struct orch_aigauge_job *jobs, const double *y,
                                      size_t count)
{
    GString *csv = g_string_new("gpu,net,workers,batch,threads,epoch\n");
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(csv, "%s,%s,%g,%g,%g,%.12g\n", jobs[i].gpu, jobs[i].net,
                               jobs[i].workers, jobs[i].batch, jobs[i].threads, y[i]);
    struct orch_rows *rows = rows_of(csv->str, "epoch", NULL);
    g_string_free(csv, TRUE);
    return rows;
}

static void both_winners_are_the_least_of_their_columns(void **state)
{
    (void)state;
    double y[120];
    const char *const models[] = {"tree", "boost", "aigauge", NULL};
    g_autofree struct orch_aigauge_job *jobs = make_jobs(120, true, y);
    struct orch_rows *rows = rows_of_jobs(jobs, y, 120);
    g_autoptr(GPtrArray) all = orch_regressors_compare(rows, jobs, models, 0, NULL);
    g_autoptr(GPtrArray) again = orch_regressors_compare(rows, jobs, models, 0, NULL);
    assert_non_null(all);
    assert_int_equal(all->len, 4);
    for (guint m = 0; m < all->len; m++) {
        const struct orch_regressor *r = all->pdata[m], *same = again->pdata[m];
        const struct orch_regressor_setting *s = (const void *)r->settings->data;
        assert_true(r->settings->len > 0);
        for (guint i = 0; i < r->settings->len; i++) {
            assert_true(s[r->by_rmse].rmse <= s[i].rmse);
            assert_true(s[r->by_relative].mean_relative_error <= s[i].mean_relative_error);
        }
        assert_true(s[r->by_rmse].rmse == ((const struct orch_regressor_setting *)(const void *)
                                               same->settings->data)[same->by_rmse]
                                              .rmse);
    }
    const struct orch_regressor *tree = all->pdata[0], *form = all->pdata[2];
    assert_string_equal(form->name, "aigauge, I = GPU type");
    const struct orch_regressor_setting *exact = (const void *)form->settings->data;
    const struct orch_regressor_setting *rough = (const void *)tree->settings->data;
    assert_true(exact[0].rmse < 1e-6); /* the law is its own: 12 digits of text */
    assert_true(rough[tree->by_rmse].rmse > 1e-3);
    assert_non_null(form->form);
    orch_rows_free(rows);
}

/* A noisy tail: the squared error and the relative one choose other depths. */
static void the_two_measures_may_choose_other_settings(void **state)
{
    (void)state;
    const char *const models[] = {"tree", NULL};
    bool differ = false;
    for (uint64_t seed = 0; seed < 20 && !differ; seed++) {
        GString *csv = g_string_new("a,b,time\n");
        uint64_t random = seed + 100;
        for (int i = 0; i < 150; i++) {
            double a = orch_random_unit(&random), b = orch_random_unit(&random);
            double noise = exp(a > 0.8 ? 1.5 * (orch_random_unit(&random) - 0.5) : 0);
            g_string_append_printf(csv, "%.6f,%.6f,%.9g\n", a, b, exp(6 * a) * (1 + b) * noise);
        }
        struct orch_rows *rows = rows_of(csv->str, "time", NULL);
        g_autoptr(GPtrArray) all = orch_regressors_compare(rows, NULL, models, seed, NULL);
        const struct orch_regressor *r = all->pdata[0];
        differ = r->by_rmse != r->by_relative;
        orch_rows_free(rows);
        g_string_free(csv, TRUE);
    }
    assert_true(differ);
}

static void comparison_refuses_clearly(void **state)
{
    (void)state;
    double y[20];
    const char *const unknown[] = {"bost", NULL}, *const form[] = {"aigauge", NULL};
    g_autofree struct orch_aigauge_job *jobs = make_jobs(20, true, y);
    struct orch_rows *few = rows_of_jobs(jobs, y, 5), *rows = rows_of_jobs(jobs, y, 20);
    g_autoptr(GError) too_few = NULL, name = NULL;
    assert_null(orch_regressors_compare(few, NULL, form, 0, &too_few));
    assert_non_null(strstr(too_few->message, "5 rows are too few"));
    assert_null(orch_regressors_compare(rows, NULL, unknown, 0, &name));
    assert_non_null(strstr(name->message, "did you mean"));
    g_autoptr(GPtrArray) without = orch_regressors_compare(rows, NULL, form, 0, NULL);
    assert_int_equal(without->len, 2);
    assert_non_null(((const struct orch_regressor *)without->pdata[0])->why);
    orch_rows_free(few);
    orch_rows_free(rows);
}

/* ---- layers ------------------------------------------------------------------------------------
 */

/* Layers whose time is their work over the device's speed; forward and backward is three times. */
static double conv_ms(double batch, double side, double k, double cin, double cout, double rounds,
                      double speed)
{
    return rounds * 2 * batch * side * side * k * k * cin * cout / speed;
}

static GString *make_convs(int rows, uint64_t random)
{
    GString *csv = g_string_new("device,batch,in_hw,kernel,cin,cout,stride,pad_same,act,opt,ms\n");
    for (int i = 0; i < rows; i++) {
        bool fast = orch_random_below(&random, 2), train = orch_random_below(&random, 2);
        double batch = 1 + (double)orch_random_below(&random, 32);
        double side = 1 + (double)orch_random_below(&random, 40);
        double k = 1 + 2 * (double)orch_random_below(&random, 3);
        double cin = exp2(1 + 9 * orch_random_unit(&random));
        double cout = exp2(1 + 9 * orch_random_unit(&random));
        cin = ceil(cin);
        cout = ceil(cout);
        g_string_append_printf(csv, "%s,%g,%g,%g,%g,%g,1,1,%s,%s,%.9g\n", fast ? "fast" : "slow",
                               batch, side, k, cin, cout, i % 3 ? "relu" : "none",
                               train ? "sgd" : "none",
                               conv_ms(batch, side, k, cin, cout, train ? 3 : 1, fast ? 4e8 : 1e8));
    }
    return csv;
}

static GString *make_denses(int rows, uint64_t random)
{
    GString *csv = g_string_new("device,batch,din,dout,act,opt,ms\n");
    for (int i = 0; i < rows; i++) {
        bool fast = orch_random_below(&random, 2), train = orch_random_below(&random, 2);
        double batch = 1 + (double)orch_random_below(&random, 32);
        double din = ceil(exp2(16 * orch_random_unit(&random)));
        double dout = ceil(exp2(14 * orch_random_unit(&random)));
        g_string_append_printf(csv, "%s,%g,%g,%g,%s,%s,%.9g\n", fast ? "fast" : "slow", batch, din,
                               dout, i % 3 ? "relu" : "none", train ? "sgd" : "none",
                               (train ? 3 : 1) * 2 * batch * din * dout / (fast ? 4e8 : 1e8));
    }
    return csv;
}

/* A linear model of the logarithm knows such a law exactly, and far beyond the rows. */
static const struct orch_learn_options LINEAR = {
    .model = "linear", .target = ORCH_LEARN_LOG, .no_tuning = true};

static struct orch_layerwise *learn_all(bool with_dense)
{
    g_autoptr(GError) error = NULL;
    GString *conv = make_convs(600, 3), *dense = make_denses(400, 4);
    struct orch_rows *c = rows_of(conv->str, "ms", NULL);
    struct orch_rows *d = with_dense ? rows_of(dense->str, "ms", NULL) : NULL;
    struct orch_layerwise *l = orch_layerwise_learn(c, d, "ms", &LINEAR, &error);
    if (!l)
        fail_msg("%s", error->message);
    orch_rows_free(c);
    orch_rows_free(d);
    g_string_free(conv, TRUE);
    g_string_free(dense, TRUE);
    return l;
}

static void vgg_is_the_sum_of_its_layers(void **state)
{
    (void)state;
    struct orch_net_options options = {
        .name = "vgg11", .channels = 3, .height = 32, .width = 32, .classes = 10};
    struct orch_net *net = orch_net_make(&options, NULL);
    struct orch_layerwise *l = learn_all(true);
    for (int fast = 0; fast < 2; fast++) {
        const char *const facts[] = {"device", fast ? "fast" : "slow", NULL};
        struct orch_layerwise_job train = {8, "sgd", facts}, infer = {8, "none", facts};
        struct orch_layerwise_time *t = orch_layerwise_predict(l, net, &train, NULL);
        struct orch_layerwise_time *i = orch_layerwise_predict(l, net, &infer, NULL);
        double truth = 3 * 2 * 8 * (double)orch_net_macs(net) / (fast ? 4e8 : 1e8);
        assert_int_equal(t->layers->len, 11); /* 8 convolutions, 3 dense layers */
        assert_int_equal(t->left_out[ORCH_NET_MAXPOOL2D], 5);
        assert_int_equal(t->left_out[ORCH_NET_RELU], 0); /* they belong to their layers */
        assert_int_equal(t->outside, 0);
        assert_true(fabs(t->batch_ms.mid / truth - 1) < 0.05);
        assert_true(fabs(t->batch_ms.mid / i->batch_ms.mid - 3) < 0.1);
        assert_true(t->batch_ms.low <= t->batch_ms.mid && t->batch_ms.mid <= t->batch_ms.high);
        g_autofree char *left = orch_layerwise_left_out_text(t);
        assert_non_null(strstr(left, "5 maxpool2d"));
        orch_layerwise_time_free(t);
        orch_layerwise_time_free(i);
    }
    const char *const facts[] = {"device", "fast", NULL};
    struct orch_layerwise_job large = {1000, "sgd", facts}; /* batches up to 32 were measured */
    struct orch_layerwise_time *t = orch_layerwise_predict(l, net, &large, NULL);
    assert_int_equal(t->outside, 11);
    orch_layerwise_time_free(t);
    orch_layerwise_free(l);
    orch_net_free(net);
}

static void what_is_not_covered_is_said(void **state)
{
    (void)state;
    struct orch_net_options mlp = {.name = "mlp:64,32"}, grouped = {.name = "alexnet-grouped"};
    struct orch_net *dense = orch_net_make(&mlp, NULL), *net = orch_net_make(&grouped, NULL);
    struct orch_layerwise *l = learn_all(false);
    const char *const facts[] = {"device", "fast", NULL};
    struct orch_layerwise_job job = {4, "sgd", facts};
    g_autoptr(GError) error = NULL;
    assert_null(orch_layerwise_predict(l, dense, &job, &error));
    assert_non_null(strstr(error->message, "no layer of a kind"));
    struct orch_layerwise_time *t = orch_layerwise_predict(l, net, &job, NULL);
    assert_int_equal(t->layers->len, 2); /* conv1 and conv3: the others have two groups */
    assert_int_equal(t->left_out[ORCH_NET_CONV2D], 3);
    assert_int_equal(t->left_out[ORCH_NET_LINEAR], 3);
    orch_layerwise_time_free(t);
    orch_layerwise_free(l);
    orch_net_free(dense);
    orch_net_free(net);
    assert_true(fabs(orch_layerwise_epoch_s(20, 1000, 64) - 0.32) < 1e-12); /* 16 batches */
}

static void groups_are_held_out(void **state)
{
    (void)state;
    GString *csv = make_convs(600, 9);
    struct orch_rows *rows = rows_of(csv->str, "ms", "device");
    struct orch_heldout *held = orch_heldout_evaluate(rows, &LINEAR, NULL);
    assert_non_null(held);
    assert_int_equal(held->groups->len, 3);
    assert_int_equal(held->folds, 5);
    const struct orch_heldout_group *groups = (const void *)held->groups->data;
    assert_null(groups[2].name);
    assert_int_equal(groups[0].rows + groups[1].rows, 600);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(groups[i].own.n, groups[i].rows);
        assert_int_equal(groups[i].all.n, groups[i].rows);
        assert_true(groups[i].all.mean_relative_error < 0.05);
        assert_true(groups[i].own.mean_relative_error < 0.05);
    }
    /* nothing says how fast the device left out is: it is taken for the other, four times as fast
     * or slow */
    assert_true(groups[0].left_out.mean_relative_error > 0.6);
    assert_true(groups[1].left_out.mean_relative_error > 0.6);
    orch_heldout_free(held);
    orch_rows_free(rows);
    g_string_free(csv, TRUE);
}

static void groups_that_cannot_be_judged(void **state)
{
    (void)state;
    g_autoptr(GError) none = NULL, few = NULL;
    struct orch_rows *without = rows_of("a,ms\n1,2\n2,3\n", "ms", NULL);
    assert_null(orch_heldout_evaluate(without, &LINEAR, &none));
    assert_non_null(strstr(none->message, "no groups"));
    struct orch_rows *two = rows_of("a,g,ms\n1,x,2\n2,y,3\n", "ms", "g");
    assert_null(orch_heldout_evaluate(two, &LINEAR, &few));
    assert_non_null(strstr(few->message, "too few"));
    orch_rows_free(without);
    orch_rows_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(form_recovers_its_law_in_both_readings),
        cmocka_unit_test(form_takes_few_and_equal_jobs),
        cmocka_unit_test(form_refuses_what_has_no_place_in_it),
        cmocka_unit_test(both_winners_are_the_least_of_their_columns),
        cmocka_unit_test(the_two_measures_may_choose_other_settings),
        cmocka_unit_test(comparison_refuses_clearly),
        cmocka_unit_test(vgg_is_the_sum_of_its_layers),
        cmocka_unit_test(what_is_not_covered_is_said),
        cmocka_unit_test(groups_are_held_out),
        cmocka_unit_test(groups_that_cannot_be_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
