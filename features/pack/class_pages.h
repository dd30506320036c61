/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to features/pack: a page for each hand-in of a class. */
#ifndef ORCH_FEATURES_PACK_CLASS_PAGES_H
#define ORCH_FEATURES_PACK_CLASS_PAGES_H

#include "features/pack/verify_show.h"

/** Writes OUT/index.html with all hand-ins (struct orch_graded), and OUT/HANDIN/index.html for each
 * one: its parts with the points proposed and the reason, the numbers that differ, its problems and
 * the runs that it has in common with others (`found`, of orch_class_compare; `folder` is that of
 * the hand-ins). Files that orch did not write are not replaced. */
bool orch_class_pages_write(const GArray *handins, const GPtrArray *found, const char *folder,
                            const char *out, GError **error);

#endif
