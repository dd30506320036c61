/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every row of tables that PALEO's own program wrote, against our PALEO: relative 1e-9,
 * which leaves room for another order of summing and for nothing else. The tables are not part of
 * this repository: $ORCH_REFERENCE_DATA (or ../shared/data) holds them; without them the test is
 * skipped.
 *
 * test_paleo_reference [FOLDER]: prints a line a table: rows, numbers compared, largest error.
 */
#include "features/paleo/paleo_split.h"
#include "lib/base/csv.h"
#include "lib/base/ident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9
#define SKIPPED 77

static char *folder;
static struct orch_csv *csv; /* the table being compared */
static size_t row;
static const char *table_name;
static double worst;
static size_t numbers, misses;

static void stop(GError *error)
{
    fprintf(stderr, "%s\n", error ? error->message : "failed");
    exit(1);
}

static int column(const char *name)
{
    GError *error = NULL;
    int index;
    if (!orch_csv_column(csv, name, &index, &error))
        stop(error);
    return index;
}

static const char *text(const char *name)
{
    return orch_csv_text(csv, row, column(name));
}

static double real(const char *name)
{
    GError *error = NULL;
    double value;
    if (!orch_csv_real(csv, row, column(name), &value, &error))
        stop(error);
    return value;
}

static void compare(const char *what, double expected, double found)
{
    double error = fabs(found - expected) / fmax(fabs(expected), 1e-300);
    if (expected == found) /* zeros too */
        error = 0;
    numbers++;
    if (isnan(error))
        error = HUGE_VAL;
    worst = fmax(worst, error);
    if (error <= TOLERANCE)
        return;
    if (misses++ < 10)
        fprintf(stderr, "%s: record %zu: %s: expected %.17g, found %.17g (relative %.3g)\n",
                table_name, row + 1, what, expected, found, error);
}

static void compare_column(const char *name, double found)
{
    compare(name, real(name), found);
}

/* --- what rows name --- */

static const struct orch_layer_table *network(const char *name)
{
    static GHashTable *tables;
    if (!tables)
        tables = g_hash_table_new(g_str_hash, g_str_equal);
    const struct orch_layer_table *table = g_hash_table_lookup(tables, name);
    if (table)
        return table;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "paleo", "net_geometry.csv", NULL);
    table = orch_layer_table_read(path, name, &error);
    if (!table)
        stop(error);
    g_hash_table_insert(tables, g_strdup(name), (gpointer)(uintptr_t)table);
    return table;
}

/* PALEO's devices by our table, any other by its row in devices.csv. */
static struct orch_paleo_device device(const char *name)
{
    const struct orch_paleo_device *known = orch_paleo_device_find(name, NULL);
    if (known)
        return *known;
    struct orch_csv *rows = csv;
    size_t here = row;
    g_autofree char *path = g_build_filename(folder, "paleo", "devices.csv", NULL);
    GError *error = NULL;
    csv = orch_csv_read(path, &error);
    if (!csv)
        stop(error);
    struct orch_paleo_device found = {0};
    for (row = 0; row < orch_csv_rows(csv); row++)
        if (strcmp(text("device"), name) == 0)
            found = (struct orch_paleo_device){"added", real("clock_mhz"), real("peak_gflops"),
                                               real("mem_bw_gbps_as_GiB_per_s"), true};
    orch_csv_free(csv);
    csv = rows;
    row = here;
    return found;
}

static struct orch_paleo_network link_named(const char *name)
{
    GError *error = NULL;
    const struct orch_paleo_network *found = orch_paleo_network_find(name, &error);
    if (!found)
        stop(error);
    return *found;
}

static enum orch_paleo_scheme scheme_named(const char *name)
{
    GError *error = NULL;
    enum orch_paleo_scheme scheme;
    if (!orch_paleo_scheme_find(name, &scheme, &error))
        stop(error);
    return scheme;
}

static const struct orch_layer *layer_named(const char *net, const char *name)
{
    const struct orch_layer_table *table = network(net);
    int index = orch_layer_find(table, name);
    if (index < 0) {
        fprintf(stderr, "no layer %s in %s\n", name, net);
        exit(1);
    }
    return orch_layer_at(table, index);
}

