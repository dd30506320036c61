/* SPDX-License-Identifier: MIT */
#include "lib/wire/library_fact.h"

#include "lib/base/json.h"

#include <string.h>

/* In this order: an environment has at most one of them in practice. */
static const char *const LIBRARIES[] = {"libtorch", "torch"};

char *orch_environment_library(const json_t *environment)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(LIBRARIES); i++) {
        const char *version = orch_json_text(environment, LIBRARIES[i], NULL);
        if (version && *version)
            return g_strdup_printf("%s %s", LIBRARIES[i], version);
    }
    return NULL;
}

char *orch_facts_library(const char *facts)
{
    /* most runs have none, and searching is cheaper than parsing */
    if (!facts || !strstr(facts, "torch\":"))
        return NULL;
    size_t length = strlen(facts);
    g_autoptr(json_t) json = orch_json_parse(facts, length, length, NULL);
    return orch_environment_library(json_object_get(json, "environment"));
}

bool orch_libraries_differ(const char *a, const char *b)
{
    if (!a || !b)
        return false;
    size_t name = strcspn(a, " ");
    return name == strcspn(b, " ") && strncmp(a, b, name) == 0 && strcmp(a, b) != 0;
}
