/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PALEO's time of one layer. Each read or write of a tensor is a separate term of at least one
 * clock cycle. Letters as in the paper: N batch, C channels, K kernel, S size of a transform.
 *
 * Products are computed in double: exact up to 2^53 and without overflow.
 */
#include "predictors/paleo/paleo.h"

#include <math.h>

#define GIB 1073741824.0
#define VALUE_BYTES 4.0
#define COMPLEX_BYTES 8.0
#define TILE 32

/* Rates of a device at a PPP. */
struct clock {
    double cycle_ms;
    double peak_gflops, bandwidth_gib_s, ppp;
};

static struct clock clock_of(const struct orch_paleo_device *device, double ppp)
{
    return (struct clock){1 / (1000 * device->clock_mhz), device->peak_gflops,
                          device->bandwidth_gib_s, ppp};
}

static double compute_ms(const struct clock *clock, double flops)
{
    double ms = 1000 * (flops / 1e9) / clock->peak_gflops / clock->ppp;
    return flops > 0 ? fmax(clock->cycle_ms, ms) : 0; /* no minimum without work */
}

static double memory_ms(const struct clock *clock, double bytes)
{
    return fmax(clock->cycle_ms, 1000 * (bytes / GIB) / clock->bandwidth_gib_s / clock->ppp);
}

static void add_flops(struct orch_paleo_time *time, const struct clock *clock, double times,
                      double flops)
{
    time->comp_ms += times * compute_ms(clock, flops);
    time->flops += flops;
}

static void add_bytes(struct orch_paleo_time *time, const struct clock *clock, double times,
                      double bytes)
{
    time->mem_ms += times * memory_ms(clock, bytes);
    time->bytes += bytes;
}

double orch_paleo_time_ms(struct orch_paleo_time time, bool pipeline)
{
    return pipeline ? fmax(time.comp_ms, time.mem_ms) : time.comp_ms + time.mem_ms;
}

double orch_paleo_memory_ms(const struct orch_paleo_device *device, double ppp, double bytes)
{
    struct clock clock = clock_of(device, ppp);
    return memory_ms(&clock, bytes);
}

double orch_paleo_update_ms(const struct orch_paleo_device *device, double bytes, bool pipeline)
{
    struct clock clock = clock_of(device, 1);
    struct orch_paleo_time time = {0};
    add_flops(&time, &clock, 1, 2 * floor(bytes / VALUE_BYTES));
    add_bytes(&time, &clock, 3, bytes); /* weights and gradients read, weights written */
    return orch_paleo_time_ms(time, pipeline);
}

/* --- convolutions --- */

static bool is_deconv(const struct orch_layer *layer)
{
    return layer->type == ORCH_LAYER_DECONV2D;
}

/* A convolution as its gradients see it. For a deconvolution, input and output are swapped. */
struct window {
    struct orch_layer_shape in, out;
    int64_t c_in, c_out; /* of the filter; c_in is per group */
};

static struct window window_of(const struct orch_layer *layer)
{
    if (is_deconv(layer))
        return (struct window){layer->out, layer->inputs[0], layer->c_out, layer->c_in};
    return (struct window){layer->inputs[0], layer->out, layer->c_in, layer->c_out};
}

static struct orch_paleo_conv window_forward(const struct orch_layer *layer, int64_t batch)
{
    struct window v = window_of(layer);
    return (struct orch_paleo_conv){
        .n = batch,
        .h = v.in.h,
        .w = v.in.w,
        .c = v.in.c,
        .kernel_h = layer->kernel_h,
        .kernel_w = layer->kernel_w,
        .f_in = v.c_in,
        .f_out = v.c_out,
        .pad_h = layer->pad_h,
        .pad_w = layer->pad_w,
        .out_n = batch,
        .out_h = v.out.h,
        .out_w = v.out.w,
    };
}

