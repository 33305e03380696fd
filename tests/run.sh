#!/usr/bin/env bash
#  Builds zpeer in every way it is meant to be built and runs every test there
#  is, on a Debian 12 machine with nothing installed.
#
#      tests/run.sh [--quick | --full] [--no-install] [--no-interop]
#
#  --quick       only the style checks, one compiler, and its tests
#  --full        longer fuzzing and simulation; may take more than 30 minutes
#  --no-install  installs no packages, and fails where one is missing
#  --no-interop  leaves out the tests against a real Eureka server, which need
#                Java and, the first time, what Maven fetches
#
#  Of the steps with gcc, three chaos runs take 10 to 25 seconds each, and little
#  of a processor; tests/chaos/chaos.c says how to have more of them.
#
#  Logs and builds are in build/. Ends with "tests: OK" or "tests: FAILED: …",
#  and an exit status to match.
set -u
cd "$(dirname "$0")/.." || exit 2

mode=normal
install=yes
interop=yes
for argument in "$@"; do
    case $argument in
    --quick) mode=quick ;;
    --full) mode=full ;;
    --no-install) install=no ;;
    --no-interop) interop=no interop_packages= ;;
    --help) sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tests: unknown argument $argument, see --help" >&2; exit 2 ;;
    esac
done

jobs=$(nproc)
logs=$PWD/build/logs
mkdir -p "$logs"
failed=
started=$SECONDS
running=

#  Everything a step starts is in one process group, and ends with it
end_group () {
    [ -z "$running" ] && return 0
    kill -KILL -- "-$running" 2>/dev/null
    running=
}
trap 'end_group' EXIT
trap 'end_group; echo "tests: FAILED: interrupted"; exit 130' INT TERM

#  What a step leaves running although it is over is a fault, too; but not what
#  is about to end because the step did (a symbolizer at the end of its input),
#  for which there are two seconds, nor what has ended and only waits for its
#  exit status to be asked for
left_behind () {
    local left look
    for look in {1..20}; do
        left=$(ps -e -o pgid=,stat=,pid=,args= |
            awk -v group="$1" '$1 == group && $2 !~ /^Z/')
        [ -z "$left" ] && return 0
        sleep 0.1
    done
    printf '%s\n' "$left"
}

#  step NAME MINUTES COMMAND…: runs a command with its output in a log, shows
#  how it went, and remembers a failure
step () {
    local name=$1 minutes=$2 begun=$SECONDS status left
    shift 2
    printf 'tests: %-22s ' "$name"
    set -m
    timeout --foreground "$((minutes * 60))" "$@" \
        >"$logs/$name.log" 2>&1 </dev/null &
    running=$!
    set +m
    wait "$running"
    status=$?
    left=$(left_behind "$running")
    end_group
    if [ -n "$left" ]; then
        printf 'left processes behind:\n%s\n' "$left" >>"$logs/$name.log"
        status=1
    fi
    if [ "$status" -eq 0 ]; then
        printf 'ok      %4d s\n' "$((SECONDS - begun))"
    else
        [ "$status" -eq 124 ] && echo "over $minutes min" >>"$logs/$name.log"
        printf 'FAILED  %4d s, see build/logs/%s.log\n' \
            "$((SECONDS - begun))" "$name"
        grep -E 'error:|FAILED|\*\*\*Failed|warning:' "$logs/$name.log" |
            head -n 20 | sed 's/^/    /'
        tail -n 20 "$logs/$name.log" | sed 's/^/    /'
        failed="$failed $name"
    fi
    grep -hE '^[0-9]+% tests passed|^Total Test time' "$logs/$name.log" |
        sed 's/^/    /'
    return "$status"
}

build_packages="build-essential cmake ninja-build pkg-config libzmq3-dev
libczmq-dev libcurl4-openssl-dev libmsgpack-dev libjansson-dev uthash-dev
libxxhash-dev zlib1g-dev"
test_packages="libcriterion-dev libmicrohttpd-dev python3 procps git openssl"
check_packages="clang clang-14 libclang-rt-14-dev llvm-14 clang-format
clang-tidy cppcheck"
[ "$interop" = yes ] && interop_packages="maven openjdk-17-jdk-headless"

install_packages () {
    local missing="" package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    echo "tests: installing$missing"
    if [ "$install" = no ]; then
        echo "tests: FAILED: missing packages:$missing"
        exit 1
    fi
    #  shellcheck disable=SC2086  # A list of words
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install \
        -y --no-install-recommends $missing; } >"$logs/packages.log" 2>&1; then
        tail -n 20 "$logs/packages.log"
        echo "tests: FAILED: installing packages (needs root and a mirror)"
        exit 1
    fi
}

#  build PRESET [OPTION…]: configures and builds build/PRESET, whatever it was
#  configured for before. Warnings are errors here, with every preset.
build () {
    local preset=$1
    shift
    cmake --preset "$preset" -DZPEER_WERROR=ON -DZPEER_BUILD_TESTS=ON \
        -DZPEER_BUILD_BENCH=ON "$@" &&
        cmake --build --preset "$preset" -j "$jobs"
}

