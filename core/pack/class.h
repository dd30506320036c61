/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A class's hand-ins side by side: what each verification found, and which runs stand under two
 * names.
 *
 * A run that a pack has from somebody else is shared; it is declared where the pack names whoever
 * made it. The same key with another content, and another key with the same fingerprint and the
 * same measurements to the last bit, are copies under another name. Equal accuracies prove nothing:
 * a deterministic trial gives them to everybody. So only times count: when it began, how long it
 * took, and when within it each point came, all in nanoseconds.
 */
#ifndef ORCH_PACK_CLASS_H
#define ORCH_PACK_CLASS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct orch_handin {
    char *file;
    json_t *outcome; /* as 'orch verify FILE --json --facts' prints it; NULL: see why */
    char *why;       /* why it could not be verified */
    unsigned shared, undeclared, copies; /* runs */
};
struct orch_handin *orch_handin_new(const char *file);
void orch_handin_free(struct orch_handin *handin);

/** Something that two hand-ins have in common. */
struct orch_in_common {
    const char *kind;         /* "copied run", "undeclared run", "shared run", "equal time" (how
                                 long it took and nothing else; it may be chance), "same name" (two
                                 hand-ins by one person; without runs): static */
    const char *file, *other; /* borrowed from the hand-ins; other: NULL, or whose it is */
    char *experiment, *run, *other_run;
    char *what; /* exactly what is equal, and what is not */
};
void orch_in_common_free(struct orch_in_common *common);

/** Compares all hand-ins (struct orch_handin *) and fills their counts. struct orch_in_common *,
 * copies first; the caller unrefs. */
GPtrArray *orch_class_compare(GPtrArray *handins);

#endif