/* Size of the output along one side after inserting zeros for the stride. */
static int64_t dilate_side(int64_t in, int64_t out, int64_t reach, int64_t stride, int64_t pad,
                           int64_t *out_pad)
{
    int64_t dilated = (out - 1) * stride + 1;
    int64_t before = reach - 1 - pad;
    int64_t after = in + reach - 1 - dilated - before;
    if (before - after == 1 || after - before == 1)
        dilated++;
    *out_pad = MIN(before, after);
    return dilated;
}

struct dilated {
    int64_t h, w, pad_h, pad_w;
    double holes;
};

static struct dilated dilate(const struct orch_layer *layer, const struct window *v)
{
    struct dilated d;
    d.h = dilate_side(v->in.h, v->out.h, (layer->kernel_h - 1) * layer->dilation + 1,
                      layer->stride_h, layer->pad_h, &d.pad_h);
    d.w = dilate_side(v->in.w, v->out.w, (layer->kernel_w - 1) * layer->dilation + 1,
                      layer->stride_w, layer->pad_w, &d.pad_w);
    double all = (double)d.h * (double)d.w;
    d.holes = (all - (double)v->out.h * (double)v->out.w) / all;
    return d;
}

static struct orch_paleo_conv window_data_gradient(const struct orch_layer *layer, int64_t batch)
{
    struct window v = window_of(layer);
    struct dilated d = dilate(layer, &v);
    return (struct orch_paleo_conv){
        .n = batch,
        .h = d.h,
        .w = d.w,
        .c = v.c_out,
        .kernel_h = layer->kernel_h,
        .kernel_w = layer->kernel_w,
        .f_in = v.c_out / layer->groups,
        .f_out = v.in.c,
        .pad_h = d.pad_h,
        .pad_w = d.pad_w,
        .out_n = batch,
        .out_h = v.in.h,
        .out_w = v.in.w,
        .holes_input = d.holes,
    };
}

struct orch_paleo_conv orch_paleo_conv_filter_gradient(const struct orch_layer *layer,
                                                       int64_t batch)
{
    struct window v = window_of(layer);
    struct dilated d = dilate(layer, &v);
    bool is_padded = layer->padding != ORCH_PADDING_VALID;
    return (struct orch_paleo_conv){
        .n = v.in.c,
        .h = v.in.h,
        .w = v.in.w,
        .c = batch,
        .kernel_h = d.h,
        .kernel_w = d.w,
        .f_in = batch,
        .f_out = v.c_out,
        .pad_h = is_padded ? d.pad_h : 0,
        .pad_w = is_padded ? d.pad_w : 0,
        .out_n = v.c_in,
        .out_h = layer->kernel_h,
        .out_w = layer->kernel_w,
        .holes_filter = d.holes,
    };
}

struct orch_paleo_conv orch_paleo_conv_forward(const struct orch_layer *layer, int64_t batch)
{
    return is_deconv(layer) ? window_data_gradient(layer, batch) : window_forward(layer, batch);
}

struct orch_paleo_conv orch_paleo_conv_data_gradient(const struct orch_layer *layer, int64_t batch)
{
    return is_deconv(layer) ? window_forward(layer, batch) : window_data_gradient(layer, batch);
}

static double output_elements(const struct orch_paleo_conv *conv)
{
    return (double)conv->out_n * (double)conv->out_h * (double)conv->out_w * (double)conv->f_out;
}

static double filter_elements(const struct orch_paleo_conv *conv)
{
    return (double)conv->kernel_h * (double)conv->kernel_w * (double)conv->f_in *
           (double)conv->f_out;
}

