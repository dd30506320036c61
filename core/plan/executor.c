/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/executor.h"

#include "core/feature/feature.h"

#include <string.h>

/* The executor of the next feature that has one; `*f` is moved behind it. NULL at the end. */
static const struct orch_executor *next(const struct orch_feature *const **f)
{
    while (**f) {
        const struct orch_executor *executor = (*(*f)++)->executor;
        if (executor)
            return executor;
    }
    return NULL;
}

const struct orch_executor *orch_executor_find(const char *name)
{
    const struct orch_feature *const *f = orch_features();
    const struct orch_executor *executor;
    while ((executor = next(&f)) && strcmp(executor->name, name) != 0)
        ;
    return executor;
}

const char **orch_executor_names(void)
{
    GPtrArray *names = g_ptr_array_new();
    const struct orch_feature *const *f = orch_features();
    const struct orch_executor *executor;
    g_ptr_array_add(names, (gpointer)(uintptr_t) "local");
    while ((executor = next(&f)))
        g_ptr_array_add(names, (gpointer)(uintptr_t)executor->name);
    g_ptr_array_add(names, NULL);
    return (const char **)g_ptr_array_free(names, FALSE);
}

char *orch_executor_held(const struct orch_process *runner)
{
    const struct orch_feature *const *f = orch_features();
    const struct orch_executor *executor;
    char *text = NULL;
    while (!text && (executor = next(&f)))
        text = executor->held(runner);
    return text;
}

const struct orch_executor *orch_executor_of(const struct orch_process *runner)
{
    const struct orch_feature *const *f = orch_features();
    const struct orch_executor *executor;
    while ((executor = next(&f))) {
        g_autofree char *text = executor->held(runner);
        if (text)
            return executor;
    }
    return NULL;
}

bool orch_executor_has_submitted(const struct orch_process *runner)
{
    return orch_executor_of(runner);
}

bool orch_active_is_alive(const struct orch_active_row *row)
{
    return orch_process_is_alive(&row->runner) || orch_executor_has_submitted(&row->runner);
}

bool orch_executor_has(const json_t *record)
{
    const json_t *facts = json_object_get(record, "facts");
    const struct orch_feature *const *f = orch_features();
    const struct orch_executor *executor;
    while ((executor = next(&f)))
        if (json_is_object(json_object_get(facts, executor->name)))
            return true;
    return false;
}
