/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data path on a GPU: the bytes of a data set in its memory, and batches that pixels.cu makes
 * from them.
 *
 * What a batch needs (rows, plans, labels and the table of values) is packed into one block of
 * pinned memory, which is copied and read by the kernel on the stream of the model. So the order of
 * the stream is all that orders the work, and the host never waits: LibTorch's allocator of pinned
 * memory gives a block again only when the copy from it is done, and takes another one until then.
 * The buffers on the GPU stay where they are while batches do not grow. */
#include "plugins/common/torch/adapter/pixels.h"
#include "plugins/common/torch/adapter/adapter.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstring>

using at::Tensor;

struct orch_torch_images {
    const orch_torch_model *model;
    orch_image_shape shape;
    int64_t count;
    Tensor bytes; /* of the set */
    Tensor block; /* what the last batch needed */
    Tensor made;  /* the images of the last batch, which may be larger than they are */
    int64_t made_count = 0;
};

namespace adapter
{

namespace
{

int index_of(const orch_torch_model *m)
{
    return m->device.has_index() ? m->device.index()
                                 : c10::impl::VirtualGuardImpl(at::kCUDA).getDevice().index();
}

void check_kernel(const char *problem)
{
    if (problem)
        throw std::runtime_error(std::string("cannot prepare images on the GPU: ") + problem);
}

void need_kernel(const orch_torch_model *m)
{
    if (!m->device.is_cuda())
        throw std::runtime_error("the model is not on a GPU");
    stream_of(m); /* throws if it is not to be had */
    check_kernel(orch_pixels_check(index_of(m)));
}

int values_of(const orch_image_shape &s)
{
    return s.channels * s.height * s.width;
}

/* Where the arrays of a batch lie in its block: the widest type first, so that each is aligned. */
struct BlockLayout {
    size_t labels, rows, table, plans, bytes;
    explicit BlockLayout(int64_t count)
    {
        const size_t n = (size_t)count;
        labels = 0;
        rows = labels + n * sizeof(int64_t);
        table = rows + n * sizeof(int64_t);
        plans = table + sizeof(orch_transform_table);
        bytes = plans + n * sizeof(orch_transform_plan);
    }
};

/* The batch's arrays in pinned memory. */
Tensor pack(const orch_torch_image_plans *p, const BlockLayout &at)
{
    const size_t n = (size_t)p->count;
    Tensor block = at::empty({(int64_t)at.bytes}, at::TensorOptions(at::kByte).pinned_memory(true));
    char *memory = (char *)block.data_ptr();
    std::memcpy(memory + at.labels, p->labels, n * sizeof *p->labels);
    std::memcpy(memory + at.rows, p->rows, n * sizeof *p->rows);
    std::memcpy(memory + at.table, p->table, sizeof *p->table);
    std::memcpy(memory + at.plans, p->plans, n * sizeof *p->plans);
    return block;
}

/* Makes `tensor` at least so large; what it held is lost then. */
void grow(const orch_torch_model *m, Tensor &tensor, int64_t elements, at::ScalarType type)
{
    if (!tensor.defined() || tensor.numel() < elements)
        tensor = at::empty({elements}, at::TensorOptions(type).device(m->device));
}

void check_rows(const orch_torch_images *s, const orch_torch_image_plans *p)
{
    for (int64_t i = 0; i < p->count; i++)
        if (p->rows[i] < 0 || p->rows[i] >= s->count)
            throw std::runtime_error("there is no image " + std::to_string(p->rows[i]) + " in a set of " +
                                     std::to_string(s->count));
}

} // namespace

bool gpu_memory(const orch_torch_model *m, int64_t *out_free_bytes, int64_t *out_total_bytes,
                GError **error)
{
    return guarded(error, [&] {
        int64_t left = 0, total = 0;
        need_kernel(m);
        c10::DeviceGuard guard(m->device);
        check_kernel(orch_pixels_memory(index_of(m), &left, &total));
        *out_free_bytes = left;
        *out_total_bytes = total;
    });
}

orch_torch_images *images_new(const orch_torch_model *m, const orch_torch_image_bytes *images,
                              GError **error)
{
    auto s = std::make_unique<orch_torch_images>();
    bool ok = guarded(error, [&] {
        need_kernel(m);
        c10::DeviceGuard guard(m->device);
        s->model = m;
        s->shape = images->shape;
        s->count = images->count;
        s->bytes = at::from_blob(const_cast<uint8_t *>(images->bytes),
                                 {images->count * values_of(images->shape)}, at::kByte)
                       .to(m->device);
    });
    return ok ? s.release() : nullptr;
}

void images_free(orch_torch_images *images)
{
    delete images;
}

bool images_make(orch_torch_images *s, const orch_torch_image_plans *p, orch_torch_batch *out,
                 GError **error)
{
    return guarded(error, [&] {
        const orch_torch_model *m = s->model;
        const BlockLayout at(p->count);
        Range range(m, "data path");
        check_rows(s, p);
        c10::DeviceGuard guard(m->device);
        grow(m, s->block, (int64_t)at.bytes, at::kByte);
        grow(m, s->made, p->count * values_of(s->shape), at::kFloat);
        s->block.narrow(0, 0, (int64_t)at.bytes).copy_(pack(p, at), true);
        const char *block = (const char *)s->block.data_ptr();
        struct orch_pixels_work work = {};
        work.bytes = (const uint8_t *)s->bytes.data_ptr();
        work.rows = (const int64_t *)(block + at.rows);
        work.plans = (const orch_transform_plan *)(block + at.plans);
        work.table = (const orch_transform_table *)(block + at.table);
        work.shape = s->shape;
        work.channels_last = p->channels_last;
        work.count = p->count;
        work.out = (float *)s->made.data_ptr();
        check_kernel(orch_pixels_launch(index_of(m), &work, stream_of(m)));
        s->made_count = p->count;
        *out = {};
        out->input = ORCH_TORCH_FLOAT;
        out->images = work.out;
        out->labels = (const int64_t *)(block + at.labels);
        out->count = p->count;
        out->is_on_device = true;
        out->is_channels_last = p->channels_last;
    });
}

bool images_get(const orch_torch_images *s, float *out, int64_t *out_labels, GError **error)
{
    return guarded(error, [&] {
        const int64_t values = s->made_count * values_of(s->shape);
        if (!s->made_count)
            throw std::runtime_error("no batch was made");
        copy_out(s->made.narrow(0, 0, values), out);
        Tensor block = s->block.cpu();
        if (out_labels)
            std::memcpy(out_labels, block.data_ptr(), (size_t)s->made_count * sizeof *out_labels);
    });
}

} // namespace adapter
