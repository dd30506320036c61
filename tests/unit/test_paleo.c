/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO and its layer tables, by themselves: a few rows of what the authors' program gives (its
 * repository at commit 984bbf5, run under Python 3.11; the whole tables are held against in
 * tests/reference/), figures worked by hand from the formulas, tables that must be refused with a
 * place and a hint, and damaged ones that must not crash.
 *
 * Tolerance: both sides compute in double and add in another order; 1e-9 leaves room for that and
 * for nothing else. */
#include "features/paleo/paleo_split.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/net/net.h"
#include "predictors/steps/from_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-9

/* AlexNet as PALEO has it, alex_v2 (Krizhevsky 2014 by way of TF-Slim: its inner products are
 * convolutions). In "one weird trick" conv4 and conv5 have 256 channels. */
#define HEADER                                                                                     \
    "net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,first_conv_no_data_grad\n"
#define LOWER                                                                                      \
    "alex_v2,data,input,1x224x224x3,1x224x224x3,,,,0\n"                                            \
    "alex_v2,conv1,conv2d,1x224x224x3,1x54x54x64,11x11x3x64,4x4,VALID,1\n"                         \
    "alex_v2,pool1,pool2d,1x54x54x64,1x26x26x64,3x3,2x2,VALID,0\n"                                 \
    "alex_v2,conv2,conv2d,1x26x26x64,1x26x26x192,5x5x64x192,1x1,SAME,0\n"                          \
    "alex_v2,pool2,pool2d,1x26x26x192,1x12x12x192,3x3,2x2,VALID,0\n"                               \
    "alex_v2,conv3,conv2d,1x12x12x192,1x12x12x384,3x3x192x384,1x1,SAME,0\n"
#define MIDDLE                                                                                     \
    "alex_v2,conv4,conv2d,1x12x12x384,1x12x12x384,3x3x384x384,1x1,SAME,0\n"                        \
    "alex_v2,conv5,conv2d,1x12x12x384,1x12x12x256,3x3x384x256,1x1,SAME,0\n"
#define MIDDLE_OWT                                                                                 \
    "alex_v2,conv4,conv2d,1x12x12x384,1x12x12x256,3x3x384x256,1x1,SAME,0\n"                        \
    "alex_v2,conv5,conv2d,1x12x12x256,1x12x12x256,3x3x256x256,1x1,SAME,0\n"
#define UPPER                                                                                      \
    "alex_v2,pool5,pool2d,1x12x12x256,1x5x5x256,3x3,2x2,VALID,0\n"                                 \
    "alex_v2,fc6,conv2d,1x5x5x256,1x1x1x4096,5x5x256x4096,1x1,VALID,0\n"                           \
    "alex_v2,dropout6,dropout,1x1x1x4096,1x1x1x4096,,,,0\n"                                        \
    "alex_v2,fc7,conv2d,1x1x1x4096,1x1x1x4096,1x1x4096x4096,1x1,SAME,0\n"                          \
    "alex_v2,dropout7,dropout,1x1x1x4096,1x1x1x4096,,,,0\n"                                        \
    "alex_v2,fc8,conv2d,1x1x1x4096,1x1x1x1000,1x1x4096x1000,1x1,SAME,0\n"                          \
    "alex_v2,softmax,softmax,1x1x1x1000,1x1000,,,,0\n"
#define ALEX HEADER LOWER MIDDLE UPPER
#define ALEX_OWT HEADER LOWER MIDDLE_OWT UPPER

static struct orch_layer_table *parse(const char *text)
{
    GError *error = NULL;
    struct orch_layer_table *table =
        orch_layer_table_parse("test.csv", text, strlen(text), NULL, &error);
    if (!table)
        fail_msg("%s", error->message);
    return table;
}

static const struct orch_layer *layer_of(const struct orch_layer_table *table, const char *name)
{
    int index = orch_layer_find(table, name);
    if (index < 0)
        fail_msg("no layer '%s'", name);
    return orch_layer_at(table, index);
}

static void near_as(const char *what, double got, double want)
{
    if (got != want && !(fabs(got - want) <= TOLERANCE * fabs(want)))
        fail_msg("%s: %.17g, wanted %.17g", what, got, want);
}
#define NEAR(got, want) near_as(#got, got, want)

/* A figure that its source gives to six places. */
static void near_printed(double got, double want)
{
    if (!(fabs(got - want) <= 0.51e-6))
        fail_msg("%.9f, wanted %.6f", got, want);
}

/* ---- the authors' figures ---- */

/* alex_v2 on PALEO's K80 over ethernet20, 128 images a worker, PPP 0.62 and 0.72: defaults all. */
static void test_anchors(void **state)
{
    (void)state;
    static const double comm_ms[ORCH_PALEO_SCHEME_COUNT] = {670.718827, 447.145884, 223.572942,
                                                            111.786471};
    struct orch_layer_table *table = parse(ALEX);
    for (int i = 0; i < ORCH_PALEO_SCHEME_COUNT; i++) {
        struct orch_paleo_options options = orch_paleo_defaults();
        options.scheme = (enum orch_paleo_scheme)i;
        struct orch_paleo_step step;
        assert_true(orch_paleo_simulate(table, &options, 4, &step, NULL));
        near_printed(step.fwd_ms, 57.121928);
        near_printed(step.bwd_ms, 154.905506);
        near_printed(step.update_ms, 1.189195);
        near_printed(step.comm_ms, comm_ms[i]);
        assert_true(step.workers == 4 && step.worker_batch == 128 && step.effective_batch == 512);
    }
    assert_int_equal(orch_layer_table_params(table), 50303912);
    orch_layer_table_free(table);
}

/* Parameters in PALEO's counting: biases of every convolution, none of batch norms. Its resnet50
 * has 25,530,472. */
static void test_params_of_resnet50(void **state)
{
    (void)state;
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = "resnet50-v1"}, NULL);
    assert_non_null(net);
    struct orch_layer_table *table = orch_layer_table_from_net(net);
    int64_t params = 0;
    for (int i = 0; i < orch_layer_count(table); i++)
        params += orch_layer_params_formula(orch_layer_at(table, i));
    assert_int_equal(params, 25530472);
    orch_layer_table_free(table);
    orch_net_free(net);
}