static struct orch_paleo_time gemm_time(const struct orch_paleo_conv *conv,
                                        const struct clock *clock)
{
    struct orch_paleo_time time = {0};
    double flops = 2.0 * (double)conv->kernel_h * (double)conv->kernel_w * (double)conv->f_in *
                   output_elements(conv) * (1 - conv->holes_filter);
    double padded = (double)conv->n * (double)(conv->h + 2 * conv->pad_h) *
                    (double)(conv->w + 2 * conv->pad_w) * (double)conv->c;
    if (conv->holes_input > 0) /* inserting the zeros moves its values */
        flops += 2.0 * (double)conv->n * (double)conv->h * (double)conv->w * (double)conv->c *
                 (1 - conv->holes_input);
    add_flops(&time, clock, 1, flops);
    add_bytes(&time, clock, 1, VALUE_BYTES * padded);
    add_bytes(&time, clock, 1, VALUE_BYTES * filter_elements(conv) * (1 - conv->holes_filter));
    add_bytes(&time, clock, 1, VALUE_BYTES * output_elements(conv));
    return time;
}

/* FLOPs of one complex transform of `size` values: a square whose side is rounded to a power of
 * two. */
static double fft_flops(double size, bool is_1d)
{
    double log2_side = ceil(log2(sqrt(size)));
    double side = exp2(log2_side);
    double flops = 2 * side * 5 * side * log2_side;
    return is_1d ? flops / 2 : flops;
}

static struct orch_paleo_time fft_time(const struct orch_paleo_conv *conv, bool is_tiled,
                                       const struct clock *clock)
{
    struct orch_paleo_time time = {0};
    double h = (double)MAX(conv->h + 2 * conv->pad_h, conv->kernel_h);
    double w = (double)MAX(conv->w + 2 * conv->pad_w, conv->kernel_w);
    double tiles = 1, size = h * w, side = fmax(h, w);
    if (is_tiled) {
        tiles = ceil((double)conv->h / TILE) * ceil((double)conv->w / TILE);
        size = TILE * TILE;
        side = TILE;
    }
    bool is_1d = conv->kernel_h == 1 || conv->kernel_w == 1;
    double inverse = fft_flops(size, is_1d), forward = inverse / 2; /* half for real values */
    double images = (double)conv->n * (double)conv->c;
    double filters = (double)conv->f_in * (double)conv->f_out;
    double outputs = (double)conv->out_n * (double)conv->f_out;
    double filter_size = is_1d ? side : size;
    add_flops(&time, clock, tiles, images * forward);
    add_flops(&time, clock, 1, filters * forward);
    add_flops(&time, clock, tiles, 4 * (double)conv->out_n * filters * size);
    add_flops(&time, clock, tiles, outputs * inverse);
    add_bytes(&time, clock, tiles, VALUE_BYTES * images * size);
    add_bytes(&time, clock, tiles, COMPLEX_BYTES * images * size);
    add_bytes(&time, clock, 1, VALUE_BYTES * filters * size);
    add_bytes(&time, clock, 1, COMPLEX_BYTES * filters * filter_size);
    add_bytes(&time, clock, tiles, COMPLEX_BYTES * images * size);
    add_bytes(&time, clock, tiles, COMPLEX_BYTES * filters * filter_size);
    add_bytes(&time, clock, tiles, COMPLEX_BYTES * outputs * size);
    add_bytes(&time, clock, 1, COMPLEX_BYTES * outputs * size); /* one tile of them, as in PALEO */
    add_bytes(&time, clock, 1, VALUE_BYTES * output_elements(conv));
    return time;
}

static struct orch_paleo_time conv_time(const struct orch_paleo_conv *conv,
                                        enum orch_paleo_algorithm algorithm,
                                        const struct clock *clock)
{
    return algorithm == ORCH_PALEO_GEMM ? gemm_time(conv, clock)
                                        : fft_time(conv, algorithm == ORCH_PALEO_FFT_TILING, clock);
}

/* --- other layers --- */

