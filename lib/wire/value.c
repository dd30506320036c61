/* SPDX-License-Identifier: MIT */
/* Converts text and JSON to canonical values. One table row per type; lists apply the row to each
 * element. */
#include "lib/wire/value.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

static uint32_t element_type(const struct orch_param_spec *spec)
{
    return spec->type & ~(uint32_t)ORCH_LIST;
}

/* ---- scalars ----------------------------------------------------------------------------------
 */

/* Each reader returns a new reference, or NULL if the text is not of its type. */

static json_t *read_bool(const char *text)
{
    static const struct {
        const char *text;
        int value;
    } words[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"on", 1}, {"off", 0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(text, words[i].text) == 0)
            return json_boolean(words[i].value);
    return NULL;
}

static json_t *read_int(const char *text)
{
    int64_t value;
    return orch_int_parse(text, &value) ? json_integer(value) : NULL;
}

static json_t *read_real(const char *text)
{
    double value;
    return orch_real_parse(text, &value) ? json_real(value) : NULL;
}

static json_t *read_string(const char *text)
{
    return json_string(text); /* NULL if it is not UTF-8 */
}

/* Parses NUMBER and the unit of a quantity after it. Returns the position after both, or NULL.
 * `*out_unit` is NULL if there is no unit. */
static const char *read_quantity(const char *text, enum orch_quantity quantity, double *out_number,
                                 const struct orch_unit **out_unit)
{
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0)
        return NULL;
    /* an exponent, unless the 'e' begins a unit */
    if ((text[digits] == 'e' || text[digits] == 'E') &&
        (g_ascii_isdigit(text[digits + 1]) ||
         (text[digits + 1] && strchr("+-", text[digits + 1]) && g_ascii_isdigit(text[digits + 2]))))
        digits += 2 + strspn(text + digits + 2, "0123456789");
    g_autofree char *number = g_strndup(text, digits);
    if (!orch_real_parse(number, out_number))
        return NULL;
    const char *p = text + digits;
    while (*p == ' ')
        p++;
    size_t letters = 0;
    while (g_ascii_isalpha(p[letters]))
        letters++;
    *out_unit = letters ? orch_unit_typed(p, letters, quantity) : NULL;
    return letters && !*out_unit ? NULL : p + letters;
}

static json_t *read_duration(const char *text)
{
    double total = 0, last_factor = INFINITY;
    for (const char *p = text; *p;) {
        double number;
        const struct orch_unit *unit;
        const char *end = read_quantity(p, ORCH_QUANTITY_TIME, &number, &unit);
        /* parts descend in size; a number without a unit must be the only part */
        if (!end || (unit ? unit->factor >= last_factor : p != text || *end))
            return NULL;
        last_factor = unit ? unit->factor : 1;
        total += number * last_factor;
        for (p = end; *p == ' ';)
            p++;
    }
    return *text && isfinite(total) ? json_real(total) : NULL;
}

static json_t *read_bytes(const char *text)
{
    int64_t plain;
    if (orch_int_parse(text, &plain))
        return plain < 0 ? NULL : json_integer(plain);
    double number;
    const struct orch_unit *unit;
    const char *end = read_quantity(text, ORCH_QUANTITY_BYTES, &number, &unit);
    if (!end || *end || !unit)
        return NULL;
    double bytes = number * unit->factor;
    return floor(bytes) == bytes && bytes <= 0x1p62 ? json_integer((int64_t)bytes) : NULL;
}

static json_t *read_money(const char *text)
{
    const char *first = text + (*text == '$');
    size_t length = strlen(first);
    if (first == text && (g_str_has_suffix(first, "USD") || g_str_has_suffix(first, "usd")))
        length -= 3;
    while (length && first[length - 1] == ' ')
        length--;
    g_autofree char *number = g_strndup(first, length);
    double value;
    return orch_real_parse(number, &value) ? json_real(value) : NULL;
}

