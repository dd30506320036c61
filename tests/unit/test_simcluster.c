/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The platform files that come with orch and broken ones; which worker is where; what a worker
 * computes and when its gradients are ready. */
#include "plugins/simcluster/platform_file.h"
#include "plugins/simcluster/sim_plan.h"

#include "lib/steptime/transfer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

static GArray *read_text(const char *text, GError **error)
{
    const char *path = "platform-of-the-test.xml";
    assert_true(g_file_set_contents(path, text, -1, NULL));
    GArray *hosts = orch_platform_hosts_read(path, error);
    g_unlink(path);
    return hosts;
}

static void refused(const char *text, const char *line, const char *what)
{
    GError *error = NULL;
    assert_null(read_text(text, &error));
    assert_non_null(strstr(error->message, "platform-of-the-test.xml"));
    if (!strstr(error->message, line) || !strstr(error->message, what))
        fail_msg("expected '%s' and '%s' in: %s", line, what, error->message);
    g_clear_error(&error);
}

static void broken_files(void **state)
{
    (void)state;
    refused("<platform>\n<zone id='z'>\n</platform>\n", "line 3", "zone");
    refused("<platform>\n<zone>\n<host speed='1Gf'/>\n</zone></platform>", "line 3",
            "a host needs an id");
    refused("<platform>\n\n<cluster prefix='a' suffix='' radical='3-1'/></platform>", "line 3",
            "'radical': '3-1'");
    refused("<platform>\n<cluster prefix='a' radical='0-1'/></platform>", "line 2", "suffix");
    refused("<platform>\n<cluster prefix='a' suffix='' radical='0-999999'/></platform>", "line 2",
            "more than 65536 hosts");
    refused("<platform>\n</platform>\n", "line", "the platform has no hosts");
    refused("<html>\n</html>\n", "line 1", "not 'platform'");
    refused("", "line", "");
    GError *error = NULL;
    assert_null(orch_platform_hosts_read("no-such-platform.xml", &error));
    assert_non_null(strstr(error->message, "no-such-platform.xml"));
    g_clear_error(&error);
}

static int host_at(const GArray *places, guint i)
{
    return (int)g_array_index(places, guint, i);
}

static void placement(void **state)
{
    (void)state;
    GArray *hosts =
        read_text("<platform><zone><zone><host id='a'/><host id='b'/></zone>"
                  "<cluster prefix='c-' suffix='.x' radical='0-1,7'/></zone></platform>",
                  NULL);
    assert_int_equal(hosts->len, 5);
    const struct platform_host *host = (const void *)hosts->data;
    assert_string_equal(host[1].name, "b");
    assert_string_equal(host[4].name, "c-7.x");
    assert_int_equal(host[0].zone, host[1].zone);
    assert_int_not_equal(host[1].zone, host[2].zone);
    GArray *places = orch_platform_place(hosts, 2, 1, 1, NULL); /* one of each zone */
    assert_int_equal(host_at(places, 0), 0);
    assert_int_equal(host_at(places, 1), 2);
    g_array_unref(places);
    places = orch_platform_place(hosts, 3, 2, 0, NULL); /* two on a host */
    assert_int_equal(host_at(places, 1), 0);
    assert_int_equal(host_at(places, 2), 1);
    g_array_unref(places);
    GError *error = NULL;
    assert_null(orch_platform_place(hosts, 5, 2, 1, &error));
    assert_non_null(strstr(error->message, "workers: 5 are too many for the platform's 2 hosts"));
    g_clear_error(&error);
    g_array_unref(hosts);
}

static void own_platforms(void **state)
{
    static const struct {
        const char *name;
        guint hosts;
        int zones;
    } rows[] = {{"p2.16xlarge", 16, 1},
                {"two-p2.16xlarge-10gbit", 32, 2},
                {"two-p2.16xlarge-25gbit", 32, 2},
                {"dgx-a100", 8, 1},
                {"infiniband-256", 256, 1}};
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path =
            g_strdup_printf("%s/recipes/platforms/%s.xml", getenv("ORCH_SOURCE_DIR"), rows[i].name);
        GArray *hosts = orch_platform_hosts_read(path, NULL);
        assert_non_null(hosts);
        assert_int_equal(hosts->len, rows[i].hosts);
        int zones = 1;
        for (guint k = 1; k < hosts->len; k++)
            zones += g_array_index(hosts, struct platform_host, k).zone !=
                     g_array_index(hosts, struct platform_host, k - 1).zone;
        assert_int_equal(zones, rows[i].zones);
        g_array_unref(hosts);
    }
}