/* The repository's device.py and its networks; K80 is the whole board at its base clock. */
static void test_tables_of_hardware(void **state)
{
    (void)state;
    static const struct orch_paleo_device devices[] = {
        {"TITAN_X", 1000, 6144, 336.5, true},    {"K20", 1000, 3520, 208, true},
        {"K20X", 1000, 3935, 250, true},         {"K40", 745, 4290, 288, true},
        {"K80", 560, 5600, 480, true},           {"GEFORCE_780_TI", 875, 5040, 336, true},
        {"GEFORCE_750_M", 941, 722.7, 80, true}, {"CPU_I7", 210000, 289, 68, false},
    };
    static const struct orch_paleo_network networks[] = {{"aws", 2},         {"ethernet", 10},
                                                         {"ethernet20", 20}, {"infiniband", 70},
                                                         {"pcie2", 64},      {"pcie3", 128}};
    for (size_t i = 0; i < G_N_ELEMENTS(devices); i++) {
        const struct orch_paleo_device *found = orch_paleo_device_find(devices[i].name, NULL);
        assert_non_null(found);
        assert_true(found->clock_mhz == devices[i].clock_mhz &&
                    found->peak_gflops == devices[i].peak_gflops &&
                    found->bandwidth_gib_s == devices[i].bandwidth_gib_s &&
                    found->is_gpu == devices[i].is_gpu);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(networks); i++) {
        const struct orch_paleo_network *found = orch_paleo_network_find(networks[i].name, NULL);
        assert_non_null(found);
        assert_true(found->gbit_s == networks[i].gbit_s);
    }
    GError *error = NULL; /* the hint lists all names, and no others */
    assert_null(orch_paleo_device_find("zzzzzz", &error));
    assert_string_equal(orch_error_hint(error), "known: TITAN_X, K20, K20X, K40, K80, "
                                                "GEFORCE_780_TI, GEFORCE_750_M, CPU_I7");
    g_clear_error(&error);
    assert_null(orch_paleo_network_find("zzzzzz", &error));
    assert_string_equal(orch_error_hint(error),
                        "known: aws, ethernet, ethernet20, infiniband, pcie2, pcie3");
    g_clear_error(&error);
    assert_ptr_equal(orch_paleo_device_find("paleo:k80", NULL),
                     orch_paleo_device_find("K80", NULL));
    struct orch_paleo_options options = orch_paleo_defaults();
    assert_true(strcmp(options.device.name, "K80") == 0 && options.ppp_comp == 0.62);
    assert_true(strcmp(options.network.name, "ethernet20") == 0 && options.ppp_comm == 0.72);
    assert_true(!options.pipeline && options.algorithm == ORCH_PALEO_GEMM);
}

/* Rows of a table in tests/data/paleo, and the one that is compared. */
struct rows {
    struct orch_csv *csv;
    size_t at;
};

/* `count`: the rows that the table has, because a shorter one would test less. */
static void rows_open(struct rows *rows, const char *name, size_t count)
{
    GError *error = NULL;
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *path =
        g_build_filename(source ? source : ".", "tests", "data", "paleo", name, NULL);
    *rows = (struct rows){.csv = orch_csv_read(path, &error)};
    if (!rows->csv)
        fail_msg("%s", error->message);
    assert_int_equal(orch_csv_rows(rows->csv), count);
}

static bool rows_remain(struct rows *rows)
{
    if (rows->at < orch_csv_rows(rows->csv))
        return true;
    g_clear_pointer(&rows->csv, orch_csv_free);
    return false;
}

static const char *text_of(const struct rows *rows, const char *column)
{
    return orch_csv_text(rows->csv, rows->at, orch_csv_find(rows->csv, column));
}

static double real_of(const struct rows *rows, const char *column)
{
    GError *error = NULL;
    double value = 0;
    if (!orch_csv_real(rows->csv, rows->at, orch_csv_find(rows->csv, column), &value, &error))
        fail_msg("%s", error->message);
    return value;
}

static int64_t int_of(const struct rows *rows, const char *column)
{
    return (int64_t)real_of(rows, column);
}

/* steps.csv: rows of scaling_open.csv, alex_v2: exchange, whole step and images a second. */
static void test_steps(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX);
    struct rows r;
    for (rows_open(&r, "steps.csv", 36); rows_remain(&r); r.at++) {
        struct orch_paleo_options options = {
            .device = *orch_paleo_device_find(text_of(&r, "device"), NULL),
            .network = *orch_paleo_network_find(text_of(&r, "network"), NULL),
            .ppp_comp = real_of(&r, "ppp_comp"),
            .ppp_comm = real_of(&r, "ppp_comm"),
            .pipeline = int_of(&r, "pipeline") != 0,
            .batch = int_of(&r, "batch"),
            .scaling = int_of(&r, "strong") ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK,
        };
        struct orch_paleo_step step;
        assert_true(orch_paleo_scheme_find(text_of(&r, "scheme"), &options.scheme, NULL));
        assert_true(orch_paleo_simulate(table, &options, int_of(&r, "workers"), &step, NULL));
        assert_int_equal(step.worker_batch, int_of(&r, "worker_batch"));
        assert_int_equal(step.effective_batch, int_of(&r, "effective_batch"));
        NEAR(step.params_bytes, 201215648);
        NEAR(step.fwd_ms, real_of(&r, "fwd_ms"));
        NEAR(step.bwd_ms, real_of(&r, "bwd_ms"));
        NEAR(step.update_ms, real_of(&r, "update_ms"));
        NEAR(step.comp_ms,
             real_of(&r, "fwd_ms") + real_of(&r, "bwd_ms") + real_of(&r, "update_ms"));
        NEAR(step.comm_ms, real_of(&r, "comm_ms"));
        NEAR(step.total_ms, real_of(&r, "total_ms"));
        NEAR(step.images_per_s, real_of(&r, "images_per_s"));
    }
    orch_layer_table_free(table);
}

/* layers.csv: rows of layers_open.csv, alex_v2 on the K80 at PPP 1. */
static void test_layers(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX);
    struct orch_paleo_options options = orch_paleo_defaults();
    options.ppp_comp = 1;
    struct rows r;
    for (rows_open(&r, "layers.csv", 9); rows_remain(&r); r.at++) {
        const struct orch_layer *layer = layer_of(table, text_of(&r, "layer"));
        struct orch_paleo_layer_time time = orch_paleo_layer(layer, &options, int_of(&r, "batch"));
        assert_int_equal(layer->params, int_of(&r, "params"));
        NEAR(time.fwd.flops, real_of(&r, "fwd_flops"));
        NEAR(time.fwd.bytes, real_of(&r, "fwd_bytes"));
        NEAR(time.fwd.comp_ms, real_of(&r, "fwd_comp_ms"));
        NEAR(time.fwd.mem_ms, real_of(&r, "fwd_mem_ms"));
        NEAR(time.fwd_ms, real_of(&r, "fwd_comp_ms") + real_of(&r, "fwd_mem_ms"));
        NEAR(time.bwd_data.flops, real_of(&r, "bwd_data_flops"));
        NEAR(time.bwd_data.bytes, real_of(&r, "bwd_data_bytes"));
        NEAR(time.bwd_filter.flops, real_of(&r, "bwd_filter_flops"));
        NEAR(time.bwd_filter.bytes, real_of(&r, "bwd_filter_bytes"));
        NEAR(orch_paleo_time_ms(time.bwd_data, false), real_of(&r, "bwd_data_ms"));
        NEAR(orch_paleo_time_ms(time.bwd_filter, false), real_of(&r, "bwd_filter_ms"));
        NEAR(time.bwd_ms, real_of(&r, "bwd_ms"));
    }
    orch_layer_table_free(table);
}

