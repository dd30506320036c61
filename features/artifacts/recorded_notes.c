/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/artifacts/recorded_notes.h"

#include "lib/base/json.h"

#include <glib.h>
#include <string.h>

json_t *orch_recorded_notes(const struct orch_run *run)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    json_t *notes = json_object_get(facts, "notes");
    return json_is_array(notes) ? json_incref(notes) : json_array();
}

char *orch_recorded_note_on(const struct orch_run *run, const char *name)
{
    g_autoptr(json_t) notes = orch_recorded_notes(run);
    g_autofree char *begin = g_strdup_printf("%s: ", name);
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const char *text = json_string_value(json_array_get(notes, i));
        if (text && g_str_has_prefix(text, begin))
            return g_strdup(text + strlen(begin));
    }
    return NULL;
}
