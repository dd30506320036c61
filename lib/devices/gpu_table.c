/* SPDX-License-Identifier: MIT */
/* What vendors say of their GPUs: share/hardware/gpus.csv, which is built in. A new one is a row
 * there. */
#include "lib/devices/columns.h"
#include "lib/devices/gpus.h"

#include <string.h>

extern const char ORCH_GPUS_CSV[]; /* CMakeLists.txt of this folder */

static const char *const UNITS[] = {"card", "module", "die", "board", "host", NULL};
static const char *const NO_YES[] = {"no", "yes", NULL};
static const char *const CONFIDENCES[] = {"low", "medium", "high", NULL};

#define AT(member) offsetof(struct orch_gpu_spec, member)
static const struct orch_column COLUMNS[] = {
    {"name", ORCH_COLUMN_TEXT, AT(name), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"aliases", ORCH_COLUMN_TEXT, AT(aliases), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"unit", ORCH_COLUMN_CHOICE, AT(unit), ORCH_COLUMN_FULL, 0, 0, UNITS},
    {"arch", ORCH_COLUMN_TEXT, AT(arch), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"chip", ORCH_COLUMN_TEXT, AT(chip), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"year", ORCH_COLUMN_COUNT, AT(year), ORCH_COLUMN_SPARSE, 2000, 2100, NULL},
    {"compute_capability", ORCH_COLUMN_TEXT, AT(compute_capability), ORCH_COLUMN_SPARSE, 0, 0,
     NULL},
    {"sms", ORCH_COLUMN_COUNT, AT(sms), ORCH_COLUMN_SPARSE, 1, 1e5, NULL},
    {"cores", ORCH_COLUMN_COUNT, AT(cores), ORCH_COLUMN_SPARSE, 1, 1e7, NULL},
    {"base_mhz", ORCH_COLUMN_REAL, AT(base_mhz), ORCH_COLUMN_SPARSE, 100, 1e4, NULL},
    {"boost_mhz", ORCH_COLUMN_REAL, AT(boost_mhz), ORCH_COLUMN_SPARSE, 100, 1e4, NULL},
    {"fp64_tflops", ORCH_COLUMN_REAL, AT(fp64_tflops), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"fp32_tflops", ORCH_COLUMN_REAL, AT(fp32_tflops), ORCH_COLUMN_SPARSE, 0.01, 1e5, NULL},
    {"fp32_base_tflops", ORCH_COLUMN_REAL, AT(fp32_base_tflops), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"fp16_tflops", ORCH_COLUMN_REAL, AT(fp16_tflops), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"tensor16_tflops", ORCH_COLUMN_REAL, AT(tensor16_tflops), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"bf16", ORCH_COLUMN_FLAG, AT(has_bf16), ORCH_COLUMN_FULL, 0, 0, NO_YES},
    {"bf16_tflops", ORCH_COLUMN_REAL, AT(bf16_tflops), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"fp8_tflops", ORCH_COLUMN_REAL, AT(fp8_tflops), ORCH_COLUMN_SPARSE, 0, 1e6, NULL},
    {"fp4_tflops", ORCH_COLUMN_REAL, AT(fp4_tflops), ORCH_COLUMN_SPARSE, 0, 1e6, NULL},
    {"memory_gb", ORCH_COLUMN_REAL, AT(memory_gb), ORCH_COLUMN_FULL, 0.1, 1e5, NULL},
    {"bandwidth_gbs", ORCH_COLUMN_REAL, AT(bandwidth_gbs), ORCH_COLUMN_FULL, 1, 1e6, NULL},
    {"l2_mb", ORCH_COLUMN_REAL, AT(l2_mb), ORCH_COLUMN_SPARSE, 0, 1e4, NULL},
    {"nvlink_gbs", ORCH_COLUMN_REAL, AT(nvlink_gbs), ORCH_COLUMN_SPARSE, 0, 1e5, NULL},
    {"pcie", ORCH_COLUMN_TEXT, AT(pcie), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"watts", ORCH_COLUMN_REAL, AT(watts), ORCH_COLUMN_SPARSE, 1, 1e5, NULL},
    {"confidence", ORCH_COLUMN_TEXT, AT(confidence), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"source", ORCH_COLUMN_TEXT, AT(source), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"date", ORCH_COLUMN_DATE, AT(date), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"note", ORCH_COLUMN_TEXT, AT(note), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {0}};

static bool check_confidence(const struct orch_csv *csv, size_t row, const char *word,
                             GError **error)
{
    return g_strv_contains(CONFIDENCES, word) ||
           orch_csv_fail(csv, row, orch_csv_find(csv, "confidence"), "use low, medium or high",
                         error, "unknown '%s' in column 'confidence'", word);
}

/* A name that finds another GPU. Of two that have one alias the first is found. */
static bool check_name(const struct orch_csv *csv, size_t row, const GArray *specs,
                       const char *name, GError **error)
{
    for (guint i = 0; i < specs->len; i++) {
        const struct orch_gpu_spec *other = &g_array_index(specs, struct orch_gpu_spec, i);
        if (orch_gpu_is_named(other, name))
            return orch_csv_fail(csv, row, orch_csv_find(csv, "name"),
                                 "give every GPU a name of its own", error,
                                 "'%s' is already a name of '%s'", name, other->name);
    }
    return true;
}

struct orch_gpu_spec *orch_gpu_specs_read(const struct orch_csv *csv, GError **error)
{
    if (!orch_columns_check(COLUMNS, csv, error))
        return NULL;
    GArray *specs = g_array_new(TRUE, TRUE, sizeof(struct orch_gpu_spec));
    bool ok = true;
    for (size_t row = 0; ok && row < orch_csv_rows(csv); row++) {
        struct orch_gpu_spec spec = {0};
        ok = orch_columns_read(COLUMNS, csv, row, &spec, error) &&
             check_confidence(csv, row, spec.confidence, error) &&
             check_name(csv, row, specs, spec.name, error);
        if (ok)
            g_array_append_val(specs, spec);
    }
    return (struct orch_gpu_spec *)(void *)g_array_free(specs, !ok);
}

const struct orch_gpu_spec *orch_gpu_specs(void)
{
    static struct orch_gpu_spec *specs;
    static struct orch_csv *csv; /* the texts are borrowed: the table stays */
    if (g_once_init_enter(&specs)) {
        GError *error = NULL;
        csv =
            orch_csv_parse("share/hardware/gpus.csv", ORCH_GPUS_CSV, strlen(ORCH_GPUS_CSV), &error);
        struct orch_gpu_spec *read = csv ? orch_gpu_specs_read(csv, &error) : NULL;
        if (!read)
            g_error("the table of GPUs that is built in is damaged: %s", error->message);
        g_once_init_leave(&specs, read);
    }
    return specs;
}