enum direction { FORWARD, DATA_GRADIENT, FILTER_GRADIENT };

/* Time of one pass of a convolution on the K80. */
static struct orch_paleo_time conv_time(const struct orch_layer *layer, enum direction direction,
                                        enum orch_paleo_algorithm algorithm, double ppp_comp,
                                        int64_t batch)
{
    struct orch_paleo_options options = orch_paleo_defaults();
    options.algorithm = algorithm;
    options.ppp_comp = ppp_comp;
    struct orch_paleo_layer_time time = orch_paleo_layer(layer, &options, batch);
    return direction == FORWARD         ? time.fwd
           : direction == DATA_GRADIENT ? time.bwd_data
                                        : time.bwd_filter;
}

/* transforms.csv: rows of fft_layers_open.csv, alex_v2, 128 images on the K80 at PPP 0.62. */
static void test_transforms(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX);
    struct rows r;
    for (rows_open(&r, "transforms.csv", 16); rows_remain(&r); r.at++) {
        const char *way = text_of(&r, "direction");
        enum direction direction = strcmp(way, "forward") == 0         ? FORWARD
                                   : strcmp(way, "data_gradient") == 0 ? DATA_GRADIENT
                                                                       : FILTER_GRADIENT;
        bool is_tiled = strcmp(text_of(&r, "algorithm"), "fft_tiling") == 0;
        struct orch_paleo_time time =
            conv_time(layer_of(table, text_of(&r, "layer")), direction,
                      is_tiled ? ORCH_PALEO_FFT_TILING : ORCH_PALEO_FFT, 0.62, 128);
        NEAR(time.comp_ms, real_of(&r, "comp_ms"));
        NEAR(time.mem_ms, real_of(&r, "mem_ms"));
        NEAR(time.flops, real_of(&r, "flops"));
        NEAR(time.bytes, real_of(&r, "bytes"));
    }
    orch_layer_table_free(table);
}

static const char *const CUT[] = {"fc6", "dropout6", "fc7", "dropout7", NULL};

/* hybrids.csv: rows of hybrid_alex.csv: alex_v2 of "one weird trick" on K20s over pcie2, 128 images
 * a worker, PPP 0.46 and 0.75. */
static void test_hybrids(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX_OWT);
    struct rows r;
    for (rows_open(&r, "hybrids.csv", 8); rows_remain(&r); r.at++) {
        int64_t workers = int_of(&r, "workers");
        struct orch_paleo_options options = {
            .device = *orch_paleo_device_find("K20", NULL),
            .network = *orch_paleo_network_find("pcie2", NULL),
            .ppp_comp = 0.46,
            .ppp_comm = 0.75,
            .pipeline = int_of(&r, "pipeline") != 0,
            .batch = 128,
        };
        struct orch_paleo_hybrid_step step;
        assert_true(orch_paleo_hybrid(table, &options, CUT, workers, &step, NULL));
        assert_int_equal(step.effective_batch, 128 * workers);
        NEAR(step.data_fwd_ms, real_of(&r, "data_fwd_ms"));
        NEAR(step.data_bwd_ms, real_of(&r, "data_bwd_ms"));
        NEAR(step.data_update_ms, real_of(&r, "data_update_ms"));
        NEAR(step.data_comm_ms, real_of(&r, "data_comm_ms"));
        NEAR(step.split_fwd_ms, real_of(&r, "split_fwd_ms"));
        NEAR(step.split_bwd_ms, real_of(&r, "split_bwd_ms"));
        NEAR(step.split_update_ms, real_of(&r, "split_update_ms"));
        NEAR(step.images_per_s, 1000.0 * (double)step.effective_batch / step.total_ms);
    }
    orch_layer_table_free(table);
}

/* ---- worked by hand ---- */

static void check_conv(struct orch_paleo_conv conv, const int64_t want[13])
{
    const int64_t got[13] = {conv.n,        conv.h,     conv.w,     conv.c,     conv.kernel_h,
                             conv.kernel_w, conv.f_in,  conv.f_out, conv.pad_h, conv.pad_w,
                             conv.out_n,    conv.out_h, conv.out_w};
    for (int i = 0; i < 13; i++)
        if (got[i] != want[i])
            fail_msg("number %d is %lld, wanted %lld", i, (long long)got[i], (long long)want[i]);
}

/* The convolutions that gradients are: rows of gradient_geometry_open.csv, 128 images. */
static void test_gradients(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX);
    const struct orch_layer *conv1 = layer_of(table, "conv1"), *fc6 = layer_of(table, "fc6");
    struct orch_paleo_conv conv = orch_paleo_conv_data_gradient(conv1, 128);
    check_conv(conv, (int64_t[]){128, 214, 214, 64, 11, 11, 64, 3, 10, 10, 128, 224, 224});
    NEAR(conv.holes_input, 0.9363263167088828);
    NEAR(conv.holes_filter, 0);
    conv = orch_paleo_conv_filter_gradient(conv1, 128);
    check_conv(conv, (int64_t[]){3, 224, 224, 128, 214, 214, 128, 64, 0, 0, 3, 11, 11});
    NEAR(conv.holes_filter, 0.9363263167088828);
    NEAR(conv.holes_input, 0);
    check_conv(orch_paleo_conv_data_gradient(fc6, 128),
               (int64_t[]){128, 1, 1, 4096, 5, 5, 4096, 256, 4, 4, 128, 5, 5});
    check_conv(orch_paleo_conv_filter_gradient(layer_of(table, "conv2"), 128),
               (int64_t[]){64, 26, 26, 128, 26, 26, 128, 192, 2, 2, 64, 5, 5});
    orch_layer_table_free(table);
}

/* A window of 1 under a stride of 2 and SAME: padding floor((3*2 + 1 - 8) / 2) = -1, and after the
 * rows are drawn apart (7) one side is a row longer than the other, so that 8 are counted. */
