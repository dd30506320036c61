/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env_kinds.h"

#include "plugins/replay/env/env_catch.h"
#include "plugins/replay/env/env_lander.h"

#include "lib/base/error.h"

#include <string.h>

static const struct orch_env_kind *const KINDS[] = {
    &orch_cartpole_kind,  &orch_mountaincar_kind, &orch_acrobot_kind,  &orch_lander_kind,
    &orch_gridworld_kind, &orch_catch_kind,       &orch_breakout_kind,
};

const struct orch_env_kind *orch_env_at(size_t index)
{
    return index < G_N_ELEMENTS(KINDS) ? KINDS[index] : NULL;
}

const struct orch_env_kind *orch_env_find(const char *name, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++) {
        if (strcmp(KINDS[i]->name, name) == 0)
            return KINDS[i];
        g_string_append_printf(names, "%s%s", i ? ", " : "", KINDS[i]->name);
    }
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "unknown environment '%s' (known: %s)", name,
                   names->str);
    return NULL;
}
