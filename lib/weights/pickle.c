/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function per opcode, one row per name. Limits: each opcode creates at most one value, so
 * memory is linear in the pickle's length, with at most ORCH_PICKLE_VALUES_MAX values. Containers
 * hold pointers, so deep, shared or cyclic values cost no more. There is no recursion.
 *
 * Opcodes are documented in Python's pickletools. PyTorch writes protocol 2; callers can select 3
 * to 5, so their opcodes for plain data are supported too.
 */
#include "lib/weights/pickle.h"

#include "lib/base/error.h"

#include <string.h>

struct machine {
    const uint8_t *bytes;
    size_t length, at;
    struct orch_pickle *pickle;
    GPtrArray *stack;      /* struct orch_pickle_value * */
    GPtrArray *memo;       /* the same, NULL where nothing was stored */
    unsigned copied_count; /* items copied by calls, which the number of opcodes does not bound */
    bool is_stopped;
    unsigned argument; /* of the opcode that runs (OPCODES) */
    GError **error;
};

typedef struct orch_pickle_value value_t;

/* ---- errors, bytes, values ------------------------------------------------------------------ */

static bool damaged(const struct machine *m, const char *what)
{
    orch_error_set(m->error, ORCH_ERROR_IO, "the file may be truncated: copy or download it again",
                   "pickle is damaged at byte %" G_GSIZE_FORMAT ": %s", m->at, what);
    return false;
}

static const uint8_t *take(struct machine *m, uint64_t count)
{
    if (count > m->length - m->at) {
        damaged(m, "the pickle ends within a value");
        return NULL;
    }
    const uint8_t *bytes = m->bytes + m->at;
    m->at += count;
    return bytes;
}

/* Reads an integer of `size` bytes, little-endian. */
static bool take_number(struct machine *m, size_t size, uint64_t *out)
{
    const uint8_t *bytes = take(m, size);
    if (!bytes)
        return false;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)bytes[i] << 8 * i;
    return true;
}

static void value_free(void *pointer)
{
    value_t *value = pointer;
    if (value->items)
        g_ptr_array_unref(value->items);
    g_free(value);
}

static value_t *new_value(struct machine *m, enum orch_pickle_kind kind)
{
    if (m->pickle->values->len >= ORCH_PICKLE_VALUES_MAX) {
        orch_error_set(m->error, ORCH_ERROR_RECIPE, NULL, "pickle has more than %u values",
                       ORCH_PICKLE_VALUES_MAX);
        return NULL;
    }
    value_t *value = g_new0(value_t, 1);
    value->kind = kind;
    if (kind == ORCH_PICKLE_LIST || kind == ORCH_PICKLE_DICT || kind == ORCH_PICKLE_TUPLE ||
        kind == ORCH_PICKLE_STORAGE || kind == ORCH_PICKLE_TENSOR)
        value->items = g_ptr_array_new();
    g_ptr_array_add(m->pickle->values, value);
    return value;
}

static bool push(struct machine *m, value_t *value)
{
    if (value)
        g_ptr_array_add(m->stack, value);
    return value != NULL;
}

static bool push_number(struct machine *m, enum orch_pickle_kind kind, int64_t number)
{
    value_t *value = new_value(m, kind);
    if (value)
        value->number = number;
    return push(m, value);
}

/* The topmost value; NULL with an error if there is none or it is a mark. */
static value_t *top(struct machine *m)
{
    value_t *value = m->stack->len ? m->stack->pdata[m->stack->len - 1] : NULL;
    if (!value || value->kind == ORCH_PICKLE_MARK) {
        damaged(m, "a value is missing on the stack");
        return NULL;
    }
    return value;
}

static value_t *pop(struct machine *m)
{
    value_t *value = top(m);
    if (value)
        g_ptr_array_set_size(m->stack, (int)m->stack->len - 1);
    return value;
}

/* Index of the topmost mark; -1 with an error if there is none. */
static int find_mark(struct machine *m)
{
    for (int i = (int)m->stack->len - 1; i >= 0; i--)
        if (((const value_t *)m->stack->pdata[i])->kind == ORCH_PICKLE_MARK)
            return i;
    damaged(m, "the beginning of a list is missing on the stack");
    return -1;
}

