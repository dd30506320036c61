/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/devices/hardware.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/devices/price_updates.h"
#include "lib/hw/machine.h"
#include "lib/yaml/yaml.h"

#include <string.h>

/* ---- reading -----------------------------------------------------------------------------------
 */

struct reader {
    const char *file;
    struct orch_diags *diags;
    struct orch_hardware *hardware;
    bool measured;
};

static void complain(struct reader *r, const struct orch_yaml *at, const char *hint,
                     const char *format, ...) G_GNUC_PRINTF(4, 5);

static void complain(struct reader *r, const struct orch_yaml *at, const char *hint,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_diags_add(r->diags, false, r->file, at->line, at->column, hint, "%s", what);
}

static char *keep(struct reader *r, char *text)
{
    g_ptr_array_add(r->hardware->own, text);
    return text;
}

static const char *text_of(struct reader *r, const struct orch_yaml *map, const char *key,
                           const char *otherwise)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    if (!node)
        return otherwise;
    if (node->kind != ORCH_YAML_SCALAR || !*node->text) {
        complain(r, node, NULL, "'%s' must be a text", key);
        return otherwise;
    }
    return keep(r, g_strdup(node->text));
}

static double number_of(struct reader *r, const struct orch_yaml *map, const char *key,
                        double otherwise)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    double value;
    if (!node)
        return otherwise;
    if (node->kind != ORCH_YAML_SCALAR || !orch_real_parse(node->text, &value) || value < 0) {
        complain(r, node, "write a plain number, without a unit",
                 "'%s' must be a number of 0 or more", key);
        return otherwise;
    }
    return value;
}

static const char *list_of(struct reader *r, const struct orch_yaml *map, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    if (!node)
        return "";
    GString *joined = g_string_new(NULL);
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        if (item->kind == ORCH_YAML_SCALAR)
            g_string_append_printf(joined, "%s%s", joined->len ? "," : "", item->text);
    }
    if (node->kind != ORCH_YAML_LIST)
        complain(r, node, "for example [mine, my-card]", "'%s' must be a list", key);
    return keep(r, g_string_free(joined, FALSE));
}

static void must_have(struct reader *r, const struct orch_yaml *map, const char *key)
{
    if (!orch_yaml_get(map, key))
        complain(r, map, NULL, "'%s' is missing", key);
}

static const struct orch_gpu_spec *model_of(struct reader *r, const struct orch_yaml *map)
{
    static const struct orch_gpu_spec nothing = {.arch = "unknown",
                                                 .compute_capability = "",
                                                 .pcie = "3.0",
                                                 .source = "your own file",
                                                 .date = "",
                                                 .note = ""};
    const struct orch_yaml *node = orch_yaml_get(map, "like");
    if (!node)
        return &nothing;
    const struct orch_gpu_spec *model =
        node->kind == ORCH_YAML_SCALAR ? orch_gpu_find(node->text) : NULL;
    if (!model)
        complain(r, node, "'orch gpu ls' lists the names", "'%s' names no known GPU", "like");
    return model ? model : &nothing;
}

