/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/scenes/voc_xml.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/boxes/box.h"
#include "plugins/common/scenes/scene_readers.h"

#include <string.h>

#define DEPTH_MAX 16
#define VALUE_CHARS_MAX 255
#define PATH_CHARS_MAX 1023

enum { NAME, XMIN, YMIN, XMAX, YMAX, DIFFICULT, TRUNCATED, WIDTH, HEIGHT, FIELDS };

static const char *const PATHS[FIELDS] = {
    [NAME] = "annotation/object/name",           [XMIN] = "annotation/object/bndbox/xmin",
    [YMIN] = "annotation/object/bndbox/ymin",    [XMAX] = "annotation/object/bndbox/xmax",
    [YMAX] = "annotation/object/bndbox/ymax",    [DIFFICULT] = "annotation/object/difficult",
    [TRUNCATED] = "annotation/object/truncated", [WIDTH] = "annotation/size/width",
    [HEIGHT] = "annotation/size/height",
};
static const char *const LEAVES[] = {"name", "xmin", "ymin", "xmax", "ymax"};
#define OBJECT "annotation/object"

struct parser {
    const char *name;
    struct orch_voc_annotation *out;
    GString *path; /* names of the open elements, joined by '/' */
    int depth;
    int field;      /* of the open element; FIELDS: none */
    GString *value; /* its text */
    bool has_root;
    int line; /* that is being parsed */
};

static void fail(const struct parser *p, int line, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO, "correct the file", "%s\n  at: %s:%d", what, p->name,
                   line);
}

static struct orch_voc_object *last_object(const struct parser *p)
{
    return &g_array_index(p->out->objects, struct orch_voc_object, p->out->objects->len - 1);
}

static void on_start(GMarkupParseContext *context, const char *element, const char **names,
                     const char **values, gpointer data, GError **error)
{
    struct parser *p = data;
    const int line = p->line;
    (void)context;
    (void)names;
    (void)values;
    if (++p->depth > DEPTH_MAX || p->path->len + strlen(element) + 1 > PATH_CHARS_MAX) {
        fail(p, line, "elements are nested more than 16 deep, or their names are too long", error);
        return;
    }
    if (p->depth == 1 && strcmp(element, "annotation") != 0) {
        fail(p, line, "not an annotation of Pascal VOC: the first element is not 'annotation'",
             error);
        return;
    }
    p->has_root = true;
    if (p->depth > 1)
        g_string_append_c(p->path, '/');
    g_string_append(p->path, element);
    for (p->field = 0; p->field < FIELDS && strcmp(p->path->str, PATHS[p->field]) != 0;)
        p->field++;
    g_string_truncate(p->value, 0);
    if (strcmp(p->path->str, OBJECT) != 0)
        return;
    const struct orch_voc_object object = {.line = line};
    if (p->out->objects->len >= ORCH_BOXES_OF_IMAGE_MAX)
        fail(p, line, "an image has more than 4096 objects", error);
    else
        g_array_append_val(p->out->objects, object);
}

/* Sets a field of the last object, or of the image. Returns false if the text is no such value. */
static bool set_field(struct parser *p, const char *text)
{
    double number = 0;
    if (p->field != NAME && !orch_real_parse(text, &number))
        return false;
    if (p->field >= WIDTH) {
        if (number < 0 || number > 1e6)
            return false;
        *(p->field == WIDTH ? &p->out->width : &p->out->height) = (int)number;
        return true;
    }
    struct orch_voc_object *object = last_object(p);
    double *const numbers[] = {[XMIN] = &object->xmin,
                               [YMIN] = &object->ymin,
                               [XMAX] = &object->xmax,
                               [YMAX] = &object->ymax};
    if (object->seen & 1U << p->field)
        return false;
    object->seen |= 1U << p->field;
    if (p->field == NAME)
        object->name = g_strdup(text);
    else if (p->field <= YMAX)
        *numbers[p->field] = number;
    else
        *(p->field == DIFFICULT ? &object->is_difficult : &object->is_truncated) = number != 0;
    return p->field != NAME || *text;
}

static void end_field(struct parser *p, int line, GError **error)
{
    g_autofree char *text = g_strstrip(g_strdup(p->value->str));
    if (set_field(p, text))
        return;
    g_autofree char *shown = orch_scene_shown(text);
    g_autofree char *what = g_strdup_printf("'%s' in '%s' is not expected there, or comes twice",
                                            shown, PATHS[p->field]);
    fail(p, line, what, error);
}

