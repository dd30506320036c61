/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_instance.h"
#include "features/cloud/job_yaml.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "features/cloud/training_instances.h"
#include "lib/yaml/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

static const char *const KINDS[] = {"Job", "Task", NULL};
static const struct orch_job_rule RULES[] = {
    {"name", ORCH_JOB_TEXT, true, 1, 5, "[a-z]+", NULL, "name it"},
    {"kind", ORCH_JOB_TEXT, false, 0, 0, NULL, KINDS, NULL},
    {"count", ORCH_JOB_INTEGER, false, 1, 9, NULL, NULL, NULL},
    {"least", ORCH_JOB_INTEGER, false, 3, 0, NULL, NULL, NULL},
    {"on", ORCH_JOB_BOOLEAN, false, 0, 0, NULL, NULL, NULL},
    {"any", ORCH_JOB_SCALAR, false, 0, 0, NULL, NULL, NULL},
    {"map", ORCH_JOB_OBJECT, false, 0, 2, NULL, NULL, NULL},
    {"map.*", ORCH_JOB_TEXT, false, 0, 3, NULL, NULL, NULL},
    {"list", ORCH_JOB_LIST, false, 1, 2, NULL, NULL, NULL},
    {"list[]", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"list[].a", ORCH_JOB_TEXT, true, 0, 0, NULL, NULL, NULL},
    {"list[].b", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"list[].b.c", ORCH_JOB_TEXT, true, 0, 0, NULL, NULL, NULL},
    {0}};

