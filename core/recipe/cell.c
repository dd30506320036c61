/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The seed and the label of a single cell. */
#include "core/recipe/internal.h"

#include "lib/wire/value.h"

#include <string.h>

static void hash_u64(GChecksum *checksum, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    g_checksum_update(checksum, bytes, sizeof bytes);
}

/* The first eight bytes of the digest, little endian. */
static uint64_t seed_of(GChecksum *checksum)
{
    uint8_t digest[32];
    gsize size = sizeof digest;
    g_checksum_get_digest(checksum, digest, &size);
    uint64_t seed = 0;
    for (unsigned i = 0; i < 8; i++)
        seed |= (uint64_t)digest[i] << (8 * i);
    return seed;
}

static GChecksum *hash_begin(void)
{
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)"orch seed", -1);
    return checksum;
}

uint64_t orch_recipe_seed(uint64_t recipe_seed, int k)
{
    g_autoptr(GChecksum) checksum = hash_begin();
    hash_u64(checksum, recipe_seed);
    hash_u64(checksum, (uint64_t)k);
    return seed_of(checksum);
}

uint64_t orch_recipe_device_seed(uint64_t seed, const char *device_key)
{
    if (!device_key)
        return seed;
    g_autoptr(GChecksum) checksum = hash_begin();
    hash_u64(checksum, seed);
    g_checksum_update(checksum, (const guchar *)device_key, -1);
    return seed_of(checksum);
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
