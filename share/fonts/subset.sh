#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes DejaVuSans-subset.ttf, which charts are written in (docs/decisions/drawing.md), from DejaVuSans.ttf
# (Debian: fonts-dejavu-core): Latin, Greek, Cyrillic, arrows, mathematical signs, without hints and layout
# tables. Needs Python's fontTools (Debian: python3-fonttools).
#   share/fonts/subset.sh [/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=${1:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}
python3 -m fontTools.subset "$source" --output-file="$here/DejaVuSans-subset.ttf" \
    --unicodes=U+20-7E,U+A0-17F,U+192,U+2C6-2DD,U+300-304,U+306-30C,U+327-328,U+370-3FF,U+400-45F,U+490-491,U+2010-2027,U+2030-203A,U+2044,U+2070-209C,U+20AC,U+2102,U+2107,U+210B-211D,U+2122,U+2126,U+212B,U+2150-215E,U+2190-21D5,U+2200-22C5,U+2308-230B,U+25A0-25CF,U+2713-2718,U+27E8-27E9,U+FFFD \
    --no-hinting --layout-features= --drop-tables+=MATH,FFTM,GDEF,GPOS,GSUB,kern,gasp --name-IDs='*' --notdef-outline
