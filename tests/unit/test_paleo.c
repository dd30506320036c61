/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO: numbers that its authors' program (TalwalkarLab/paleo, v0.1) gave, typed in; tables that
 * are wrong. Every row that is at hand is compared by tests/reference/test_paleo_reference.c. */
#include "lib/base/error.h"
#include "predictors/paleo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(const char *what, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fmax(fabs(want), 1e-300)))
        fail_msg("%s: %.15g, wanted %.15g", what, got, want);
}

static struct orch_layer_table *read_table(const char *folder, const char *name)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(g_getenv("ORCH_SOURCE_DIR"), folder, name, NULL);
    struct orch_layer_table *table = orch_layer_table_read(path, NULL, &error);
    if (!table)
        fail_msg("%s", error->message);
    return table;
}

/* alex_v2, K80, ethernet20, 128 images a worker, PPP 0.62 and 0.72, 4 workers: to the digits that
 * the program's log shows. */
static void test_anchors(void **state)
{
    (void)state;
    static const double comm[] = {670.718827, 447.145884, 223.572942, 111.786471};
    struct orch_layer_table *table = read_table("bench", "alexnet.csv");
    assert_int_equal(orch_layer_table_params(table), 50303912);
    for (int scheme = 0; scheme < ORCH_PALEO_SCHEME_COUNT; scheme++) {
        struct orch_paleo_options o = orch_paleo_defaults();
        struct orch_paleo_step s;
        o.scheme = (enum orch_paleo_scheme)scheme;
        assert_true(orch_paleo_simulate(table, &o, 4, &s, NULL));
        assert_true(fabs(s.fwd_ms - 57.121928) < 5e-7 && fabs(s.bwd_ms - 154.905506) < 5e-7);
        assert_true(fabs(s.update_ms - 1.189195) < 5e-7);
        assert_true(fabs(s.comm_ms - comm[scheme]) < 5e-7);
    }
    orch_layer_table_free(table);
}

