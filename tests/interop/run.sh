#!/usr/bin/env bash
#  Runs tests against real Eureka servers of released artifacts, built with
#  Maven and a JDK 17.
#
#      run.sh build FOLDER              builds them there, if need be
#      run.sh test FOLDER PROGRAM...    starts them, runs the programs
#      run.sh serve FOLDER [SERVER...]  starts them, tells where they are, waits
#
#  README.md has a table of the servers and of the variables that programs get.
#  ZPEER_SERVERS names those to start, if it is not to be all of them. Each gets
#  a free port and keeps it: when a program ends a server, an empty one is
#  started in its place. All of them, and what runs beside them, end with this
#  script, however that ends. Their logs are in a folder of this run; FOLDER gets
#  a copy when something fails.
set -u
here=$(cd "$(dirname "$0")" && pwd)
all="spring one two netflix secure bare"
limit=240  #  Seconds for a server to start, on a very busy machine
tries=3    #  Starts in a row that may fail
credentials='zpeer%40shop:p%40ss%3Aw%2F%C3%B6%25rd'  #  application-secure.yml

work=      #  Folder of this run
keepers=() #  Process ids of what keeps the servers
child=     #  Process id of what runs beside them

say () {
    echo "interop: $*" >&2
}

fail () {
    say "FAILED: $*"
    exit 1
}

#  run COMMAND...: as it is, but so that a signal ends it, too
run () {
    local status
    setpriv --pdeathsig KILL "$@" </dev/null &
    child=$!
    wait "$child"
    status=$?
    child=
    return "$status"
}

