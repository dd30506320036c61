/* SPDX-License-Identifier: MIT */
#include "lib/base/protobuf.h"

#include <glib.h>
#include <string.h>

void orch_protobuf_crc_table(uint32_t table[256], uint32_t polynomial)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
        table[i] = value;
    }
}

uint32_t orch_protobuf_crc(const uint32_t table[256], uint32_t crc, const uint8_t *bytes,
                           size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++)
        crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

uint64_t orch_protobuf_little(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

bool orch_protobuf_varint(struct orch_protobuf *m, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && m->at < m->end; shift += 7) {
        uint8_t byte = *m->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

bool orch_protobuf_field(struct orch_protobuf *m, struct orch_protobuf_field *out)
{
    uint64_t key;
    *out = (struct orch_protobuf_field){.number = 0};
    if (m->at == m->end || !orch_protobuf_varint(m, &key) || key < 8 || key >> 32)
        return false;
    *out = (struct orch_protobuf_field){.number = (uint32_t)(key >> 3), .type = key & 7};
    size_t left = (size_t)(m->end - m->at), fixed = out->type == 1 ? 8 : out->type == 5 ? 4 : 0;
    if (out->type == 0)
        return orch_protobuf_varint(m, &out->value);
    if (fixed) {
        if (left < fixed)
            return false;
        out->value = orch_protobuf_little(m->at, (int)fixed);
        m->at += fixed;
        return true;
    }
    if (out->type != 2 || !orch_protobuf_varint(m, &out->value) ||
        out->value > (size_t)(m->end - m->at))
        return false;
    out->inner = (struct orch_protobuf){m->at, m->at + out->value};
    m->at += out->value;
    return true;
}

double orch_protobuf_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double orch_protobuf_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

char *orch_protobuf_text(struct orch_protobuf message, size_t most)
{
    size_t length = MIN((size_t)(message.end - message.at), most);
    return g_strndup((const char *)message.at, length);
}