/* Whatever breaks a rule is named with its place; the rest is accepted. */
static void test_schema(void **state)
{
    (void)state;
    static const struct {
        const char *document, *complaint; /* NULL: none */
    } cases[] = {
        {"{\"name\":\"ab\"}", NULL},
        {"{\"name\":\"ab\",\"kind\":\"Task\",\"count\":9,\"least\":3,\"on\":false,\"any\":0.5,"
         "\"map\":{\"x.y\":\"abc\"},\"list\":[{\"a\":\"\",\"b\":{\"c\":\"\"}}]}",
         NULL},
        {"{}", "field 'name' of it is missing"},
        {"{\"name\":\"\"}", "field 'name' of it is 0 characters, 1 to 5 expected"},
        {"{\"name\":\"abcdef\"}", "field 'name' of it is 6 characters, 1 to 5 expected"},
        {"{\"name\":\"Ab\"}", "field 'name' of it is 'Ab', which does not match [a-z]+"},
        {"{\"name\":\"ab\\n\"}", "does not match"},
        {"{\"name\":3}", "field 'name' of it is not a text"},
        {"{\"name\":\"a\",\"kind\":\"job\"}", "is 'job', one of these expected: Job, Task"},
        {"{\"name\":\"a\",\"count\":10}", "field 'count' of it is 10, 1 to 9 expected"},
        {"{\"name\":\"a\",\"count\":1.5}", "field 'count' of it is not an integer"},
        {"{\"name\":\"a\",\"least\":2}", "field 'least' of it is 2, at least 3 expected"},
        {"{\"name\":\"a\",\"on\":1}", "field 'on' of it is not true or false"},
        {"{\"name\":\"a\",\"any\":[]}", "field 'any' of it is not a text, number or boolean"},
        {"{\"name\":\"a\",\"other\":1}", "field 'other' of it is not known"},
        {"{\"name\":\"a\",\"map\":{\"k\":\"long\"}}", "field 'map.k' of it is 4 characters"},
        {"{\"name\":\"a\",\"map\":{\"a\":\"\",\"b\":\"\",\"c\":\"\"}}",
         "field 'map' of it is 3 items"},
        {"{\"name\":\"a\",\"list\":[]}", "field 'list' of it is 0 items, 1 to 2 expected"},
        {"{\"name\":\"a\",\"list\":[{\"a\":\"\"},{}]}", "field 'list[1].a' of it is missing"},
        {"{\"name\":\"a\",\"list\":[{\"a\":\"\",\"b\":{}}]}",
         "field 'list[0].b.c' of it is missing"},
        {"{\"name\":\"a\",\"list\":[{\"a\":\"\",\"c\":\"\"}]}",
         "field 'list[0].c' of it is not known"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(json_t) document = json_loads(cases[i].document, 0, NULL);
        g_autoptr(GError) error = NULL;
        bool ok = orch_job_schema_check(RULES, document, "it", &error);
        if (ok != !cases[i].complaint || (!ok && !strstr(error->message, cases[i].complaint)))
            fail_msg("%s: '%s'", cases[i].document, ok ? "accepted" : error->message);
        if (!ok)
            assert_int_equal(error->code, ORCH_ERROR_RECIPE);
    }
}

static void test_lookup(void **state)
{
    (void)state;
    g_autoptr(json_t) document = json_loads(
        "{\"a\":{\"x.y/z\":\"1\",\"x\":{\"y\":\"2\"},\"l\":[{\"n\":\"3\"},[\"4\"]]}}", 0, NULL);
    static const struct {
        const char *path, *value;
    } cases[] = {{"a.x.y/z", "1"},   {"a.x.y", "2"},  {"a.l[0].n", "3"}, {"a.l[1][0]", "4"},
                 {"a.l[2].n", NULL}, {"a.x.q", NULL}, {"b", NULL},       {"a.l[0].n.m", NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *found = json_string_value(orch_job_lookup(document, cases[i].path));
        if (g_strcmp0(found, cases[i].value) != 0)
            fail_msg("%s: '%s'", cases[i].path, found ? found : "nothing");
    }
}

/* A YAML node as JSON, in which every scalar is a text. */
static json_t *json_of(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return json_string(node->text);
    json_t *out = node->kind == ORCH_YAML_MAP ? json_object() : json_array();
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        if (node->kind == ORCH_YAML_MAP)
            json_object_set_new(out, ((const struct orch_yaml *)node->keys->pdata[i])->text,
                                json_of(item));
        else
            json_array_append_new(out, json_of(item));
    }
    return out;
}

/* What is written is read back as the same texts, also those that look like something else. */
static void test_yaml(void **state)
{
    (void)state;
    const char *text =
        "{\"a\":\"true\",\"b\":\"1.5\",\"c\":\"x: y\",\"d\":\"- z\",\"e\":\"line\\nline\","
        "\"f\":\"it's \\\"q\\\"\",\"g\":[\"\",\"#c\",{\"h\":\"~\",\"i\":[\"a b\"]}],"
        "\"j.k/l\":{\"m\":{\"n\":\"@v\"}},\"$o\":\"no\",\"p\":\"plain-text_1.0\"}";
    g_autoptr(json_t) document = json_loads(text, 0, NULL);
    g_autofree char *yaml = orch_job_yaml_text(document);
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *node = orch_yaml_parse("t", yaml, strlen(yaml), diags);
    assert_non_null(node);
    g_autoptr(json_t) back = json_of(node);
    if (!json_equal(document, back))
        fail_msg("%s", yaml);
    assert_non_null(strstr(yaml, "p: plain-text_1.0\n"));
    orch_yaml_free(node);
    orch_diags_free(diags);
}

/* Rows name GPUs, platforms and priced machines that exist, with the machine's number of GPUs. */
static void test_training_table(void **state)
{
    (void)state;
    const GPtrArray *rows = orch_training_instances();
    assert_true(rows->len > 100);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_training_instance *row = rows->pdata[i];
        bool is_cpu = strcmp(row->gpu, ORCH_TRAINING_CPU) == 0;
        if (!orch_job_platform_find(row->platform, NULL))
            fail_msg("row %u: platform '%s'", i + 2, row->platform);
        if (!is_cpu && !orch_gpu_find(row->gpu))
            fail_msg("row %u: GPU '%s'", i + 2, row->gpu);
        for (guint k = 0; k < orch_prices()->len; k++) {
            const struct orch_price *price = orch_prices()->pdata[k];
            if (*row->cloud_instance && strcmp(row->cloud_instance, price->instance) == 0 &&
                !price->is_fee && (price->count != row->gpus || strcmp(price->gpu, row->gpu) != 0))
                fail_msg("row %u: %s has %d GPUs %s", i + 2, price->instance, price->count,
                         price->gpu);
        }
    }
}