#  build_type NAME COMPILER TYPE [OPTION…]: library and programs
build_type () {
    local folder=build/types/$1 compiler=$2 type=$3
    echo "== $1"
    shift 3
    cmake -G Ninja -S . -B "$folder" -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_BUILD_TYPE="$type" -DZPEER_WERROR=ON -DZPEER_BUILD_TESTS=OFF \
        -DZPEER_BUILD_BENCH=OFF "$@" && cmake --build "$folder" -j "$jobs"
}

#  Each level of optimization warns of something else; the last build is as
#  distributions have it. Debug is built with all tests, by both compilers.
build_types () {
    local compiler type
    for compiler in gcc clang; do
        for type in Release RelWithDebInfo MinSizeRel; do
            build_type "$compiler-$type" "$compiler" "$type" || return 1
        done
        build_type "$compiler-distribution" "$compiler" Release \
            -DCMAKE_C_FLAGS="-D_FORTIFY_SOURCE=2 -fstack-protector-strong" \
            -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON || return 1
    done
}

#  run_tests PRESET LABELS: those of the tests with one of the labels
run_tests () {
    ctest --test-dir "build/$1" --output-on-failure -j "$jobs" -L "^($2)\$" \
        --no-tests=error
}

check_format () {
    git ls-files -z -- '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror
}

#  One file a process: with several, clang-tidy 14 takes every va_start but the
#  first for missing
check_tidy () {
    git ls-files -z -- 'proto/*.c' 'bus/*.c' 'actors/*.c' 'deploy/*.c' |
        xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p build/dev
}

check_cppcheck () {
    local layer includes=()
    for layer in proto bus actors; do
        includes+=(-I "$layer" -I "$layer/include")
    done
    cppcheck --quiet -j "$jobs" --enable=warning,performance,portability \
        --inline-suppr --error-exitcode=1 "${includes[@]}" \
        proto bus actors deploy
}

#  Nothing but the fuzzers is needed from this build
build_fuzzers () {
    local targets
    targets=$(basename -s .c tests/fuzz/fuzz_*.c)
    #  shellcheck disable=SC2086  # A list of words
    cmake --preset fuzz && cmake --build --preset fuzz -j "$jobs" \
        --target $targets
}

#  fuzz SECONDS: each fuzzer for so long, beginning with its committed corpus
fuzz () {
    local seconds=$1 fuzzer name
    for fuzzer in tests/fuzz/fuzz_*.c; do
        name=$(basename -s .c "$fuzzer")
        mkdir -p "build/fuzz/found/$name"
        echo "== $name"
        "build/fuzz/tests/fuzz/$name" -max_total_time="$seconds" \
            -max_len=16384 -timeout=10 -artifact_prefix="build/fuzz/$name-" \
            "build/fuzz/found/$name" "tests/fuzz/corpus/${name#fuzz_}" ||
            return 1
    done
}

interop () {
    ctest --test-dir build/dev --output-on-failure -L '^interop$' \
        --no-tests=error
}

#  Functions are run by a shell of their own, under timeout
export -f build build_type build_types run_tests interop
export -f check_format check_tidy check_cppcheck build_fuzzers fuzz
export jobs
run () {
    local name=$1 minutes=$2
    shift 2
    #  shellcheck disable=SC2016  # To be expanded by the inner shell
    step "$name" "$minutes" bash -c '"$@"' step "$@"
}

system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
echo "tests: $mode, $jobs processors, $system"
#  shellcheck disable=SC2086  # Lists of words
install_packages $build_packages $test_packages
#  shellcheck disable=SC2086
[ "$mode" = quick ] || install_packages $check_packages $interop_packages

fuzz_seconds=15
[ "$mode" = full ] && fuzz_seconds=300 && export ZPEER_TEST_LONG=1

run style 1 python3 tests/style/check_style.py
if run gcc-build 8 build dev; then
    run gcc-tests 8 run_tests dev 'unit|sim|model|actor|e2e|deploy|race|chaos'
fi
if run release-build 8 build release; then
    run install 3 run_tests release install
fi
if [ "$mode" != quick ]; then
    run format 2 check_format
    if run clang-build 8 build clang; then
        run clang-tests 8 run_tests clang 'unit|actor'
    fi
    run build-types 5 build_types
    if run asan-build 8 build asan -DZPEER_BUILD_BENCH=OFF; then
        run asan-tests 10 run_tests asan 'unit|sim|model|actor|e2e|deploy'
    fi
    if run tsan-build 8 build tsan -DZPEER_BUILD_BENCH=OFF; then
        run tsan-tests 5 run_tests tsan race
    fi
    run fuzz-build 5 build_fuzzers && run fuzz 60 fuzz "$fuzz_seconds"
    run clang-tidy 12 check_tidy
    run cppcheck 5 check_cppcheck
    if [ "$interop" = yes ]; then
        run interop 20 interop
    else
        echo "tests: interop                left out (--no-interop)"
    fi
    run demo 10 deploy/demo.sh
fi

printf 'tests: %d s in all\n' "$((SECONDS - started))"
if [ -n "$failed" ]; then
    echo "tests: FAILED:$failed"
    exit 1
fi
echo "tests: OK"
