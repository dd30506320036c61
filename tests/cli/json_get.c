/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_get PATH: a value of the JSON text on stdin, for the 'json' of lib.sh. PATH is keys and
 * places in lists, e.g. runs.0.state; '#' is a length. Text comes as it is, all else as Python
 * would write it ('0.5', '2.0', 'null', '[1, 2]'). A program, for a script asks for many values and
 * an interpreter takes twenty times as long. */
#include "lib/base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *member(json_t *value, const char *key)
{
    if (strcmp(key, "#") == 0)
        return json_integer(
            (json_int_t)(json_is_array(value) ? json_array_size(value) : json_object_size(value)));
    json_t *found = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                         : json_object_get(value, key);
    return json_incref(found);
}

static void print(const json_t *value)
{
    if (json_is_string(value)) {
        puts(json_string_value(value));
    } else if (json_is_real(value)) {
        char text[ORCH_REAL_CHARS];
        orch_real_format(json_real_value(value), text);
        printf("%s%s\n", text, strspn(text, "-0123456789") == strlen(text) ? ".0" : "");
    } else {
        json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *value = argc == 2 ? json_loadf(stdin, JSON_DECODE_ANY, &error) : NULL;
    if (!value) {
        fprintf(stderr, "json_get: %s\n", argc == 2 ? error.text : "usage: json_get PATH <JSON");
        return 1;
    }
    g_auto(GStrv) keys = g_strsplit(argv[1], ".", -1);
    for (char **key = keys; *key; key++) {
        json_t *next = member(value, *key);
        json_decref(value);
        value = next;
        if (!value) {
            fprintf(stderr, "json_get: no '%s' on the way to '%s'\n", *key, argv[1]);
            return 1;
        }
    }
    print(value);
    json_decref(value);
    return 0;
}
