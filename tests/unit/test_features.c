/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a measured row: networks that are counted only, against what their authors and
 * torchvision publish of them; work and white box of rows of each kind, worked out by hand. */
#include "predictors/features/features.h"
#include "predictors/features/features_nets.h"
#include "predictors/features/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void test_counted_nets(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double params_m, gmacs;
    } published[] = {/* torchvision's tables of weights */
                     {"resnext10132x8d", 88.79, 16.41}, {"wideresnet1012", 126.89, 22.75},
                     {"densenet161", 28.68, 7.73},      {"densenet201", 20.01, 4.29},
                     {"mnasnet05", 2.22, 0.10},         {"mnasnet075", 3.17, 0.21},
                     {"mnasnet10", 4.38, 0.31},         {"mnasnet13", 6.28, 0.53},
                     {"shufflenetv2x05", 1.37, 0.04},   {"shufflenetv2x10", 2.28, 0.14},
                     {"shufflenetv2x15", 3.50, 0.30},   {"shufflenetv2x20", 7.39, 0.58},
                     {"resnet200", 64.67, 15.07}};
    for (size_t i = 0; i < G_N_ELEMENTS(published); i++) {
        struct orch_net *net = orch_counted_net(published[i].key, 0);
        assert_non_null(net);
        assert_true(fabs((double)orch_net_params(net) / 1e6 - published[i].params_m) < 0.01);
        assert_true(fabs((double)orch_net_macs(net) / 1e9 - published[i].gmacs) <
                    0.01 + 0.005 * published[i].gmacs);
        orch_net_free(net);
    }
    assert_null(orch_counted_net("resnet", 0));
}

static struct orch_rows *rows_of(const char *text, const char *target)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("test.csv", text, strlen(text), &error);
    assert_non_null(csv);
    struct orch_rows_options o = {.target = target};
    struct orch_rows *rows = orch_rows_of_table(csv, &o, &error);
    if (!rows)
        fail_msg("%s", error->message);
    orch_csv_free(csv);
    return rows;
}

static double at(const struct orch_rows *rows, const char *feature, size_t row)
{
    int column = orch_matrix_find(rows->matrix, feature);
    return column < 0 ? (double)NAN : orch_matrix_column(rows->matrix, column)[row];
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("%.12g is not %.12g", value, wanted);
}

/* V100: 15.67 TFLOP/s, 900 GB/s, 80 processors. */
static void test_product(void **state)
{
    (void)state;
    struct orch_rows *r =
        rows_of("gpu,b,m,k,n,ms\nV100,1,1000,512,300,1\nMars,1,1000,512,300,1\n", "ms");
    near(at(r, "work gflop", 0), 2 * 1000 * 512 * 300 / 1e9);
    near(at(r, "work mbytes", 0), 4e-6 * (1000 * 512 + 512 * 300 + 1000 * 300));
    near(at(r, "white compute_ms", 0), 0.3072 / (1e-3 * 1e3 * at(r, "gpu fp32_tflops", 0)));
    near(at(r, "gemm waves128", 0), 8 * 3 / 80.0);
    near(at(r, "gemm waste128", 0), 80 * 128 * 128 / (1000 * 300.0));
    assert_true(isnan(at(r, "white compute_ms", 1))); /* no such GPU: missing, not 0 */
    near(at(r, "work gflop", 1), 0.3072);
    assert_true(r->white[1] > 0); /* but rows on it compare */
    orch_rows_free(r);
}

static void test_layer(void **state)
{
    (void)state;
    struct orch_rows *r = rows_of("gpu,batch,in_hw,kernel,cin,cout,stride,pad_same,opt,ms\n"
                                  "V100,4,9,3,8,16,2,0,none,1\nV100,4,9,3,8,16,2,0,adam,1\n",
                                  "ms");
    near(at(r, "work gflop", 0), 2 * 4 * 4 * 4 * 9 * 8 * 16 / 1e9); /* ceil((9-3+1)/2) = 4 */
    near(at(r, "work gflop", 1), 3 * 2 * 4 * 4 * 4 * 9 * 8 * 16 / 1e9);
    near(at(r, "white update_ms", 0) + 1, 1); /* forward only */
    near(at(r, "white update_ms", 1), 4e-6 * 9 * 8 * 16 * 7 / at(r, "gpu bandwidth_gbs", 1));
    orch_rows_free(r);
}

