# 'orch doctor' names another orch on the PATH that disagrees with it, and a module 'orch' that is another project's or of another version.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SCRATCH/python
mkdir "$PYTHONPATH" other again
ok orch doctor
has_not 'other installation'
# a script that leads to this program, as a Python package has one, is no other installation
printf '#!/bin/sh\nexec "%s/orch" "$@"\n' "$BUILD" >again/orch
chmod +x again/orch
PATH=$PWD/again:$PATH ok "$BUILD/orch" doctor
has_not 'other installation'
printf '#!/bin/sh\necho "orch 0.0.1 (plugin ABI 1.0, store schema 1)"\n' >other/orch
chmod +x other/orch
PATH=$PATH:$PWD/other fails 7 "$BUILD/orch" doctor
has 'other installation'
has "'$PWD/other/orch' is orch 0.0.1 (plugin ABI 1.0, store schema 1), this program is $(orch --version)"
printf '#!/bin/sh\nexit 3\n' >other/orch
PATH=$PATH:$PWD/other fails 7 "$BUILD/orch" doctor
has "'$PWD/other/orch' is no orch"
# the module
cp -r "$SOURCE/share/python/orch" "$PYTHONPATH"
ok orch doctor
has "$PYTHONPATH/orch/__init__.py"
sed -i 's/^__version__ = .*/__version__ = "0.0.1"/' "$PYTHONPATH/orch/__init__.py"
fails 7 orch doctor
has "'$PYTHONPATH/orch/__init__.py' is of version 0.0.1"
echo '__version__ = "0.0.2"' >"$PYTHONPATH/orch/__init__.py"
fails 7 orch doctor
has "python3 imports '$PYTHONPATH/orch/__init__.py', which is another project's module"
has 'pip install --force-reinstall orch-run'