/* Moves the stack entries from `first` on to the end of `items`. */
static void move_items(struct machine *m, unsigned first, GPtrArray *items)
{
    for (unsigned i = first; i < m->stack->len; i++)
        g_ptr_array_add(items, m->stack->pdata[i]);
    g_ptr_array_set_size(m->stack, (int)first);
}

/* Pops everything above the topmost mark, and the mark, into `items`. */
static bool move_marked(struct machine *m, GPtrArray *items)
{
    int mark = find_mark(m);
    if (mark < 0)
        return false;
    move_items(m, (unsigned)mark + 1, items);
    g_ptr_array_set_size(m->stack, mark);
    return true;
}

/* ---- supported names ------------------------------------------------------------------------ */

typedef bool (*reduce_fn)(struct machine *, const value_t *arguments);

/* OrderedDict() and, in Python 2's form, OrderedDict([[key, value], ...]). */
static bool reduce_dict(struct machine *m, const value_t *arguments)
{
    value_t *dict = new_value(m, ORCH_PICKLE_DICT);
    const value_t *pairs = orch_pickle_item(arguments, 0);
    for (unsigned i = 0; dict && pairs && pairs->items && i < pairs->items->len; i++) {
        const value_t *pair = pairs->items->pdata[i];
        if (!pair->items || pair->items->len != 2)
            return damaged(m, "OrderedDict is called with something other than pairs");
        if (++m->copied_count > ORCH_PICKLE_VALUES_MAX)
            return damaged(m, "the pickle has too many items");
        g_ptr_array_add(dict->items, pair->items->pdata[0]);
        g_ptr_array_add(dict->items, pair->items->pdata[1]);
    }
    return push(m, dict);
}

/* (storage, offset, sizes, strides, ...); further arguments concern gradients. */
static bool reduce_tensor(struct machine *m, const value_t *arguments)
{
    if (arguments->items->len < 4)
        return damaged(m, "a tensor has too few arguments");
    value_t *const *a = (value_t **)arguments->items->pdata;
    if (a[0]->kind != ORCH_PICKLE_STORAGE || a[1]->kind != ORCH_PICKLE_INT ||
        a[2]->kind != ORCH_PICKLE_TUPLE || a[3]->kind != ORCH_PICKLE_TUPLE)
        return damaged(m, "a tensor is not made of a storage, an offset, sizes and strides");
    value_t *tensor = new_value(m, ORCH_PICKLE_TENSOR);
    if (!tensor)
        return false;
    tensor->number = a[1]->number;
    g_ptr_array_add(tensor->items, a[0]);
    g_ptr_array_add(tensor->items, a[2]);
    g_ptr_array_add(tensor->items, a[3]);
    return push(m, tensor);
}

/* (tensor, requires_grad, hooks) becomes the tensor. */
static bool reduce_parameter(struct machine *m, const value_t *arguments)
{
    value_t *tensor = arguments->items->len ? arguments->items->pdata[0] : NULL;
    if (!tensor || tensor->kind != ORCH_PICKLE_TENSOR)
        return damaged(m, "a parameter without a tensor");
    return push(m, tensor);
}

/* torch.Size((2, 3)) becomes the tuple. */
static bool reduce_size(struct machine *m, const value_t *arguments)
{
    value_t *tuple = arguments->items->len ? arguments->items->pdata[0] : NULL;
    if (!tuple || tuple->kind != ORCH_PICKLE_TUPLE)
        return damaged(m, "torch.Size is called without a tuple");
    return push(m, tuple);
}

