# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of crates: r.orch, a signed pack with a crate of a recipe with two steps, and the same unpacked.
command -v ssh-keygen >/dev/null || skip 'no ssh-keygen (openssh-client)'
unset ORCH_USER SSH_AUTH_SOCK
git config user.name 'Ada Lovelace'
git config user.email ada@example.org
git config gpg.format ssh
ssh-keygen -q -t ed25519 -N '' -C ada -f "$HOME/ada"
git config user.signingKey "$HOME/ada.pub"
git config gpg.ssh.allowedSignersFile "$HOME/signers"
echo "ada@example.org $(cat "$HOME/ada.pub")" >"$HOME/signers"
cat >mine.py <<'P'
import sys
open("out.txt", "w").write("weights")
print("loss", float(sys.argv[1]) ** 2)
P
cat >r.recipe <<'R'
format: 1
recipe: r
about: squares
experiments:
  make:
    program: python3 mine.py ${x}
    sweep: { x: [1, 2] }
    repeat: 2
    artifacts: { out: out.txt }
  use:
    program: "grep -c weights ${file}"
    with: { file: "${make[x=1, repeat=1].out}" }
report:
  - { title: Squares, table: { rows: x, value: last loss, experiments: [make] } }
R
printf '%s\n' out.txt /unpacked /changed /other '*.orch' look.py >.gitignore
git add -A
git commit -qm one
ok orch run r.recipe
ok orch pack r.recipe r.orch --crate --sign
mkdir unpacked
tar xzf r.orch -C unpacked
