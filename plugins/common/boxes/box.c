/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/boxes/box.h"

#include "lib/base/error.h"

struct orch_box orch_box_clip(struct orch_box box)
{
    return orch_box_overlap(box, (struct orch_box){0, 0, 1, 1});
}

static bool check_box(const struct orch_box_batch *batch, int64_t image, int64_t i, int classes,
                      GError **error)
{
    const struct orch_box box = batch->boxes[i];
    const int64_t at = i - batch->first[image];
    if (!orch_box_is_proper(box))
        orch_error_set(error, ORCH_ERROR_RECIPE, "check the boxes of the data set",
                       "image %" G_GINT64_FORMAT " of the batch: box %" G_GINT64_FORMAT
                       " is empty, inverted or not finite (%g, %g, %g, %g)",
                       image, at, (double)box.x1, (double)box.y1, (double)box.x2, (double)box.y2);
    else if (batch->labels[i] < 1 || batch->labels[i] >= classes)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "image %" G_GINT64_FORMAT " of the batch: box %" G_GINT64_FORMAT
                       " has label %d, expected 1 to %d",
                       image, at, batch->labels[i], classes - 1);
    else
        return true;
    return false;
}

bool orch_box_batch_check(const struct orch_box_batch *batch, int classes, GError **error)
{
    for (int64_t image = 0; image < batch->images; image++) {
        const int64_t from = batch->first[image], to = batch->first[image + 1];
        if (to < from || to - from > ORCH_BOXES_OF_IMAGE_MAX) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "image %" G_GINT64_FORMAT " of the batch has %" G_GINT64_FORMAT
                           " boxes; 0 to %d are possible",
                           image, to - from, ORCH_BOXES_OF_IMAGE_MAX);
            return false;
        }
        for (int64_t i = from; i < to; i++)
            if (!check_box(batch, image, i, classes, error))
                return false;
    }
    return true;
}
