/* SPDX-License-Identifier: MIT */
#include "features/cloud/training_instances.h"

#include "lib/devices/columns.h"

#include <string.h>

extern const char ORCH_TRAINING_CSV[]; /* CMakeLists.txt of this folder */

#define AT(member) offsetof(struct orch_training_instance, member)

static const struct orch_column COLUMNS[] = {
    {"platform", ORCH_COLUMN_TEXT, AT(platform), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"gpu", ORCH_COLUMN_TEXT, AT(gpu), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"gpus", ORCH_COLUMN_COUNT, AT(gpus), ORCH_COLUMN_FULL, 0, 1024, NULL},
    {"instance", ORCH_COLUMN_TEXT, AT(instance), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"accelerator", ORCH_COLUMN_TEXT, AT(accelerator), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"cloud", ORCH_COLUMN_TEXT, AT(cloud), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"cloud_instance", ORCH_COLUMN_TEXT, AT(cloud_instance), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"cores", ORCH_COLUMN_COUNT, AT(cores), ORCH_COLUMN_SPARSE, 1, 4096, NULL},
    {"memory_gb", ORCH_COLUMN_REAL, AT(memory_gb), ORCH_COLUMN_SPARSE, 1, 1e5, NULL},
    {"source", ORCH_COLUMN_TEXT, AT(source), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"date", ORCH_COLUMN_DATE, AT(date), ORCH_COLUMN_FULL, 0, 0, NULL},
    {0}};

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