static const struct global {
    const char *name;
    reduce_fn reduce; /* NULL: must not be called */
    enum orch_dtype dtype;
} GLOBALS[] = {
    {"collections.OrderedDict", reduce_dict, 0},
    {"torch._utils._rebuild_tensor", reduce_tensor, 0},
    {"torch._utils._rebuild_tensor_v2", reduce_tensor, 0},
    {"torch._utils._rebuild_parameter", reduce_parameter, 0},
    {"torch.nn.parameter.Parameter", reduce_parameter, 0},
    {"torch.Size", reduce_size, 0},
    {"torch.BoolStorage", NULL, ORCH_DTYPE_BOOL},
    {"torch.ByteStorage", NULL, ORCH_DTYPE_UINT8},
    {"torch.CharStorage", NULL, ORCH_DTYPE_INT8},
    {"torch.ShortStorage", NULL, ORCH_DTYPE_INT16},
    {"torch.IntStorage", NULL, ORCH_DTYPE_INT32},
    {"torch.LongStorage", NULL, ORCH_DTYPE_INT64},
    {"torch.HalfStorage", NULL, ORCH_DTYPE_FLOAT16},
    {"torch.BFloat16Storage", NULL, ORCH_DTYPE_BFLOAT16},
    {"torch.FloatStorage", NULL, ORCH_DTYPE_FLOAT32},
    {"torch.DoubleStorage", NULL, ORCH_DTYPE_FLOAT64},
};

/* True if the name is the module, '.' and the word. */
static bool is_name(const char *name, const char *module, size_t module_length, const char *word,
                    size_t word_length)
{
    return strlen(name) == module_length + 1 + word_length &&
           memcmp(name, module, module_length) == 0 && name[module_length] == '.' &&
           memcmp(name + module_length + 1, word, word_length) == 0;
}

static bool push_global(struct machine *m, const char *module, size_t module_length,
                        const char *word, size_t word_length)
{
    static const char CUDA[] = "torch.cuda"; /* its storages are read like those of torch */
    if (module_length == sizeof CUDA - 1 && memcmp(module, CUDA, module_length) == 0)
        module_length = strlen("torch");
    for (unsigned i = 0; i < G_N_ELEMENTS(GLOBALS); i++)
        if (is_name(GLOBALS[i].name, module, module_length, word, word_length))
            return push_number(m, ORCH_PICKLE_GLOBAL, i);
    g_autofree char *name = g_strdup_printf("%.*s.%.*s", (int)MIN(module_length, 100), module,
                                            (int)MIN(word_length, 100), word);
    g_autofree char *shown = g_strescape(name, NULL);
    orch_error_set(m->error, ORCH_ERROR_RECIPE,
                   "save only the weights: torch.save(model.state_dict(), 'weights.pth')",
                   "pickle contains '%s', which is not supported in weights; nothing was executed",
                   shown);
    return false;
}

/* ---- opcodes -------------------------------------------------------------------------------- */

static bool op_proto(struct machine *m)
{
    uint64_t version = 0;
    if (!take_number(m, 1, &version))
        return false;
    return version <= 5 || damaged(m, "the pickle's protocol is newer than 5");
}

static bool op_frame(struct machine *m)
{
    uint64_t length = 0;
    return take_number(m, 8, &length);
}

static bool op_stop(struct machine *m)
{
    m->pickle->root = pop(m);
    m->is_stopped = m->pickle->root != NULL;
    return m->is_stopped;
}

static bool op_pop(struct machine *m)
{
    if (m->stack->len == 0)
        return damaged(m, "a value is missing on the stack");
    g_ptr_array_set_size(m->stack, (int)m->stack->len - 1);
    return true;
}

static bool op_pop_mark(struct machine *m)
{
    int mark = find_mark(m);
    if (mark >= 0)
        g_ptr_array_set_size(m->stack, mark);
    return mark >= 0;
}

/* The argument is the kind of an empty value. */
static bool op_empty(struct machine *m)
{
    return push(m, new_value(m, m->argument));
}

static bool op_bool(struct machine *m)
{
    return push_number(m, ORCH_PICKLE_BOOL, m->argument);
}

/* The argument is the number of bytes, also of a text's length and of a place in the memo. */
static bool op_int(struct machine *m)
{
    uint64_t number = 0;
    if (!take_number(m, m->argument, &number))
        return false;
    return push_number(m, ORCH_PICKLE_INT, m->argument == 4 ? (int32_t)number : (int64_t)number);
}

static bool push_text(struct machine *m, enum orch_pickle_kind kind, uint64_t length)
{
    const uint8_t *bytes = take(m, length);
    value_t *value = bytes ? new_value(m, kind) : NULL;
    if (!value)
        return false;
    value->text = (const char *)bytes;
    value->length = length;
    return push(m, value);
}