static const struct {
    const char *device, *network, *scheme;
    int64_t batch;
    bool strong;
    int64_t workers;
    double ppp_comp, ppp_comm;
    bool pipeline;
    double fwd, bwd, update, comm, images_per_s;
} STEPS[] = {
    {"K20", "ethernet20", "OneToAll", 32, true, 1, 1.0, 1.0, false, 15.068185706874662,
     40.087261999050845, 2.7314184318589603, 0.0, 552.802425403932},
    {"K20", "ethernet20", "OneToAll", 128, true, 16, 1.0, 1.0, false, 4.442614927109085,
     11.372640435840859, 2.7314184318589603, 2414.587776, 52.60703945513348},
    {"K40", "ethernet20", "OneToAll", 64, true, 8, 0.62, 0.72, false, 5.706359614442056,
     14.714284906025616, 1.97550040877071, 1565.0105955555555, 40.31732911783807},
    {"K80", "ethernet20", "OneToAll", 32, true, 4, 0.62, 0.72, true, 3.813847829516187,
     9.753249466817572, 1.1712292209267616, 670.7188266666667, 46.68417252830611},
    {"K80", "ethernet20", "OneToAll", 128, false, 2, 1.0, 1.0, false, 35.41559549729996,
     96.04141361183667, 1.1891949037839045, 160.97251839999998, 871.8790065436742},
    {"TITAN_X", "ethernet20", "OneToAll", 64, false, 1, 0.62, 0.72, false, 27.19236555659682,
     72.74003040057619, 1.6870734142808996, 0.0, 629.8005726250951},
    {"K20", "ethernet20", "TreeAllReduce", 32, true, 1, 1.0, 1.0, false, 15.068185706874662,
     40.087261999050845, 2.7314184318589603, 0.0, 552.802425403932},
    {"K20", "ethernet20", "TreeAllReduce", 128, true, 16, 1.0, 1.0, false, 4.442614927109085,
     11.372640435840859, 2.7314184318589603, 643.8900735999999, 193.22599554356043},
    {"K40", "ethernet20", "TreeAllReduce", 64, true, 8, 0.62, 0.72, false, 5.706359614442056,
     14.714284906025616, 1.97550040877071, 670.7188266666666, 92.33677329554617},
    {"K80", "ethernet20", "TreeAllReduce", 32, true, 4, 0.62, 0.72, true, 3.813847829516187,
     9.753249466817572, 1.1712292209267616, 447.1458844444444, 69.28143296643916},
    {"K80", "ethernet20", "TreeAllReduce", 128, false, 2, 1.0, 1.0, false, 35.41559549729996,
     96.04141361183667, 1.1891949037839045, 160.97251839999998, 871.8790065436742},
    {"TITAN_X", "ethernet20", "TreeAllReduce", 64, false, 1, 0.62, 0.72, false, 27.19236555659682,
     72.74003040057619, 1.6870734142808996, 0.0, 629.8005726250951},
    {"K20", "ethernet20", "ButterflyAllReduce", 32, true, 1, 1.0, 1.0, false, 15.068185706874662,
     40.087261999050845, 2.7314184318589603, 0.0, 552.802425403932},
    {"K20", "ethernet20", "ButterflyAllReduce", 128, true, 16, 1.0, 1.0, false, 4.442614927109085,
     11.372640435840859, 2.7314184318589603, 321.94503679999997, 375.92691985480445},
    {"K40", "ethernet20", "ButterflyAllReduce", 64, true, 8, 0.62, 0.72, false, 5.706359614442056,
     14.714284906025616, 1.97550040877071, 335.3594133333333, 178.89309759662137},
    {"K80", "ethernet20", "ButterflyAllReduce", 32, true, 4, 0.62, 0.72, true, 3.813847829516187,
     9.753249466817572, 1.1712292209267616, 223.5729422222222, 134.2781655658163},
    {"K80", "ethernet20", "ButterflyAllReduce", 128, false, 2, 1.0, 1.0, false, 35.41559549729996,
     96.04141361183667, 1.1891949037839045, 80.48625919999999, 1201.1309593145113},
    {"TITAN_X", "ethernet20", "ButterflyAllReduce", 64, false, 1, 0.62, 0.72, false,
     27.19236555659682, 72.74003040057619, 1.6870734142808996, 0.0, 629.8005726250951},
    {"K20", "ethernet20", "ButterflyMixing", 32, true, 1, 1.0, 1.0, false, 15.068185706874662,
     40.087261999050845, 2.7314184318589603, 80.48625919999999, 231.25877891306115},
    {"K20", "ethernet20", "ButterflyMixing", 128, true, 16, 1.0, 1.0, false, 4.442614927109085,
     11.372640435840859, 2.7314184318589603, 80.48625919999999, 1292.4993346073018},
    {"K40", "ethernet20", "ButterflyMixing", 64, true, 8, 0.62, 0.72, false, 5.706359614442056,
     14.714284906025616, 1.97550040877071, 111.7864711111111, 476.9619335842643},
    {"K80", "ethernet20", "ButterflyMixing", 32, true, 4, 0.62, 0.72, true, 3.813847829516187,
     9.753249466817572, 1.1712292209267616, 111.7864711111111, 252.91484831290018},
    {"K80", "ethernet20", "ButterflyMixing", 128, false, 2, 1.0, 1.0, false, 35.41559549729996,
     96.04141361183667, 1.1891949037839045, 80.48625919999999, 1201.1309593145113},
    {"TITAN_X", "ethernet20", "ButterflyMixing", 64, false, 1, 0.62, 0.72, false, 27.19236555659682,
     72.74003040057619, 1.6870734142808996, 111.7864711111111, 299.89793093519205},
};

