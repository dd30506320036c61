#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Characters that cannot be seen, or look like others: in recipes, plugins, options and tables each is named with its place. Tables
# as spreadsheets write them. The limit of 1,000 metrics is said.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
odd() { # odd TEXT-OF-RECIPE CODE-POINT
    printf "format: 1\nrecipe: r\nexperiments:\n$1\n" >r.recipe
    fails 2 orch check r.recipe
    says "$2"
}
odd '  a: {plugin: sleep, with: {seconds:\xc2\xa00.1}}' 'U+00A0 (a no-break space)'
says 'r.recipe:4:37'
odd '\xc2\xa0 a: {plugin: sleep, with: {seconds: 0.1}}' 'U+00A0'
odd '  a: {plugin: sleep, with: {seconds: 0.1\xe2\x80\xaf}}' 'U+202F (a narrow no-break space)'
odd '  a: {plugin: sleep\xe2\x80\x8b, with: {seconds: 0.1}}' 'U+200B (a zero-width space)'
odd '  a: {plugin: sleep, with: {seconds\xef\xbc\x9a 0.1}}' 'U+FF1A (a full-width colon)'
odd '  a: {plugin: sleep, with: {seconds: 0.1}}\xe2\x80\xa8' 'U+2028 (a line separator)'
odd '  a: {plugin: sleep, with: {seconds: \xe2\x88\x920.1}}' 'U+2212 (a minus sign)'
odd '\xe3\x80\x80a: {plugin: sleep}' 'U+3000 (an ideographic space)'
odd '  a: {plugin: sleep, with: {"seconds\xef\xbb\xbf": 0.1}}' 'U+FEFF (a byte order mark)'
# a byte order mark before all, and such a character within a text, are no faults
printf '\xef\xbb\xbfformat: 1\nrecipe: r\nabout: "10\xc2\xa0s?"\nexperiments:\n  a: {plugin: sleep, with: {seconds: 0.1}}\n' >r.recipe
ok orch check r.recipe
fails 2 orch run r.recipe -j $'2\xc2\xa0'
says 'U+00A0 (a no-break space)'
printf 'command: [true]\nmetrics:\xc2\xa0{ loss: {} }\n' >x.plugin
fails 7 orch plugin check ./x.plugin
has 'U+00A0 (a no-break space)'

tables=0
import() { # import TEXT
    tables=$((tables + 1))
    printf "$1" >"t$tables.csv"
    orch import "t$tables.csv" --target step_ms --source s --licence l >"$SCRATCH/out" 2>&1
}
! import '"net";"step_ms"\n"vgg";"12,5"\n' || _fail 'semicolons'
grep -q 'separated by semicolons' "$SCRATCH/out" || _fail 'semicolons are not named'
import 'net\tstep_ms\nvgg\t12.5\n' || _fail 'tabs'
grep -q 'separated by tabs' "$SCRATCH/out" || _fail 'tabs are not named'
import 'sep=,\nnet,step_ms\nvgg,12.25\n' || _fail 'sep='
! import 'net\tstep_ms\nvgg\t12,5\n' || _fail 'a decimal comma'
grep -q 'write a decimal point' "$SCRATCH/out" || _fail 'a decimal comma is not named'
! import 'net,step_ms\nvgg,1\xc2\xa0234.5\n' || _fail 'a no-break space in a number'
grep -q 'remove the no-break space' "$SCRATCH/out" || _fail 'a no-break space in a number is not named'
import 'net\twidth\tstep_ms\nvgg\t0,5\t12.75\n' || _fail 'a feature with a decimal comma'
grep -q "'width' is used as a category" "$SCRATCH/out" || _fail 'a feature with a decimal comma is not named'
! import '\xff\xfen\0e\0t\0' || _fail 'UTF-16'
grep -q 'iconv -f UTF-16' "$SCRATCH/out" || _fail 'UTF-16 is not named'

git add -A
git commit -qm first
ok orch try -- sh -c 'for i in $(seq 1 1002); do echo "m$i=$i"; done'
says '2 values were left out, because a trial has at most 1,000 metrics, first: m1001'
says_not 'not understood'
ok orch show @last
has '2 values were left out, because a trial has at most 1,000 metrics, first: m1001'