static void test_padding_below_zero(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(HEADER "n,d,input,1x8x8x4,1x8x8x4,,,,\n"
                                                  "n,c,conv2d,1x8x8x4,1x4x4x6,1x1x4x6,2x2,SAME,\n");
    const struct orch_layer *layer = layer_of(table, "c");
    assert_true(layer->pad_h == -1 && layer->pad_w == -1);
    struct orch_paleo_conv conv = orch_paleo_conv_data_gradient(layer, 2);
    check_conv(conv, (int64_t[]){2, 8, 8, 6, 1, 1, 6, 4, 0, 0, 2, 8, 8});
    NEAR(conv.holes_input, 0.75);
    orch_layer_table_free(table);
}

/* A deconvolution is the data gradient of the convolution that has its output for input. */
static void test_deconvolution(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(HEADER "n,d,input,1x4x4x6,1x4x4x6,,,,\n"
                                                  "n,u,deconv2d,1x4x4x6,1x8x8x3,4x4x6x3,2x2,SAME,\n"
                                                  "n,c,conv2d,1x8x8x3,1x4x4x6,4x4x3x6,2x2,SAME,\n");
    const struct orch_layer *up = layer_of(table, "u"), *down = layer_of(table, "c");
    struct orch_paleo_conv a = orch_paleo_conv_forward(up, 7);
    struct orch_paleo_conv b = orch_paleo_conv_data_gradient(down, 7);
    assert_memory_equal(&a, &b, sizeof a);
    a = orch_paleo_conv_data_gradient(up, 7);
    b = orch_paleo_conv_forward(down, 7);
    assert_memory_equal(&a, &b, sizeof a);
    orch_layer_table_free(table);
}

/* An inner product written as a convolution costs K*K as many FLOPs in its data gradient: 25 times
 * in AlexNet, 49 times in VGG. */
static void test_wide_windows_cost_more_backward(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        double ratio;
    } rows[] = {{"n,fc6,conv2d,1x5x5x256,1x1x1x4096,5x5x256x4096,1x1,VALID,\n", 25},
                {"n,fc6,conv2d,1x7x7x512,1x1x1x4096,7x7x512x4096,1x1,VALID,\n", 49}};
    struct orch_paleo_options options = orch_paleo_defaults();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strconcat(HEADER, rows[i].record, NULL);
        struct orch_layer_table *table = parse(text);
        struct orch_paleo_layer_time time = orch_paleo_layer(orch_layer_at(table, 0), &options, 16);
        NEAR(time.bwd_data.flops / time.fwd.flops, rows[i].ratio);
        NEAR(time.bwd_filter.flops, time.fwd.flops);
        orch_layer_table_free(table);
    }
}

/* 4 FLOPs and 3 tensors of next to nothing: every term is one cycle of 1/560000 ms. */
static void test_cycle_is_the_least(void **state)
{
    (void)state;
    const double cycle = 1 / 560e3;
    struct orch_paleo_options options = orch_paleo_defaults();
    struct orch_layer_table *table = parse(HEADER "n,d,input,1x2,1x2,,,,\n"
                                                  "n,a,innerproduct,1x2,1x2,2x2,,,\n"
                                                  "n,s,softmax,1x2,1x2,,,,\n");
    struct orch_paleo_layer_time time = orch_paleo_layer(layer_of(table, "a"), &options, 1);
    NEAR(time.fwd.comp_ms, cycle);
    NEAR(time.fwd.mem_ms, 3 * cycle);
    NEAR(time.bwd_ms, 8 * cycle);
    options.pipeline = true;
    time = orch_paleo_layer(layer_of(table, "a"), &options, 1);
    NEAR(time.fwd_ms, 3 * cycle);
    NEAR(time.bwd_ms, 6 * cycle);
    time = orch_paleo_layer(layer_of(table, "s"), &options, 1);
    assert_true(time.fwd_ms == 0 && time.bwd_ms == 0);
    NEAR(orch_paleo_memory_ms(&options.device, 1, 0), cycle); /* nothing, yet a cycle */
    NEAR(orch_paleo_update_ms(&options.device, 0, false), 3 * cycle);
    orch_layer_table_free(table);
}

/* 2^30 bytes over 480 GiB/s and PPP 0.5; 10^9 bytes over 20 Gbit/s and PPP 0.5, the units differ.
 * The update knows no PPP: 3 passes over the bytes and 2 FLOPs a value. */
static void test_primitives(void **state)
{
    (void)state;
    const struct orch_paleo_device *k80 = orch_paleo_device_find("K80", NULL);
    NEAR(orch_paleo_memory_ms(k80, 0.5, 1073741824), 1000.0 / 480 / 0.5);
    NEAR(orch_paleo_network_ms(20, 0.5, 1e9), 1000.0 / 2.5 / 0.5);
    double memory = 3 * 1000.0 / 480, compute = 1000.0 * (2 * 268435456.0 / 1e9) / 5600;
    NEAR(orch_paleo_update_ms(k80, 1073741824, false), memory + compute);
    NEAR(orch_paleo_update_ms(k80, 1073741824, true), memory);
}

/* Messages of one size; ceil(log2 n) rounds, 3 for 8 workers; only mixing costs one worker. */
static void test_exchanges(void **state)
{
    (void)state;
    static const struct {
        int64_t workers;
        double messages[ORCH_PALEO_SCHEME_COUNT];
    } rows[] = {{1, {0, 0, 0, 1}},  {2, {2, 2, 1, 1}},   {3, {4, 4, 2, 1}},
                {4, {6, 4, 2, 1}},  {5, {8, 6, 3, 1}},   {8, {14, 6, 3, 1}},
                {9, {16, 8, 4, 1}}, {16, {30, 8, 4, 1}}, {1000000, {1999998, 40, 20, 1}}};
    double one = orch_paleo_network_ms(10, 0.72, 1e6);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        for (int k = 0; k < ORCH_PALEO_SCHEME_COUNT; k++)
            NEAR(orch_paleo_comm_ms((enum orch_paleo_scheme)k, 10, 0.72, rows[i].workers, 1e6),
                 rows[i].messages[k] * one);
}

static void test_shares_of_a_batch(void **state)
{
    (void)state;
    struct orch_paleo_options options = orch_paleo_defaults();
    options.batch = 100;
    assert_int_equal(orch_paleo_worker_batch(&options, 8), 100);
    options.scaling = ORCH_PALEO_STRONG;
    assert_int_equal(orch_paleo_worker_batch(&options, 8), 13);
    assert_int_equal(orch_paleo_worker_batch(&options, 1), 100);
    assert_int_equal(orch_paleo_worker_batch(&options, 1000), 1);
}

