# 'orch plugin build': what is missing is named with the way out, and nothing is left of an attempt that failed. The adapter is
# refused when the LibTorch for which it was built was replaced.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
ok cmake --install "$BUILD" --prefix "$SCRATCH/at ö/orch"
prefix=$SCRATCH/at\ ö/orch
rm -f "$prefix"/lib/orch/plugins/common/orch-torch.*
PATH=$prefix/bin:${PATH//$BUILD:/}
same "$(command -v orch)" "$prefix/bin/orch"
built=$XDG_CACHE_HOME/orch/built
printf 'format: 1\nrecipe: n\nexperiments:\n  n: { plugin: train, with: { dataset: synthetic, image_size: 32, per_class: 8, epochs: 1, net: lenet5 } }\n' >n.recipe
fails 1 env -u ORCH_TORCH orch run n.recipe
says 'orch plugin build train'
fails 2 orch plugin build sleep
says "plugin 'sleep' does not use LibTorch"
fails 4 orch plugin build trian
says "did you mean 'train'?"
# a Python without PyTorch, one whose PyTorch is too old, one without headers
mkdir -p env/bin env/torch/include/ATen env/torch/include/torch/csrc/api/include/torch env/torch/lib
printf '#!/bin/sh\nexec env PYTHONPATH="%s" python3 "$@"\n' "$PWD/env" >env/bin/python3
chmod +x env/bin/python3
mv env/torch env/none
printf '#!/bin/sh\nexec "%s" -S "$@"\n' "${ORCH_PYTHON:-python3}" >bare
chmod +x bare
fails 4 orch plugin build train --python ./bare
says 'no PyTorch to build the LibTorch adapter for'
says 'pip install torch'
mv env/none env/torch
: >env/torch/__init__.py
fails 4 orch plugin build train --python env/bin/python3
says 'has no headers'
touch env/torch/include/ATen/ATen.h env/torch/lib/libtorch_cpu.so
version() { printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n#define TORCH_VERSION_PATCH 0\n' "$1" "$2" >env/torch/include/torch/csrc/api/include/torch/version.h; }
version 1 12
fails 4 orch plugin build train --python env/bin/python3
says "PyTorch 1.12.0 in '$(realpath env/torch)' is older than 1.13"
version 2 9
fails 2 orch plugin build train --python ./nobody
says "no Python './nobody'"
# no compiler
fails 4 env CXX=no-such-compiler orch plugin build train --python env/bin/python3
says "no compiler to build the LibTorch adapter with: there is no C++ compiler 'no-such-compiler'"
says 'apt-get install g++'
# a compiler that fails
fails 4 orch plugin build train --python env/bin/python3
says 'the LibTorch adapter did not compile'
[ -z "$(ls "$built")" ] || _fail "left: $(ls "$built")"
# a compiler of ours that makes a module which is no adapter: what counts is what lies where, and when it is refused
printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" != -o ] || { shift; echo "int nothing;" | cc -x c -shared -fPIC -o "$1" -; }; shift; done\n' >c++
chmod +x c++
ok env CXX="$PWD/c++" CC="$PWD/c++" orch plugin build train --python env/bin/python3 --json
same "$(json version)" 2.9.0
same "$(json torch)" "$(realpath env/torch)"
adapter=$(json adapter)
[ -s "$adapter" ] || _fail "no '$adapter'"
same "$(ls "$(dirname "$adapter")" | tr '\n' ' ')" 'orch-torch.library orch-torch.so orch-torch.version '
ok orch doctor
has "$adapter"
fails 1 env -u ORCH_TORCH orch run n.recipe
says "cannot load the LibTorch adapter '$adapter'"
echo replaced >env/torch/lib/libtorch_cpu.so
fails 1 env -u ORCH_TORCH orch run n.recipe
says "'$(realpath env/torch)/lib/libtorch_cpu.so' was replaced after the LibTorch adapter was built for it"
rm -r env/torch
fails 1 env -u ORCH_TORCH orch run n.recipe
says 'no longer exists'
# a build that fails keeps the earlier one
fails 4 orch plugin build train --python ./bare
[ -s "$adapter" ] || _fail "'$adapter' is gone"