/* Two's complement, little-endian, 0 to 255 bytes. */
static bool op_long1(struct machine *m)
{
    uint64_t size = 0;
    if (!take_number(m, 1, &size))
        return false;
    if (size > 8)
        return push_text(m, ORCH_PICKLE_LONG, size);
    uint64_t number = 0;
    if (!take_number(m, size, &number))
        return false;
    if (size && size < 8 && number >> (8 * size - 1))
        number |= UINT64_MAX << 8 * size;
    return push_number(m, ORCH_PICKLE_INT, (int64_t)number);
}

static bool op_float(struct machine *m)
{
    const uint8_t *bytes = take(m, 8);
    value_t *value = bytes ? new_value(m, ORCH_PICKLE_REAL) : NULL;
    if (!value)
        return false;
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    memcpy(&value->real, &bits, sizeof bits);
    return push(m, value);
}

static bool op_text(struct machine *m)
{
    uint64_t length = 0;
    return take_number(m, m->argument, &length) && push_text(m, ORCH_PICKLE_TEXT, length);
}

/* The values down to the mark, as a value of the argument's kind. */
static bool op_marked(struct machine *m)
{
    value_t *value = new_value(m, m->argument);
    if (!value || !move_marked(m, value->items))
        return false;
    if (m->argument == ORCH_PICKLE_DICT && value->items->len % 2)
        return damaged(m, "a key without a value");
    return push(m, value);
}

/* The argument is the number of items. */
static bool op_tuple(struct machine *m)
{
    const unsigned size = m->argument;
    value_t *tuple = new_value(m, ORCH_PICKLE_TUPLE);
    if (!tuple)
        return false;
    for (unsigned i = 1; i <= size; i++)
        if (i > m->stack->len ||
            ((const value_t *)m->stack->pdata[m->stack->len - i])->kind == ORCH_PICKLE_MARK)
            return damaged(m, "a value is missing on the stack");
    move_items(m, m->stack->len - size, tuple->items);
    return push(m, tuple);
}

static bool op_append(struct machine *m)
{
    value_t *item = pop(m), *list = item ? top(m) : NULL;
    if (!list)
        return false;
    if (list->kind != ORCH_PICKLE_LIST)
        return damaged(m, "an item is appended to an object that is not a list");
    g_ptr_array_add(list->items, item);
    return true;
}

static bool op_appends(struct machine *m)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new();
    value_t *list = move_marked(m, items) ? top(m) : NULL;
    if (!list)
        return false;
    if (list->kind != ORCH_PICKLE_LIST)
        return damaged(m, "items are appended to an object that is not a list");
    g_ptr_array_extend(list->items, items, NULL, NULL);
    return true;
}

static bool op_setitem(struct machine *m)
{
    value_t *item = pop(m), *key = item ? pop(m) : NULL, *dict = key ? top(m) : NULL;
    if (!dict)
        return false;
    if (dict->kind != ORCH_PICKLE_DICT)
        return damaged(m, "an item is set in an object that is not a dictionary");
    g_ptr_array_add(dict->items, key);
    g_ptr_array_add(dict->items, item);
    return true;
}

static bool op_setitems(struct machine *m)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new();
    value_t *dict = move_marked(m, items) ? top(m) : NULL;
    if (!dict)
        return false;
    if (dict->kind != ORCH_PICKLE_DICT || items->len % 2)
        return damaged(m, "items are set in an object that is not a dictionary");
    g_ptr_array_extend(dict->items, items, NULL, NULL);
    return true;
}

/* Memo indices are bounded by the number of opcodes, which is below the length of the pickle. */
static bool memo_put(struct machine *m, uint64_t index)
{
    value_t *value = top(m);
    if (!value)
        return false;
    if (index >= m->length || index >= ORCH_PICKLE_VALUES_MAX)
        return damaged(m, "the number of a stored value is out of range");
    if (index >= m->memo->len)
        g_ptr_array_set_size(m->memo, (int)index + 1);
    m->memo->pdata[index] = value;
    return true;
}

static bool memo_get(struct machine *m, uint64_t index)
{
    if (index >= m->memo->len || !m->memo->pdata[index])
        return damaged(m, "the pickle recalls a value that it did not store");
    return push(m, m->memo->pdata[index]);
}