keep_logs () {
    local kept
    kept=$(mktemp -d "$folder/logs.XXXXXX") && cp "$work"/*.log "$kept" &&
        say "the logs are in $kept"
}

#  finish STATUS: ends all that this script has started
finish () {
    trap '' INT TERM
    if [ -n "$child" ]; then
        kill -TERM "$child"
        wait "$child"
    fi 2>/dev/null
    [ -n "$work" ] || return
    [ "$1" -eq 1 ] && keep_logs
    if [ ${#keepers[@]} -gt 0 ]; then
        kill -TERM "${keepers[@]}"
        wait "${keepers[@]}"
    fi 2>/dev/null
    rm -rf "$work"
}

#  peers_of PROGRAM: the sets of servers it is run with as peers, one a line
peers_of () {
    case $1 in
    interop_test_actions | interop_test_asg | interop_test_conflict | \
        interop_test_members | interop_test_newcomer | interop_test_outage | \
        interop_test_repair | interop_test_restart)
        echo "one two netflix" ;;
    interop_test_accepted | interop_test_endless | interop_test_firewall | \
        interop_test_malformed | interop_test_marks)
        echo "spring netflix" ;;
    interop_test_unknown_cancel)
        echo "spring netflix"
        echo "bare" ;;
    *) echo "spring" ;;
    esac
}

#  ---- Building

#  build_jar NAME SOURCES: a Maven project, as NAME/NAME.jar and NAME/lib
build_jar () {
    local jar=$folder/$1/$1.jar
    [ -f "$jar" ] &&
        [ -z "$(find "$2/pom.xml" "$2/src" -newer "$jar" -print -quit)" ] &&
        return 0
    command -v mvn >/dev/null || fail "needs maven and a JDK 17"
    run mvn -B -q -f "$2/pom.xml" -Doutput="$folder/$1" package ||
        fail "Maven could not build $1"
    touch "$jar"
}

build () {
    build_jar spring-eureka "$here/spring-eureka"
    build_jar netflix-eureka "$here/netflix-eureka"
    build_jar reference "$here/../../bench/reference"
}

expect_built () {
    local name
    for name in spring-eureka netflix-eureka reference; do
        [ -f "$folder/$name/$name.jar" ] ||
            fail "no $name in $folder; first: $0 build $folder"
    done
}

#  ---- One server

#  As much memory as the tests need, and only the quick one of the two
#  compilers: none of them lives long
java="java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"

#  program PROJECT CLASS: a command line, whose files end with the servers
program () {
    echo "$java -Djava.io.tmpdir=$work" \
        "-cp $folder/$1/$1.jar:$folder/$1/lib/* $2"
}

port_of () {
    cat "$work/$1.port"
}

#  turn_into PROJECT CLASS ARGUMENT...
turn_into () {
    local words
    read -r -a words <<<"$(program "$1" "$2")"
    exec "${words[@]}" "${@:3}"
}

#  spring NAME OPTION...
spring () {
    local name=$1
    shift
    turn_into spring-eureka zpeer.interop.SpringEureka \
        --server.port="$(port_of "$name")" "$@"
}

#  peer NAME HOST OTHER URL: a Spring server, called HOST, whose peer is OTHER
peer () {
    spring "$1" --spring.profiles.active=peer \
        --eureka.instance.hostname="$2" \
        --eureka.client.service-url.defaultZone="$3" \
        --server.tomcat.accesslog.directory="$work" \
        --server.tomcat.accesslog.prefix="$1-access"
}

#  become NAME: turns into a server. A Spring server takes a URL with its own
#  host name for itself, so the two have different ones.
become () {
    case $1 in
    spring) spring spring ;;
    one) peer one 127.0.0.1 "http://localhost:$(port_of two)/eureka/" ;;
    two) peer two localhost "http://127.0.0.1:$(port_of one)/eureka/" ;;
    netflix)
        turn_into netflix-eureka zpeer.interop.NetflixEureka \
            "$(port_of netflix)" ;;
    bare) spring bare --eureka.server.experimental.bugfix.934=false ;;
    secure)
        spring secure --spring.profiles.active=secure \
            --server.ssl.certificate="$work/server.pem" \
            --server.ssl.certificate-private-key="$work/server.key" ;;
    esac
}

url_of () {
    case $1 in
    netflix) echo "http://127.0.0.1:$(port_of netflix)/eureka/v2/" ;;
    secure)
        echo "https://$credentials@127.0.0.1:$(port_of secure)/ctx/eureka/" ;;
    *) echo "http://127.0.0.1:$(port_of "$1")/eureka/" ;;
    esac
}

#  start NAME: starts a server, and waits until it is up. False if it ends
#  before; one that takes too long will do so the next time, too.
start () {
    local log=$work/$1.log until=$((SECONDS + limit))
    : >"$log"
    setpriv --pdeathsig KILL "$0" become "$folder" "$work" "$1" >"$log" 2>&1 &
    server=$!
    echo "$server" >"$work/$1.pid"
    while ! grep -q 'Tomcat started on port' "$log"; do
        kill -0 "$server" 2>/dev/null || return 1
        [ "$SECONDS" -lt "$until" ] || fail "$1 is not up after $limit s"
        sleep 0.2
    done
    : >"$work/$1.up"
}

end_server () {
    { kill -KILL "$server"; wait "$server"; } 2>/dev/null
}

#  keep NAME: keeps a server running as long as this process does. One that is
#  ended while it starts, or whose port is taken just then, is started again.
keep () {
    local failures=0
    trap 'end_server; rm -rf "$work"; exit' TERM
    while [ "$failures" -lt "$tries" ]; do
        failures=$((failures + 1))
        start "$1" && failures=0
        { wait "$server"; } 2>/dev/null
    done
    tail -n 20 "$work/$1.log" >&2
    say "$1 ended $tries times while it started"
    return 1
}

#  ---- All of them

#  Below the ports that the system gives to connections, so that one stays free
#  while its server is started anew; apart for each server
choose_ports () {
    local name from=10000 port
    for name in $all; do
        while port=$((from + RANDOM % 4000)) &&
            (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
        echo "$port" >"$work/$name.port"
        from=$((from + 4000))
    done
}

#  request NAME OPTION...: a certificate and its key
request () {
    local name=$1
    shift
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -days 2 -keyout "$work/$name.key" -out "$work/$name.pem" "$@" \
        2>"$work/openssl.log" || fail "openssl: $(cat "$work/openssl.log")"
}

make_certificates () {
    request ca -subj /CN=interop-ca
    request server -subj /CN=localhost \
        -CA "$work/ca.pem" -CAkey "$work/ca.key" \
        -addext basicConstraints=critical,CA:FALSE \
        -addext subjectAltName=IP:127.0.0.1,DNS:localhost
}

#  tell NAME VALUE: sets a variable of programs
variables=()
tell () {
    export "$1=$2"
    variables+=("$1")
}

#  introduce SERVER: sets its variables
introduce () {
    local prefix=ZPEER_${1^^}
    tell "${prefix}_URL" "$(url_of "$1")"
    tell "${prefix}_PID" "$work/$1.pid"
    case $1 in
    one | two) tell "${prefix}_LOG" "$work/$1-access.log" ;;
    secure) tell "${prefix}_CA" "$work/ca.pem" ;;
    esac
}

#  launch SERVER...: starts these, all at once
launch () {
    local name i=0
    work=$(mktemp -d)
    choose_ports
    make_certificates
    for name in "$@"; do
        setpriv --pdeathsig TERM "$0" keep "$folder" "$work" "$name" &
        keepers+=($!)
    done
    for name in "$@"; do
        while [ ! -e "$work/$name.up" ]; do
            kill -0 "${keepers[i]}" 2>/dev/null || fail "$name did not start"
            sleep 0.2
        done
        introduce "$name"
        i=$((i + 1))
    done
    tell ZPEER_READER "$(program netflix-eureka zpeer.interop.EurekaReader)"
    tell ZPEER_REFERENCE_NODE "$(program reference zpeer.bench.Node)"
    say "servers are up after $SECONDS s, their logs are in $work"
}

run_programs () {
    local program failed=0 begun peers
    for program in "$@"; do
        mapfile -t peers < <(peers_of "$(basename "$program")")
        for ZPEER_PEERS in "${peers[@]}"; do
            export ZPEER_PEERS
            begun=$SECONDS
            say "$(basename "$program"), peers: $ZPEER_PEERS"
            run "$program" --short-filename || failed=1
            say "took $((SECONDS - begun)) s"
        done
    done
    return "$failed"
}

serve () {
    local name
    for name in "${variables[@]}"; do
        printf '%s=%q\n' "$name" "${!name}"
    done
    wait
    fail "no server is left"
}

usage () {
    sed -n '2,/^set/s/^#  \{0,1\}//p' "$0"
}

#  start_all SERVER...
start_all () {
    local name
    expect_built
    for name in "$@"; do
        [[ " $all " = *" $name "* ]] || fail "no such server: $name"
    done
    launch "$@"
}

main () {
    local command=$1 servers
    folder=$(realpath -m "$2")
    shift 2
    read -r -a servers <<<"${ZPEER_SERVERS:-$all}"
    trap 'finish $?' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    case $command in
    build) mkdir -p "$folder" && build ;;
    test) start_all "${servers[@]}" && run_programs "$@" ;;
    serve)
        [ $# -gt 0 ] && servers=("$@")
        start_all "${servers[@]}" && serve ;;
    esac
}

least=3
case ${1-} in
--help) usage; exit ;;
build | serve) least=2 ;;
test) ;;
#  For this script only: keep FOLDER WORK NAME, become FOLDER WORK NAME
keep | become)
    folder=$2
    work=$3
    "$1" "$4"
    exit ;;
*) least=$(($# + 1)) ;;
esac
[ $# -ge "$least" ] || {
    usage >&2
    exit 2
}
main "$@"
