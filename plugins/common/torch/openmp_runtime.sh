#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints what the adapter is linked with, so that its loops run in LibTorch's own threads: the OpenMP runtime that libtorch_cpu.so
# needs. A second runtime would have a second pool of threads on the same processors. Prints nothing where it needs none.
#
#   openmp_runtime.sh FOLDER     of LibTorch's libraries
#
# Exit status 1: it needs a runtime that cannot be found; the reason goes to standard error.
set -eu
folder=$1
name=$(readelf -d "$folder/libtorch_cpu.so" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(lib[gi]*omp[-.0-9a-z]*\.so[.0-9]*\)\].*/\1/p' | head -n 1)
[ -n "$name" ] || exit 0
# beside LibTorch (PyPI), in the folder of wheels' libraries, in conda's environment
for file in "$folder/$name" "$folder/../../torch.libs/$name" "$folder/../../../../$name"; do
    [ ! -e "$file" ] || { printf '%s\n' "$file"; exit 0; }
done
case $name in
libgomp.so.1) echo -lgomp ;; # GCC's own, which comes with the compiler
*)
    echo "LibTorch's threads: '$name', which its libraries in '$folder' need, is not beside them" >&2
    exit 1
    ;;
esac
