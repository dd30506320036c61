/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A catalogue of four plugins in memory, in place of core/plugin: what core/recipe is tested with.
 */
#ifndef ORCH_TESTS_FAKE_PLUGINS_H
#define ORCH_TESTS_FAKE_PLUGINS_H

#include "core/plugin/plugins.h"
#include "lib/base/error.h"

#include <string.h>

struct orch_plugins {
    struct orch_manifest *manifests[4];
};

static inline struct orch_manifest *fake_manifest(const char *name, const char *version)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_COMPILED;
    manifest->name = g_strdup(name);
    manifest->version = g_strdup(version);
    manifest->path = g_strdup_printf("/plugins/%s.so", name);
    manifest->summary = g_strdup("for tests");
    manifest->licence = g_strdup("MIT");
    manifest->abi_major = ORCH_ABI_MAJOR;
    return manifest;
}

static inline struct orch_param_spec *fake_param(struct orch_manifest *manifest, const char *name,
                                                 uint32_t type, const char *def, const char *min,
                                                 const char *max)
{
    struct orch_param_spec *spec = orch_manifest_add_param(manifest, name, type);
    spec->def = g_strdup(def);
    spec->min = g_strdup(min);
    spec->max = g_strdup(max);
    return spec;
}

static inline void fake_choices(struct orch_param_spec *spec, const char *words)
{
    spec->choices = g_strsplit(words, " ", -1);
}

static inline void fake_metric(struct orch_manifest *manifest, const char *name, const char *unit,
                               enum orch_better better, const char *step_unit)
{
    struct orch_metric_spec *spec = orch_manifest_add_metric(manifest, name);
    spec->unit = g_strdup(unit);
    spec->better = better;
    spec->step_unit = g_strdup(step_unit);
}

/* What train and finetune share. */
static inline struct orch_manifest *fake_trainer(const char *name)
{
    struct orch_manifest *manifest = fake_manifest(name, "1.2.0");
    fake_choices(fake_param(manifest, "net", ORCH_ENUM, "mlp", NULL, NULL),
                 "mlp resnet20 resnet32");
    fake_param(manifest, "lr", ORCH_REAL, "0.1", "0", "10");
    fake_param(manifest, "epochs", ORCH_INT, "10", "1", NULL);
    fake_param(manifest, "batch", ORCH_INT, "64", "1", NULL);
    fake_param(manifest, "dataset", ORCH_STRING, "fashion-mnist", NULL, NULL);
    fake_param(manifest, "threads", ORCH_INT, "0", "0", NULL)->flags = ORCH_PARAM_NEUTRAL;
    fake_param(manifest, "readers", ORCH_INT, "1", "0", NULL)->flags = ORCH_PARAM_NEUTRAL;
    fake_metric(manifest, "loss", NULL, ORCH_BETTER_MIN, "epoch");
    fake_metric(manifest, "val_accuracy", "%", ORCH_BETTER_MAX, "epoch");
    fake_metric(manifest, "images_per_s", "images/s", ORCH_BETTER_NONE, "epoch");
    fake_metric(manifest, "parameters", NULL, ORCH_BETTER_NONE, NULL);
    fake_metric(manifest, "train_time", "s", ORCH_BETTER_MIN, NULL);
    orch_manifest_add_artifact(manifest, "weights");
    orch_manifest_add_artifact(manifest, "samples");
    return manifest;
}

static inline struct orch_manifest *fake_finetune(void)
{
    struct orch_manifest *manifest = fake_trainer("finetune");
    fake_choices(fake_param(manifest, "mode", ORCH_ENUM, "full", NULL, NULL),
                 "full feature scratch");
    fake_param(manifest, "weights", ORCH_ARTIFACT, NULL, NULL, NULL)->flags = ORCH_PARAM_OPTIONAL;
    fake_param(manifest, "milestones", ORCH_LIST | ORCH_STRING, "[]", NULL, NULL);
    fake_param(manifest, "start", ORCH_REAL, NULL, NULL, NULL)->flags = ORCH_PARAM_OPTIONAL;
    fake_param(manifest, "token", ORCH_SECRET, NULL, NULL, NULL)->flags = ORCH_PARAM_OPTIONAL;
    return manifest;
}

struct orch_plugins *orch_plugins_new(const char *const *folders)
{
    (void)folders;
    struct orch_plugins *plugins = g_new0(struct orch_plugins, 1);
    plugins->manifests[0] = fake_trainer("train");
    plugins->manifests[1] = fake_finetune();
    plugins->manifests[2] = fake_manifest("sleep", "1.0.0");
    plugins->manifests[2]->flags = ORCH_PLUGIN_TIMING;
    fake_param(plugins->manifests[2], "seconds", ORCH_DURATION, NULL, "0", NULL);
    fake_metric(plugins->manifests[2], "slept", "s", ORCH_BETTER_NONE, NULL);
    plugins->manifests[3] = fake_manifest("script", "0.1.0");
    plugins->manifests[3]->kind = ORCH_PLUGIN_WRAPPED;
    plugins->manifests[3]->argv = g_strsplit("python3 s.py ${x}", " ", -1);
    fake_param(plugins->manifests[3], "x", ORCH_INT, NULL, NULL, NULL);
    fake_metric(plugins->manifests[3], "score", NULL, ORCH_BETTER_NONE, NULL);
    fake_metric(plugins->manifests[3], "curve", NULL, ORCH_BETTER_NONE, "step");
    plugins->manifests[3]->needs.memory_bytes = 1 << 30;
    return plugins;
}

void orch_plugins_free(struct orch_plugins *plugins)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(plugins->manifests); i++)
        orch_manifest_free(plugins->manifests[i]);
    g_free(plugins);
}

const struct orch_manifest *orch_plugins_find(struct orch_plugins *plugins, const char *name,
                                              const char *base, GError **error)
{
    (void)base;
    for (unsigned i = 0; i < G_N_ELEMENTS(plugins->manifests); i++)
        if (strcmp(plugins->manifests[i]->name, name) == 0)
            return plugins->manifests[i];
    orch_error_set(error, ORCH_ERROR_PLUGIN, "see 'orch plugin ls'", "no plugin '%s'", name);
    return NULL;
}

#endif