static void end_object(struct parser *p, GError **error)
{
    const struct orch_voc_object *object = last_object(p);
    for (int i = 0; i <= YMAX; i++) {
        if (object->seen & 1U << i)
            continue;
        g_autofree char *what = g_strdup_printf("the object has no '%s'", LEAVES[i]);
        fail(p, object->line, what, error);
        return;
    }
}

static void on_end(GMarkupParseContext *context, const char *element, gpointer data, GError **error)
{
    struct parser *p = data;
    (void)context;
    if (p->field < FIELDS)
        end_field(p, p->line, error);
    else if (strcmp(p->path->str, OBJECT) == 0)
        end_object(p, error);
    p->field = FIELDS;
    p->depth--;
    g_string_truncate(p->path, p->path->len - strlen(element) - (p->depth ? 1 : 0));
}

static void on_text(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                    GError **error)
{
    struct parser *p = data;
    (void)context;
    if (p->field == FIELDS)
        return;
    if (p->value->len + length > VALUE_CHARS_MAX)
        fail(p, p->line, "a value has more than 255 characters", error);
    else
        g_string_append_len(p->value, text, (gssize)length);
}

/* Comments and the XML declaration are skipped; a DOCTYPE could define entities. */
static void on_other(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                     GError **error)
{
    const struct parser *p = data;
    (void)context;
    if (length >= 9 && g_ascii_strncasecmp(text, "<!DOCTYPE", 9) == 0)
        fail(p, p->line, "the file has a DOCTYPE, but must have none", error);
}

static void clear_object(gpointer object)
{
    g_free(((struct orch_voc_object *)object)->name);
}

void orch_voc_annotation_free(struct orch_voc_annotation *annotation)
{
    if (!annotation)
        return;
    g_array_unref(annotation->objects);
    g_free(annotation);
}

/* GLib's own messages begin with its line. */
static void take_parse_error(const struct parser *p, GError *found, GError **error)
{
    if (found->domain != G_MARKUP_ERROR) {
        g_propagate_error(error, found);
        return;
    }
    const char *text = strstr(found->message, ": ");
    g_autofree char *valid = g_utf8_make_valid(text ? text + 2 : found->message, -1);
    g_autofree char *what = g_strdup_printf("not well-formed XML: %s", orch_text_line(valid));
    fail(p, p->line, what, error);
    g_error_free(found);
}

/* GLib's parser does not stop at every byte that is no UTF-8. */
static bool is_text(struct parser *p, const char *text, gsize length, GError **error)
{
    const char *odd;
    if (g_utf8_validate_len(text, length, &odd))
        return true;
    int line = 1;
    for (const char *c = text; c < odd; c++)
        line += *c == '\n';
    fail(p, line, "the XML is not well-formed: the file is not UTF-8", error);
    return false;
}

/* GLib counts a line break before it calls back for the tag in front of it, so lines are counted
 * here. */
static bool parse_lines(struct parser *p, GMarkupParseContext *context, const char *text,
                        gsize length, GError **error)
{
    for (const char *at = text, *end = text + length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const gssize bytes = (stop ? stop + 1 : end) - at;
        p->line++;
        if (!g_markup_parse_context_parse(context, at, bytes, error))
            return false;
        at += bytes;
    }
    p->line = MAX(p->line, 1);
    return true;
}

struct orch_voc_annotation *orch_voc_parse(const char *name, const char *text, gsize length,
                                           GError **error)
{
    static const GMarkupParser parser = {on_start, on_end, on_text, on_other, NULL};
    struct parser p = {.name = name, .field = FIELDS};
    GError *found = NULL;
    p.out = g_new0(struct orch_voc_annotation, 1);
    p.out->objects = g_array_new(FALSE, TRUE, sizeof(struct orch_voc_object));
    g_array_set_clear_func(p.out->objects, clear_object);
    p.path = g_string_new(NULL);
    p.value = g_string_new(NULL);
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* as Windows writes it */
        text += 3;
        length -= 3;
    }
    GMarkupParseContext *context =
        g_markup_parse_context_new(&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &p, NULL);
    const bool is_read =
        is_text(&p, text, length, &found) && parse_lines(&p, context, text, length, &found);
    bool ok = is_read && g_markup_parse_context_end_parse(context, &found);
    if (found)
        take_parse_error(&p, found, error);
    if (ok && !p.has_root) {
        fail(&p, 1, "the file is no annotation of Pascal VOC: it has no element", error);
        ok = false;
    }
    g_markup_parse_context_free(context);
    g_string_free(p.path, TRUE);
    g_string_free(p.value, TRUE);
    if (!ok)
        g_clear_pointer(&p.out, orch_voc_annotation_free);
    return p.out;
}
