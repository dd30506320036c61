/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drawings of a document, for programs that show it themselves: notebooks. */
#ifndef ORCH_CORE_RENDER_JSON_DRAWN_H
#define ORCH_CORE_RENDER_JSON_DRAWN_H

#include "core/render/document.h"

/** Adds to the JSON of a document (orch_document_json) the drawing of each chart, "svg", or why it
 * cannot be drawn, "obstacle". */
void orch_document_json_draw(json_t *json, const struct orch_document *document);

#endif
