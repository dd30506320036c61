/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO's own tables (its repository at commit 984bbf5): devices, networks, exchange schemes, and
 * the look-up by name. */
#include "predictors/paleo/paleo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

static const struct orch_paleo_device DEVICES[] = {
    {"TITAN_X", 1000, 6144, 336.5, true},
    {"K20", 1000, 3520, 208, true},
    {"K20X", 1000, 3935, 250, true},
    {"K40", 745, 4290, 288, true},
    {"K80", 560, 5600, 480, true},
    {"GEFORCE_780_TI", 875, 5040, 336, true},
    {"GEFORCE_750_M", 941, 722.7, 80, true},
    {"CPU_I7", 210000, 289, 68, false},
    {NULL, 0, 0, 0, false},
};

static const struct orch_paleo_network NETWORKS[] = {
    {"aws", 2},    {"ethernet", 10}, {"ethernet20", 20}, {"infiniband", 70},
    {"pcie2", 64}, {"pcie3", 128},   {NULL, 0},
};

static const char *const SCHEMES[ORCH_PALEO_SCHEME_COUNT + 1] = {
    [ORCH_PALEO_ONE_TO_ALL] = "OneToAll",
    [ORCH_PALEO_TREE_ALL_REDUCE] = "TreeAllReduce",
    [ORCH_PALEO_BUTTERFLY_ALL_REDUCE] = "ButterflyAllReduce",
    [ORCH_PALEO_BUTTERFLY_MIXING] = "ButterflyMixing",
};

const char *orch_paleo_scheme_name(enum orch_paleo_scheme scheme)
{
    return SCHEMES[scheme];
}

/* Index of `name` in `names` (NULL-terminated), ignoring case; -1 with the error set. */
static int find_name(const char *what, const char *name, const char *const *names, GError **error)
{
    for (int i = 0; names[i]; i++)
        if (g_ascii_strcasecmp(name, names[i]) == 0)
            return i;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)names);
    const char *near = orch_suggest(name, names);
    g_autofree char *hint = near ? g_strdup_printf("did you mean '%s'? known: %s", near, known)
                                 : g_strdup_printf("known: %s", known);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "PALEO has no %s '%s'", what, name);
    return -1;
}

const struct orch_paleo_device *orch_paleo_device_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(DEVICES)];
    for (size_t i = 0; i < G_N_ELEMENTS(DEVICES); i++)
        names[i] = DEVICES[i].name;
    if (g_ascii_strncasecmp(name, "paleo:", 6) == 0)
        name += 6;
    int index = find_name("device", name, names, error);
    return index < 0 ? NULL : &DEVICES[index];
}

const struct orch_paleo_network *orch_paleo_network_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(NETWORKS)];
    for (size_t i = 0; i < G_N_ELEMENTS(NETWORKS); i++)
        names[i] = NETWORKS[i].name;
    int index = find_name("network", name, names, error);
    return index < 0 ? NULL : &NETWORKS[index];
}

bool orch_paleo_scheme_find(const char *name, enum orch_paleo_scheme *out, GError **error)
{
    int index = find_name("scheme", name, SCHEMES, error);
    if (index < 0)
        return false;
    *out = (enum orch_paleo_scheme)index;
    return true;
}
