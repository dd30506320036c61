# The build uses the newest LibTorch of Python, conda and the system, or the one that ORCH_TORCH_FROM names.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
unset Torch_DIR CONDA_PREFIX
torch() { # torch FOLDER MAJOR MINOR PATCH: what a PyTorch installs, as far as it is looked at
    mkdir -p "$1/share/cmake/Torch" "$1/include/ATen" "$1/include/torch/headeronly" "$1/lib"
    touch "$1/share/cmake/Torch/TorchConfig.cmake" "$1/include/ATen/ATen.h" "$1/lib/libtorch.so" "$1/__init__.py"
    printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n#define TORCH_VERSION_PATCH %s\n' "$2" "$3" "$4" >"$1/include/torch/headeronly/version.h"
}
venv=$SCRATCH/venv site=$SCRATCH/venv/lib/python3.11/site-packages
torch "$site/torch" 99 1 2
torch "$SCRATCH/newer" 99 10 0
torch "$SCRATCH/old" 1 12 1
mkdir "$SCRATCH/empty"
find_torch() { ok cmake "$@" -P "$SOURCE/cmake/torch_find.cmake"; }

# by a folder: each form of it
for folder in "$venv" "$site" "$site/torch" "$site/torch/share/cmake/Torch"; do
    find_torch -DORCH_TORCH_FROM="$folder"
    has "found: LibTorch 99.1.2 of the chosen folder, $site/torch/lib"
done
find_torch -DORCH_TORCH_FROM="$SCRATCH/empty"
has "none: '$SCRATCH/empty' has no LibTorch: looked for TorchConfig.cmake in it and below it in share/cmake/Torch"
find_torch -DORCH_TORCH_FROM="$SCRATCH/old"
has 'none: '
has 'LibTorch 1.12.1 at'
has 'is older than 1.13: not used'
rm "$SCRATCH/old/lib/libtorch.so"
find_torch -DORCH_TORCH_FROM="$SCRATCH/old"
has 'has no headers or no libtorch.so: not used'

# by what python3 imports, whose version is compared as numbers
export PYTHONPATH=$site
find_torch -DORCH_TORCH_FROM=python
has "found: LibTorch 99.1.2 of python3, $site/torch/lib"
find_torch
has "found: LibTorch 99.1.2 of python3"
find_torch -DCMAKE_PREFIX_PATH="$SCRATCH/newer"
has "found: LibTorch 99.10.0 of the system, $SCRATCH/newer/lib (newer than 99.1.2 of python3"
torch "$SCRATCH/newer" 2 0 0
find_torch -DCMAKE_PREFIX_PATH="$SCRATCH/newer"
has 'found: LibTorch 99.1.2 of python3'
has '2.0.0 of the system'
find_torch -DORCH_TORCH_FROM=debian
has_not "$SCRATCH"
Torch_DIR=$SCRATCH/newer find_torch
has "found: LibTorch 2.0.0 of Torch_DIR"
Torch_DIR=$SCRATCH/empty find_torch
has "none: Torch_DIR is set, and '$SCRATCH/empty' has no LibTorch"
Torch_DIR=$SCRATCH/empty find_torch -DORCH_TORCH_FROM=python
has 'found: LibTorch 99.1.2 of python3'
export PYTHONPATH=$SCRATCH/empty
mkdir "$SCRATCH/empty/torch"
: >"$SCRATCH/empty/torch/__init__.py" # a torch without LibTorch
find_torch -DORCH_TORCH_FROM=python
has_not "$SCRATCH/empty"
CONDA_PREFIX=$SCRATCH/newer find_torch
has '2.0.0 of conda'
