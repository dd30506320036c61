/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named source sets: groups of classes of a data set. */
#ifndef ORCH_PLUGINS_SOURCESEL_SOURCE_SETS_H
#define ORCH_PLUGINS_SOURCESEL_SOURCE_SETS_H

#include <orch/plugin.h>

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_SOURCE_SETS_MAX 256

struct orch_source_set {
    char *name;
    GArray *classes; /* int64_t */
};

/** Parses texts such as "shoes 5 7", a name and its classes, and keeps the sets that `use` names
 * (const char *, in their order; empty: all). Fails with ORCH_ERROR_RECIPE for an empty list, a set
 * without a class, what is no class number, a class or a name that occurs twice, and an unknown
 * name in `use`. Returns struct orch_source_set *; the caller unrefs. */
GPtrArray *orch_source_sets_parse(const struct orch_list *texts, const struct orch_list *use,
                                  GError **error);

/** All classes of the sets in their order, int64_t. The caller unrefs. */
GArray *orch_source_sets_classes(const GPtrArray *sets);

/** Returns the index of the set that a class belongs to, -1: none. */
int orch_source_sets_find(const GPtrArray *sets, int64_t class_number);

#endif
