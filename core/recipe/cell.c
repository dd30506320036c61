/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The seed and the label of a single cell. */
#include "core/recipe/internal.h"

#include "lib/wire/value.h"

#include <string.h>

uint64_t orch_recipe_seed(uint64_t recipe_seed, int k)
{
    static const char head[] = "orch seed";
    uint8_t bytes[sizeof head - 1 + 16];
    memcpy(bytes, head, sizeof head - 1);
    uint64_t repeat = (uint64_t)k;
    for (unsigned i = 0; i < 8; i++) {
        bytes[sizeof head - 1 + i] = (uint8_t)(recipe_seed >> (8 * i));
        bytes[sizeof head - 1 + 8 + i] = (uint8_t)(repeat >> (8 * i));
    }
    uint8_t digest[32];
    gsize size = sizeof digest;
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, bytes, sizeof bytes);
    g_checksum_get_digest(checksum, digest, &size);
    uint64_t seed = 0;
    for (unsigned i = 0; i < 8; i++)
        seed |= (uint64_t)digest[i] << (8 * i);
    return seed;
}

static char *value_text(const struct orch_cell *cell, const char *name, const json_t *value)
{
    const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
    return orch_param_is_secret(spec) ? orch_value_format(spec, value)
                                      : orch_value_format_json(value);
}

char *orch_cell_value_text(const struct orch_cell *cell, const char *name)
{
    const json_t *value = json_object_get(cell->params, name);
    return value ? value_text(cell, name, value) : NULL;
}

bool orch_cell_identifies(const struct orch_cell *cell, const struct orch_param_spec *spec)
{
    return spec && !orch_param_is_secret(spec) &&
           (!(spec->flags & ORCH_PARAM_NEUTRAL) || json_object_get(cell->coords, spec->name));
}

char *orch_cell_label(const struct orch_cell *cell)
{
    GString *text = g_string_new(cell->experiment->name);
    const char *name;
    json_t *value;
    json_object_foreach(cell->coords, name, value)
    {
        g_autofree char *formatted = value_text(cell, name, value);
        g_string_append_printf(text, " %s=%s", name, formatted);
    }
    if (cell->experiment->repeat > 1)
        g_string_append_printf(text, " #%d", cell->repeat);
    return g_string_free(text, FALSE);
}
