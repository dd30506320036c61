/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of classes in the metadata of weights: a JSON list of texts under the key `classes`. */
#include "plugins/common/samples/class_names.h"

#include "lib/base/json.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 1 << 20 };
static const char KEY[] = "classes";

char **orch_weights_class_names(const struct orch_weights *weights)
{
    const char *text = g_hash_table_lookup(weights->metadata, KEY);
    g_autoptr(json_t) list =
        text ? orch_json_parse(text, strlen(text), TEXT_BYTES_MAX, NULL) : NULL;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    if (json_array_size(list) == 0)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name)
            return NULL;
        g_strv_builder_add(names, name);
    }
    return g_strv_builder_end(names);
}

void orch_weights_set_class_names(struct orch_weights *weights, char *const *names)
{
    g_autoptr(json_t) list = json_array();
    for (char *const *name = names; *name; name++)
        json_array_append_new(list, json_string(*name));
    g_hash_table_insert(weights->metadata, g_strdup(KEY), orch_json_canonical(list));
}
