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
#define TEXT(name, member)                                                                         \
    {                                                                                              \
        name, ORCH_COLUMN_TEXT, AT(member), false, 0, 0, NULL                                      \
    }
#define WORDS(name, member)                                                                        \
    {                                                                                              \
        name, ORCH_COLUMN_TEXT, AT(member), true, 0, 0, NULL                                       \
    }
#define COUNT(name, member, min, max)                                                              \
    {                                                                                              \
        name, ORCH_COLUMN_COUNT, AT(member), true, min, max, NULL                                  \
    }
#define REAL(name, member, min, max)                                                               \
    {                                                                                              \
        name, ORCH_COLUMN_REAL, AT(member), true, min, max, NULL                                   \
    }
#define MUST(name, member, min, max)                                                               \
    {                                                                                              \
        name, ORCH_COLUMN_REAL, AT(member), false, min, max, NULL                                  \
    }

/* clang-format off: one column, one line */
static const struct orch_column COLUMNS[] = {
    TEXT("name", name),
    WORDS("aliases", aliases),
    {.name = "unit", .kind = ORCH_COLUMN_CHOICE, .offset = AT(unit), .choices = UNITS},
    TEXT("arch", arch),
    WORDS("chip", chip),
    COUNT("year", year, 2000, 2100),
    WORDS("compute_capability", compute_capability),
    COUNT("sms", sms, 1, 1e5),
    COUNT("cores", cores, 1, 1e7),
    REAL("base_mhz", base_mhz, 100, 1e4),
    REAL("boost_mhz", boost_mhz, 100, 1e4),
    REAL("fp64_tflops", fp64_tflops, 0, 1e5),
    REAL("fp32_tflops", fp32_tflops, 0.01, 1e5),
    REAL("fp32_base_tflops", fp32_base_tflops, 0, 1e5),
    REAL("fp16_tflops", fp16_tflops, 0, 1e5),
    REAL("tensor16_tflops", tensor16_tflops, 0, 1e5),
    {.name = "bf16", .kind = ORCH_COLUMN_FLAG, .offset = AT(has_bf16), .choices = NO_YES},
    REAL("bf16_tflops", bf16_tflops, 0, 1e5),
    REAL("fp8_tflops", fp8_tflops, 0, 1e6),
    REAL("fp4_tflops", fp4_tflops, 0, 1e6),
    MUST("memory_gb", memory_gb, 0.1, 1e5),
    MUST("bandwidth_gbs", bandwidth_gbs, 1, 1e6),
    REAL("l2_mb", l2_mb, 0, 1e4),
    REAL("nvlink_gbs", nvlink_gbs, 0, 1e5),
    WORDS("pcie", pcie),
    REAL("watts", watts, 1, 1e5),
    TEXT("confidence", confidence),
    TEXT("source", source),
    {.name = "date", .kind = ORCH_COLUMN_DATE, .offset = AT(date)},
    WORDS("note", note),
    {0}};
/* clang-format on */

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
