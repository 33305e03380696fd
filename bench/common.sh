#  common.sh - what the scripts that measure have in common
#
#  Sourced from the root of the sources, with these set:
#
#      title    what their lines begin with
#      build    folder of the C build
#      java     folder of the reference's jar (build_java)
#      logs     folder of what the programs said
#      busy     yes: measures although others use the machine
#      install  yes: installs what is missing
#
#  Whatever runs as a child ends with the script, however it ends.
#  shellcheck shell=bash disable=SC2154  # The variables above

exec 3>&1  #  Where it is read, whatever the output of a child goes to
started=$SECONDS
child=

#  Programs end their peers when they end
end_child () {
    [ -z "$child" ] && return 0
    kill -TERM "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    child=
}
trap end_child EXIT
trap 'printf "\n%s: FAILED: interrupted\n" "$title" >&3; exit 130' INT TERM

#  fail REASON [LOG]
fail () {
    echo
    [ $# -gt 1 ] && tail -n 20 "$2" | sed 's/^/    /'
    echo "$title: FAILED: $1"
    exit 1
}

#  check_arguments OPTION NUMBER: before anything is built. A number may be left
#  out.
check_arguments () {
    case $2 in *[!0-9]* | 0) fail "$1 needs a number from 1 on" ;; esac
    [ -d "$output" ] && fail "--output needs a file"
    [ -w "$(dirname "$output")" ] || fail "cannot write $output"
}

#  run COMMAND…: as it is, but so that a signal ends it, too
run () {
    local status
    "$@" </dev/null &
    child=$!
    wait "$child"
    status=$?
    child=
    return "$status"
}

#  quietly LOG MINUTES COMMAND…
quietly () {
    local log=$1 minutes=$2
    shift 2
    run timeout "$((minutes * 60))" "$@" >"$log" 2>"$log.errors"
}

install_packages () {
    local missing="" package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    echo "$title: installing$missing"
    [ "$install" = yes ] || fail "missing packages:$missing"
    export DEBIAN_FRONTEND=noninteractive
    #  shellcheck disable=SC2086  # A list of words
    { apt-get update && apt-get install -y --no-install-recommends $missing; } \
        >"$logs/packages" 2>&1 ||
        fail "cannot install (needs root and a Debian mirror)" "$logs/packages"
}

#  What building the C programs needs
install_for_c () {
    install_packages build-essential cmake ninja-build pkg-config libzmq3-dev \
        libczmq-dev libcurl4-openssl-dev libmsgpack-dev libjansson-dev \
        uthash-dev libxxhash-dev zlib1g-dev libmicrohttpd-dev libcriterion-dev \
        python3
}

install_for_java () {
    install_packages maven openjdk-17-jdk-headless
}

#  build_c TARGET…
build_c () {
    echo "$title: building in $build"
    quietly "$logs/configure" 5 cmake --preset release -B "$build" ||
        fail "cannot configure" "$logs/configure.errors"
    quietly "$logs/build" 15 cmake --build "$build" --target "$@" ||
        fail "cannot build" "$logs/build"
}

#  Released artifacts, and what drives them: class path "$java/reference.jar" and
#  "$java/lib/*"
build_java () {
    echo "$title: building the reference in $java"
    quietly "$logs/maven" 15 mvn -B -q -f bench/reference/pom.xml \
        "-Doutput=$(realpath -m "$java")" package ||
        fail "cannot build the reference" "$logs/maven"
}

#  Figures of a machine that others use say nothing. The build of a moment ago
#  counts, too, for a minute or two.
wait_for_calm () {
    local load limit tries
    limit=$(nproc | awk '{ print 0.25 * $1 }')
    for tries in $(seq 18); do
        load=$(cut -d ' ' -f 1 /proc/loadavg)
        awk "BEGIN { exit !($load <= $limit) }" && return 0
        if [ "$busy" = yes ]; then
            echo "$title: WARNING: the load average is $load;" \
                "the figures will be worse than they should"
            return 0
        fi
        [ "$tries" = 1 ] && echo "$title: the load average is $load;" \
            "waiting up to 3 minutes until it is below $limit"
        sleep 10
    done
    fail "the machine is busy, load average $load (--busy measures anyway)"
}

#  describe >FILE: what differs from one machine to another, key=value
describe () {
    local dirty name
    dirty=$(git status --porcelain -- proto bus actors bench deploy \
        tests/support \
        ':!bench/*.md' ':!bench/plots' 2>/dev/null)
    echo "commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(
        [ -n "$dirty" ] && echo ' and uncommitted changes')"
    echo "date=$(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo |
        head -n 1)"
    echo "cores=$(nproc)"
    echo "memory=$(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' \
        /proc/meminfo)"
    echo "kernel=$(uname -sr)"
    echo "system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    echo "load=$(cut -d ' ' -f 1-3 /proc/loadavg)"
    echo "compiler=$(cc --version | head -n 1)"
    for name in libzmq libczmq libcurl msgpack jansson libxxhash; do
        echo "$name=$(pkg-config --modversion "$name")"
    done
}

#  describe_java >>FILE
describe_java () {
    echo "java=$(java --version 2>/dev/null | sed -n '1p;3p' | paste -sd , |
        sed 's/,/, /')"
    echo "eureka=$(sed -n 's/.*<eureka.version>\(.*\)<.*/\1/p' \
        bench/reference/pom.xml)"
}
