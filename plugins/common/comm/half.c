/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/half.h"

#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t to_bf16(float value)
{
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t value)
{
    return of_bits((uint32_t)value << 16);
}

/* Exact scaling by powers of two lets the addition round, also of subnormal results. */
static uint16_t to_fp16(float value)
{
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (size >= 0x477ff000) /* 65520: rounds to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (size < 0x38800000) {                    /* below 2^-14: units of 2^-24 */
        const float unit = of_bits(0x3f000000); /* 0.5, whose last place is 2^-24 */
        return (uint16_t)(sign | (bits_of(of_bits(size) + unit) - bits_of(unit)));
    }
    const uint32_t rounded = size + 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000) >> 13));
}

static float from_fp16(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000) << 16, size = value & 0x7fff;
    if (size >= 0x7c00)
        return of_bits(sign | 0x7f800000 | (size & 0x3ff) << 13);
    if (size < 0x400) /* units of 2^-24 */
        return of_bits(sign | bits_of((float)size * 0x1p-24F));
    return of_bits(sign | ((size << 13) + 0x38000000));
}

void orch_half_encode(enum orch_half format, const float *values, size_t count, uint16_t *out)
{
    if (format == ORCH_HALF_BF16)
        for (size_t i = 0; i < count; i++)
            out[i] = to_bf16(values[i]);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = to_fp16(values[i]);
}

void orch_half_decode(enum orch_half format, const uint16_t *values, size_t count, float *out)
{
    if (format == ORCH_HALF_BF16)
        for (size_t i = 0; i < count; i++)
            out[i] = from_bf16(values[i]);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = from_fp16(values[i]);
}

void orch_half_add(enum orch_half format, const uint16_t *values, uint16_t *sums, size_t count)
{
    if (format == ORCH_HALF_BF16)
        for (size_t i = 0; i < count; i++)
            sums[i] = to_bf16(from_bf16(sums[i]) + from_bf16(values[i]));
    else
        for (size_t i = 0; i < count; i++)
            sums[i] = to_fp16(from_fp16(sums[i]) + from_fp16(values[i]));
}
