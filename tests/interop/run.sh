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
#  started in its place. All of them end with this script, however that ends.
set -u
here=$(cd "$(dirname "$0")" && pwd)
limit=240  #  Seconds for a server to start, on a very busy machine
credentials='zpeer%40shop:p%40ss%3Aw%2F%C3%B6%25rd'  #  application-secure.yml

fail () {
    echo "interop: FAILED: $*" >&2
    exit 1
}

#  peers_of PROGRAM: the sets of servers it is run with as peers, one a line
peers_of () {
    case $1 in
    interop_test_actions | interop_test_asg | interop_test_conflict | \
        interop_test_members | interop_test_newcomer | interop_test_outage | \
        interop_test_repair | interop_test_restart)
        echo "one two netflix" ;;
    interop_test_accepted | interop_test_endless | interop_test_malformed)
        echo "spring netflix" ;;
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
    mvn -B -q -f "$2/pom.xml" -Doutput="$folder/$1" package ||
        fail "Maven could not build $1"
    touch "$jar"
}

build () {
    build_jar spring-eureka "$here/spring-eureka"
    build_jar netflix-eureka "$here/netflix-eureka"
    build_jar reference "$here/../../bench/reference"
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
        --server.tomcat.accesslog.directory="$folder" \
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

#  start NAME: starts a server, and waits until it is up
start () {
    local log=$folder/$1.log until=$((SECONDS + limit))
    : >"$log"
    setpriv --pdeathsig KILL "$0" become "$folder" "$work" "$1" >"$log" 2>&1 &
    server=$!
    echo "$server" >"$work/$1.pid"
    while ! grep -q 'Tomcat started on port' "$log"; do
        kill -0 "$server" 2>/dev/null || return 1
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
    : >"$work/$1.up"
}

end_server () {
    { kill -KILL "$server"; wait "$server"; } 2>/dev/null
}

#  keep NAME: keeps a server running as long as this process does
keep () {
    trap 'end_server; rm -rf "$work"; exit' TERM
    while start "$1"; do
        { wait "$server"; } 2>/dev/null
    done
    return 1
}

#  ---- All of them

#  Below the ports that the system gives to connections, so that one stays free
#  while its server is started anew; apart for each server
choose_ports () {
    local name from=10000 port
    for name in spring one two netflix secure; do
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
        2>"$folder/openssl.log" || fail "openssl: $(cat "$folder/openssl.log")"
}

make_certificates () {
    request ca -subj /CN=interop-ca
    request server -subj /CN=localhost \
        -CA "$work/ca.pem" -CAkey "$work/ca.key" \
        -addext basicConstraints=critical,CA:FALSE \
        -addext subjectAltName=IP:127.0.0.1,DNS:localhost
}

finish () {
    if [ ${#keepers[@]} -gt 0 ]; then
        kill -TERM "${keepers[@]}" 2>/dev/null
        wait "${keepers[@]}"
    fi
    rm -rf "$work"
}

#  say NAME VALUE: sets a variable of programs
variables=()
say () {
    export "$1=$2"
    variables+=("$1")
}

#  introduce SERVER: sets its variables
introduce () {
    local prefix=ZPEER_${1^^}
    say "${prefix}_URL" "$(url_of "$1")"
    say "${prefix}_PID" "$work/$1.pid"
    case $1 in
    one | two) say "${prefix}_LOG" "$folder/$1-access.log" ;;
    secure) say "${prefix}_CA" "$work/ca.pem" ;;
    esac
}

#  launch SERVER...: starts these, all at once
launch () {
    local name i=0
    work=$(mktemp -d)
    keepers=()
    trap finish EXIT
    trap 'exit 130' INT TERM
    choose_ports
    make_certificates
    for name in "$@"; do
        [ -s "$work/$name.port" ] || fail "no such server: $name"
        rm -f "$folder/$name-access.log"
        setpriv --pdeathsig TERM "$0" keep "$folder" "$work" "$name" &
        keepers+=($!)
    done
    for name in "$@"; do
        while [ ! -e "$work/$name.up" ]; do
            kill -0 "${keepers[i]}" 2>/dev/null || {
                tail -n 20 "$folder/$name.log" >&2
                fail "$name did not start; is it built ($0 build $folder)?"
            }
            sleep 0.2
        done
        introduce "$name"
        i=$((i + 1))
    done
    say ZPEER_READER "$(program netflix-eureka zpeer.interop.EurekaReader)"
    say ZPEER_REFERENCE_NODE "$(program reference zpeer.bench.Node)"
    echo "interop: servers are up after $SECONDS s"
}

run () {
    local program failed=0 begun peers
    for program in "$@"; do
        mapfile -t peers < <(peers_of "$(basename "$program")")
        for ZPEER_PEERS in "${peers[@]}"; do
            export ZPEER_PEERS
            begun=$SECONDS
            echo "interop: $(basename "$program"), peers: $ZPEER_PEERS"
            "$program" --short-filename || failed=1
            echo "interop: took $((SECONDS - begun)) s"
        done
    done
    return "$failed"
}

serve () {
    local name
    for name in "${variables[@]}"; do
        printf 'export %s=%q\n' "$name" "${!name}"
    done
    wait
}

usage () {
    sed -n '2,/^set/s/^#  \{0,1\}//p' "$0" >&2
    exit 2
}

main () {
    local command=$1 servers
    mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 2
    shift 2
    read -r -a servers <<<"${ZPEER_SERVERS:-spring one two netflix secure}"
    case $command in
    build) build ;;
    test) launch "${servers[@]}" && run "$@" ;;
    serve)
        [ $# -gt 0 ] && servers=("$@")
        launch "${servers[@]}" && serve ;;
    #  For this script only
    keep) work=$1; keep "$2" ;;
    become) work=$1; become "$2" ;;
    *) usage ;;
    esac
}

[ $# -ge 2 ] || usage
main "$@"
