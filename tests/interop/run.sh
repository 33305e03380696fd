#!/usr/bin/env bash
#  Runs tests against a real Eureka server: a Spring Cloud Netflix Eureka Server
#  of released artifacts, built with Maven and a JDK 17.
#
#      run.sh build FOLDER            builds the server there, if need be
#      run.sh test FOLDER PROGRAM...  starts it on a free port, runs the programs
#
#  A program gets ZPEER_SPRING_URL, the server's base URL, and ZPEER_SPRING_PID, a
#  file with its process id. The server is started anew, on the same port, when a
#  program ends it. It ends with this script, however that ends.
set -u
sources=$(cd "$(dirname "$0")" && pwd)/spring-eureka
limit=120  #  Seconds for it to start, on a busy machine

fail () {
    echo "interop: FAILED: $*" >&2
    exit 1
}

build () {
    [ -f "$jar" ] &&
        [ -z "$(find "$sources" -type f -newer "$jar" -print -quit)" ] &&
        return 0
    command -v mvn >/dev/null || fail "needs maven and a JDK 17"
    mvn -B -q -f "$sources/pom.xml" -Dzpeer.target="$folder" package ||
        fail "Maven could not build the server"
    touch "$jar"
}

#  start PORT: starts the server; 0: on any free port
start () {
    : >"$log"
    #  As much memory as the tests need, and only the quick one of the two
    #  compilers: it does not live long
    setpriv --pdeathsig KILL \
        java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$jar" \
        --server.port="$1" >"$log" 2>&1 &
    server=$!
    local until=$((SECONDS + limit))
    while ! grep -q 'Tomcat started on port' "$log"; do
        kill -0 "$server" 2>/dev/null || return 1
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
    echo "$server" >"$work/pid"
}

#  Keeps the server running as long as this process does
keep () {
    local port
    trap '{ kill -KILL "$server"; wait "$server"; } 2>/dev/null; exit' TERM
    start 0 || return 1
    port=$(sed -n 's/.*Tomcat started on port \([0-9]*\).*/\1/p' "$log")
    echo "http://127.0.0.1:$port/eureka/" >"$work/url"
    while :; do
        { wait "$server"; } 2>/dev/null
        start "$port" || return 1
    done
}

finish () {
    [ -n "${keeper:-}" ] && kill -TERM "$keeper" 2>/dev/null && wait "$keeper"
    rm -rf "$work"
}

run () {
    [ -f "$jar" ] || fail "no server in $folder, run: $0 build $folder"
    work=$(mktemp -d)
    trap finish EXIT
    trap 'exit 130' INT TERM
    setpriv --pdeathsig TERM "$0" keep "$folder" "$work" &
    keeper=$!
    while [ ! -s "$work/url" ]; do
        kill -0 "$keeper" 2>/dev/null || {
            tail -n 20 "$log" >&2
            fail "the server did not start"
        }
        sleep 0.2
    done
    ZPEER_SPRING_URL=$(cat "$work/url")
    ZPEER_SPRING_PID=$work/pid
    export ZPEER_SPRING_URL ZPEER_SPRING_PID
    local program failed=0
    for program in "$@"; do
        echo "interop: $(basename "$program")"
        "$program" --short-filename || failed=1
    done
    return "$failed"
}

[ $# -ge 2 ] || { sed -n '2,/^set/s/^#  \{0,1\}//p' "$0" >&2; exit 2; }
folder=$2
jar=$folder/spring-eureka.jar
log=$folder/spring-eureka.log
case $1 in
build) build ;;
test) shift 2; run "$@" ;;
keep) work=$3; keep ;;  #  For run only
*) fail "no such command: $1" ;;
esac
