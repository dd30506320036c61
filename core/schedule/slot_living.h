/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which entries of the list of slots count. Anybody may write a file of their own into its folder,
 * so an entry says nothing until the kernel confirms it. */
#ifndef ORCH_CORE_SCHEDULE_SLOT_LIVING_H
#define ORCH_CORE_SCHEDULE_SLOT_LIVING_H

#include <glib.h>

/** Removes the entries (struct orch_lease *) that do not count. An entry counts while its runner
 * lives, belongs to the owner of the file and began before the entry; else, with is_dead set, while
 * a process of its trial lives that belongs to this owner. */
void orch_slots_keep_living(GPtrArray *rows);

#endif