static void compare_text(const char *what, const char *expected, char *found)
{
    numbers++;
    if (strcmp(expected, found) != 0) {
        worst = HUGE_VAL;
        if (misses++ < 10)
            fprintf(stderr, "%s: record %zu: %s: expected %s, found %s\n", table_name, row + 1,
                    what, expected, found);
    }
    g_free(found);
}

static char *dims4(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                           "x%" G_GINT64_FORMAT,
                           a, b, c, d);
}

static char *dims2(int64_t a, int64_t b)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, a, b);
}

/* --- a function a table --- */

static void compare_step(void)
{
    struct orch_paleo_options options = {
        .device = device(text("device")),
        .network = link_named(text("network")),
        .ppp_comp = real("ppp_comp"),
        .ppp_comm = real("ppp_comm"),
        .pipeline = real("pipeline") != 0,
        .batch = (int64_t)real("batch_arg"),
        .scaling = strcmp(text("scaling"), "weak") == 0 ? ORCH_PALEO_WEAK : ORCH_PALEO_STRONG,
        .scheme = scheme_named(text("scheme")),
    };
    struct orch_paleo_step step;
    GError *error = NULL;
    if (!orch_paleo_simulate(network(text("net")), &options, (int64_t)real("workers"), &step,
                             &error))
        stop(error);
    compare_column("per_worker_batch", (double)step.worker_batch);
    compare_column("effective_batch", (double)step.effective_batch);
    compare_column("params_bytes", step.params_bytes);
    compare_column("fwd_ms", step.fwd_ms);
    compare_column("bwd_ms", step.bwd_ms);
    compare_column("update_ms", step.update_ms);
    compare_column("comp_ms", step.comp_ms);
    compare_column("comm_ms", step.comm_ms);
    compare_column("total_ms", step.total_ms);
    compare_column("images_per_s", step.images_per_s);
}

static void compare_layer(void)
{
    const struct orch_layer *layer = layer_named(text("net"), text("layer"));
    int64_t batch = (int64_t)real("batch");
    struct orch_paleo_options options = orch_paleo_defaults();
    options.ppp_comp = 1;
    struct orch_paleo_layer_time time = orch_paleo_layer(layer, &options, batch);
    compare_column("params", (double)layer->params);
    compare_column("weights_bytes", 4.0 * (double)layer->params);
    compare_column("fwd_flops", time.fwd.flops);
    compare_column("fwd_bytes", time.fwd.bytes);
    compare_column("bwd_data_flops", time.bwd_data.flops);
    compare_column("bwd_data_bytes", time.bwd_data.bytes);
    compare_column("bwd_filter_flops", time.bwd_filter.flops);
    compare_column("bwd_filter_bytes", time.bwd_filter.bytes);
    compare_column("K80_fwd_comp_ms", time.fwd.comp_ms);
    compare_column("K80_fwd_mem_ms", time.fwd.mem_ms);
    compare_column("K80_fwd_ms", time.fwd_ms);
    compare_column("K80_bwd_data_ms", orch_paleo_time_ms(time.bwd_data, false));
    compare_column("K80_bwd_filter_ms", orch_paleo_time_ms(time.bwd_filter, false));
    compare_column("K80_bwd_total_ms", time.bwd_ms);
    if (layer->type == ORCH_LAYER_CONV2D) {
        compare_text("filter_hwio", text("filter_hwio"),
                     dims4(layer->kernel_h, layer->kernel_w, layer->c_in, layer->c_out));
        compare_text("pad_hw", text("pad_hw"), dims2(layer->pad_h, layer->pad_w));
        compare_text("out_shape", text("out_shape"),
                     dims4(batch, layer->out.h, layer->out.w, layer->out.c));
    }
}

static struct orch_paleo_conv conv_for(const struct orch_layer *layer, const char *direction,
                                       int64_t batch)
{
    if (strcmp(direction, "forward") == 0)
        return orch_paleo_conv_forward(layer, batch);
    if (g_str_has_prefix(direction, "bwd_filter") || strcmp(direction, "filters") == 0)
        return orch_paleo_conv_filter_gradient(layer, batch);
    return orch_paleo_conv_data_gradient(layer, batch);
}

static const struct orch_paleo_time *pass_for(const struct orch_paleo_layer_time *passes,
                                              const char *direction)
{
    if (strcmp(direction, "forward") == 0)
        return &passes->fwd;
    return strcmp(direction, "bwd_filter") == 0 ? &passes->bwd_filter : &passes->bwd_data;
}

