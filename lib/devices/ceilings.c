/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/devices/ceilings.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/hardware.h"
#include "lib/yaml/yaml.h"

#include <string.h>

void orch_ceiling_free(struct orch_ceiling *ceiling)
{
    if (!ceiling)
        return;
    g_free(ceiling->device);
    g_free(ceiling->what);
    g_free(ceiling->how);
    g_free(ceiling->unit);
    g_free(ceiling->with);
    g_free(ceiling->skipped);
    g_free(ceiling);
}

void orch_ceilings_free(struct orch_ceilings *ceilings)
{
    if (!ceilings)
        return;
    g_free(ceilings->machine);
    g_free(ceilings->when);
    g_ptr_array_unref(ceilings->rows);
    g_free(ceilings);
}

json_t *orch_ceiling_json(const struct orch_ceiling *c)
{
    json_t *json = json_pack("{s:s s:s s:s s:i s:s s:o s:o s:o s:i s:s}", "device", c->device,
                             "what", c->what, "how", c->how, "threads", (int)c->threads, "unit",
                             c->unit, "best", orch_json_finite(c->measured.best), "median",
                             orch_json_finite(c->measured.median), "spread",
                             orch_json_finite(c->measured.spread), "samples",
                             (int)c->measured.samples, "with", c->with);
    if (c->skipped)
        json_object_set_new(json, "skipped", json_string(c->skipped));
    return json;
}

char *orch_ceiling_encode(const struct orch_ceiling *ceiling)
{
    g_autoptr(json_t) json = orch_ceiling_json(ceiling);
    return orch_json_canonical(json);
}

struct orch_ceiling *orch_ceiling_decode(const json_t *json)
{
    const char *device = orch_json_text(json, "device", NULL);
    const char *what = orch_json_text(json, "what", NULL);
    if (!device || !what)
        return NULL;
    struct orch_ceiling *c = g_new0(struct orch_ceiling, 1);
    c->device = g_strdup(device);
    c->what = g_strdup(what);
    c->how = g_strdup(orch_json_text(json, "how", ""));
    c->unit = g_strdup(orch_json_text(json, "unit", ""));
    c->with = g_strdup(orch_json_text(json, "with", ""));
    c->skipped = g_strdup(orch_json_text(json, "skipped", NULL));
    c->threads = (unsigned)CLAMP(orch_json_int(json, "threads", 0), 0, 100000);
    c->measured = (struct orch_measured){
        .best = json_number_value(json_object_get(json, "best")),
        .median = json_number_value(json_object_get(json, "median")),
        .spread = json_number_value(json_object_get(json, "spread")),
        .samples = (unsigned)CLAMP(orch_json_int(json, "samples", 0), 0, G_MAXINT32),
    };
    return c;
}

/* A row as YAML has read it: a flow map of scalars. */
static struct orch_ceiling *row_of(const struct orch_yaml *map)
{
    g_autoptr(json_t) json = json_object();
    for (guint i = 0; map->kind == ORCH_YAML_MAP && i < map->items->len; i++) {
        const struct orch_yaml *key = map->keys->pdata[i], *value = map->items->pdata[i];
        double number;
        if (value->kind != ORCH_YAML_SCALAR)
            continue;
        bool is_number = !value->quoted && orch_real_parse(value->text, &number);
        bool is_whole = strcmp(key->text, "threads") == 0 || strcmp(key->text, "samples") == 0;
        json_object_set_new(json, key->text,
                            !is_number ? json_string(value->text)
                            : is_whole ? json_integer((json_int_t)number)
                                       : orch_json_finite(number));
    }
    return orch_ceiling_decode(json);
}

static char *text_at(const struct orch_yaml *root, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(root, key);
    return g_strdup(node && node->kind == ORCH_YAML_SCALAR ? node->text : "");
}