static void test_elements(void **state)
{
    (void)state;
    struct orch_rows *r =
        rows_of("gpu,op,rows,cols,ms\nV100,add,100,50,1\nV100,relu,100,50,1\n", "ms");
    near(at(r, "work mbytes", 0), 3 * 4 * 100 * 50 / 1e6);
    near(at(r, "work mbytes", 1), 2 * 4 * 100 * 50 / 1e6);
    orch_rows_free(r);
}

/* A network by its name, however it is written, and however many images stand on how many GPUs. */
static void test_net(void **state)
{
    (void)state;
    struct orch_rows *r = rows_of("gpu,net,mode,batch_total,gpus,step_ms\n"
                                  "V100,ResNet-50,infer,16,2,1\nV100,resnet50,infer,8,1,1\n"
                                  "V100,resnet_50,train,8,1,1\nV100,nonesuch,train,8,1,1\n",
                                  "step_ms");
    near(at(r, "work gmacs", 0), 4.089184256);            /* as the zoo counts */
    near(at(r, "work gflop", 0), at(r, "work gflop", 1)); /* of one GPU */
    assert_true(at(r, "work gflop", 2) > 2.9 * at(r, "work gflop", 1));
    assert_true(at(r, "net convs", 0) > 52 && at(r, "net convs", 0) < 54);
    assert_true(at(r, "white exchange_ms", 0) > 0);
    near(at(r, "white exchange_ms", 1) + 1, 1);
    assert_true(isnan(at(r, "work gflop", 3)));
    assert_true(r->white[2] > r->white[1]);
    orch_rows_free(r);
}

/* A row without counts has those of another row of its network and image size, and no others. */
static void test_counts_of_others(void **state)
{
    (void)state;
    struct orch_rows *r = rows_of("gpu,net,batch,img,params_M,gmacs,macts_M,step_ms\n"
                                  "V100,mine,8,224,5,1.5,20,1\nV100,mine,8,288,5,2.5,33,1\n"
                                  "P100,mine,16,224,,,,1\nV100,mine,8,320,,,,1\n"
                                  "V100,other,8,224,,,,1\n",
                                  "step_ms");
    near(at(r, "work gmacs", 2), 1.5);
    near(at(r, "gmacs", 2), 1.5);
    near(at(r, "macts_M", 2), 20);
    near(at(r, "work gflop", 2), 2 * at(r, "work gflop", 0));
    assert_true(r->devices[2].counts_operations);
    for (size_t i = 3; i < 5; i++)
        assert_true(isnan(at(r, "gmacs", i)) && isnan(at(r, "work gmacs", i)));
    orch_rows_free(r);
}

/* BERT-large: 24 layers of 1024, 512 tokens: 2 x 0.3 G parameters x tokens, and attention. */
static void test_transformer(void **state)
{
    (void)state;
    struct orch_rows *r = rows_of("gpu,net,mode,seq,batch,layers,hidden,heads,ff,vocab,e2e_ms\n"
                                  "V100,bert_large,inf,512,2,24,1024,16,4096,30522,1\n",
                                  "e2e_ms");
    double macs = 24.0 * 512 * 1024 * (4 * 1024 + 2 * 4096 + 2 * 512) + 512.0 * 1024 * 30522;
    near(at(r, "work gmacs", 0), macs / 1e9);
    near(at(r, "work params_m", 0), (24.0 * 1024 * (4 * 1024 + 2 * 4096) + 30522.0 * 1024) / 1e6);
    orch_rows_free(r);
}

/* Kernel by kernel: whole transformers as NeuSight's authors measured them, in ms (some of their
 * published rows, which the constants were not fitted to); a compiled one; one on several GPUs. */
