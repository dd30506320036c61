/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks up GPUs, links and prices; the user's own entries precede the built-in ones. */
#include "lib/devices/hardware.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"

#include <string.h>

/* "here" is the device in this machine's device file, whatever its name. */
static const struct orch_gpu_spec *this_machine(const struct orch_hardware *hardware,
                                                GError **error)
{
    g_autofree char *path = orch_hardware_here_file();
    for (guint i = 0; i < hardware->gpus->len; i++) {
        const struct orch_gpu_spec *spec = hardware->gpus->pdata[i];
        if (spec->unit == ORCH_GPU_HOST && strcmp(spec->source, path) == 0)
            return spec;
    }
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "measure this machine with 'orch doctor --bench'",
                   "this machine has not been measured yet");
    return NULL;
}

/* The hint for an unknown GPU name. The caller frees. */
static char *unknown_gpu_hint(const char *name, const GPtrArray *names)
{
    if (g_ascii_strcasecmp(name, "cpu") == 0)
        return g_strdup("'here' is this machine's processor");
    if (strchr(name, ','))
        return g_strdup("name one of them; 'orch gpu ls' lists all");
    g_autofree char *upper = g_ascii_strup(name, -1);
    /* NVIDIA's names of its slices: 1g.10gb, 7g.80gb */
    if (g_regex_match_simple("(^|[^0-9A-Z])[1-7]G\\.[0-9]+GB", upper, 0, 0))
        return g_strdup("describe the part of the GPU (MIG) in a file: see orch gpu ls --help");
    char *near = orch_suggest_hint(upper, (const char *const *)names->pdata);
    return near ? near
                : g_strdup("'orch gpu ls' lists them; 'orch gpu ls --help' shows how to add one");
}

const struct orch_gpu_spec *orch_hardware_gpu(const struct orch_hardware *hardware,
                                              const char *name, GError **error)
{
    if (strcmp(name, "here") == 0)
        return this_machine(hardware, error);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const struct orch_gpu_spec *found = NULL;
    for (guint i = 0; i < hardware->gpus->len && !found; i++) {
        const struct orch_gpu_spec *spec = hardware->gpus->pdata[i];
        g_auto(GStrv) others = g_strsplit(spec->aliases ? spec->aliases : "", ",", -1);
        for (int k = 0; others[k]; k++)
            g_ptr_array_add(names, g_ascii_strup(others[k], -1));
        g_ptr_array_add(names, g_ascii_strup(spec->name, -1));
        found = orch_gpu_is_named(spec, name) ? spec : NULL;
    }
    for (guint i = 0; i < hardware->gpus->len && !found; i++)
        if (orch_gpu_is_named_by_memory(hardware->gpus->pdata[i], name))
            found = hardware->gpus->pdata[i];
    g_ptr_array_add(names, NULL);
    if (!found) {
        g_autofree char *hint = unknown_gpu_hint(name, names);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "unknown GPU '%s'", name);
    }
    g_ptr_array_unref(names);
    return found;
}

const struct orch_link *orch_hardware_link(const struct orch_hardware *hardware, const char *name,
                                           GError **error)
{
    GPtrArray *names = g_ptr_array_new();
    const struct orch_link *found = NULL;
    for (guint i = 0; i < hardware->links->len && !found; i++) {
        const struct orch_link *link = hardware->links->pdata[i];
        g_ptr_array_add(names, (gpointer)(uintptr_t)link->name);
        found = orch_link_is_named(link, name) ? link : NULL;
    }
    g_ptr_array_add(names, NULL);
    if (!found) {
        g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       near ? near : "'orch gpu links' lists the known links", "unknown link '%s'",
                       name);
    }
    g_ptr_array_unref(names);
    return found;
}

static bool is_price_of(const struct orch_price *price, struct orch_price_query query)
{
    const struct orch_gpu_spec *spec = orch_gpu_find(price->gpu);
    return (!query.spot || price->spot_usd_per_hour > 0) &&
           (strcmp(price->gpu, query.gpu) == 0 || (spec && strcmp(spec->name, query.gpu) == 0)) &&
           (!query.cloud || g_ascii_strcasecmp(price->cloud, query.cloud) == 0);
}

const struct orch_price *orch_hardware_price(const struct orch_hardware *hardware,
                                             struct orch_price_query query)
{
    const struct orch_price *first = NULL, *newest = NULL;
    for (guint i = 0; i < hardware->prices->len; i++) {
        const struct orch_price *price = hardware->prices->pdata[i];
        if (!is_price_of(price, query))
            continue;
        first = first ? first : price;
        bool is_newer =
            !newest || !g_ascii_isdigit(newest->as_of[0]) ||
            (g_ascii_isdigit(price->as_of[0]) && strcmp(price->as_of, newest->as_of) > 0);
        if (query.on && orch_price_was_known(price, query.on) && is_newer)
            newest = price;
    }
    return newest ? newest : first ? first : orch_price_choose(hardware->offers, query);
}

char *orch_hardware_file(void)
{
    const char *given = g_getenv("ORCH_HARDWARE");
    return given && *given
               ? g_strdup(given)
               : g_build_filename(g_get_user_config_dir(), "orch", "hardware.yaml", NULL);
}

/* The file is named after this machine, because machines may share a home folder. */
char *orch_hardware_here_file(void)
{
    struct orch_machine *machine = orch_machine_probe();
    g_autofree char *key = orch_machine_key(machine);
    g_autofree char *name = g_strdup_printf("%s.yaml", key);
    orch_machine_free(machine);
    return g_build_filename(g_get_user_data_dir(), "orch", "devices", name, NULL);
}
