/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the formats of torch.save. Both contain a pickle that describes the object, with each
 * tensor's bytes (its storage) separate:
 *
 *   zip (PyTorch 1.6 and later): NAME/data.pkl, NAME/data/KEY for each storage, NAME/byteorder;
 *   legacy: pickles of a magic number, a protocol number, facts of the machine, the object and the
 *     list of keys; then for each key the number of elements (8 bytes) and the elements.
 *
 * A tensor is a view of a storage (offset, sizes, strides), so several may share one, and not all
 * are contiguous; strided ones are copied to blocks of their own. The state dict is the object
 * itself or its value under one of the usual keys.
 */
#include "lib/weights/pickle.h"
#include "lib/weights/weights_private.h"

#include "lib/base/error.h"
#include "lib/zip/zip_read.h"

#include <string.h>

typedef struct orch_pickle_value value_t;

/* Bytes of one storage, inside the file or unpacked. */
struct storage {
    const uint8_t *bytes;
    uint64_t length;
};

struct reader {
    struct orch_weights *weights;
    const uint8_t *bytes;
    size_t length;
    struct orch_zip *zip; /* NULL: legacy */
    char *prefix;         /* zip: "archive/" */
    struct orch_pickle *pickle;
    GHashTable *storages; /* key -> struct storage * */
    size_t copy_budget;   /* remaining bytes for copies of strided and misaligned tensors */
    GError **error;
};

enum { NESTING_MAX = 2, KEYS_SHOWN = 6 };
#define PICKLE_BYTES_MAX ((size_t)256 << 20)
#define COPY_BUDGET ((size_t)64 << 20)

