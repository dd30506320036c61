/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that tell settings apart where none are asked for. */
#ifndef ORCH_CORE_STATS_VARYING_NAMES_H
#define ORCH_CORE_STATS_VARYING_NAMES_H

#include "store/store.h"

/** Stands for the command of runs that 'orch try' made (tried_command.h). */
#define ORCH_COMMAND_FIELD "command"

/** Returns the names by whose values runs are told apart (NULL-terminated; the caller frees): the
 * experiment and the swept parameters that vary, but for the seed, whose values are repeats. Then
 * the other parameters, and at last the command, in which runs of one setting by these names and of
 * one seed differ: they are no repeats of each other. NULL when the store cannot be read. */
char **orch_varying_names(struct orch_store *store, const GPtrArray *runs, GError **error);

/** What is said of means over runs of several settings, with the names in which they differ. */
#define ORCH_MIXED_WORDS "means include runs that differ in %s"
/** Adds to `names` (char *, owned) the names by whose values these runs are told apart, each once.
 * The runs count as those of one setting, so their mean is also over these values. Names in `skip`
 * (NULL-terminated, or NULL) are not added. */
bool orch_mixed_names_add(struct orch_store *store, const GPtrArray *runs, const char *const *skip,
                          GPtrArray *names, GError **error);
/** How ORCH_MIXED_WORDS names such a name: "experiments". Borrowed from `name`, or constant. */
const char *orch_mixed_word(const char *name);
/** ORCH_MIXED_WORDS with these names (char *) as they are; NULL without any. The caller frees. */
char *orch_mixed_sentence(const GPtrArray *names);

#endif
