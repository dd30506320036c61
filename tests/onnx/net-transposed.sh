#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 'orch net show' counts the transposed convolutions of a decoder, and shows how.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
PYTHONPATH=$SOURCE/tests/cli python3 -m onnx_files .
ok orch net show decoder.onnx --json
same "$(json params) $(json multiply_adds) $(json conv_multiply_adds)" '246 4992 4992'
same "$(json ops)" 10752 'with a bias and a ReLU of 6*8*8'
ok orch net show decoder.onnx --work
has_not 'counted as zero'
has '(4-1)*2+3-2*1+1 = 8'
has '(3*3*6)*4 = 216'
has '(3*3*6)*4*4*4 = 3,456'
has '(8-1)*2+2-2*0 = 16'
has '(2*2*1)*6*8*8 = 1,536'