/* ---- the plan of a step ------------------------------------------------------------------------
 */

static const struct sim_request RESNET50 = {.net = "resnet50",
                                            .input = "",
                                            .gpu = "K80",
                                            .precision = "fp32",
                                            .worker_batch = 16,
                                            .gradient_bytes = 4,
                                            .first_bucket_bytes = 1 << 20,
                                            .bucket_bytes = 25 << 20};

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g +- %g", value, expected, tolerance);
}

static double model_step_s(void)
{
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = "resnet50"}, NULL);
    struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_transfer model;
    struct orch_roofline_step step;
    assert_true(orch_transfer_for(orch_gpu_find("K80"), ORCH_FP32, &model));
    struct orch_roofline_work work = {
        .batch = 16, .element_bytes = 4, .training = true, .states_per_weight = 1};
    assert_true(orch_transfer_step(net, costs, &model, &work, NULL, &step, NULL));
    g_free(costs);
    orch_net_free(net);
    return step.total_s;
}

static void plan_of_resnet50(void **state)
{
    struct sim_plan plan;
    (void)state;
    assert_true(orch_sim_plan_make(&RESNET50, &plan, NULL));
    assert_near(plan.compute_s + plan.update_s, model_step_s(), 1e-9);
    assert_int_equal(plan.parameter_bytes, 4 * 25557032); /* torchvision's count */
    int64_t bytes = 0;
    double before = 0;
    for (guint i = 0; i < plan.buckets->len; i++) {
        const struct sim_bucket *b = &g_array_index(plan.buckets, struct sim_bucket, i);
        assert_true(b->ready_s > before && b->ready_s <= plan.compute_s + 1e-12);
        before = b->ready_s;
        bytes += b->bytes;
    }
    assert_int_equal(bytes, plan.parameter_bytes);
    assert_in_range(plan.buckets->len, 4, 6); /* 102 MB: one of 1 MiB or more, then of 25 MiB */
    /* the last bucket waits for the first layer, whose gradients end the backward pass */
    assert_near(before, plan.compute_s, 1e-3 * plan.compute_s);
    orch_sim_plan_clear(&plan);
}

static void measured_step(void **state)
{
    struct sim_request request = RESNET50;
    struct sim_plan model, measured;
    (void)state;
    assert_true(orch_sim_plan_make(&request, &model, NULL));
    request.step_s = 0.5;
    request.gradient_bytes = 2;
    assert_true(orch_sim_plan_make(&request, &measured, NULL));
    assert_near(measured.compute_s + measured.update_s, 0.5, 1e-9);
    assert_near(measured.update_s / 0.5, model.update_s / (model.compute_s + model.update_s), 1e-9);
    assert_int_equal(measured.parameter_bytes, model.parameter_bytes);
    int64_t sent = 0;
    for (guint i = 0; i < measured.buckets->len; i++)
        sent += g_array_index(measured.buckets, struct sim_bucket, i).bytes;
    assert_int_equal(sent * 2, measured.parameter_bytes);
    orch_sim_plan_clear(&model);
    orch_sim_plan_clear(&measured);
}

static void refused_plan(struct sim_request request, const char *what)
{
    GError *error = NULL;
    struct sim_plan plan;
    assert_false(orch_sim_plan_make(&request, &plan, &error));
    if (!strstr(error->message, what))
        fail_msg("expected '%s' in: %s", what, error->message);
    assert_non_null(strstr(error->message, "hint: "));
    g_clear_error(&error);
}

static void refused_plans(void **state)
{
    struct sim_request request = RESNET50;
    (void)state;
    request.gpu = "K8000";
    refused_plan(request, "gpu: unknown GPU 'K8000'");
    request.gpu = "MI250";
    refused_plan(request, "gpu: the analytical model does not cover");
    request = RESNET50;
    request.precision = "fp23";
    refused_plan(request, "precision: unknown precision 'fp23'");
    request = RESNET50;
    request.input = "3x";
    refused_plan(request, "input: '3x'");
    request = RESNET50;
    request.net = "resnet51";
    refused_plan(request, "resnet51");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files),  cmocka_unit_test(placement),
        cmocka_unit_test(own_platforms), cmocka_unit_test(plan_of_resnet50),
        cmocka_unit_test(measured_step), cmocka_unit_test(refused_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
