/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: the layouts of sets on disk. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_READERS_H
#define ORCH_PLUGINS_COMMON_SCENE_READERS_H

#include "plugins/common/scenes/scene_open.h"

struct orch_scene_reader {
    /** The folder at `folder`, or below it, that has a set of this layout; NULL: none. Caller
     * frees. */
    char *(*find)(const char *folder, enum orch_split split);
    /** Reads the set in a folder that `find` returned, and appends the paths of all lists and
     * annotations that it reads to `files`. */
    struct orch_scene_set *(*read)(const char *folder, const struct orch_scene_options *options,
                                   GPtrArray *files, GError **error);
};

extern const struct orch_scene_reader orch_scene_reader_voc, orch_scene_reader_open_images;

/** The beginning of a text from a file, for a message: valid UTF-8 in one line. Caller frees. */
char *orch_scene_shown(const char *text);

/** The IDs of images become names of files. True for one that stays in its folder. */
static inline bool orch_scene_id_is_valid(const char *id)
{
    for (const char *c = id; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ')
            return false;
    return *id && *id != '.';
}

#endif
