/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the transforms make of a few training images, as a picture. */
#ifndef ORCH_PLUGINS_BATCHAUG_COPIES_PICTURE_H
#define ORCH_PLUGINS_BATCHAUG_COPIES_PICTURE_H

#include "plugins/common/training/session.h"

/** Writes a PNG with a row for an image of each of two classes: the image itself, the image with
 * the cutout alone (if the transforms have one), and four transformed copies. Appends to
 * `description` what that is. Fails where the transforms are invalid or the file cannot be written.
 */
bool orch_batchaug_picture(const struct orch_session *session, const char *path,
                           GString *description, GError **error);

#endif
