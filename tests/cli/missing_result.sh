# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of references to results: sometimes.plugin leaves the result 'final' out for n = 1, look.plugin prints a value.
cat >sometimes.sh <<'S'
[ "$1" = 1 ] || echo "final $1"
S
cat >sometimes.plugin <<'Y'
plugin: sometimes
command: [sh, sometimes.sh, "${n}"]
parameters:
  n: { type: int, default: 1 }
metrics:
  final: { better: max }
Y
echo 'echo "seen $1"' >look.sh
cat >look.plugin <<'Y'
plugin: look
command: [sh, look.sh, "${value}", "${n}"]
parameters:
  value: { type: real, default: 0 }
  n: { type: int, default: 1 }
metrics:
  seen: none
Y