static void test_steps(void **state)
{
    (void)state;
    struct orch_layer_table *table = read_table("bench", "alexnet.csv");
    for (size_t i = 0; i < G_N_ELEMENTS(STEPS); i++) {
        struct orch_paleo_options o = orch_paleo_defaults();
        struct orch_paleo_step s;
        o.device = *orch_paleo_device_find(STEPS[i].device, NULL);
        o.network = *orch_paleo_network_find(STEPS[i].network, NULL);
        assert_true(orch_paleo_scheme_find(STEPS[i].scheme, &o.scheme, NULL));
        o.batch = STEPS[i].batch;
        o.scaling = STEPS[i].strong ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK;
        o.ppp_comp = STEPS[i].ppp_comp;
        o.ppp_comm = STEPS[i].ppp_comm;
        o.pipeline = STEPS[i].pipeline;
        assert_true(orch_paleo_simulate(table, &o, STEPS[i].workers, &s, NULL));
        near("forward", s.fwd_ms, STEPS[i].fwd, 1e-9);
        near("backward", s.bwd_ms, STEPS[i].bwd, 1e-9);
        near("update", s.update_ms, STEPS[i].update, 1e-9);
        near("exchange", s.comm_ms, STEPS[i].comm, 1e-9);
        near("images/s", s.images_per_s, STEPS[i].images_per_s, 1e-9);
    }
    orch_layer_table_free(table);
}

/* On the K80, 128 images. */
static const struct {
    const char *layer;
    enum orch_paleo_algorithm algorithm;
    const char *direction;
    double ppp, comp, mem;
} TRANSFORMS[] = {
    {"conv2", ORCH_PALEO_FFT, "forward", 0.62, 2.144265437788018, 2.469093568863407},
    {"conv2", ORCH_PALEO_FFT_TILING, "forward", 0.62, 2.3689602949308757, 2.780627178889449},
    {"conv2", ORCH_PALEO_FFT, "bwd_data", 0.62, 2.023461751152074, 2.51503400905158},
    {"conv2", ORCH_PALEO_FFT_TILING, "bwd_data", 0.62, 2.2481566082949307, 2.8519989341817875},
    {"conv2", ORCH_PALEO_FFT, "bwd_filter", 0.62, 2.05366267281106, 2.40341309578188},
    {"conv2", ORCH_PALEO_FFT_TILING, "bwd_filter", 0.62, 2.278357529953917, 2.7340201921360467},
    {"conv3", ORCH_PALEO_FFT, "forward", 0.62, 2.4209058801843315, 1.7769105972782258},
    {"conv3", ORCH_PALEO_FFT_TILING, "forward", 0.62, 12.582911999999999, 8.909163936491934},
    {"conv3", ORCH_PALEO_FFT, "bwd_data", 0.62, 2.3846647741935483, 1.79290771484375},
    {"conv3", ORCH_PALEO_FFT_TILING, "bwd_data", 0.62, 12.401706470046081, 9.179884387600806},
    {"conv3", ORCH_PALEO_FFT, "bwd_filter", 0.62, 2.4571469861751147, 1.6363205448273688},
    {"conv3", ORCH_PALEO_FFT_TILING, "bwd_filter", 0.62, 12.764117529953918, 8.513850550497732},
};

static void test_fourier(void **state)
{
    (void)state;
    struct orch_layer_table *table = read_table("bench", "alexnet.csv");
    for (size_t i = 0; i < G_N_ELEMENTS(TRANSFORMS); i++) {
        const struct orch_layer *layer =
            orch_layer_at(table, orch_layer_find(table, TRANSFORMS[i].layer));
        const char *direction = TRANSFORMS[i].direction;
        struct orch_paleo_conv conv =
            strcmp(direction, "forward") == 0    ? orch_paleo_conv_forward(layer, 128)
            : strcmp(direction, "bwd_data") == 0 ? orch_paleo_conv_data_gradient(layer, 128)
                                                 : orch_paleo_conv_filter_gradient(layer, 128);
        struct orch_paleo_time t = orch_paleo_conv_time(
            &conv, TRANSFORMS[i].algorithm, orch_paleo_device_find("K80", NULL), TRANSFORMS[i].ppp);
        near("computing", t.comp_ms, TRANSFORMS[i].comp, 1e-9);
        near("memory", t.mem_ms, TRANSFORMS[i].mem, 1e-9);
    }
    orch_layer_table_free(table);
}