static const struct type_row {
    const char *what; /* "'x' is not <what>" */
    json_t *(*read)(const char *text);
} TYPES[] = {
    [ORCH_BOOL] = {"true or false", read_bool},
    [ORCH_INT] = {"an integer", read_int},
    [ORCH_REAL] = {"a real number", read_real},
    [ORCH_STRING] = {"text", read_string},
    [ORCH_ENUM] = {"text", read_string},
    [ORCH_PATH] = {"a path", read_string},
    [ORCH_ARTIFACT] = {"a path", read_string},
    [ORCH_DURATION] = {"a duration such as 90, 30s, 5min or 1h30min", read_duration},
    [ORCH_BYTES] = {"a size such as 4096, 64KiB or 2GB", read_bytes},
    [ORCH_MONEY] = {"an amount such as 0.90, $0.90 or 0.90 USD", read_money},
    [ORCH_SECRET] = {"text", read_string},
};

static const struct type_row *type_row(const struct orch_param_spec *spec)
{
    uint32_t type = element_type(spec);
    return type && type < G_N_ELEMENTS(TYPES) ? &TYPES[type] : NULL;
}

/* ---- bounds and choices -----------------------------------------------------------------------
 */

static bool choice_is_known(const struct orch_param_spec *spec, const char *text, GError **error)
{
    if (element_type(spec) != ORCH_ENUM ||
        (spec->choices && g_strv_contains((const char *const *)spec->choices, text)))
        return true;
    g_autofree char *hint = orch_suggest_hint(text, (const char *const *)spec->choices);
    g_autofree char *all = spec->choices ? g_strjoinv("', '", spec->choices) : g_strdup("");
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "parameter '%s': '%s' is not one of '%s'",
                   spec->name, text, all);
    return false;
}

static bool bound_holds(const struct orch_param_spec *spec, const json_t *value, const char *bound,
                        bool is_max, GError **error)
{
    const struct type_row *row = type_row(spec);
    if (!bound || !row || !json_is_number(value))
        return true;
    g_autoptr(json_t) limit = row->read(bound);
    double a = json_number_value(value), b = limit ? json_number_value(limit) : a;
    if (is_max ? a <= b : a >= b)
        return true;
    char number[ORCH_REAL_CHARS];
    g_autofree char *shown =
        json_is_integer(value) ? g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value))
                               : g_strdup(orch_real_format(a, number));
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "parameter '%s': %s is %s %s", spec->name, shown,
                   is_max ? "above its maximum" : "below its minimum", bound);
    return false;
}

