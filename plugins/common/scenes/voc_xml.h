/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: an annotation file of Pascal VOC. The file is untrusted input: GLib's
 * parser knows no entities but XML's own, and size, depth and objects are bounded. */
#ifndef ORCH_PLUGINS_COMMON_VOC_XML_H
#define ORCH_PLUGINS_COMMON_VOC_XML_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_VOC_XML_BYTES_MAX (8 * 1024 * 1024)

struct orch_voc_object {
    char *name;
    int line;                      /* on which its element begins */
    double xmin, ymin, xmax, ymax; /* pixels from 1; the box ends with pixel (xmax, ymax) */
    bool is_difficult, is_truncated;
    unsigned seen; /* for the parser */
};

struct orch_voc_annotation {
    int width, height; /* 0: not said */
    GArray *objects;   /* struct orch_voc_object */
};

/** Parses `length` bytes; `name` is the file in messages. Elements that are not known are skipped.
 * Fails with NULL and ORCH_ERROR_IO, which names file and line. */
struct orch_voc_annotation *orch_voc_parse(const char *name, const char *text, gsize length,
                                           GError **error);
void orch_voc_annotation_free(struct orch_voc_annotation *annotation);

#endif