/* A filter of 1 x 7 (inception_v3's): FLOPs and spectrum of the filter are those of one dimension.
 * One image of 17 x 17 x 2, padded 0 x 3: 17 * 23 = 391 values, so a transform of 32 x 32. */
static void test_transform_of_one_dimension(void **state)
{
    (void)state;
    struct orch_layer_table *table =
        parse(HEADER "n,c,conv2d,1x17x17x2,1x17x17x3,1x7x2x3,1x1,SAME,1\n");
    const struct orch_paleo_device *k80 = orch_paleo_device_find("K80", NULL);
    struct orch_paleo_time time = conv_time(orch_layer_at(table, 0), FORWARD, ORCH_PALEO_FFT, 1, 1);
    double inverse = 2.0 * 32 * 5 * 32 * 5 / 2, forward = inverse / 2;
    NEAR(time.flops, 2 * forward + 6 * forward + 4 * 6 * 391.0 + 3 * inverse);
    NEAR(time.bytes, 4 * 2 * 391.0 + 2 * 8 * 2 * 391.0 + 4 * 6 * 391.0 + 2 * 8 * 6 * 23.0 +
                         2 * 8 * 3 * 391.0 + 4 * 17 * 17 * 3.0);
    static const double tensors[] = {4 * 2 * 391, 8 * 2 * 391, 4 * 6 * 391,
                                     8 * 6 * 23,  8 * 2 * 391, 8 * 6 * 23,
                                     8 * 3 * 391, 8 * 3 * 391, 4 * 17 * 17 * 3};
    double mem_ms = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(tensors); i++)
        mem_ms += orch_paleo_memory_ms(k80, 1, tensors[i]);
    NEAR(time.mem_ms, mem_ms);
    orch_layer_table_free(table);
}

/* 1 x 1 is a product of matrices by any algorithm, and so is all of a CPU. */
static void test_who_transforms(void **state)
{
    (void)state;
    struct orch_layer_table *table = parse(ALEX);
    struct orch_paleo_options gemm = orch_paleo_defaults(), fft = gemm;
    fft.algorithm = ORCH_PALEO_FFT;
    const struct orch_layer *fc7 = layer_of(table, "fc7"), *conv2 = layer_of(table, "conv2");
    NEAR(orch_paleo_layer(fc7, &fft, 8).fwd_ms, orch_paleo_layer(fc7, &gemm, 8).fwd_ms);
    assert_true(orch_paleo_layer(conv2, &fft, 128).fwd_ms <
                orch_paleo_layer(conv2, &gemm, 128).fwd_ms);
    gemm.device = fft.device = *orch_paleo_device_find("CPU_I7", NULL);
    NEAR(orch_paleo_layer(conv2, &fft, 8).fwd_ms, orch_paleo_layer(conv2, &gemm, 8).fwd_ms);
    orch_layer_table_free(table);
}

/* Two inner products of next to nothing, cut for two workers: each piece takes 4 cycles forward and
 * 8 backward, and one more to fetch: of 'a' the whole input, of 'b' the other worker's piece.
 * PALEO's own data has no run of this kind. */
static void test_model_parallel(void **state)
{
    (void)state;
    static const char *const cut[] = {"a", "b", NULL};
    const double cycle = 1 / 560e3;
    struct orch_layer_table *table = parse(HEADER "n,d,input,1x4,1x4,,,,\n"
                                                  "n,a,innerproduct,1x4,1x4,4x4,,,\n"
                                                  "n,b,innerproduct,1x4,1x4,4x4,,,\n"
                                                  "n,s,softmax,1x4,1x4,,,,\n");
    struct orch_paleo_options options = orch_paleo_defaults();
    options.batch = 1;
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        options.pipeline = pipeline; /* pieces know none */
        struct orch_paleo_split_step step;
        assert_true(orch_paleo_model_parallel(table, &options, cut, 2, &step, NULL));
        NEAR(step.fwd_lower_ms, 2 * 5 * cycle);
        NEAR(step.bwd_lower_ms, 2 * 9 * cycle);
        NEAR(step.fwd_upper_ms, 2 * 10 * cycle);
        NEAR(step.bwd_upper_ms, 2 * 18 * cycle);
        NEAR(step.update_ms, 4 * cycle);
        assert_true(orch_paleo_model_parallel(table, &options, NULL, 2, &step, NULL));
        NEAR(step.fwd_lower_ms, 2 * 4 * cycle);
        NEAR(step.bwd_upper_ms, 2 * 8 * cycle);
    }
    orch_layer_table_free(table);
}

/* ---- what must be refused ---- */

