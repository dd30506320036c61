/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads many objects of a repository by one `git cat-file --batch`. */
#ifndef ORCH_VCS_GIT_OBJECTS_H
#define ORCH_VCS_GIT_OBJECTS_H

#include <glib.h>
#include <stdbool.h>

/** Gets the bytes of one object; `index` is the line of its id. */
typedef void (*orch_git_object_fn)(void *ctx, unsigned index, const char *bytes, size_t length);
/** Reads objects of a repository, all of `type` ("blob"), by their `ids`, one a line, and calls
 * `visit` for each in this order. Fails with ORCH_ERROR_IO when git does, or at the first object
 * that is missing or of another type. */
bool orch_git_objects(const char *dir, const GString *ids, const char *type,
                      orch_git_object_fn visit, void *ctx, GError **error);

#endif