static void read_peaks(struct reader *r, const struct orch_yaml *map, struct orch_gpu_spec *spec)
{
    const struct {
        const char *key;
        double *value;
    } numbers[] = {
        {"base_mhz", &spec->base_mhz},           {"boost_mhz", &spec->boost_mhz},
        {"fp64_tflops", &spec->fp64_tflops},     {"fp32_tflops", &spec->fp32_tflops},
        {"fp16_tflops", &spec->fp16_tflops},     {"tensor16_tflops", &spec->tensor16_tflops},
        {"bf16_tflops", &spec->bf16_tflops},     {"memory_gb", &spec->memory_gb},
        {"bandwidth_gbs", &spec->bandwidth_gbs}, {"l2_mb", &spec->l2_mb},
        {"nvlink_gbs", &spec->nvlink_gbs},       {"watts", &spec->watts}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        *numbers[i].value = number_of(r, map, numbers[i].key, *numbers[i].value);
    const struct orch_yaml *bf16 = orch_yaml_get(map, "bf16");
    if (bf16 && bf16->kind == ORCH_YAML_SCALAR)
        spec->has_bf16 = strcmp(bf16->text, "true") == 0;
}

static void read_gpu(struct reader *r, const struct orch_yaml *map)
{
    static const char *const known[] = {
        "name",       "aliases",     "like",        "arch",          "base_mhz",
        "boost_mhz",  "fp64_tflops", "fp32_tflops", "fp16_tflops",   "tensor16_tflops",
        "bf16",       "bf16_tflops", "memory_gb",   "bandwidth_gbs", "l2_mb",
        "nvlink_gbs", "pcie",        "watts",       "source",        "note",
        "date",       NULL};
    orch_yaml_check_keys(map, r->file, "a GPU", known, r->diags);
    must_have(r, map, "name");
    struct orch_gpu_spec *spec = g_new0(struct orch_gpu_spec, 1);
    g_ptr_array_add(r->hardware->own, spec);
    *spec = *model_of(r, map);
    spec->name = text_of(r, map, "name", "?");
    spec->aliases = list_of(r, map, "aliases");
    spec->arch = text_of(r, map, "arch", spec->arch);
    spec->pcie = text_of(r, map, "pcie", spec->pcie);
    spec->source = text_of(r, map, "source", r->file);
    spec->date = text_of(r, map, "date", "");
    spec->note = text_of(r, map, "note", "");
    spec->confidence = r->measured ? "measured" : "yours";
    if (r->measured) { /* runs record a processor by its model, so that is an alias */
        spec->unit = ORCH_GPU_HOST;
        spec->aliases = spec->aliases && *spec->aliases ? spec->aliases : spec->arch;
    }
    read_peaks(r, map, spec);
    if (spec->fp32_tflops > 1e5 || spec->bandwidth_gbs > 1e7 || spec->memory_gb > 1e7)
        complain(r, map, "the units are TFLOP/s, GB/s and GB",
                 "numbers of '%s' are too large for any device", spec->name);
    if (spec->fp32_tflops <= 0)
        complain(r, map, "add it, or copy a GPU: 'like: V100-SXM2-16GB'", "'%s' is missing",
                 "fp32_tflops");
    if (spec->bandwidth_gbs <= 0)
        complain(r, map, "add it, or copy a GPU: 'like: V100-SXM2-16GB'", "'%s' is missing",
                 "bandwidth_gbs");
    g_ptr_array_add(r->hardware->gpus, spec);
}

static void read_link(struct reader *r, const struct orch_yaml *map)
{
    static const char *const known[] = {"name", "aliases", "gbit_s", "latency_us",
                                        "per",  "source",  NULL};
    orch_yaml_check_keys(map, r->file, "a link", known, r->diags);
    must_have(r, map, "name");
    struct orch_link *link = g_new0(struct orch_link, 1);
    g_ptr_array_add(r->hardware->own, link);
    link->name = text_of(r, map, "name", "?");
    link->aliases = list_of(r, map, "aliases");
    link->gbit_s = number_of(r, map, "gbit_s", 0);
    link->latency_us = number_of(r, map, "latency_us", 10);
    const char *per = text_of(r, map, "per", "node");
    link->is_of_gpu = strcmp(per, "gpu") == 0;
    if (!link->is_of_gpu && strcmp(per, "node") != 0)
        complain(r, map, "use node or gpu", "a link 'per' '%s'", per);
    link->source = text_of(r, map, "source", r->file);
    if (link->gbit_s <= 0)
        complain(r, map, "add how many 10^9 bit/s it carries", "'%s' is missing", "gbit_s");
    g_ptr_array_add(r->hardware->links, link);
}

static void read_price(struct reader *r, const struct orch_yaml *map)
{
    static const char *const known[] = {"gpu",   "usd_per_hour", "spot_usd_per_hour",
                                        "cloud", "instance",     "region",
                                        "count", "as_of",        "source",
                                        NULL};
    orch_yaml_check_keys(map, r->file, "a price", known, r->diags);
    must_have(r, map, "gpu");
    must_have(r, map, "usd_per_hour");
    struct orch_price *price = g_new0(struct orch_price, 1);
    g_ptr_array_add(r->hardware->own, price);
    price->is_own = true;
    price->gpu = text_of(r, map, "gpu", "?");
    price->cloud = text_of(r, map, "cloud", "yours");
    price->instance = text_of(r, map, "instance", "-");
    price->region = text_of(r, map, "region", "-");
    price->count = (int)number_of(r, map, "count", 1);
    price->usd_per_hour = number_of(r, map, "usd_per_hour", 0);
    price->spot_usd_per_hour = number_of(r, map, "spot_usd_per_hour", 0);
    price->as_of = text_of(r, map, "as_of", "no date given");
    price->source = text_of(r, map, "source", r->file);
    if (price->count < 1) {
        complain(r, map, NULL, "'%s' must be at least 1", "count");
        price->count = 1;
    }
    g_ptr_array_add(r->hardware->prices, price);
}

static void read_list(struct reader *r, const struct orch_yaml *root, const char *key,
                      void (*read)(struct reader *, const struct orch_yaml *))
{
    const struct orch_yaml *list = orch_yaml_get(root, key);
    if (!list)
        return;
    if (list->kind != ORCH_YAML_LIST) {
        complain(r, list, "begin each entry with '- '", "'%s' must be a list", key);
        return;
    }
    for (guint i = 0; i < list->items->len; i++) {
        const struct orch_yaml *item = list->items->pdata[i];
        if (item->kind == ORCH_YAML_MAP)
            read(r, item);
        else
            complain(r, item, NULL, "an entry of '%s' must be a map", key);
    }
}

static void read_file(struct orch_hardware *hardware, const char *path, bool measured,
                      struct orch_diags *diags)
{
    static const char *const known[] = {"gpus", "links", "prices", NULL};
    static const char *const known_here[] = {"gpus", "machine", "measured", "ceilings", NULL};
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return;
    struct orch_yaml *root = orch_yaml_parse_file(path, diags);
    if (!root)
        return;
    struct reader reader = {.file = keep(&(struct reader){.hardware = hardware}, g_strdup(path)),
                            .diags = diags,
                            .hardware = hardware,
                            .measured = measured};
    if (root->kind == ORCH_YAML_MAP) {
        orch_yaml_check_keys(root, path, "a hardware file", measured ? known_here : known, diags);
        read_list(&reader, root, "gpus", read_gpu);
        read_list(&reader, root, "links", read_link);
        read_list(&reader, root, "prices", read_price);
    } else {
        complain(&reader, root, "write gpus:, links: or prices:", "a hardware file must be a map");
    }
    orch_yaml_free(root);
}

static void read_measured(struct orch_hardware *hardware, struct orch_diags *diags)
{
    g_autofree char *folder = g_build_filename(g_get_user_data_dir(), "orch", "devices", NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_str_has_suffix(name, ".yaml"))
            read_file(hardware, path, true, diags);
    }
    if (dir)
        g_dir_close(dir);
}