/* Every field that is compared has a rule, and every required rule's fields can be filled. */
static void test_fields_have_rules(void **state)
{
    (void)state;
    for (unsigned i = 0; ORCH_JOB_PLATFORMS[i]; i++) {
        const struct orch_job_platform *platform = ORCH_JOB_PLATFORMS[i];
        for (unsigned f = 0; f < ORCH_JOB_FIELDS; f++) {
            const char *path = platform->fields[f];
            g_auto(GStrv) parts = path ? g_strsplit(path, "[0]", -1) : NULL;
            g_autofree char *generic = path ? g_strjoinv("[]", parts) : NULL;
            bool found = !path || strstr(path, "nvidia.com/");
            for (const struct orch_job_rule *rule = platform->rules; rule->path && !found; rule++)
                found = strcmp(rule->path, generic) == 0 ||
                        (g_str_has_suffix(rule->path, ".*") &&
                         strncmp(rule->path, generic, strlen(rule->path) - 1) == 0);
            if (!found)
                fail_msg("%s: %s has no rule", platform->name, path);
        }
    }
}

/* The cheapest that fits is chosen, and a withdrawn offer only when its GPU is named. */
static void test_instances(void **state)
{
    (void)state;
    static const struct {
        const char *platform, *gpu;
        unsigned gpus, cores;
        double memory_gb;
        const char *instance; /* NULL: an error */
    } cases[] = {
        {"sagemaker", NULL, 0, 0, 0, "ml.m5.large"},
        {"sagemaker", NULL, 0, 9, 0, "ml.m5.4xlarge"},
        {"sagemaker", NULL, 0, 0, 100, "ml.m5.12xlarge"},
        {"sagemaker", NULL, 0, 1000, 0, NULL},
        {"sagemaker", NULL, 1, 0, 0, "ml.g4dn.xlarge"},
        {"sagemaker", "V100-SXM2-16GB", 2, 0, 0, "ml.p3.8xlarge"},
        {"sagemaker", "A100-SXM4-80GB", 1, 0, 0, "ml.p4de.24xlarge"},
        {"sagemaker", "T4", 5, 0, 0, NULL},
        {"sagemaker", "P40", 1, 0, 0, NULL},
        {"vertex", "T4", 3, 0, 0, "n1-standard-32"},
        {"azureml", NULL, 1, 0, 0, "Standard_NC4as_T4_v3"},
        {"watsonx", "V100-PCIe-16GB", 2, 0, 0, "V100x2"},
        {"k8s", NULL, 4, 0, 0, ""},
        {"k8s", "H100", 4, 0, 0, "NVIDIA-H100-80GB-HBM3"},
        {"slurm", NULL, 1, 0, 0, ""},
    };
    g_autofree char *folder = g_dir_make_tmp("orch-jobs-XXXXXX", NULL);
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    struct orch_hardware *hardware = orch_hardware_load(NULL);
    assert_non_null(hardware);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_job job = {.gpus = cases[i].gpus,
                               .cores = cases[i].cores,
                               .memory_bytes = (int64_t)(cases[i].memory_gb * 1e9)};
        const struct orch_job_wish wish = {.gpu = cases[i].gpu};
        g_autoptr(GError) error = NULL;
        bool ok = orch_job_choose_instance(&job, orch_job_platform_find(cases[i].platform, NULL),
                                           hardware, &wish, &error);
        const char *got = job.instance_name ? job.instance_name : "";
        if (ok != (cases[i].instance != NULL) || (ok && strcmp(got, cases[i].instance) != 0))
            fail_msg("case %zu: '%s' %s", i, got, error ? error->message : "");
    }
    orch_hardware_free(hardware);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_training_table),
        cmocka_unit_test(test_fields_have_rules),
        cmocka_unit_test(test_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