/* "One weird trick": fc6 and fc7 cut, 128 images a worker. */
static const struct {
    const char *device, *network;
    double ppp_comp, ppp_comm;
    bool pipeline;
    int64_t workers;
    bool cut;
    double fwd, bwd, update, sync;
} HYBRID[] = {
    {"K20", "pcie2", 0.46, 0.75, false, 2, false, 99.80121172654509, 184.78869181027704,
     0.35656062874025596, 8.755594666666667},
    {"K20", "pcie2", 0.46, 0.75, false, 2, true, 9.946116573922428, 119.66523490802379,
     2.33481777992925, 0.0},
    {"K20", "pcie2", 0.46, 0.75, true, 2, false, 95.34035503243925, 177.49866775971202,
     0.3528295514675287, 8.755594666666667},
    {"K20", "pcie2", 0.46, 0.75, true, 2, true, 9.946116573922428, 119.66523490802379,
     2.33481777992925, 0.0},
    {"K20", "pcie2", 0.46, 0.75, false, 4, false, 99.80121172654509, 184.78869181027704,
     0.35656062874025596, 17.511189333333334},
    {"K20", "pcie2", 0.46, 0.75, false, 4, true, 10.956088507276663, 120.77982395702391,
     2.33481777992925, 0.0},
    {"K20", "pcie2", 0.46, 0.75, true, 4, false, 95.34035503243925, 177.49866775971202,
     0.3528295514675287, 17.511189333333334},
    {"K20", "pcie2", 0.46, 0.75, true, 4, true, 10.956088507276663, 120.77982395702391,
     2.33481777992925, 0.0},
};

static void test_hybrid(void **state)
{
    (void)state;
    static const char *const cut[] = {"fc6", "dropout6", "fc7", "dropout7", NULL};
    struct orch_layer_table *table = read_table("tests/data", "alexnet-owt.csv");
    for (size_t i = 0; i < G_N_ELEMENTS(HYBRID); i++) {
        struct orch_paleo_options o = orch_paleo_defaults();
        struct orch_paleo_hybrid_step s;
        o.device = *orch_paleo_device_find(HYBRID[i].device, NULL);
        o.network = *orch_paleo_network_find(HYBRID[i].network, NULL);
        o.ppp_comp = HYBRID[i].ppp_comp;
        o.ppp_comm = HYBRID[i].ppp_comm;
        o.pipeline = HYBRID[i].pipeline;
        assert_true(orch_paleo_hybrid(table, &o, cut, HYBRID[i].workers, &s, NULL));
        bool c = HYBRID[i].cut;
        near("forward", c ? s.split_fwd_ms : s.data_fwd_ms, HYBRID[i].fwd, 1e-9);
        near("backward", c ? s.split_bwd_ms : s.data_bwd_ms, HYBRID[i].bwd, 1e-9);
        near("update", c ? s.split_update_ms : s.data_update_ms, HYBRID[i].update, 1e-9);
        near("sync", c ? 0 : s.data_comm_ms, HYBRID[i].sync, 1e-9);
    }
    orch_layer_table_free(table);
}

/* ---- what is wrong ----------------------------------------------------------------------------
 */

static void expect_bad_options(struct orch_paleo_options o, int64_t workers, const char *words)
{
    struct orch_layer_table *table = read_table("bench", "alexnet.csv");
    struct orch_paleo_step s;
    g_autoptr(GError) error = NULL;
    assert_false(orch_paleo_simulate(table, &o, workers, &s, &error));
    if (!strstr(error->message, words))
        fail_msg("'%s' does not say '%s'", error->message, words);
    orch_layer_table_free(table);
}

