/* SPDX-License-Identifier: MIT */
/* The fields of Protocol Buffers' messages one by one, and the checksums in files of TensorBoard
 * and W&B. Whole models are built and written by protobuf-c (lib/onnx); orch-host, which reads logs
 * as they grow, does without that library and the trackers' long .proto files. */
#ifndef ORCH_BASE_PROTOBUF_H
#define ORCH_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOBUF_CRC32 0xedb88320u  /* zlib's, reflected */
#define PROTOBUF_CRC32C 0x82f63b78u /* Castagnoli's, reflected */

void orch_protobuf_crc_table(uint32_t table[256], uint32_t polynomial);
/** Continues the checksum `crc` (0 at the start) over `bytes`. */
uint32_t orch_protobuf_crc(const uint32_t table[256], uint32_t crc, const uint8_t *bytes,
                           size_t length);
uint64_t orch_protobuf_little(const uint8_t *bytes, int count);

/** The unread bytes of a message, borrowed; reading advances `at`. */
struct orch_protobuf {
    const uint8_t *at, *end;
};

struct orch_protobuf_field {
    uint32_t number, type;      /* 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes */
    uint64_t value;             /* of types 0, 1 and 5; of type 2 its length */
    struct orch_protobuf inner; /* of type 2 */
};

bool orch_protobuf_varint(struct orch_protobuf *message, uint64_t *out);
/** Reads the next field. False at the end of the message, and when the bytes are malformed; `out`
 * then has what was read, such as the length of a field that is longer than the message. */
bool orch_protobuf_field(struct orch_protobuf *message, struct orch_protobuf_field *out);
double orch_protobuf_double(uint64_t bits);
double orch_protobuf_float(uint64_t bits);
/** The bytes as text, truncated to `most` bytes. The caller frees. */
char *orch_protobuf_text(struct orch_protobuf message, size_t most);

#endif
