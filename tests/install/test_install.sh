#!/usr/bin/env bash
#  Installs a build into a folder of its own and uses it as somebody else would:
#  with find_package and with pkg-config, shared and static, and from C++. What
#  comes out is run against a scripted peer.
#
#  test_install.sh BUILD_DIR SCRIPTED_PEER
set -eu

build=$(realpath "$1")
scripted_peer=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
peer_pid=
trap 'kill "${peer_pid:-}" 2>/dev/null; rm -rf "$work"' EXIT

say () { echo "install: $*"; }

cmake --install "$build" --prefix "$work/tree" >"$work/log" ||
    { cat "$work/log"; exit 1; }
#  Installed files must not depend on where they were installed to
mv "$work/tree" "$work/moved"
prefix=$work/moved
libdir=$(dirname "$(find "$prefix" -name libzpeer.a)")
say "installed and moved"

for page in LICENSE README CHANGELOG PROTOCOL CONFIGURATION FIGURES MESSAGES; do
    [ -n "$(find "$prefix/share/doc/zpeer" -name "$page*")" ] ||
        { say "$page is missing in share/doc/zpeer"; exit 1; }
done

#  A program that includes every public header, each alone in a file
headers=$(cd "$prefix/include" && echo zpeer/*.h)
for header in $headers; do
    echo "#include <$header>" >"$work/one.c"
    cp "$work/one.c" "$work/one.cpp"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" \
        -c "$work/one.c" -o "$work/one.o"
    g++ -std=c++11 -Wall -Wextra -Werror -I"$prefix/include" \
        -c "$work/one.cpp" -o "$work/one.o"
done
say "headers can be included alone, from C and C++: $headers"

cmake -S "$here/outside" -B "$work/outside" \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
cmake --build "$work/outside" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
say "find_package, shared and static"

export PKG_CONFIG_PATH=$libdir/pkgconfig
#  shellcheck disable=SC2046  # Flags are words
gcc -std=c11 "$here/example.c" $(pkg-config --cflags --libs zpeer) \
    -Wl,-rpath,"$libdir" -o "$work/pkg-shared"
mkdir "$work/static"
cp "$libdir/libzpeer.a" "$work/static"
#  shellcheck disable=SC2046
gcc -std=c11 "$here/example.c" -L"$work/static" -Wl,-Bstatic -lzpeer \
    -Wl,-Bdynamic $(pkg-config --static --cflags --libs zpeer |
        sed 's/-lzpeer//') -o "$work/pkg-static"
say "pkg-config, shared and static"
test "$(pkg-config --modversion zpeer)" = \
    "$("$prefix/bin/zpeerd" --version | sed 's/zpeerd //')"

for program in "$work"/outside/example-shared "$work"/outside/example-static \
    "$work"/pkg-shared "$work"/pkg-static; do
    if ldd "$program" | grep -q "libzpeer"; then kind=shared; else kind=static; fi
    case $program in
    *-$kind) ;;
    *) say "$program is $kind"; exit 1 ;;
    esac
done

mkfifo "$work/said"
"$scripted_peer" >"$work/said" &
peer_pid=$!
read -rt 20 url _ <"$work/said"

for program in "$work"/outside/example-shared "$work"/outside/example-static \
    "$work"/pkg-shared "$work"/pkg-static; do
    timeout 20 "$program" "$url" >"$work/log" 2>&1 ||
        { cat "$work/log"; say "$program failed"; exit 1; }
    grep -q "^1 accepted, 0 not delivered" "$work/log"
    say "$(basename "$program"): $(cat "$work/log")"
    #  A host that gives up ends by itself, and is not aborted
    status=0
    timeout 20 "$program" nonsense >"$work/log" 2>&1 || status=$?
    if [ "$status" -ne 1 ] || ! grep -q 'URL "nonsense"' "$work/log"; then
        cat "$work/log"
        say "$program with a wrong URL: status $status"
        exit 1
    fi
done