/* `text` with the first `from` made `to`. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *place = strstr(text, from);
    if (!place)
        fail_msg("'%s' is not in the table", from);
    return g_strdup_printf("%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
}

static void expect_words(GError *error, int code, const char *const words[])
{
    assert_non_null(error);
    if (error->code != code)
        fail_msg("'%s' has code %d, wanted %d", error->message, error->code, code);
    for (int i = 0; words[i]; i++)
        if (!strstr(error->message, words[i]))
            fail_msg("'%s' lacks '%s'", error->message, words[i]);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void refused_text(const char *text, size_t length, const char *net, int code,
                         const char *const words[])
{
    g_autoptr(GError) error = NULL;
    if (orch_layer_table_parse("test.csv", text, length, net, &error))
        fail_msg("taken: %.200s", text);
    expect_words(error, code, words);
}

#define WORDS_MAX 4
static const struct {
    const char *from, *to;
    const char *words[WORDS_MAX];
} BAD_ALEX[] = {
    {"stride_hw", "stride", {"no column 'stride_hw'", "has 'stride': rename it", "test.csv:1:1"}},
    {"pad_type", "x", {"no column 'pad_type'", "add a column 'pad_type'"}},
    {"pad_type", "net", {"column 'net' occurs twice", "test.csv:1:57"}},
    {"1x54x54x64,11", "1x54xabcx64,11", {"'abc' in '1x54xabcx64'", "'conv1'", "test.csv:3:34"}},
    {"1x54x54x64,11", "1x54x1e99x64,11", {"'1e99' in", "not a whole number", "test.csv:3:34"}},
    {"1x54x54x64,11", "1x54xnanx64,11", {"'nan' in", "not a whole number"}},
    {"1x54x54x64,11", ",11", {"'conv1' has nothing in column 'out_shape'", "test.csv:3:34"}},
    {"1x54x54x64,11", "1xx54x64,11", {"'' in '1xx54x64'", "not a whole number"}},
    {"1x54x54x64,11", "64,11", {"one side only", "1x1000"}},
    {"1x54x54x64,11", "1x1x54x54x64,11", {"has 5 sides, expected at most 4"}},
    {"1x54x54x64,11", "2x54x54x64,11", {"has batch 2, the network has 1"}},
    {"1x54x54x64,11", "1x54x0x64,11", {"'1x54x0x64' of layer 'conv1' has a side of 0"}},
    {"1x54x54x64,11", "1x54x55x64,11", {"puts out 54x55, its geometry gives 54x54", ":3:34"}},
    {"1x54x54x64,11", "1x54x54x65,11", {"puts out 65 channels, its filter has 64"}},
    {"1x224x224x3,1x54", ",1x54", {"'conv1' has 0 inputs", "write one shape", "test.csv:3:22"}},
    {"1x224x224x3,1x54", "1x9x9x3,1x54", {"puts out 54x54", "its geometry gives 0x0"}},
    {"1x224x224x3,1x54", "1x224x224x4,1x54", {"reads 4 channels", "its filter has 3"}},
    {"1x26x26x64,3x3", "1x26x26x32,3x3", {"'pool1' changes the number of channels"}},
    {"4x4,VALID", "0x4,VALID", {"'0x4' of layer 'conv1' has a side of 0", "at least 1", ":3:56"}},
    {"4x4,VALID", "-4x4,VALID", {"has a side of -4"}},
    {"4x4,VALID", "4,VALID", {"'4' of layer 'conv1' has 1 sides, expected 2"}},
    {"4x4,VALID", ",VALID", {"nothing in column 'stride_hw'"}},
    {"4x4,VALID", "4x4,VALD", {"unknown padding 'VALD'", "write VALID"}},
    {"4x4,VALID", "4x4,EXPLICIT", {"EXPLICIT padding and no pad_hw", "'pad_hw'"}},
    {"11x11x3x64", "11x11x3", {"has 3 sides, expected 4"}},
    {"11x11x3x64", "2000000000x11x3x64", {"has a side of 2000000000"}},
    {"VALID,1", "VALID,2", {"first_conv_no_data_grad of layer 'conv1' is '2'"}},
    {"conv1,conv2d", "conv1,conv2", {"unknown type 'conv2'", "did you mean 'conv2d'"}},
    {"pool2,pool2d", "pool1,pool2d", {"layer 'pool1' occurs twice", "test.csv:6:9"}},
    {"alex_v2,pool2", "alex_v2,", {"layer has no name", "test.csv:6:9"}},
    {"1x1x1x4096,,,", "1x1x1x4095,,,", {"'dropout6' changes the number of elements"}},
    {"4x4,VALID,1", "4x4,VALID", {"record has 8 fields, the header has 9", "test.csv:3:60"}},
    {"4x4,VALID,1", "4x4,VALID,1,", {"record has 10 fields", "test.csv:3:68"}},
    {"conv1,conv2d", "\"conv1,conv2d", {"quoted field does not end", "test.csv:3:9"}},
    {"conv1,conv2d", "\"conv1\"x,conv2d", {"text follows a closing quote", ":3:16"}},
    {"conv1,conv2d", "\"conv1\"\rx,conv2d", {"text follows a closing quote", ":3:16"}},
};

static void test_bad_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(BAD_ALEX); i++) {
        g_autofree char *text = edited(ALEX, BAD_ALEX[i].from, BAD_ALEX[i].to);
        const char *words[WORDS_MAX + 1] = {NULL};
        memcpy(words, BAD_ALEX[i].words, sizeof BAD_ALEX[i].words);
        refused_text(text, strlen(text), NULL, ORCH_ERROR_RECIPE, words);
    }
    refused_text("", 0, NULL, ORCH_ERROR_RECIPE, WORDS("table is empty"));
    refused_text("\n\r\n", 3, NULL, ORCH_ERROR_RECIPE, WORDS("table is empty"));
    refused_text(HEADER, strlen(HEADER), NULL, ORCH_ERROR_RECIPE, WORDS("no layers"));
    refused_text(ALEX, sizeof ALEX, NULL, ORCH_ERROR_RECIPE, WORDS("NUL byte")); /* its end, too */
}

static void test_unknown_networks(void **state)
{
    (void)state;
    refused_text(ALEX, strlen(ALEX), "alex_v3", ORCH_ERROR_NOT_FOUND,
                 WORDS("no network 'alex_v3'", "did you mean 'alex_v2'?"));
    refused_text(ALEX, strlen(ALEX), "vgg", ORCH_ERROR_NOT_FOUND,
                 WORDS("no network 'vgg'", "it has the networks alex_v2"));
    static const char two[] = ALEX "n,d,input,1x4,1x4,,,,\n"
                                   "n,a,innerproduct,1x4,1x2,4x2,,,\n";
    refused_text(two, strlen(two), NULL, ORCH_ERROR_USAGE, WORDS("holds 2 networks", "alex_v2, n"));
    struct orch_layer_table *table =
        orch_layer_table_parse("test.csv", two, strlen(two), "n", NULL);
    assert_int_equal(orch_layer_count(table), 2);
    orch_layer_table_free(table);
    g_autoptr(GError) error = NULL;
    assert_null(orch_layer_table_read("no/such/file.csv", NULL, &error));
    expect_words(error, ORCH_ERROR_IO, WORDS("no/such/file.csv"));
}

/* Every column that a table may have: branches, groups, dilation, explicit padding, a quoted field,
 * both kinds of line end. */
#define FULL                                                                                       \
    "net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,pad_hw,batch,params,"        \
    "first_conv_no_data_grad,parents,groups,dilation\n"                                            \
    "n,data,input,2x16x16x4,2x16x16x4,,,,,2,0,0,,,\r\n"                                            \
    "n,a,conv2d,2x16x16x4,2x16x16x8,3x3x2x8,1x1,EXPLICIT,2x2,2,152,1,data,2,2\n"                   \
    "n,\"b\",conv2d,2x16x16x4,2x16x16x8,1x1x4x8,1x1,SAME,0x0,2,32,1,data,,\n"                      \
    "\n"                                                                                           \
    "n,sum,elementwise,2x16x16x8+2x16x16x8,2x16x16x8,,,,,2,0,0,b+a,,\n"                            \
    "n,join,concat,2x16x16x8+2x16x16x8,2x16x16x16,,,,,2,0,0,sum+b,,\n"                             \
    "n,pool,pool2d,2x16x16x16,2x8x8x16,2x2,2x2,VALID,,2,0,0,join,,\n"                              \
    "n,up,deconv2d,2x8x8x16,2x16x16x4,4x4x16x4,2x2,SAME,,2,,0,pool,,\n"                            \
    "n,bn,generic_BatchNorm,2x16x16x4,2x16x16x4,,,,,2,8,0,up,,\n"                                  \
    "n,fc,innerproduct,2x16x16x4,2x10,1024x10,,,,2,10250,0,bn,,\n"                                 \
    "n,drop,dropout,2x10,2x10,,,,,2,0,0,fc,,\n"                                                    \
    "n,soft,softmax,2x10,2x10,,,,,2,0,0,drop,,"