static bool op_put(struct machine *m)
{
    uint64_t index = 0;
    return take_number(m, m->argument, &index) && memo_put(m, index);
}

static bool op_memoize(struct machine *m)
{
    return memo_put(m, m->memo->len);
}

static bool op_get(struct machine *m)
{
    uint64_t index = 0;
    return take_number(m, m->argument, &index) && memo_get(m, index);
}

/* Reads a line of text; returns its start, and its length without the line end. */
static const char *take_line(struct machine *m, size_t *out_length)
{
    const char *line = (const char *)m->bytes + m->at;
    const char *end = memchr(line, '\n', m->length - m->at);
    if (!end) {
        damaged(m, "the pickle ends within a name");
        return NULL;
    }
    *out_length = (size_t)(end - line);
    m->at += *out_length + 1;
    return line;
}

static bool op_global(struct machine *m)
{
    size_t module_length = 0, word_length = 0;
    const char *module = take_line(m, &module_length);
    const char *word = module ? take_line(m, &word_length) : NULL;
    return word && push_global(m, module, module_length, word, word_length);
}

static bool op_stack_global(struct machine *m)
{
    const value_t *word = pop(m), *module = word ? pop(m) : NULL;
    if (!module)
        return false;
    if (word->kind != ORCH_PICKLE_TEXT || module->kind != ORCH_PICKLE_TEXT)
        return damaged(m, "a name is not a string");
    return push_global(m, module->text, module->length, word->text, word->length);
}

static bool op_reduce(struct machine *m)
{
    const value_t *arguments = pop(m), *function = arguments ? pop(m) : NULL;
    if (!function)
        return false;
    if (function->kind != ORCH_PICKLE_GLOBAL || arguments->kind != ORCH_PICKLE_TUPLE)
        return damaged(m, "an object that is not a function is called");
    const struct global *global = &GLOBALS[function->number];
    if (global->reduce)
        return global->reduce(m, arguments);
    orch_error_set(m->error, ORCH_ERROR_RECIPE, NULL,
                   "pickle calls '%s', which no file of weights does", global->name);
    return false;
}

/* Discards the state of an OrderedDict (`_metadata`) or of an old Parameter (requires_grad,
 * ...). */
static bool op_build(struct machine *m)
{
    const value_t *state = pop(m), *object = state ? top(m) : NULL;
    if (!object)
        return false;
    if ((object->kind == ORCH_PICKLE_DICT && state->kind == ORCH_PICKLE_DICT) ||
        (object->kind == ORCH_PICKLE_TENSOR && state->kind == ORCH_PICKLE_TUPLE))
        return true;
    return damaged(m, "a state is set on an object that cannot have one");
}

static bool is_text(const struct orch_pickle_value *value, const char *word)
{
    return value && value->kind == ORCH_PICKLE_TEXT && value->length == strlen(word) &&
           memcmp(value->text, word, value->length) == 0;
}

/* ('storage', type, key, location, elements[, view]) */
static bool op_persistent(struct machine *m)
{
    const value_t *id = pop(m);
    if (!id)
        return false;
    if (id->kind != ORCH_PICKLE_TUPLE || id->items->len < 5 ||
        !is_text(id->items->pdata[0], "storage"))
        return damaged(m, "a persistent ID does not name a storage");
    value_t *storage = new_value(m, ORCH_PICKLE_STORAGE);
    for (unsigned i = 1; storage && i < id->items->len; i++)
        g_ptr_array_add(storage->items, id->items->pdata[i]);
    return push(m, storage);
}

