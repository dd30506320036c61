/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that PyTorch writes of a detector with pytorch-ssd's names gives the same outputs here. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/boxes/output_maps.h"
#include "plugins/common/torch/torch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { CLASSES = 21, SIDE = 300, PRIORS = 3000, OUTPUTS = 12, WITHOUT_TORCH = 77 };

static const struct orch_torch *torch;

static void stop_on(const GError *error)
{
    if (error)
        fail_msg("%s", error->message);
}

/* Runs tests/torch/ssd_reference.py with a python3 that has PyTorch; false where none has. */
static bool write_reference(const char *folder)
{
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    g_autofree char *script =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests/torch/ssd_reference.py", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(pythons); i++) {
        char *argv[] = {(char *)(uintptr_t)pythons[i], script, (char *)(uintptr_t)folder, NULL};
        int status = -1;
        if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status,
                          NULL) ||
            (WIFEXITED(status) && WEXITSTATUS(status) == WITHOUT_TORCH))
            continue;
        assert_int_equal(status, 0);
        return true;
    }
    return false;
}

static float *read_floats(const char *folder, const char *name)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *bytes = NULL;
    orch_file_read(path, 1 << 24, &bytes, NULL, &error);
    stop_on(error);
    return (float *)(void *)bytes;
}

static struct orch_torch_model *load_model(const struct orch_net *net, const char *folder)
{
    GError *error = NULL;
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, false};
    struct orch_torch_load_report report;
    g_autofree char *path = g_build_filename(folder, "weights.pth", NULL);
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    stop_on(error);
    struct orch_weights *weights = orch_weights_load(path, &error);
    stop_on(error);
    orch_torch_state_load(torch, model, net, weights, false, &report, &error);
    stop_on(error);
    assert_int_equal(report.missing->len + report.extra->len + report.mismatched->len, 0);
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);
    return model;
}

/* Compares one kind of outputs (0: locations, 1: confidences) in rows with PyTorch's. */
static void compare(const struct orch_torch_array *outputs, int kind, const float *expected)
{
    const struct orch_prior_spec spec = orch_prior_spec_mobilenet_v1_ssd();
    const int values = kind ? CLASSES : 4;
    const float *maps[OUTPUTS / 2];
    g_autofree float *rows = g_new(float, PRIORS *values);
    double worst = 0;
    for (int m = 0; m < OUTPUTS / 2; m++)
        maps[m] = outputs[2 * m + kind].data;
    orch_maps_gather(&spec, maps, 1, values, rows);
    for (int i = 0; i < PRIORS * values; i++) {
        const double difference = fabs((double)rows[i] - (double)expected[i]);
        worst = isnan(difference) ? (double)INFINITY : fmax(worst, difference);
    }
    if (!(worst <= 1e-4)) /* both add in float32, in different orders */
        fail_msg("output %d: largest difference from PyTorch: %g", kind, worst);
    print_message("largest difference from PyTorch: %g\n", worst);
}

static void test_pytorch_ssd(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *folder = g_dir_make_tmp("orch-ssd-XXXXXX", NULL);
    if (!write_reference(folder)) {
        print_message("skipped: no python3 with torch\n");
        orch_tree_remove(folder, NULL);
        skip();
    }
    struct orch_net *net = orch_net_make(
        &(struct orch_net_options){.name = "mb1-ssd", .height = SIDE, .width = SIDE}, &error);
    stop_on(error);
    assert_int_equal(net->classes, CLASSES);
    struct orch_torch_model *model = load_model(net, folder);
    g_autofree float *x = read_floats(folder, "x.bin");
    g_autofree float *locations = read_floats(folder, "locations.bin");
    g_autofree float *confidences = read_floats(folder, "confidences.bin");
    struct orch_torch_batch batch = {.images = x, .count = 1};
    struct orch_torch_array outputs[OUTPUTS];
    torch->forward(model, &batch, ORCH_TORCH_INFER, false, outputs, &error);
    stop_on(error);
    compare(outputs, 0, locations);
    compare(outputs, 1, confidences);
    torch->model_free(model);
    orch_net_free(net);
    orch_tree_remove(folder, NULL);
}

static int load(void **state)
{
    (void)state;
    GError *error = NULL;
    torch = orch_torch_load(&error);
    if (!torch)
        print_error("%s\n", error->message);
    return torch == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pytorch_ssd)};
    return cmocka_run_group_tests(tests, load, NULL);
}