static const struct {
    const char *from, *to;
    const char *words[WORDS_MAX];
} BAD_FULL[] = {
    {"1,data,2,2", "1,a,2,2", {"'a' reads 'a', which is not listed before it", "test.csv:3:65"}},
    {"1,data,2,2", "1,fc,2,2", {"'a' reads 'fc', which is not listed before it"}},
    {"1,data,2,2", "1,dat,2,2", {"'a' reads 'dat', which does not exist"}},
    {"1,data,2,2", "1,,2,2", {"'a' has 0 parents and 1 inputs"}},
    {"0,sum+b,,", "0,sum,,", {"'join' has 1 parents and 2 inputs"}},
    {"0,sum+b,,", "0,sum+data,,", {"input 2 of layer 'join'", "than the output of 'data'"}},
    {"concat,2x16x16x8+", "concat,2x16x15x8+", {"input 1 of layer 'join' does not fit"}},
    {"2x16x16x16,,,,", "2x16x16x17,,,,", {"puts out 17 channels, its inputs have 16"}},
    {"softmax,2x10,", "softmax,2x10+2x10,", {"'soft' has 2 inputs"}},
    {",,,,,2,0,0,,,", ",,,,,0,0,0,,,", {"batch of layer 'data' is 0", "test.csv:2:38"}},
    {",,,,,2,0,0,,,", ",,,,,3,0,0,,,", {"batch is 3, out_shape of layer 'data' has 2"}},
    {"2,152,1", "7,152,1", {"batch is 7, out_shape of layer 'a' has 2", "test.csv:3:57"}},
    {"2,152,1", "2,NaN,1", {"'NaN' in column 'params' is not a whole number", "test.csv:3:59"}},
    {"2,152,1", "2,152.5,1", {"'152.5' in column 'params' is not a whole number"}},
    {"2,152,1", "2,-152,1", {"params of layer 'a' is -152, expected at least 0"}},
    {"2,152,1", "2,153,1", {"has 153 parameters", "152 with biases and 144 without"}},
    {"EXPLICIT,2x2", "EXPLICIT,-1x2", {"has a side of -1"}},
    {"EXPLICIT,2x2", "EXPLICIT,2", {"'2' of layer 'a' has 1 sides, expected 2"}},
    {"data,2,2", "data,0,2", {"groups of layer 'a' is 0"}},
    {"data,2,2", "data,3,2", {"reads 4 channels in 3 groups, its filter has 2"}},
    {"data,2,2", "data,1099511627776,2", {"groups of layer 'a' is 1099511627776"}},
    {"data,2,2", "data,2,0", {"dilation of layer 'a' is 0"}},
    {"data,2,2", "data,2,1099511627776", {"dilation of layer 'a' is 1099511627776"}},
    {"data,2,2", "data,2,3", {"puts out 16x16, its geometry gives 14x14"}},
    {"n,fc,innerproduct,2x16x16x4,2x10,1024x10,",
     "n,fc,innerproduct,2x16x16x4,2x1000000000,1024x1000000000,",
     {"'fc'"}},
};

static void test_bad_branches(void **state)
{
    (void)state;
    orch_layer_table_free(parse(FULL));
    for (size_t i = 0; i < G_N_ELEMENTS(BAD_FULL); i++) {
        g_autofree char *text = edited(FULL, BAD_FULL[i].from, BAD_FULL[i].to);
        const char *words[WORDS_MAX + 1] = {NULL};
        memcpy(words, BAD_FULL[i].words, sizeof BAD_FULL[i].words);
        refused_text(text, strlen(text), NULL, ORCH_ERROR_RECIPE, words);
    }
}

/* Sides at their limits: products that a 64-bit integer does not hold are refused, not computed. */
static void test_large_numbers(void **state)
{
    (void)state;
    static const char pads[] =
        "net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,pad_hw\n"
        "n,c,conv2d,1x1x1x1000000000,1x1x1x1000000000,"
        "999999999x999999999x1000000000x1000000000,1x1,EXPLICIT,499999999x499999999\n";
    refused_text(pads, strlen(pads), NULL, ORCH_ERROR_RECIPE,
                 WORDS("layer 'c' has too many parameters", "2^40", "test.csv:2:46"));
    g_autoptr(GString) wide = g_string_new("c0");
    for (int i = 1; i < 100000; i++)
        g_string_append_printf(wide, ",c%d", i);
    refused_text(wide->str, wide->len, NULL, ORCH_ERROR_RECIPE, WORDS("columns", "test.csv:1:"));
}

static void refused_options(struct orch_paleo_options options, int64_t workers, const char *word)
{
    struct orch_layer_table *table = parse(ALEX);
    struct orch_paleo_step step, before;
    memset(&step, 0x5a, sizeof step);
    before = step;
    g_autoptr(GError) error = NULL;
    assert_false(orch_paleo_simulate(table, &options, workers, &step, &error));
    expect_words(error, ORCH_ERROR_USAGE, WORDS(word, "hint: "));
    assert_memory_equal(&step, &before, sizeof step);
    struct orch_paleo_hybrid_step hybrid;
    assert_false(orch_paleo_hybrid(table, &options, CUT, workers, &hybrid, NULL));
    struct orch_paleo_split_step split;
    assert_false(orch_paleo_model_parallel(table, &options, CUT, workers, &split, NULL));
    orch_layer_table_free(table);
}

static void test_bad_options(void **state)
{
    (void)state;
    const struct orch_paleo_options good = orch_paleo_defaults();
    static const double shares[] = {0, -0.5, 1.0001, NAN, INFINITY};
    static const double amounts[] = {0, -1, NAN, INFINITY};
    struct orch_paleo_options options = good;
    options.batch = 0;
    refused_options(options, 1, "batch is 0, expected 1 to");
    options.batch = INT64_MAX;
    refused_options(options, 1, "batch is 9223372036854775807");
    refused_options(good, 0, "number of workers is 0");
    refused_options(good, -1, "number of workers is -1");
    refused_options(good, INT64_C(1) << 40, "number of workers is");
    for (size_t i = 0; i < G_N_ELEMENTS(shares); i++) {
        options = good;
        options.ppp_comp = shares[i];
        refused_options(options, 1, "--ppp-comp is");
        options = good;
        options.ppp_comm = shares[i];
        refused_options(options, 1, "--ppp-comm is");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(amounts); i++) {
        options = good;
        options.device.clock_mhz = amounts[i];
        refused_options(options, 1, "clock (MHz) of 'K80' is");
        options = good;
        options.device.peak_gflops = amounts[i];
        refused_options(options, 1, "peak (GFLOP/s) of 'K80' is");
        options = good;
        options.device.bandwidth_gib_s = amounts[i];
        refused_options(options, 1, "memory bandwidth (GiB/s) of 'K80' is");
        options = good;
        options.network.gbit_s = amounts[i];
        refused_options(options, 1, "bandwidth (Gbit/s) of 'ethernet20' is");
    }
}

