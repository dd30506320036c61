/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people read instead of the names of metrics and parameters: the labels that plugins declare.
 */
#ifndef ORCH_CORE_REPORT_LABELS_H
#define ORCH_CORE_REPORT_LABELS_H

#include "lib/wire/manifest.h"

#include <stdbool.h>

/** Returns an empty table of labels, name -> label. The caller unrefs. */
GHashTable *orch_labels_new(void);
/** Adds the labels that a plugin declares. Where two plugins call one name by different labels, the
 * first keeps it. */
void orch_labels_add(GHashTable *labels, const struct orch_manifest *manifest);
/** Adds a name that is declared without a label, such as that of a recipe's formula. */
void orch_labels_add_name(GHashTable *labels, const char *name);
/** Adds the names of `more`; a name that has a label keeps it. */
void orch_labels_join(GHashTable *labels, GHashTable *more);
/** Returns the label of a name: a declared one, or that of a metric of the machine. NULL: the name
 * has none. `labels` may be NULL. Borrowed. */
const char *orch_label_of(GHashTable *labels, const char *name);
/** Returns whether a plugin declares the name, with or without a label, or it is one of orch's own.
 * Any other was printed by a program. `labels` may be NULL. */
bool orch_label_is_declared(GHashTable *labels, const char *name);

#endif
