/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hand-in: a ZIP archive of notebooks and, for verification, a pack. */
#ifndef ORCH_FEATURES_PACK_HANDIN_H
#define ORCH_FEATURES_PACK_HANDIN_H

#include "core/render/notebook.h"

/** The pack of a hand-in, extracted into a scratch folder. All NULL when the file is no archive. */
struct orch_unpacked_handin {
    char *folder;
    char *path;        /* of the extracted pack */
    char *name;        /* of the pack in the archive */
    GPtrArray *others; /* char *: the other files, which are not verified */
};
/** Extracts the pack of the archive at `path`. Succeeds with nothing for another file.
 * ORCH_ERROR_IO when there is no pack in the archive or it is damaged. Clear with
 * orch_unpacked_handin_clear in both cases. */
bool orch_handin_unpack(const char *path, struct orch_unpacked_handin *out, GError **error);
void orch_unpacked_handin_clear(struct orch_unpacked_handin *handin);

/** Writes notebooks (struct orch_notebook *) and a pack (a path; NULL: none) into the archive
 * `path`, each notebook as OWNER_NAME. */
bool orch_handin_write(const char *path, const char *owner, const GPtrArray *notebooks,
                       const char *pack, GError **error);

#endif
