/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a recipe: read, checked, expanded, with a catalogue of plugins in memory. A crash, a
 * leak, a hang, or an expansion beside an error is a fault. Built with -fsanitize=fuzzer it fuzzes;
 * with replay.c it runs the committed corpus as a test. */
#include "core/feature/feature.h"
#include "core/recipe/recipe.h"
#include "tests/unit/fake_plugins.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void expand(struct orch_plugins *plugins, const uint8_t *bytes, size_t length,
                   const struct orch_recipe_options *options)
{
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *out = orch_recipe_expand_text("fuzz.recipe", (const char *)bytes, length,
                                                         plugins, options, diags);
    if ((out != NULL) != (diags->error_count == 0))
        abort();
    for (guint i = 0; out && i < MIN(out->cells->len, 100); i++) {
        g_autofree char *label = orch_cell_label(out->cells->pdata[i]);
        if (!label || !((struct orch_cell *)out->cells->pdata[i])->params)
            abort();
    }
    orch_expansion_free(out);
    orch_diags_free(diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const settings[] = {"lr=0.5", "a.epochs=3", NULL};
    static const char *const sweeps[] = {"batch=1,2,range(3,5)", NULL};
    const struct orch_recipe_options options = {
        .settings = settings, .sweeps = sweeps, .smoke = true, .part = 1, .part_count = 2};
    orch_features_set(ORCH_FEATURES);
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    expand(plugins, bytes, length, NULL);
    expand(plugins, bytes, length, &options);
    orch_plugins_free(plugins);
    return 0;
}