/* A product of matrices [rows x inner] and [inner x columns]. */
static struct orch_paleo_time product_time(double rows, double inner, double columns,
                                           const struct clock *clock)
{
    struct orch_paleo_time time = {0};
    add_flops(&time, clock, 1, 2 * rows * inner * columns);
    add_bytes(&time, clock, 1, VALUE_BYTES * rows * inner);
    add_bytes(&time, clock, 1, VALUE_BYTES * inner * columns);
    add_bytes(&time, clock, 1, VALUE_BYTES * rows * columns);
    return time;
}

/* `flops_each` FLOPs per output value. */
static struct orch_paleo_time map_time(const struct orch_layer *layer, double flops_each,
                                       int64_t batch, const struct clock *clock)
{
    struct orch_paleo_time time = {0};
    double in = (double)batch * (double)orch_layer_elements(layer->inputs[0]);
    double out = (double)batch * (double)orch_layer_elements(layer->out);
    add_flops(&time, clock, 1, flops_each * out);
    add_bytes(&time, clock, 1, VALUE_BYTES * in);
    add_bytes(&time, clock, 1, VALUE_BYTES * out);
    return time;
}

static void time_conv(const struct orch_layer *layer, const struct orch_paleo_options *options,
                      int64_t batch, const struct clock *clock, struct orch_paleo_layer_time *out)
{
    /* 1 x 1 is a matrix product; FFT supports neither dilation nor, in PALEO, CPUs */
    bool is_gemm = (layer->kernel_h == 1 && layer->kernel_w == 1) || layer->dilation > 1 ||
                   !options->device.is_gpu;
    enum orch_paleo_algorithm algorithm = is_gemm ? ORCH_PALEO_GEMM : options->algorithm;
    struct orch_paleo_conv conv = orch_paleo_conv_forward(layer, batch);
    out->fwd = conv_time(&conv, algorithm, clock);
    if (!layer->no_data_grad) {
        conv = orch_paleo_conv_data_gradient(layer, batch);
        out->bwd_data = conv_time(&conv, algorithm, clock);
    }
    conv = orch_paleo_conv_filter_gradient(layer, batch);
    out->bwd_filter = conv_time(&conv, algorithm, clock);
}

static void time_product(const struct orch_layer *layer, int64_t batch, const struct clock *clock,
                         struct orch_paleo_layer_time *out)
{
    double n = (double)batch, in = (double)layer->c_in, outputs = (double)layer->c_out;
    out->fwd = product_time(n, in, outputs, clock);
    out->bwd_data = product_time(n, outputs, in, clock);
    out->bwd_filter = product_time(in, n, outputs, clock);
}

struct orch_paleo_layer_time orch_paleo_layer(const struct orch_layer *layer,
                                              const struct orch_paleo_options *options,
                                              int64_t batch)
{
    struct orch_paleo_layer_time out = {0};
    struct clock clock = clock_of(&options->device, options->ppp_comp);
    switch (layer->type) {
    case ORCH_LAYER_CONV2D:
    case ORCH_LAYER_DECONV2D:
        time_conv(layer, options, batch, &clock, &out);
        break;
    case ORCH_LAYER_INNERPRODUCT:
        time_product(layer, batch, &clock, &out);
        break;
    case ORCH_LAYER_POOL2D:
        out.fwd = out.bwd_data =
            map_time(layer, 2.0 * (double)layer->kernel_h * (double)layer->kernel_w, batch, &clock);
        break;
    case ORCH_LAYER_DROPOUT:
        out.fwd = out.bwd_data = map_time(layer, 1, batch, &clock);
        break;
    default: /* other types take no time in PALEO */
        return out;
    }
    out.fwd_ms = orch_paleo_time_ms(out.fwd, options->pipeline);
    /* pipelining applies to the sum of both gradients */
    struct orch_paleo_time bwd = {
        .comp_ms = out.bwd_data.comp_ms + out.bwd_filter.comp_ms,
        .mem_ms = out.bwd_data.mem_ms + out.bwd_filter.mem_ms,
    };
    out.bwd_ms = orch_paleo_time_ms(bwd, options->pipeline);
    return out;
}