/* 0x1950a86a20f9469cfc6c, little-endian: the first pickle of a legacy file. */
static const uint8_t MAGIC[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
#define LEGACY_PROTOCOL 1001

static bool damaged(const struct reader *r, const char *what)
{
    orch_error_set(r->error, ORCH_ERROR_IO, "the file may be truncated: copy or download it again",
                   "PyTorch file is damaged: %s", what);
    return false;
}

static bool unusable(const struct reader *r, const char *what)
{
    orch_error_set(r->error, ORCH_ERROR_RECIPE,
                   "save only the weights: torch.save(model.state_dict(), 'weights.pth')",
                   "PyTorch file cannot be used: %s", what);
    return false;
}

bool orch_pth_is(const uint8_t *bytes, size_t length)
{
    static const uint8_t zip[] = {'P', 'K', 3, 4};
    if (length < 16)
        return false;
    return memcmp(bytes, zip, sizeof zip) == 0 ||
           (bytes[0] == 0x80 && memmem(bytes, MIN(length, 32), MAGIC, sizeof MAGIC));
}

/* ---- storages ------------------------------------------------------------------------------- */

/* Copies the key of a storage or of an entry in the list of keys; NULL if it is invalid. Caller
 * frees. */
static char *copy_key(const value_t *value)
{
    bool ok = value && value->kind == ORCH_PICKLE_TEXT && value->length > 0 &&
              value->length < 256 && !memchr(value->text, 0, value->length) &&
              g_utf8_validate(value->text, (gssize)value->length, NULL);
    return ok ? g_strndup(value->text, value->length) : NULL;
}

static const struct storage *keep_storage(struct reader *r, const char *key, const uint8_t *bytes,
                                          uint64_t length)
{
    struct storage *storage = g_new(struct storage, 1);
    *storage = (struct storage){bytes, length};
    g_hash_table_insert(r->storages, g_strdup(key), storage);
    return storage;
}

static bool append_bytes(void *ctx, const uint8_t *bytes, size_t length, GError **error)
{
    uint8_t **at = ctx;
    (void)error;
    memcpy(*at, bytes, length);
    *at += length;
    return true;
}

/* Data of an entry: inside the archive if it is stored, else in a new block. NULL with an error. */
static const uint8_t *entry_data(struct reader *r, const struct orch_zip_entry *entry)
{
    if (entry->method == 0)
        return orch_zip_stored(r->zip, entry, r->error);
    uint8_t *block = orch_weights_block(r->weights, entry->bytes, r->error), *at = block;
    return block && orch_zip_unpack(r->zip, entry, append_bytes, &at, r->error) ? block : NULL;
}

/* Storage of a key; those in a zip are loaded on first use. NULL with an error. */
static const struct storage *find_storage(struct reader *r, const char *key)
{
    const struct storage *known = g_hash_table_lookup(r->storages, key);
    if (known)
        return known;
    g_autofree char *name = r->zip ? g_strconcat(r->prefix, "data/", key, NULL) : NULL;
    const struct orch_zip_entry *entry = name ? orch_zip_find(r->zip, name) : NULL;
    if (!entry) {
        damaged(r, "a storage is missing");
        return NULL;
    }
    const uint8_t *bytes = entry_data(r, entry);
    return bytes ? keep_storage(r, key, bytes, entry->bytes) : NULL;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A tensor's view of its storage, in elements. */
struct view {
    enum orch_dtype dtype;
    const uint8_t *data; /* start of the storage */
    uint64_t count;      /* number of elements in the storage */
    int rank;
    int64_t offset, sizes[ORCH_WEIGHT_RANK_MAX], strides[ORCH_WEIGHT_RANK_MAX];
};

static bool read_sizes(const value_t *tuple, int64_t *out)
{
    for (unsigned i = 0; i < tuple->items->len; i++) {
        const value_t *size = tuple->items->pdata[i];
        if (size->kind != ORCH_PICKLE_INT || size->number < 0)
            return false;
        out[i] = size->number;
    }
    return true;
}

/* Old files refer to a part of a storage: (key, offset, elements). */
static bool narrow(const value_t *part, struct view *view)
{
    const value_t *offset = orch_pickle_item(part, 1), *count = orch_pickle_item(part, 2);
    if (!part || part->kind == ORCH_PICKLE_NONE)
        return true;
    if (!offset || !count || offset->kind != ORCH_PICKLE_INT || count->kind != ORCH_PICKLE_INT ||
        offset->number < 0 || count->number < 0 || (uint64_t)offset->number > view->count ||
        (uint64_t)count->number > view->count - (uint64_t)offset->number)
        return false;
    view->data += (uint64_t)offset->number * orch_dtype_bytes(view->dtype);
    view->count = (uint64_t)count->number;
    return true;
}

/* (type, key, location, elements[, part]) */
static bool resolve_storage(struct reader *r, const value_t *id, struct view *view)
{
    g_autofree char *key = copy_key(orch_pickle_item(id, 1));
    const value_t *count = orch_pickle_item(id, 3);
    if (!orch_pickle_dtype(orch_pickle_item(id, 0), &view->dtype) || !key || !count ||
        count->kind != ORCH_PICKLE_INT || count->number < 0)
        return damaged(r, "a storage has no type, key or size");
    const struct storage *storage = find_storage(r, key);
    if (!storage)
        return false;
    view->count = (uint64_t)count->number;
    view->data = storage->bytes;
    if (view->count > storage->length / orch_dtype_bytes(view->dtype))
        return damaged(r, "a storage is too short");
    return narrow(orch_pickle_item(id, 4), view) ||
           damaged(r, "a part of a storage is outside the storage");
}

/* True if all elements of the view are inside the storage. */
static bool is_inside(const struct view *view)
{
    int64_t elements = orch_shape_count(view->rank, view->sizes);
    if (elements < 0 || view->offset < 0 || (uint64_t)view->offset > view->count)
        return false;
    if (elements == 0)
        return true;
    int64_t last = view->offset;
    for (int i = 0; i < view->rank; i++) {
        int64_t steps = view->sizes[i] - 1, stride = view->strides[i], way = 0;
        if (__builtin_mul_overflow(steps, stride, &way) || __builtin_add_overflow(last, way, &last))
            return false;
    }
    return (uint64_t)last < view->count;
}

static bool is_contiguous(const struct view *view)
{
    int64_t expected = 1;
    for (int i = view->rank - 1; i >= 0; i--) {
        if (view->sizes[i] != 1 && view->strides[i] != expected)
            return false;
        expected *= view->sizes[i];
    }
    return true;
}

/* Copies `count` elements in row-major order; the innermost dimension is a simple loop. */
static void gather(const struct view *view, int64_t count, uint8_t *out)
{
    size_t width = orch_dtype_bytes(view->dtype);
    int64_t index[ORCH_WEIGHT_RANK_MAX] = {0}, at = view->offset;
    int last = view->rank - 1;
    int64_t inner = view->rank ? view->sizes[last] : 1, step = view->rank ? view->strides[last] : 1;
    for (int64_t done = 0; done < count; done += inner) {
        const uint8_t *from = view->data + (uint64_t)at * width;
        for (int64_t i = 0; i < inner; i++, out += width)
            memcpy(out, from + (uint64_t)(i * step) * width, width);
        for (int d = last - 1; d >= 0; d--) {
            at += view->strides[d];
            if (++index[d] < view->sizes[d])
                break;
            at -= view->sizes[d] * view->strides[d];
            index[d] = 0;
        }
    }
}

/* Contiguous and aligned bytes of a view. NULL with an error. */
static const void *view_bytes(struct reader *r, const struct view *view)
{
    size_t width = orch_dtype_bytes(view->dtype);
    int64_t count = orch_shape_count(view->rank, view->sizes);
    if (count == 0)
        return orch_weights_block(r->weights, 0, r->error);
    const uint8_t *data = view->data + (uint64_t)view->offset * width;
    if (is_contiguous(view) && (uintptr_t)data % width == 0)
        return data;
    if ((uint64_t)count > r->copy_budget / width) {
        unusable(r, "the tensors are far larger than the file");
        return NULL;
    }
    r->copy_budget -= (size_t)count * width;
    uint8_t *block = orch_weights_block(r->weights, (size_t)count * width, r->error);
    if (block)
        gather(view, count, block);
    return block;
}

static bool add_tensor(struct reader *r, const char *name, const value_t *tensor)
{
    const value_t *sizes = orch_pickle_item(tensor, 1), *strides = orch_pickle_item(tensor, 2);
    if (sizes->items->len > ORCH_WEIGHT_RANK_MAX || sizes->items->len != strides->items->len)
        return damaged(r, "a tensor has too many dimensions, or not as many strides");
    struct view view = {.rank = (int)sizes->items->len, .offset = tensor->number};
    if (!read_sizes(sizes, view.sizes) || !read_sizes(strides, view.strides))
        return damaged(r, "a tensor has a size or a stride that is not a number");
    for (int i = 0; i < view.rank; i++)
        if (view.sizes[i] == 1)
            view.strides[i] = 0; /* irrelevant for size 1, and may be any number */
    if (!resolve_storage(r, orch_pickle_item(tensor, 0), &view))
        return false;
    if (!is_inside(&view))
        return damaged(r, "a tensor is outside its storage");
    const void *data = view_bytes(r, &view);
    return data &&
           orch_weights_adopt(r->weights, name, view.dtype, view.rank, view.sizes, data, r->error);
}

/* ---- the state dict ------------------------------------------------------------------------- */

static bool holds_tensors(const value_t *dict)
{
    for (unsigned i = 1; i < dict->items->len; i += 2) {
        const value_t *key = dict->items->pdata[i - 1], *value = dict->items->pdata[i];
        if (key->kind == ORCH_PICKLE_TEXT && value->kind == ORCH_PICKLE_TENSOR)
            return true;
    }
    return false;
}

/* Finds the dictionary with the tensors: under a usual key, which has precedence over the object
 * itself, because the object may contain single tensors ("epoch"). */
static const value_t *find_state(const value_t *object, int nesting)
{
    static const char *const keys[] = {"state_dict", "model_state_dict", "model_state", "model",
                                       "net",        "weights",          "module"};
    if (object->kind != ORCH_PICKLE_DICT || nesting > NESTING_MAX)
        return NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
        const value_t *inner = orch_pickle_get(object, keys[i]);
        const value_t *state = inner ? find_state(inner, nesting + 1) : NULL;
        if (state)
            return state;
    }
    return holds_tensors(object) ? object : NULL;
}

/* Reports which keys there are instead. */
static bool no_tensors(const struct reader *r)
{
    const value_t *root = r->pickle->root;
    if (root->kind != ORCH_PICKLE_DICT)
        return unusable(r, "the file is not a dictionary of tensors");
    g_autoptr(GString) text = g_string_new("it has no tensors under its keys");
    int shown = 0;
    for (unsigned i = 0; i < root->items->len && shown < KEYS_SHOWN; i += 2) {
        g_autofree char *key = copy_key(root->items->pdata[i]);
        g_autofree char *escaped = key ? g_strescape(key, NULL) : NULL;
        if (escaped)
            g_string_append_printf(text, "%s'%s'", shown++ ? ", " : " ", escaped);
    }
    return unusable(r, text->str);
}

/* Adds the tensors; other values (an epoch, a name) are ignored. */
static bool add_state(struct reader *r)
{
    const value_t *state = find_state(r->pickle->root, 0);
    if (!state)
        return no_tensors(r);
    for (unsigned i = 0; i < state->items->len; i += 2) {
        const value_t *tensor = state->items->pdata[i + 1];
        if (tensor->kind != ORCH_PICKLE_TENSOR)
            continue;
        g_autofree char *name = copy_key(state->items->pdata[i]);
        if (!name)
            return damaged(r, "the name of a tensor is not a string");
        if (!add_tensor(r, name, tensor))
            return false;
    }
    return true;
}

/* ---- zip ------------------------------------------------------------------------------------ */

/* The archive's folder is the one with a data.pkl. */
static const struct orch_zip_entry *find_pickle(struct reader *r)
{
    static const char suffix[] = "data.pkl";
    for (unsigned i = 0; i < r->zip->entries->len; i++) {
        const struct orch_zip_entry *entry = r->zip->entries->pdata[i];
        size_t length = strlen(entry->name);
        if (length >= sizeof suffix && g_str_has_suffix(entry->name, "/data.pkl")) {
            r->prefix = g_strndup(entry->name, length - strlen(suffix));
            return entry;
        }
    }
    unusable(r, "the zip archive has no data.pkl");
    return NULL;
}

static bool check_byte_order(struct reader *r)
{
    g_autofree char *name = g_strconcat(r->prefix, "byteorder", NULL);
    const struct orch_zip_entry *entry = orch_zip_find(r->zip, name);
    if (!entry)
        return true; /* written before there was this entry; practically all such files are
                        little-endian */
    const uint8_t *bytes = entry_data(r, entry);
    if (!bytes)
        return false;
    return (entry->bytes == 6 && memcmp(bytes, "little", 6) == 0) ||
           unusable(r, "the numbers are big-endian");
}

static bool read_zip(struct reader *r)
{
    const struct orch_zip_limits limits = {.entries = ORCH_WEIGHTS_COUNT_MAX,
                                           .entry_bytes = ORCH_WEIGHTS_BYTES_MAX};
    r->zip = orch_zip_open(r->bytes, r->length, limits, r->error);
    const struct orch_zip_entry *entry = r->zip ? find_pickle(r) : NULL;
    if (!entry || !check_byte_order(r))
        return false;
    if (entry->bytes > PICKLE_BYTES_MAX)
        return unusable(r, "the pickle is too large");
    const uint8_t *bytes = entry_data(r, entry);
    size_t used = 0;
    r->pickle = bytes ? orch_pickle_read(bytes, entry->bytes, &used, r->error) : NULL;
    return r->pickle && add_state(r);
}

/* ---- legacy --------------------------------------------------------------------------------- */

static struct orch_pickle *next_pickle(struct reader *r, size_t *at)
{
    size_t used = 0;
    size_t length = MIN(r->length - *at, PICKLE_BYTES_MAX);
    struct orch_pickle *pickle = orch_pickle_read(r->bytes + *at, length, &used, r->error);
    if (pickle)
        *at += used;
    return pickle;
}

/* Reads the magic number, the protocol number and the machine's byte order. */
static bool read_heading(struct reader *r, size_t *at)
{
    struct orch_pickle *magic = next_pickle(r, at), *protocol = NULL, *system = NULL;
    bool ok = magic && (protocol = next_pickle(r, at)) && (system = next_pickle(r, at));
    if (ok && (magic->root->kind != ORCH_PICKLE_LONG || magic->root->length != sizeof MAGIC ||
               memcmp(magic->root->text, MAGIC, sizeof MAGIC) != 0))
        ok = damaged(r, "the magic number is wrong");
    if (ok &&
        (protocol->root->kind != ORCH_PICKLE_INT || protocol->root->number != LEGACY_PROTOCOL))
        ok = unusable(r, "the protocol is not 1001");
    const value_t *little = ok ? orch_pickle_get(system->root, "little_endian") : NULL;
    if (ok && little && (little->kind != ORCH_PICKLE_BOOL || !little->number))
        ok = unusable(r, "the numbers are big-endian");
    orch_pickle_free(magic);
    orch_pickle_free(protocol);
    orch_pickle_free(system);
    return ok;
}

/* Element size of each storage that the object refers to: key -> size. */
static GHashTable *storage_widths(const struct reader *r)
{
    GHashTable *widths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < r->pickle->values->len; i++) {
        const value_t *value = r->pickle->values->pdata[i];
        enum orch_dtype dtype;
        if (value->kind != ORCH_PICKLE_STORAGE ||
            !orch_pickle_dtype(orch_pickle_item(value, 0), &dtype))
            continue;
        char *key = copy_key(orch_pickle_item(value, 1));
        if (key)
            g_hash_table_replace(widths, key, GSIZE_TO_POINTER(orch_dtype_bytes(dtype)));
    }
    return widths;
}

