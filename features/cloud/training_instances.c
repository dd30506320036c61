/* SPDX-License-Identifier: MIT */
#include "features/cloud/training_instances.h"

#include "lib/devices/columns.h"

#include <string.h>

extern const char ORCH_TRAINING_CSV[]; /* CMakeLists.txt of this folder */

#define AT(member) offsetof(struct orch_training_instance, member)

/* clang-format off: one column, one line */
static const struct orch_column COLUMNS[] = {
    {.name = "platform",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(platform),
     .presence = ORCH_COLUMN_FULL},
    {.name = "gpu", .kind = ORCH_COLUMN_TEXT, .offset = AT(gpu), .presence = ORCH_COLUMN_FULL},
    {.name = "gpus",
     .kind = ORCH_COLUMN_COUNT,
     .offset = AT(gpus),
     .presence = ORCH_COLUMN_FULL,
     .max = 1024},
    {.name = "instance",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(instance),
     .presence = ORCH_COLUMN_FULL},
    {.name = "accelerator",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(accelerator),
     .presence = ORCH_COLUMN_SPARSE},
    {.name = "cloud",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(cloud),
     .presence = ORCH_COLUMN_SPARSE},
    {.name = "cloud_instance",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(cloud_instance),
     .presence = ORCH_COLUMN_SPARSE},
    {.name = "cores",
     .kind = ORCH_COLUMN_COUNT,
     .offset = AT(cores),
     .presence = ORCH_COLUMN_SPARSE,
     .min = 1,
     .max = 4096},
    {.name = "memory_gb",
     .kind = ORCH_COLUMN_REAL,
     .offset = AT(memory_gb),
     .presence = ORCH_COLUMN_SPARSE,
     .min = 1,
     .max = 1e5},
    {.name = "source",
     .kind = ORCH_COLUMN_TEXT,
     .offset = AT(source),
     .presence = ORCH_COLUMN_FULL},
    {.name = "date", .kind = ORCH_COLUMN_DATE, .offset = AT(date), .presence = ORCH_COLUMN_FULL},
    {0}};
/* clang-format on */

const GPtrArray *orch_training_instances(void)
{
    static GPtrArray *instances;
    static struct orch_csv *csv; /* the texts are borrowed: the table stays */
    if (g_once_init_enter(&instances)) {
        GError *error = NULL;
        csv = orch_csv_parse("share/hardware/training.csv", ORCH_TRAINING_CSV,
                             strlen(ORCH_TRAINING_CSV), &error);
        GPtrArray *read =
            csv ? orch_columns_rows(COLUMNS, csv, sizeof(struct orch_training_instance), &error)
                : NULL;
        if (!read)
            g_error("the table of training instances that is built in is damaged: %s",
                    error->message);
        g_once_init_leave(&instances, read);
    }
    return instances;
}