static void compare_conv_shapes(const struct orch_paleo_conv *conv, const char *in,
                                const char *filter, const char *pad, const char *out)
{
    compare_text(in, text(in), dims4(conv->n, conv->h, conv->w, conv->c));
    compare_text(filter, text(filter),
                 dims4(conv->kernel_h, conv->kernel_w, conv->f_in, conv->f_out));
    compare_text(pad, text(pad), dims2(conv->pad_h, conv->pad_w));
    compare_text(out, text(out), dims4(conv->out_n, conv->out_h, conv->out_w, conv->f_out));
}

static void compare_fft(void)
{
    const struct orch_layer *layer = layer_named(text("net"), text("layer"));
    struct orch_paleo_conv conv = conv_for(layer, text("direction"), (int64_t)real("batch"));
    compare_conv_shapes(&conv, "in_shape", "filter_hwio", "pad_hw", "out_shape");
    struct orch_paleo_options options = orch_paleo_defaults();
    options.device = device(text("device"));
    options.ppp_comp = real("ppp_comp");
    options.algorithm =
        strcmp(text("variant"), "fft") == 0 ? ORCH_PALEO_FFT : ORCH_PALEO_FFT_TILING;
    struct orch_paleo_layer_time passes = orch_paleo_layer(layer, &options, (int64_t)real("batch"));
    struct orch_paleo_time time = *pass_for(&passes, text("direction"));
    compare_column("comp_ms", time.comp_ms);
    compare_column("mem_ms", time.mem_ms);
    compare_column("total_ms", orch_paleo_time_ms(time, false));
    compare_column("sum_flops", time.flops);
    compare_column("sum_bytes", time.bytes);
}

static void compare_gradient(void)
{
    const struct orch_layer *layer = layer_named(text("net"), text("layer"));
    struct orch_paleo_conv conv = conv_for(layer, text("wrt"), (int64_t)real("batch"));
    compare_conv_shapes(&conv, "dummy_in", "dummy_filter", "dummy_pad", "dummy_out");
    bool in_input = strcmp(text("hole_position"), "inputs") == 0;
    compare_column("percent_holes", in_input ? conv.holes_input : conv.holes_filter);
    compare("holes of the other", 0, in_input ? conv.holes_filter : conv.holes_input);
}

static void compare_comm(void)
{
    compare_column("comm_ms", orch_paleo_comm_ms(
                                  scheme_named(text("scheme")), link_named(text("network")).gbit_s,
                                  real("ppp_comm"), (int64_t)real("workers"), real("bytes")));
}

/* The network of "one weird trick": alex_v2 with 256 channels in conv4 and conv5. */
static const struct orch_layer_table *one_weird_trick(void)
{
    static struct orch_layer_table *table;
    GError *error = NULL;
    g_autofree char *path =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests", "data", "alexnet-owt.csv", NULL);
    if (!table)
        table = orch_layer_table_read(path, NULL, &error);
    if (!table)
        stop(error);
    return table;
}

static void compare_hybrid(void)
{
    static const char *const CUT[] = {"fc6", "dropout6", "fc7", "dropout7", NULL};
    struct orch_paleo_options options = {
        .device = device(text("device")),
        .network = link_named(text("network")),
        .ppp_comp = real("ppp_comp"),
        .ppp_comm = real("ppp_comm"),
        .pipeline = real("pipeline") != 0,
        .batch = (int64_t)real("batch_per_worker"),
    };
    struct orch_paleo_hybrid_step step;
    GError *error = NULL;
    if (!orch_paleo_hybrid(one_weird_trick(), &options, CUT, (int64_t)real("hybrid_workers"), &step,
                           &error))
        stop(error);
    bool is_cut = strcmp(text("part"), "model_parallel") == 0;
    compare_column("effective_batch", (double)step.effective_batch);
    compare_column("fwd_ms", is_cut ? step.split_fwd_ms : step.data_fwd_ms);
    compare_column("bwd_ms", is_cut ? step.split_bwd_ms : step.data_bwd_ms);
    compare_column("apply_ms", is_cut ? step.split_update_ms : step.data_update_ms);
    compare_column("sync_tree_ms", is_cut ? 0 : step.data_comm_ms);
}