static void test_unknown_names(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(orch_paleo_device_find("K8O", &error));
    expect_words(error, ORCH_ERROR_NOT_FOUND, WORDS("no device 'K8O'", "did you mean 'K"));
    g_clear_error(&error);
    assert_null(orch_paleo_network_find("ethernet2", &error));
    expect_words(error, ORCH_ERROR_NOT_FOUND, WORDS("no network 'ethernet2'", "did you mean '"));
    g_clear_error(&error);
    enum orch_paleo_scheme scheme;
    assert_false(orch_paleo_scheme_find("TreeAllReduse", &scheme, &error));
    expect_words(error, ORCH_ERROR_NOT_FOUND, WORDS("did you mean 'TreeAllReduce'"));
    g_clear_error(&error);
    assert_true(orch_paleo_scheme_find("butterflymixing", &scheme, NULL));
    assert_int_equal(scheme, ORCH_PALEO_BUTTERFLY_MIXING);
}

static void refused_cut(const char *text, const char *layer, int64_t workers, int code,
                        const char *const words[])
{
    const char *const cut[] = {layer, NULL};
    struct orch_paleo_options options = orch_paleo_defaults();
    struct orch_layer_table *table = parse(text);
    struct orch_paleo_hybrid_step step;
    g_autoptr(GError) error = NULL;
    assert_false(orch_paleo_hybrid(table, &options, cut, workers, &step, &error));
    expect_words(error, code, words);
    orch_layer_table_free(table);
}

static void test_bad_cuts(void **state)
{
    (void)state;
    refused_cut(ALEX, "fc66", 2, ORCH_ERROR_NOT_FOUND,
                WORDS("'alex_v2' has no layer 'fc66'", "did you mean 'fc6'"));
    refused_cut(ALEX, "fc6", 3, ORCH_ERROR_USAGE,
                WORDS("'fc6' (conv2d, 4096 channels) cannot be split among 3 workers"));
    refused_cut(ALEX, "data", 2, ORCH_ERROR_USAGE, WORDS("'data' (input, 3 channels)"));
    refused_cut(FULL, "a", 2, ORCH_ERROR_USAGE, WORDS("'a' (conv2d, 8 channels)")); /* groups */
    refused_cut(HEADER "n,d,input,1x4,1x4,,,,\n"
                       "n,a,innerproduct,1x4,1x2,4x2,,,\n"
                       "n,b,innerproduct,1x4,1x2,4x2,,,\n",
                "b", 2, ORCH_ERROR_RECIPE,
                WORDS("does not say what layer 'a' reads", "column 'parents'"));
}

/* ---- damaged tables ---- */

/* A copy with nothing behind it, so that a sanitizer sees a read too far. Taken or refused, the
 * answer is whole: a table that forecasts numbers, or an error. */
static bool survives(const char *text, size_t length)
{
    g_autofree char *copy = g_memdup2(text, length);
    g_autoptr(GError) error = NULL;
    struct orch_layer_table *table =
        orch_layer_table_parse("test.csv", copy ? copy : "", length, NULL, &error);
    if ((table != NULL) != (error == NULL) || (error && !*error->message))
        fail_msg("a table and an error, or neither");
    if (!table)
        return false;
    struct orch_paleo_options options = orch_paleo_defaults();
    static const char *const cut[] = {"fc", "drop", NULL};
    for (int i = 0; i <= ORCH_PALEO_FFT_TILING; i++) {
        options.algorithm = (enum orch_paleo_algorithm)i;
        struct orch_paleo_step step;
        assert_true(orch_paleo_simulate(table, &options, 2, &step, NULL));
        assert_true(isfinite(step.total_ms) && step.total_ms > 0);
        struct orch_paleo_hybrid_step hybrid;
        if (orch_paleo_hybrid(table, &options, cut, 2, &hybrid, NULL))
            assert_true(isfinite(hybrid.total_ms));
    }
    orch_layer_table_free(table);
    return true;
}

static void test_truncations(void **state)
{
    (void)state;
    static const char *const texts[] = {ALEX, FULL};
    int taken = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        for (size_t length = 0; length <= strlen(texts[i]); length++)
            taken += survives(texts[i], length);
    /* behind each of its records, AlexNet is a network still */
    assert_true(taken >= 14);
}

/* xorshift64*: the same damage on every machine. */
static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/* Any byte made any other; or, so that some of it gets past the first check, a character that
 * tables are made of. */
static void damage(char *text, size_t length, uint64_t *seed)
{
    static const char likely[] = "0123456789x,+\"\n\r-._abjn";
    size_t place = draw(seed) % length;
    if (draw(seed) % 2)
        text[place] = likely[draw(seed) % (sizeof likely - 1)];
    else
        text[place] = (char)(text[place] ^ (1 << draw(seed) % 8));
}

static void test_flips(void **state)
{
    (void)state;
    static const char *const texts[] = {ALEX, FULL};
    uint64_t seed = 20170424;
    int taken = 0, rounds = 20000;
    for (int i = 0; i < rounds; i++) {
        g_autofree char *text = g_strdup(texts[i % 2]);
        size_t length = strlen(text);
        for (uint64_t flips = 1 + draw(&seed) % 3; flips; flips--)
            damage(text, length, &seed);
        taken += survives(text, length);
    }
    assert_true(taken > 100 && taken < rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_params_of_resnet50),
        cmocka_unit_test(test_tables_of_hardware),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_hybrids),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_padding_below_zero),
        cmocka_unit_test(test_deconvolution),
        cmocka_unit_test(test_wide_windows_cost_more_backward),
        cmocka_unit_test(test_cycle_is_the_least),
        cmocka_unit_test(test_primitives),
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_shares_of_a_batch),
        cmocka_unit_test(test_transform_of_one_dimension),
        cmocka_unit_test(test_who_transforms),
        cmocka_unit_test(test_model_parallel),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_unknown_networks),
        cmocka_unit_test(test_bad_branches),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_bad_cuts),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
