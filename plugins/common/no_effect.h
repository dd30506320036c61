/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters without effect, for checks of plugins. */
#ifndef ORCH_PLUGINS_COMMON_NO_EFFECT_H
#define ORCH_PLUGINS_COMMON_NO_EFFECT_H

#include <orch/plugin.h>

/** Reports that parameters (names, NULL-terminated) have no effect with the given values of the
 * others. An older host does not have this service. */
static inline void orch_no_effect(const struct orch_host *host, const char *const *names)
{
    for (; orch_host_has(host, no_effect) && *names; names++)
        host->no_effect(host, *names);
}

#endif