static void test_bad_options(void **state)
{
    (void)state;
    struct orch_paleo_options o = orch_paleo_defaults();
    expect_bad_options(o, 0, "worker");
    o.batch = 0;
    expect_bad_options(o, 1, "batch");
    static const double shares[] = {0, -1, 1.01, NAN};
    for (int i = 0; i < 4; i++) {
        o = orch_paleo_defaults();
        o.ppp_comp = shares[i];
        expect_bad_options(o, 1, "ppp");
        o = orch_paleo_defaults();
        o.ppp_comm = shares[i];
        expect_bad_options(o, 1, "ppp");
    }
    assert_null(orch_paleo_device_find("paleo:K81", NULL));
    assert_null(orch_paleo_network_find("ether", NULL));
    enum orch_paleo_scheme scheme;
    assert_false(orch_paleo_scheme_find("Ring", &scheme, NULL));
}

#define HEAD "net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,params\n"
#define DATA "x,data,input,1x8x8x3,1x8x8x3,,,,0\n"

static void expect_bad_table(const char *text, const char *words)
{
    g_autoptr(GError) error = NULL;
    struct orch_layer_table *table =
        orch_layer_table_parse("t.csv", text, strlen(text), NULL, &error);
    if (table)
        fail_msg("taken: %s", text);
    if (!strstr(error->message, words))
        fail_msg("'%s' does not say '%s'", error->message, words);
}

static void test_bad_tables(void **state)
{
    (void)state;
    expect_bad_table("", "t.csv");
    expect_bad_table("net,layer,type\nx,data,input\n", "in_shape");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x8x8x3,1x8x8x4,3x3x3x4,1x1,SAME,many\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x8xAx3,1x8x8x4,3x3x3x4,1x1,SAME,112\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x8x8x3,1x8x8x4,3x3x3x4,0x1,SAME,112\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x8x8x3,1x7x7x4,3x3x3x4,1x1,SAME,112\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x2x2x3,1x0x0x4,3x3x3x4,1x1,VALID,112\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,conv2d,1x8x8x5,1x8x8x4,3x3x3x4,1x1,SAME,112\n", "t.csv:3:");
    expect_bad_table(HEAD DATA "x,c,unknown,1x8x8x3,1x8x8x3,,,,0,9\n", "t.csv:3");
    expect_bad_table(
        "net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,params,parents\n"
        "x,data,input,1x8x8x3,1x8x8x3,,,,0,\n"
        "x,a,elementwise,1x8x8x3,1x8x8x3,,,,0,b\n"
        "x,b,elementwise,1x8x8x3,1x8x8x3,,,,0,a\n",
        "t.csv:3");
    g_autoptr(GError) error = NULL;
    static const char two[] = HEAD DATA "y,data,input,1x8x8x3,1x8x8x3,,,,0\n";
    assert_null(orch_layer_table_parse("t.csv", two, strlen(two), NULL, &error));
    assert_non_null(strstr(error->message, "2 networks"));
}

/* Cut short anywhere, and with any byte changed, a table is read or refused, and nothing breaks. */
static void test_broken_tables(void **state)
{
    (void)state;
    static const char whole[] = HEAD DATA
        "x,c,conv2d,1x8x8x3,1x8x8x4,3x3x3x4,1x1,SAME,112\n"
        "x,p,pool2d,1x8x8x4,1x4x4x4,2x2x4x4,2x2,VALID,0\nx,f,innerproduct,1x4x4x4,1x10,,,,650\n";
    size_t length = strlen(whole);
    unsigned random = 1;
    for (size_t i = 0; i < length; i++)
        orch_layer_table_free(orch_layer_table_parse("t.csv", whole, i, NULL, NULL));
    for (int i = 0; i < 20000; i++) {
        g_autofree char *copy = g_strdup(whole);
        for (int k = 0; k < 3; k++) {
            random = random * 1103515245 + 12345;
            copy[random / 65536 % length] = (char)(random >> 8);
        }
        orch_layer_table_free(orch_layer_table_parse("t.csv", copy, length, NULL, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anchors),       cmocka_unit_test(test_steps),
        cmocka_unit_test(test_fourier),       cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_bad_options),   cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_broken_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