static void test_transformer_kernels(void **state)
{
    (void)state;
    static const double measured[] = {518.256, 904.721, 7267.04, 124.218, 1288.79};
    struct orch_rows *r =
        rows_of("gpu,net,mode,variant,seq,batch,layers,hidden,heads,ff,vocab,e2e_ms\n"
                "V100,bert_large,inf,,512,16,24,1024,16,4096,30522,1\n"
                "P100,bert_large,inf,,512,16,24,1024,16,4096,30522,1\n"
                "A100-PCIE-40GB,gpt3_27,inf,,2048,8,32,2560,32,10240,50257,1\n"
                "MI210,bert_large,inf,,512,8,24,1024,16,4096,30522,1\n"
                "A100-PCIE-40GB,switchxl4,inf,,2048,1,24,1024,32,16384,32128,1\n"
                "V100,bert_large,train,,512,16,24,1024,16,4096,30522,1\n"
                "V100,bert_large,inf,fusion,512,16,24,1024,16,4096,30522,1\n"
                "V100,bert_large,inf,dp4,512,16,24,1024,16,4096,30522,1\n",
                "e2e_ms");
    for (size_t i = 0; i < G_N_ELEMENTS(measured); i++)
        assert_true(fabs(log(at(r, "white kernels_ms", i) / measured[i])) < 0.2);
    double alone = at(r, "white kernels_ms", 0);
    assert_true(at(r, "white kernels_ms", 5) > 2.5 * alone);
    assert_true(at(r, "white kernels_ms", 6) < 0.95 * alone);
    assert_true(at(r, "white kernels_ms", 7) < 0.3 * alone);
    orch_rows_free(r);
    r = rows_of("gpu,b,m,n,k,ms\nV100,1,4096,4096,4096,11\nnonesuch,1,64,64,64,1\n", "ms");
    near(at(r, "white kernels_ms", 0), 10.83430 + 0.043);
    assert_true(isnan(at(r, "white kernels_ms", 1)));
    orch_rows_free(r);
}

/* A rate is items a step over its time. */
static void test_rate(void **state)
{
    (void)state;
    struct orch_rows *a = rows_of("gpu,net,batch,gpus,img_per_s\nV100,vgg16,32,2,1\n", "img_per_s");
    struct orch_rows *b = rows_of("gpu,net,batch,gpus,step_s\nV100,vgg16,32,2,1\n", "step_s");
    near(a->white[0], 64 / b->white[0]);
    near(a->white_ms[0], 1e3 * b->white[0]);
    orch_rows_free(a);
    orch_rows_free(b);
}

/* What docs/import.md says that 'drop' hides, and what it does not. */
static void test_drop(void **state)
{
    (void)state;
    static const char text[] = "gpu,net,batch,precision,step_ms\nV100,resnet18,8,fp32,10\n"
                               "K80,resnet34,16,fp32,20\n";
    static const char without_net[] = "gpu,batch,precision,step_ms\nV100,8,fp32,10\n"
                                      "K80,16,fp32,20\n";
    static const char *const dropped[] = {"net", "gpu"};
    static const char *const stay[] = {"work gflop", "net convs", "white roofline_ms"};
    for (int d = 0; d < 2; d++) {
        const char *const drop[] = {dropped[d], NULL};
        struct orch_csv *csv = orch_csv_parse("test.csv", text, strlen(text), NULL);
        struct orch_rows_options o = {.target = "step_ms", .drop = drop};
        struct orch_rows *rows = orch_rows_of_table(csv, &o, NULL);
        assert_non_null(rows);
        assert_true(orch_matrix_find(rows->matrix, dropped[d]) < 0);
        assert_int_equal(orch_matrix_find(rows->matrix, "gpu bandwidth_gbs") < 0, d == 1);
        for (size_t k = 0; k < G_N_ELEMENTS(stay); k++)
            assert_true(at(rows, stay[k], 1) > at(rows, stay[k], 0));
        orch_rows_free(rows);
        orch_csv_free(csv);
    }
    struct orch_rows *rows = rows_of(without_net, "step_ms");
    for (size_t k = 0; k < G_N_ELEMENTS(stay); k++)
        assert_true(orch_matrix_find(rows->matrix, stay[k]) < 0);
    orch_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted_nets), cmocka_unit_test(test_drop),
        cmocka_unit_test(test_product),      cmocka_unit_test(test_layer),
        cmocka_unit_test(test_elements),     cmocka_unit_test(test_net),
        cmocka_unit_test(test_transformer),  cmocka_unit_test(test_transformer_kernels),
        cmocka_unit_test(test_rate),         cmocka_unit_test(test_counts_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