/* clang-format off */
static const struct {
    bool (*run)(struct machine *);
    unsigned argument;
} OPCODES[256] = {
    [0x80] = {op_proto, 0}, [0x95] = {op_frame, 0}, ['.'] = {op_stop, 0},
    ['('] = {op_empty, ORCH_PICKLE_MARK}, ['0'] = {op_pop, 0}, ['1'] = {op_pop_mark, 0},
    ['N'] = {op_empty, ORCH_PICKLE_NONE}, [0x88] = {op_bool, 1}, [0x89] = {op_bool, 0},
    ['J'] = {op_int, 4}, ['K'] = {op_int, 1}, ['M'] = {op_int, 2}, [0x8a] = {op_long1, 0},
    ['G'] = {op_float, 0}, ['X'] = {op_text, 4}, [0x8c] = {op_text, 1}, [0x8d] = {op_text, 8},
    ['T'] = {op_text, 4}, ['U'] = {op_text, 1}, ['B'] = {op_text, 4}, ['C'] = {op_text, 1},
    [0x8e] = {op_text, 8}, [']'] = {op_empty, ORCH_PICKLE_LIST},
    [')'] = {op_empty, ORCH_PICKLE_TUPLE}, ['}'] = {op_empty, ORCH_PICKLE_DICT},
    ['t'] = {op_marked, ORCH_PICKLE_TUPLE}, ['l'] = {op_marked, ORCH_PICKLE_LIST},
    ['d'] = {op_marked, ORCH_PICKLE_DICT}, [0x85] = {op_tuple, 1}, [0x86] = {op_tuple, 2},
    [0x87] = {op_tuple, 3}, ['a'] = {op_append, 0}, ['e'] = {op_appends, 0},
    ['s'] = {op_setitem, 0}, ['u'] = {op_setitems, 0}, ['q'] = {op_put, 1}, ['r'] = {op_put, 4},
    [0x94] = {op_memoize, 0}, ['h'] = {op_get, 1}, ['j'] = {op_get, 4}, ['c'] = {op_global, 0},
    [0x93] = {op_stack_global, 0}, ['R'] = {op_reduce, 0}, ['b'] = {op_build, 0},
    ['Q'] = {op_persistent, 0},
};
/* clang-format on */

static bool step(struct machine *m)
{
    const uint8_t *byte = take(m, 1);
    if (!byte)
        return false;
    m->argument = OPCODES[*byte].argument;
    if (OPCODES[*byte].run)
        return OPCODES[*byte].run(m);
    orch_error_set(m->error, ORCH_ERROR_RECIPE,
                   "save only the weights: torch.save(model.state_dict(), 'weights.pth')",
                   "pickle has opcode 0x%02x at byte %" G_GSIZE_FORMAT
                   ", which weights do not need",
                   *byte, m->at - 1);
    return false;
}

struct orch_pickle *orch_pickle_read(const uint8_t *bytes, size_t length, size_t *out_used,
                                     GError **error)
{
    struct orch_pickle *pickle = g_new0(struct orch_pickle, 1);
    pickle->values = g_ptr_array_new_with_free_func(value_free);
    struct machine m = {.bytes = bytes, .length = length, .pickle = pickle, .error = error};
    m.stack = g_ptr_array_new();
    m.memo = g_ptr_array_new();
    bool ok = true;
    while (ok && !m.is_stopped)
        ok = step(&m);
    g_ptr_array_unref(m.stack);
    g_ptr_array_unref(m.memo);
    if (!ok) {
        orch_pickle_free(pickle);
        return NULL;
    }
    *out_used = m.at;
    return pickle;
}

void orch_pickle_free(struct orch_pickle *pickle)
{
    if (!pickle)
        return;
    g_ptr_array_unref(pickle->values);
    g_free(pickle);
}

/* ---- access to values ----------------------------------------------------------------------- */

const struct orch_pickle_value *orch_pickle_item(const struct orch_pickle_value *value,
                                                 unsigned index)
{
    return value && value->items && index < value->items->len ? value->items->pdata[index] : NULL;
}

const struct orch_pickle_value *orch_pickle_get(const struct orch_pickle_value *dict,
                                                const char *key)
{
    if (!dict || dict->kind != ORCH_PICKLE_DICT)
        return NULL;
    for (unsigned i = dict->items->len; i >= 2; i -= 2)
        if (is_text(dict->items->pdata[i - 2], key))
            return dict->items->pdata[i - 1];
    return NULL;
}

bool orch_pickle_dtype(const struct orch_pickle_value *value, enum orch_dtype *out)
{
    if (!value || value->kind != ORCH_PICKLE_GLOBAL || GLOBALS[value->number].reduce)
        return false;
    *out = GLOBALS[value->number].dtype;
    return true;
}
