/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/drawing.h"

#include "core/render/font.h"
#include "lib/base/error.h"
#include "lib/base/program_path.h"

#include <dlfcn.h>

/* Mean advance width of DejaVu Sans, for layouts without the module. */
static const double WIDTH_WITHOUT_FONT = 0.6;

static const struct orch_drawing *open_module(GError **error)
{
    g_autofree char *path = orch_program_path("orch-cairo.so", error);
    const struct orch_drawing *(*get)(void) = NULL;
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (module)
        *(void **)&get = dlsym(module, ORCH_DRAWING_SYMBOL);
    const struct orch_drawing *drawing = get ? get() : NULL;
    if (drawing && drawing->struct_bytes == sizeof *drawing)
        return drawing;
    if (path)
        orch_error_set(error, ORCH_ERROR_IO, "build or install orch again", "cannot load '%s': %s",
                       path, get ? "the library is from another version of orch" : dlerror());
    return NULL;
}

/* Loads the module once. NULL with ORCH_ERROR_IO when it is missing or incompatible. */
static const struct orch_drawing *drawing_load(GError **error)
{
    static const struct orch_drawing *loaded;
    if (!loaded)
        loaded = open_module(error);
    return loaded;
}

static double width_of(gunichar c)
{
    const struct orch_drawing *drawing = drawing_load(NULL);
    return drawing ? drawing->width(c) : WIDTH_WITHOUT_FONT;
}

struct orch_ruler orch_font_ruler(double size)
{
    return (struct orch_ruler){width_of, size};
}

char *orch_pen_png(const struct orch_pen *pen, gsize *out_length, GError **error)
{
    const struct orch_drawing *drawing = drawing_load(error);
    return drawing ? drawing->png(pen, out_length, error) : NULL;
}

char *orch_pen_pdf(const struct orch_pen *pen, const char *title, gsize *out_length, GError **error)
{
    const struct orch_drawing *drawing = drawing_load(error);
    return drawing ? drawing->pdf(pen, title, out_length, error) : NULL;
}
