/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/paleo/paleo_spec.h"

#include "core/report/trials.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/gpus.h"

#include <math.h>
#include <string.h>

#define GIB_OF_GB (1e9 / (1024.0 * 1024.0 * 1024.0))
#define CLOCK_MHZ 1000 /* where it is unknown: no operation takes less than a cycle, 1 ns */

double orch_paleo_spec_number(const json_t *spec, const char *key, double none)
{
    const char *text = orch_json_text(spec, key, NULL);
    double value = none;
    return text && orch_real_parse(text, &value) ? value : none;
}

GArray *orch_paleo_spec_ppps(const json_t *spec)
{
    GArray *ppps = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GPtrArray) texts = orch_texts_from_json(json_object_get(spec, "ppp"));
    for (guint i = 0; i < texts->len; i++) {
        double value;
        if (orch_real_parse(texts->pdata[i], &value) && value > 0 && value <= 1)
            g_array_append_val(ppps, value);
    }
    const double whole = 1;
    if (!ppps->len)
        g_array_append_val(ppps, whole);
    return ppps;
}

bool orch_paleo_spec_device(const char *name, struct orch_paleo_device *out, GError **error)
{
    if (g_str_has_prefix(name, "paleo:")) {
        const struct orch_paleo_device *own = orch_paleo_device_find(name, error);
        if (own)
            *out = *own;
        return own;
    }
    const struct orch_gpu_spec *spec = orch_gpu_find(name);
    if (!spec) {
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND,
            "'orch gpu ls' lists the GPUs; for PALEO's own devices write for example paleo:K80",
            "unknown GPU '%s'", name);
        return false;
    }
    *out =
        (struct orch_paleo_device){.name = spec->name,
                                   .clock_mhz = spec->boost_mhz > 0 ? spec->boost_mhz : CLOCK_MHZ,
                                   .peak_gflops = orch_gpu_peak(spec, ORCH_FP32) / 1e9,
                                   .bandwidth_gib_s = spec->bandwidth_gbs * GIB_OF_GB,
                                   .is_gpu = true};
    return true;
}

struct orch_paleo_device orch_paleo_spec_measured(const char *name, double gflop_s, double gbyte_s)
{
    return (struct orch_paleo_device){.name = name,
                                      .clock_mhz = CLOCK_MHZ,
                                      .peak_gflops = gflop_s,
                                      .bandwidth_gib_s = gbyte_s * GIB_OF_GB};
}

bool orch_paleo_spec_link(const json_t *spec, struct orch_paleo_options *options, GError **error)
{
    const char *name = orch_json_text(spec, "link", NULL);
    const struct orch_paleo_network *link = name ? orch_paleo_network_find(name, error) : NULL;
    if (link)
        options->network = *link;
    return link || !name;
}

bool orch_paleo_spec_published(const char *word, const char *row, double *out, GError **error)
{
    *out = (double)NAN;
    if (!word || strcmp(word, "-") == 0 || (orch_real_parse(word, out) && *out > 0))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "write a number above 0, or '-' where no number was published",
                   "'%s' in 'published: %s' is not a published figure", word, row);
    return false;
}

struct orch_table *orch_paleo_spec_table(const char *const *headers, const char *const *names)
{
    struct orch_table *table = orch_table_new(headers);
    for (unsigned i = 0; names[i]; i++)
        orch_table_set_name(table, i, names[i]);
    return table;
}

void orch_paleo_spec_headings(struct orch_table *table, const struct orch_paleo_heading *headings)
{
    for (; headings->label; headings++)
        orch_table_set_heading(table, headings->column, headings->group, headings->label);
}

double orch_paleo_error_percent(double computed, double measured)
{
    return 100 * (computed - measured) / measured;
}