/* Consumes `value`; returns it if it is valid. */
static json_t *admit(const struct orch_param_spec *spec, json_t *value, GError **error)
{
    if ((json_is_string(value) && !choice_is_known(spec, json_string_value(value), error)) ||
        !bound_holds(spec, value, spec->min, false, error) ||
        !bound_holds(spec, value, spec->max, true, error)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *refuse(const struct orch_param_spec *spec, const char *text, GError **error)
{
    const struct type_row *row = type_row(spec);
    g_autoptr(json_t) without_sign = row && *text == '-' ? row->read(text + 1) : NULL;
    bool is_negative = json_is_number(without_sign);
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "parameter '%s': '%s' is %s%s", spec->name, text,
                   is_negative ? "negative; expected " : "not ",
                   row ? row->what : "of a known type");
    return NULL;
}

/* ---- numbers as they are written ---------------------------------------------------------------
 */

static bool is_number_type(const struct orch_param_spec *spec)
{
    return element_type(spec) == ORCH_INT || element_type(spec) == ORCH_REAL;
}

/* An integer of more than 64 bits, as a real that stands for it; NULL for any other text. */
static json_t *read_long_int(const struct orch_param_spec *spec, const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    bool is_whole = *digits && !digits[strspn(digits, "0123456789")];
    return spec->keeps_text && element_type(spec) == ORCH_INT && is_whole ? read_real(text) : NULL;
}

/* Consumes `value`, which `text` was read as. Returns the text itself if a program would otherwise
 * get another spelling. */
static json_t *keep_text(const struct orch_param_spec *spec, json_t *value, const char *text)
{
    if (!value || !spec->keeps_text || !is_number_type(spec))
        return value;
    g_autofree char *written = orch_value_format_json(value);
    if (strcmp(written, text) == 0)
        return value;
    json_decref(value);
    return json_string(text);
}

bool orch_value_number(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    int64_t whole;
    if (text && orch_int_parse(text, &whole)) {
        *out = (double)whole;
        return true;
    }
    return text && orch_real_parse(text, out);
}

json_t *orch_value_parse_scalar(const struct orch_param_spec *spec, const char *text,
                                GError **error)
{
    const struct type_row *row = type_row(spec);
    json_t *value = row ? row->read(text) : NULL;
    if (!value)
        value = read_long_int(spec, text);
    return value ? keep_text(spec, admit(spec, value, error), text) : refuse(spec, text, error);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

/* Reads one element of "[a, 'b', "c"]" up to the next comma or the end. NULL if a quote is not
 * closed. Caller frees. */
static char *take_element(const char **p, const char *end)
{
    const char *at = *p;
    while (at < end && g_ascii_isspace(*at))
        at++;
    const char *first = at, *stop;
    if (at < end && (*at == '"' || *at == '\'')) {
        first = at + 1;
        stop = memchr(first, *at, (size_t)(end - first));
        if (!stop)
            return NULL;
        for (at = stop + 1; at < end && g_ascii_isspace(*at);)
            at++;
        if (at < end && *at != ',')
            return NULL;
    } else {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        at = comma ? comma : end;
        for (stop = at; stop > first && g_ascii_isspace(stop[-1]);)
            stop--;
    }
    *p = at;
    return g_strndup(first, (size_t)(stop - first));
}

static json_t *parse_list(const struct orch_param_spec *spec, const char *text, const char *end,
                          GError **error)
{
    g_autoptr(json_t) list = json_array();
    const char *p = text;
    while (p < end && g_ascii_isspace(*p))
        p++;
    while (p < end) {
        g_autofree char *element = take_element(&p, end);
        if (!element)
            return refuse(spec, text, error);
        json_t *value = orch_value_parse_scalar(spec, element, error);
        if (!value)
            return NULL;
        json_array_append_new(list, value);
        if (p < end && ++p == end) /* a comma without an element after it */
            return refuse(spec, "", error);
    }
    return g_steal_pointer(&list);
}

json_t *orch_value_parse(const struct orch_param_spec *spec, const char *text, GError **error)
{
    if (!(spec->type & ORCH_LIST))
        return orch_value_parse_scalar(spec, text, error);
    size_t length = strlen(text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']')
        return parse_list(spec, text + 1, text + length - 1, error);
    json_t *value = orch_value_parse_scalar(spec, text, error);
    return value ? json_pack("[o]", value) : NULL;
}

/* ---- from JSON --------------------------------------------------------------------------------
 */

/* Converts a JSON number to the type's canonical form; NULL if the type does not accept it. */
static json_t *from_number(const struct orch_param_spec *spec, const json_t *value)
{
    double real = json_number_value(value);
    switch (element_type(spec)) {
    case ORCH_INT:
    case ORCH_BYTES:
        if (json_is_integer(value))
            return json_integer(json_integer_value(value));
        return floor(real) == real && fabs(real) <= 0x1p53 ? json_integer((json_int_t)real) : NULL;
    case ORCH_REAL:
    case ORCH_DURATION:
    case ORCH_MONEY:
        return json_real(real);
    default:
        return NULL;
    }
}

static json_t *scalar_from_json(const struct orch_param_spec *spec, const json_t *value,
                                GError **error)
{
    if (json_is_string(value))
        return orch_value_parse_scalar(spec, json_string_value(value), error);
    json_t *canonical = NULL;
    if (json_is_number(value))
        canonical = from_number(spec, value);
    else if (json_is_boolean(value) && element_type(spec) == ORCH_BOOL)
        canonical = json_boolean(json_is_true(value));
    if (canonical)
        return admit(spec, canonical, error);
    g_autofree char *text = orch_value_format_json(value);
    return refuse(spec, text, error);
}

json_t *orch_value_from_json(const struct orch_param_spec *spec, const json_t *value,
                             GError **error)
{
    if (json_is_null(value) && spec->flags & ORCH_PARAM_OPTIONAL)
        return json_null();
    if (!(spec->type & ORCH_LIST))
        return scalar_from_json(spec, value, error);
    if (json_is_string(value))
        return orch_value_parse(spec, json_string_value(value), error);
    g_autoptr(json_t) list = json_array();
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        json_t *element = scalar_from_json(spec, item, error);
        if (!element)
            return NULL;
        json_array_append_new(list, element);
    }
    return g_steal_pointer(&list);
}

json_t *orch_value_default(const struct orch_param_spec *spec)
{
    if (spec->def)
        return orch_value_parse(spec, spec->def, NULL);
    return spec->flags & ORCH_PARAM_OPTIONAL ? json_null() : NULL;
}
