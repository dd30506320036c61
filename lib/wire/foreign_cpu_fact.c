/* SPDX-License-Identifier: MIT */
#include "lib/wire/foreign_cpu_fact.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

double orch_facts_foreign_cpu(const char *facts)
{
    double share;
    /* most runs were too short to measure it, and searching is cheaper than parsing */
    if (!facts || !strstr(facts, "\"" ORCH_FACT_FOREIGN_CPU "\":"))
        return (double)NAN;
    size_t length = strlen(facts);
    g_autoptr(json_t) json = orch_json_parse(facts, length, length, NULL);
    return orch_json_get_real(json_object_get(json, ORCH_FACT_FOREIGN_CPU), &share) && share >= 0
               ? share
               : (double)NAN;
}

bool orch_facts_are_disturbed(const char *facts)
{
    return orch_facts_foreign_cpu(facts) > ORCH_FOREIGN_CPU_MAX;
}
