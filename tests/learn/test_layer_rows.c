/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step as the sum of measured rows, whose times follow a known law: measured layers are summed
 * exactly, others are learned, and the rest is scaled. */
#include "features/learn/layer_rows.h"
#include "lib/base/error.h"
#include "lib/net/layer_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char HEAD[] =
    "threads,layer,kind,text,batch,in_c,in_h,out_c,out_h,kernel,stride,groups,"
    "heads,params,pass,first,precision,layout,optimizer,gflop,mbytes,"
    "forward_queued_ms,backward_queued_ms\n";

/* The law: 1 ms a GFLOP and 0.1 ms a MB, a third of it forward. */
static double law(const struct orch_net_layer_work *work)
{
    return work->gflop + 0.1 * work->mbytes;
}

static void add_row(GString *csv, const struct orch_net *net, const struct orch_net_node *node,
                    int64_t batch, bool input_learns, double factor)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    bool first = !input_learns && orch_net_layer_is_first(net, node, NULL);
    struct orch_net_layer_run run = {batch, true, !first, 4};
    struct orch_net_layer_work work = orch_net_layer_work(costs, node, NULL, &run);
    const struct orch_net_shape *in = &orch_net_node(net, node->inputs[0])->out;
    g_autofree char *text = orch_net_layer_format(net, node, NULL);
    double ms = law(&work) * factor;
    g_string_append_printf(csv,
                           "2,x,%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.17g,train,%d,fp32,plain,sgd,%."
                           "17g,%.17g,%.17g,%.17g\n",
                           orch_net_layer_kind(node, NULL), text, (int)batch, (int)in->c,
                           (int)in->h, (int)node->out.c, (int)node->out.h, node->kernel_h,
                           node->stride_h, node->groups, node->heads, work.params, first,
                           work.gflop, work.mbytes, ms / 3, 2 * ms / 3);
}

static struct orch_net *make(const char *name)
{
    struct orch_net_options options = {
        .name = name, .channels = 3, .height = 32, .width = 32, .classes = 10};
    struct orch_net *net = orch_net_make(&options, NULL);
    assert_non_null(net);
    return net;
}

/* Rows of all layers of a network. */
static void add_network(GString *csv, const struct orch_net *net, int64_t batch)
{
    for (int i = 1; i < (int)net->nodes->len; i++)
        if (orch_net_layer_does_work(orch_net_node(net, i)))
            add_row(csv, net, orch_net_node(net, i), batch, false, 1);
}

static double expected_ms(const struct orch_net *net, int64_t batch)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    double sum = 0;
    for (int i = 1; i < (int)net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, i);
        struct orch_net_layer_run run = {batch, true, !orch_net_layer_is_first(net, node, NULL), 4};
        struct orch_net_layer_work work = orch_net_layer_work(costs, node, NULL, &run);
        sum += orch_net_layer_does_work(node) ? law(&work) : 0;
    }
    return sum;
}

static struct orch_layer_rows *read_rows(const GString *csv)
{
    static const char *const facts[] = {"threads", NULL};
    GError *error = NULL;
    struct orch_csv *table = orch_csv_parse("rows", csv->str, csv->len, &error);
    assert_non_null(table);
    struct orch_layer_rows *rows = orch_layer_rows_read(table, facts, &error);
    if (!rows)
        fail_msg("%s", error->message);
    orch_csv_free(table);
    return rows;
}

static const char *const TWO[] = {"2", NULL}, *const FOUR[] = {"4", NULL};
static const struct orch_layer_rows_job JOB = {16, "sgd", "fp32", "plain", TWO};
static const struct orch_learn_options OPTIONS = {
    .model = "boost", .target = ORCH_LEARN_BEST, .no_tuning = true};

static void test_measured(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet20"), *other = make("resnet-cifar:32");
    GString *csv = g_string_new(HEAD);
    add_network(csv, net, 16);
    g_string_append(
        csv, "2,input,input,input 3x32x32,8,3,32,3,32,0,0,0,0,0,train,1,fp32,plain,sgd,,,0.5,0\n"
             "2,loss,loss,loss 10,16,10,1,10,1,0,0,0,0,0,train,0,fp32,plain,sgd,,,1,2\n"
             "2,update,update,update,16,1,1,1,1,0,0,0,0,100000,train,0,fp32,plain,sgd,,,4,0\n"
             "2,update,update,update,16,1,1,1,1,0,0,0,0,100000,train,0,fp32,plain,adam,,,9,0\n");
    struct orch_layer_rows *rows = read_rows(csv);
    struct orch_layer_rows_sum sum;
    GError *error = NULL;
    assert_true(orch_layer_rows_sum(rows, net, &JOB, &OPTIONS, &sum, &error));
    assert_int_equal(sum.learned, 0);
    assert_true(fabs(sum.layers_ms / expected_ms(net, 16) - 1) < 1e-9);
    /* input of twice the batch, the loss as it is, SGD's update by the number of parameters */
    assert_true(fabs(sum.others_ms - (1 + 3 + 4 * (double)orch_net_params(net) / 1e5)) < 1e-6);
    assert_int_equal(sum.others, 3);
    /* a deeper network has the same layers, more often */
    assert_true(orch_layer_rows_sum(rows, other, &JOB, &OPTIONS, &sum, &error));
    assert_int_equal(sum.learned, 0);
    assert_true(fabs(sum.layers_ms / expected_ms(other, 16) - 1) < 1e-9);
    /* another number of threads was not measured */
    struct orch_layer_rows_job elsewhere = JOB;
    elsewhere.facts = FOUR;
    assert_false(orch_layer_rows_sum(rows, net, &elsewhere, &OPTIONS, &sum, &error));
    assert_non_null(strstr(error->message, "0 measured layers of this pass, precision and layout"));
    g_error_free(error);
    orch_layer_rows_free(rows);
    g_string_free(csv, TRUE);
    orch_net_free(net);
    orch_net_free(other);
}

/* Layers of other batches: the law is learned from them. A tolerance of 25 %: trees interpolate
 * between sizes that are a factor of two apart. */
static void test_learned(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet20");
    GString *csv = g_string_new(HEAD);
    for (int64_t batch = 4; batch <= 64; batch *= 2)
        if (batch != 16)
            add_network(csv, net, batch);
    struct orch_layer_rows *rows = read_rows(csv);
    struct orch_layer_rows_sum sum;
    GError *error = NULL;
    assert_true(orch_layer_rows_sum(rows, net, &JOB, &OPTIONS, &sum, &error));
    assert_int_equal(sum.measured, 0);
    assert_true(sum.learned > 60);
    assert_true(fabs(sum.layers_ms - sum.learned_ms) < 1e-9);
    if (!(fabs(log(sum.layers_ms / expected_ms(net, 16))) < 0.25))
        fail_msg("%g ms for %g", sum.layers_ms, expected_ms(net, 16));
    orch_layer_rows_free(rows);
    g_string_free(csv, TRUE);
    orch_net_free(net);
}

static void test_bad_table(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    GError *error = NULL;
    const char *text = "kind,text,batch\nconv,x,1\n";
    struct orch_csv *table = orch_csv_parse("rows", text, strlen(text), &error);
    assert_null(orch_layer_rows_read(table, none, &error));
    assert_non_null(strstr(error->message, "in_c"));
    g_error_free(error);
    orch_csv_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured),
                                       cmocka_unit_test(test_learned),
                                       cmocka_unit_test(test_bad_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
