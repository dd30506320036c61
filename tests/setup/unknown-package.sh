#!/usr/bin/env bash
# build.sh installs all packages that this Debian has, also when one of the list does not exist, and names exactly the
# missing ones. apt and dpkg are stand-ins that read and write two lists.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cp "$SOURCE/build.sh" .
: >installed
"$SOURCE/build.sh" packages | sed -n 's/^[A-Z]*: //p' | tr ' ' '\n' | grep -v '^weasyprint$' >available

cat >"$SCRATCH/bin/apt-get" <<'S'
#!/usr/bin/env bash
verb= packages=
while [ $# -gt 0 ]; do
    case $1 in
        -o) shift ;;
        -*) ;;
        install | update) verb=$1 ;;
        *) packages="$packages $1" ;;
    esac
    shift
done
[ $verb = install ] || exit 0
for name in $packages; do grep -qxF "$name" available || exit 100; done
printf '%s\n' $packages >>installed
S
cat >"$SCRATCH/bin/apt-cache" <<'S'
#!/usr/bin/env bash
for name; do
    if grep -qxF -e "$name" available; then printf 'Package: %s\nVersion: 1\n\n' "$name"; else status=100; fi
done
exit ${status:-0}
S
cat >"$SCRATCH/bin/dpkg-query" <<'S'
#!/usr/bin/env bash
for name; do grep -qxF -e "$name" installed && printf 'installed %s\n' "$name"; done
exit 1
S
printf '#!/usr/bin/env bash\n[ "$1" != -n ] || shift\nexec "$@"\n' >"$SCRATCH/bin/sudo"
chmod +x "$SCRATCH/bin/"*

# what is needed: the rest is installed, and the one that is missing is named
fails 1 ./build.sh paper
says 'installing for reports on paper: poppler-utils'
says '  apt-get install weasyprint'
says_not 'apt-get install weasyprint p'
same "$(sort installed | tr '\n' ' ')" 'poppler-utils python3-ipykernel python3-nbconvert python3-nbformat ' 'what is installed'

# all are known: all are installed, and the next call asks for none
echo weasyprint >>available
ok ./build.sh paper
ok ./build.sh paper
says_not installing