struct orch_ceilings *orch_ceilings_load(void)
{
    g_autofree char *path = orch_hardware_here_file();
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return NULL;
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *root = orch_yaml_parse_file(path, diags);
    orch_diags_free(diags);
    const struct orch_yaml *list = root ? orch_yaml_get(root, "ceilings") : NULL;
    struct orch_ceilings *ceilings = NULL;
    if (list && list->kind == ORCH_YAML_LIST) {
        ceilings = g_new0(struct orch_ceilings, 1);
        ceilings->machine = text_at(root, "machine");
        ceilings->when = text_at(root, "measured");
        ceilings->rows = g_ptr_array_new_with_free_func((GDestroyNotify)orch_ceiling_free);
        for (guint i = 0; i < list->items->len; i++) {
            struct orch_ceiling *row = row_of(list->items->pdata[i]);
            if (row)
                g_ptr_array_add(ceilings->rows, row);
        }
    }
    if (root)
        orch_yaml_free(root);
    return ceilings;
}

static bool is_device(const struct orch_ceiling *row, const char *device)
{
    const struct orch_gpu_spec *wanted = orch_gpu_find(device), *found = orch_gpu_find(row->device);
    return strcmp(row->device, device) == 0 || (wanted && wanted == found);
}

const struct orch_ceiling *orch_ceilings_find(const struct orch_ceilings *ceilings,
                                              const char *device, const char *what, const char *how,
                                              unsigned threads)
{
    const struct orch_ceiling *most = NULL;
    for (guint i = 0; ceilings && i < ceilings->rows->len; i++) {
        const struct orch_ceiling *row = ceilings->rows->pdata[i];
        if (row->skipped || !(row->measured.best > 0) || strcmp(row->what, what) != 0 ||
            (how && strcmp(row->how, how) != 0) || (threads && row->threads != threads) ||
            !is_device(row, device))
            continue;
        if (!most || row->threads > most->threads)
            most = row;
    }
    return most;
}

char *orch_ceiling_format(const char *unit, double value)
{
    if (strcmp(unit, "s") == 0)
        return orch_duration_format(value);
    static const struct {
        double scale;
        const char *prefix;
    } steps[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    unsigned i = 0;
    while (i + 1 < G_N_ELEMENTS(steps) && value < steps[i].scale)
        i++;
    if (strcmp(unit, "B/s") == 0 && i == 0)
        i = 1; /* as vendors write it: 3350 GB/s */
    return g_strdup_printf("%.4g %s%s", value / steps[i].scale, steps[i].prefix, unit);
}

const struct orch_triad_size ORCH_TRIAD_SIZES[ORCH_TRIADS] = {
    {"triad", 0}, {"triad 6 MiB", 6 << 20}, {"triad 768 KiB", 768 << 10}};

/* The best rate with so many threads; 0 when it was not measured. */
static double best_of(const struct orch_ceilings *ceilings, const char *what, const char *how,
                      int64_t threads)
{
    const struct orch_ceiling *one = orch_ceilings_find(ceilings, "cpu", what, how, 1);
    const struct orch_ceiling *all = orch_ceilings_find(ceilings, "cpu", what, how, 0);
    if (!one || !all)
        return 0;
    double first = one->measured.best, last = MAX(all->measured.best, first);
    if (threads < 1 || all->threads <= 1 || threads >= all->threads)
        return last;
    return first + (last - first) * (double)(threads - 1) / (double)(all->threads - 1);
}

bool orch_ceilings_processor(const struct orch_ceilings *ceilings, const char *precision,
                             int64_t threads, struct orch_processor_rates *out)
{
    struct orch_processor_rates rates = {.flops = best_of(ceilings, "product", precision, threads)};
    for (int i = 0; i < ORCH_TRIADS; i++)
        rates.bandwidth[i] = best_of(ceilings, "memory", ORCH_TRIAD_SIZES[i].how, threads);
    if (!(rates.flops > 0) || !(rates.bandwidth[0] > 0))
        return false;
    *out = rates;
    return true;
}
