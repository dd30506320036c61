# The files of packaging say what the tree says: version and libraries of the conda recipe, what Docker's context leaves out, commands of build.sh;
# the modulefile finds its prefix from its own place.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
version=$(sed -n 's/^__version__ = "\([0-9.]*\)".*/\1/p' "$SOURCE/share/python/orch/__init__.py")
same "$(sed -n 's/^  version: //p' "$SOURCE/conda/recipe.yaml" | head -n 1)" "$version" 'versions in conda/recipe.yaml and share/python/orch/__init__.py'
# what conda's environment has, besides tools and what only 'report --pdf' and the tests use
libraries=$(sed -n 's/^  - \([a-z0-9.-]*\).*/\1/p' "$SOURCE/environment.yml" |
    grep -vxE '(c|cxx)-compiler|cmake|ninja|pkg-config|git|python|sqlite|weasyprint|cmocka')
[ "$(wc -l <<<"$libraries")" -gt 10 ] || _fail 'environment.yml was not read'
host=$(sed -n '/^  host:/,/^  run:/s/^    - \([a-z0-9.-]*\).*/\1/p' "$SOURCE/conda/recipe.yaml")
for library in $libraries; do
    grep -qxF "$library" <<<"$host" || _fail "conda/recipe.yaml lacks $library, which environment.yml has"
done

# Docker's context has what is built: no pattern of .dockerignore is met by a file of the tree
for entry in "$SOURCE"/*; do
    name=$(basename "$entry")
    while read -r pattern; do
        # shellcheck disable=SC2053
        [[ $name != $pattern ]] || case $name in build | build-* | orch | *.log) ;; *) _fail ".dockerignore leaves out $name" ;; esac
    done <"$SOURCE/.dockerignore"
done
# the commands of build.sh that are named exist
for file in Dockerfile packaging/apptainer.def conda/build.sh; do
    for command in $(grep -o '\./build\.sh [a-z]*' "$SOURCE/$file" | sed 's/.* //' | sort -u); do
        grep -q "^  $command " < <("$SOURCE/build.sh" help 2>&1) || _fail "$file: build.sh has no command '$command'"
    done
done

# the modulefile, read by Tcl with the words of Environment Modules, in a prefix with a blank
command -v tclsh >/dev/null || skip 'the modulefile needs tclsh'
mkdir -p "a prefix/share/orch"
cp -r "$SOURCE/share/modulefiles" "a prefix/share/orch/"
cat >words.tcl <<'T2'
proc prepend-path {name value} { puts "$name=$value" }
proc module-whatis {text} {}
proc conflict {name} {}
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
T2
ok env -u MANPATH tclsh words.tcl "$PWD/a prefix/share/orch/modulefiles/orch"
same "$out" "PATH=$PWD/a prefix/bin
PYTHONPATH=$PWD/a prefix/share/orch/python
PKG_CONFIG_PATH=$PWD/a prefix/share/pkgconfig" 'what the module sets'
ok env MANPATH=/somewhere tclsh words.tcl "$PWD/a prefix/share/orch/modulefiles/orch"
has "MANPATH=$PWD/a prefix/share/man"
