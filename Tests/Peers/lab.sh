# SPDX-License-Identifier: Apache-2.0
# Addresses, background programs and waiting for the steps written in bash; sourced, never run.
# Everything a step makes is below $PEERS.

RUN=$PEERS/run
LOG=$PEERS/log
mkdir -p "$RUN" "$LOG"

# One loopback address a role: a PBX that identifies its trunk by address sees different hosts.
CARRIER=127.0.0.10
PROXY=127.0.0.20
PBX=127.0.0.30
PHONE=127.0.0.40
SECOND_PHONE=127.0.0.41

# The kind of Asterisk: 22 or 16.
KIND=${KIND:-22}

passed=0
failed=0

# in_ns COMMAND...: runs a command in the step's network namespace.
in_ns() { ip netns exec "$NETNS" "$@"; }

# bg NAME COMMAND...: starts a program in the namespace, keeps its pid and its output.
bg() {
    local name=$1
    shift
    ip netns exec "$NETNS" "$@" >"$LOG/$name.log" 2>&1 </dev/null &
    echo $! >"$RUN/$name.pid"
    # Bash reports no end of a job it does not keep.
    disown
}

# stop NAME...: ends programs that bg started; TERM first, KILL after five seconds.
stop() {
    local name pid
    for name in "$@"; do
        pid=$(cat "$RUN/$name.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null || true
        rm -f "$RUN/$name.pid"
    done
}

# wait_log FILE REGEX SECONDS: waits until a line matches.
wait_log() {
    local _
    for _ in $(seq $(($3 * 10))); do
        grep -aqE "$2" "$1" 2>/dev/null && return 0
        sleep 0.1
    done
    echo "      no line matches '$2' in $1 after $3 s" >&2
    return 1
}

# wait_port SECONDS SS-FILTER...: waits until a socket listens.
wait_port() {
    local _ limit=$1
    shift
    for _ in $(seq $((limit * 10))); do
        in_ns ss -Hlnut "$@" | grep -q . && return 0
        sleep 0.1
    done
    return 1
}

# ok NAME COMMAND...: one check of a step.
ok() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok    $name"
    else
        failed=$((failed + 1))
        echo "FAIL  $name"
    fi
}

# Ends a step with its own count, as Deploy/test-peers expects.
conclude() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# from_carrier SCENARIO EXTENSION [SIPP-OPTION...]: one call from the carrier, through the gateway.
from_carrier() {
    local scenario=$1 extension=$2
    shift 2
    in_ns timeout 40 sipp "$PROXY:5060" -i "$CARRIER" -p 5060 -m 1 -nostdin -timeout 30 -timeout_error \
        -sf "$PEER_FILES/scenarios/$scenario.xml" -s "$extension" -trace_err -error_file "$LOG/sipp.errors" "$@" \
        >"$LOG/sipp.log" 2>&1 && return 0
    head -n 4 "$LOG/sipp.errors" | cut -c 1-300
    return 1
}