static void compare_totals(void)
{
    const struct orch_layer_table *table = network(text("net"));
    struct orch_paleo_options options = orch_paleo_defaults();
    int64_t batch = (int64_t)real("batch");
    struct orch_paleo_pass pass = orch_paleo_pass(table, &options, batch);
    double activations = 0, macs = 0;
    for (int i = 0; i < orch_layer_count(table); i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        activations += 4.0 * (double)batch * (double)orch_layer_elements(layer->out);
        if (layer->type == ORCH_LAYER_CONV2D || layer->type == ORCH_LAYER_INNERPRODUCT)
            macs += orch_paleo_layer(layer, &options, 1).fwd.flops / 2;
    }
    compare_column("n_layers", orch_layer_count(table));
    compare_column("params", (double)orch_layer_table_params(table));
    compare_column("params_bytes", pass.params_bytes);
    compare_column("activation_bytes", activations);
    compare_column("fwd_flops", pass.fwd_flops);
    compare_column("fwd_flops_per_image", pass.fwd_flops / (double)batch);
    compare_column("fwd_macs_per_image_conv_fc", macs);
    compare_column("bwd_flops", pass.bwd_flops);
}

static void compare_device(void)
{
    if (!g_str_has_prefix(text("origin"), "PALEO"))
        return;
    struct orch_paleo_device found = device(text("device"));
    compare_column("clock_mhz", found.clock_mhz);
    compare_column("peak_gflops", found.peak_gflops);
    compare_column("mem_bw_gbps_as_GiB_per_s", found.bandwidth_gib_s);
    compare_column("is_gpu", found.is_gpu);
}

static void compare_network(void)
{
    compare_column("bandwidth_gbit_per_s", link_named(text("network")).gbit_s);
}

/* A geometry: its parameters are the formula's, whatever the table says. */
static void compare_geometry(void)
{
    const struct orch_layer *layer = layer_named(text("net"), text("layer"));
    compare_column("params", (double)orch_layer_params_formula(layer));
    if (layer->type == ORCH_LAYER_CONV2D)
        compare_text("pad_hw", text("pad_hw"), dims2(layer->pad_h, layer->pad_w));
}

static const struct {
    const char *file;
    void (*compare_row)(void);
} TABLES[] = {
    {"devices.csv", compare_device},
    {"networks.csv", compare_network},
    {"net_geometry.csv", compare_geometry},
    {"net_totals.csv", compare_totals},
    {"gradient_geometry_open.csv", compare_gradient},
    {"layers_open.csv", compare_layer},
    {"fft_layers_open.csv", compare_fft},
    {"comm.csv", compare_comm},
    {"cases_open.csv", compare_step},
    {"scaling_open.csv", compare_step},
    {"hybrid_alex.csv", compare_hybrid},
};

static bool compare_table(size_t index)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "paleo", TABLES[index].file, NULL);
    table_name = TABLES[index].file;
    csv = orch_csv_read(path, &error);
    if (!csv)
        stop(error);
    worst = 0;
    numbers = misses = 0;
    int64_t start = orch_mono_ns();
    for (row = 0; row < orch_csv_rows(csv); row++)
        TABLES[index].compare_row();
    double ms = (double)(orch_mono_ns() - start) / 1e6;
    printf("%-28s %6zu rows %7zu numbers  largest relative error %-8.3g  %7.1f ms%s\n", table_name,
           orch_csv_rows(csv), numbers, worst, ms, misses ? "  FAILED" : "");
    bool good = misses == 0 && numbers > 0;
    orch_csv_free(csv);
    return good;
}

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : g_getenv("ORCH_REFERENCE_DATA");
    folder = g_strdup(given && *given ? given : ORCH_REFERENCE_DEFAULT);
    g_autofree char *probe = g_build_filename(folder, "paleo", "net_geometry.csv", NULL);
    if (!g_file_test(probe, G_FILE_TEST_EXISTS)) {
        printf("skipped: no reference tables in '%s'; set ORCH_REFERENCE_DATA to their folder\n",
               folder);
        return SKIPPED;
    }
    bool good = true;
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++)
        good = compare_table(i) && good;
    g_free(folder);
    return good ? 0 : 1;
}
