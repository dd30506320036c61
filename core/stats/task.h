/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks: only runs of the same task can be compared. Runs of another recipe, experiment, program,
 * data set or number of classes measure something else under the same name. A mean, line, ranking
 * or test must not combine them unless the user asks for it. */
#ifndef ORCH_CORE_STATS_TASK_H
#define ORCH_CORE_STATS_TASK_H

#include "store/store.h"

/** The names that distinguish tasks, as messages list them. */
#define ORCH_TASK_WORDS "recipe, experiment, program, data set, number of classes"

/** The tasks of some runs. */
struct orch_tasks;
/** Reads the tasks of `runs` (struct orch_run *). `chosen` (NULL-terminated, or NULL) are names
 * that the user groups by; they do not distinguish tasks. Free with orch_tasks_free. */
struct orch_tasks *orch_tasks_new(struct orch_store *store, const GPtrArray *runs,
                                  const char *const *chosen);
/** The same for two sides that the user compares. A name whose value varies within A or within B
 * distinguishes tasks; a name that only differs between A and B does not. The runs of A have the
 * first indices, those of B follow. */
struct orch_tasks *orch_tasks_of_sides(struct orch_store *store, const GPtrArray *a,
                                       const GPtrArray *b);
void orch_tasks_free(struct orch_tasks *tasks);

/** Returns the names in which the runs differ; empty when all belong to one task. const char *,
 * static; the caller unrefs the array. */
GPtrArray *orch_tasks_names(const struct orch_tasks *tasks);
/** Describes the task of the run at `index`: "experiment finetune, dataset cifar10"; NULL when all
 * runs belong to one task. The same values are added to the object `of` (may be NULL). The caller
 * frees. */
char *orch_tasks_label(const struct orch_tasks *tasks, guint index, json_t *of);

#endif
