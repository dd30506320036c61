/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kept models are relative to is what it was when ORCH_TRAINED_METHOD was last raised. */
#include "predictors/features/rows.h"
#include "predictors/learn/trained.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char *const TABLES[] = {
    "gpu,batch,in_hw,kernel,cin,cout,stride,pad_same,ms\nV100,16,56,3,64,64,1,1,1\n"
    "K80,8,28,5,32,96,2,0,1\n",
    "gpu,batch,din,dout,ms\nV100,64,1024,4096,1\nK80,8,100,300,1\n",
    "gpu,b,m,k,n,ms\nV100,4,512,256,1000,1\nK80,1,64,8192,64,1\n",
    "gpu,net,mode,precision,batch,gpus,ms\nV100,resnet50,train,fp16,32,1,1\n"
    "K80,vgg16,infer,fp32,4,2,1\n",
    "gpu,precision,b,m,k,n,ms\nA100,fp16,4,512,256,1000,1\nRTX-3090,tf32,1,64,8192,64,1\n",
    "gpu,task,batch,ms\nV100,a,64,1\nK80,b,8,1\n",
};

/* One number for everything that is derived from a table's rows. */
static double print_of(const char *text)
{
    GError *error = NULL;
    struct orch_rows_options options = {.target = "ms"};
    struct orch_csv *csv = orch_csv_parse("test", text, strlen(text), &error);
    assert_non_null(csv);
    struct orch_rows *rows = orch_rows_of_table(csv, &options, &error);
    assert_non_null(rows);
    double sum = 0, weight = 1;
    for (size_t i = 0; i < rows->rows; i++) {
        double ms[] = {rows->white[i], rows->white_ms[i], orch_row_device_ms(&rows->devices[i])};
        for (size_t k = 0; k < G_N_ELEMENTS(ms); k++, weight += 0.1)
            sum += ms[k] > 0 ? weight * log(ms[k]) : weight;
    }
    for (int c = 0; c < orch_matrix_cols(rows->matrix); c++)
        for (size_t i = 0; i < rows->rows; i++, weight += 0.1) {
            double value = orch_matrix_column(rows->matrix, c)[i];
            sum += value > 0 ? weight * log(value) : weight;
        }
    orch_rows_free(rows);
    orch_csv_free(csv);
    return sum;
}

static void test_method(void **state)
{
    (void)state;
    /* of ORCH_TRAINED_METHOD */
    static const double KEPT[G_N_ELEMENTS(TABLES)] = {900.8302,  203.3555, 666.3859,
                                                      1729.4733, 498.2785, 387.6057};
    bool same = true;
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++) {
        double now = print_of(TABLES[i]);
        if (fabs(now - KEPT[i]) < 1e-3)
            continue;
        same = false;
        print_error("table %zu gives %.4f, and gave %.4f\n", i, now, KEPT[i]);
    }
    if (!same)
        fail_msg("what kept models are relative to is another: raise ORCH_TRAINED_METHOD "
                 "(predictors/learn/trained.h) above %d, and write these figures here",
                 ORCH_TRAINED_METHOD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_method)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