struct orch_hardware *orch_hardware_load(GError **error)
{
    struct orch_hardware *hardware = g_new0(struct orch_hardware, 1);
    hardware->gpus = g_ptr_array_new();
    hardware->links = g_ptr_array_new();
    hardware->prices = g_ptr_array_new();
    hardware->offers = g_ptr_array_new();
    hardware->own = g_ptr_array_new_with_free_func(g_free);
    struct orch_diags *diags = orch_diags_new();
    g_autofree char *file = orch_hardware_file();
    const char *given = g_getenv("ORCH_HARDWARE");
    if (given && *given && !g_file_test(file, G_FILE_TEST_EXISTS))
        orch_diags_add(diags, false, file, 0, 0, "unset ORCH_HARDWARE, or name a file",
                       "the hardware file named by ORCH_HARDWARE does not exist");
    read_file(hardware, file, false, diags);
    read_measured(hardware, diags);
    for (const struct orch_gpu_spec *spec = orch_gpu_specs(); spec->name; spec++)
        g_ptr_array_add(hardware->gpus, (gpointer)(uintptr_t)spec);
    for (const struct orch_link *link = orch_links(); link->name; link++)
        g_ptr_array_add(hardware->links, (gpointer)(uintptr_t)link);
    const GPtrArray *built_in = orch_prices();
    for (guint i = 0; i < built_in->len; i++)
        g_ptr_array_add(hardware->offers, built_in->pdata[i]);
    bool ok = orch_diags_to_error(diags, error) && orch_price_updates_load(hardware, error);
    orch_diags_free(diags);
    if (ok)
        return hardware;
    orch_hardware_free(hardware);
    return NULL;
}

void orch_hardware_free(struct orch_hardware *hardware)
{
    if (!hardware)
        return;
    g_ptr_array_unref(hardware->gpus);
    g_ptr_array_unref(hardware->links);
    g_ptr_array_unref(hardware->prices);
    g_ptr_array_unref(hardware->offers);
    if (hardware->updates)
        g_ptr_array_unref(hardware->updates);
    orch_csv_free(hardware->updates_text);
    g_ptr_array_unref(hardware->own);
    g_free(hardware);
}

/* ---- looking up --------------------------------------------------------------------------------
 */