/* Reads one storage at `*at` and advances it. */
static bool read_storage(struct reader *r, GHashTable *widths, const value_t *name, size_t *at)
{
    g_autofree char *key = copy_key(name);
    uint64_t width = key ? GPOINTER_TO_SIZE(g_hash_table_lookup(widths, key)) : 0;
    if (!width || g_hash_table_contains(r->storages, key))
        return damaged(r, "the list of storages does not belong to the tensors");
    if (r->length - *at < 8)
        return damaged(r, "the file ends before its last storage");
    uint64_t count = orch_little_endian(r->bytes + *at, 8);
    *at += 8;
    if (count > (r->length - *at) / width)
        return damaged(r, "the file ends within a storage");
    keep_storage(r, key, r->bytes + *at, count * width);
    *at += count * width;
    return true;
}

static bool read_storages(struct reader *r, size_t at)
{
    g_autoptr(GHashTable) widths = storage_widths(r);
    struct orch_pickle *keys = next_pickle(r, &at);
    if (!keys)
        return false;
    bool ok = keys->root->kind == ORCH_PICKLE_LIST || damaged(r, "the list of storages is missing");
    for (unsigned i = 0; ok && i < keys->root->items->len; i++)
        ok = read_storage(r, widths, keys->root->items->pdata[i], &at);
    orch_pickle_free(keys);
    return ok;
}

static bool read_legacy(struct reader *r)
{
    size_t at = 0;
    if (!read_heading(r, &at))
        return false;
    r->pickle = next_pickle(r, &at);
    return r->pickle && read_storages(r, at) && add_state(r);
}

bool orch_pth_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                   GError **error)
{
    struct reader r = {.weights = weights, .bytes = bytes, .length = length, .error = error};
    r.copy_budget = COPY_BUDGET + 4 * length;
    r.storages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    bool ok = bytes[0] == 'P' ? read_zip(&r) : read_legacy(&r);
    g_hash_table_unref(r.storages);
    orch_pickle_free(r.pickle);
    orch_zip_free(r.zip);
    g_free(r.prefix);
    return ok;
}
