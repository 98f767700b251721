# SPDX-License-Identifier: Apache-2.0
# The network namespace a step runs in, and its end; sourced by Deploy/test-peers, never run.

house=

# Fetches what a step's peers need, on the machine's own network; each part is kept for the next run.
prepare_peers() {
    local part
    for part in $1; do
        case $part in
            asterisk22) timeout 600 "$PEERS_SCRIPTS/asterisk-tree.sh" forky ;;
            asterisk16) timeout 600 "$PEERS_SCRIPTS/asterisk16-overlay.sh" ;;
            sipp-tls) timeout 300 "$PEERS_SCRIPTS/suite-tree.sh" sipp-forky forky sip-tester ;;
            pjsua2) [ -x "$PEERS/pj/bin/python" ] || install_pjsua2 ;;
            *) echo "nothing is known of '$part'"; return 1 ;;
        esac || return 1
    done
}

install_pjsua2() {
    python3 -m venv "$PEERS/pj.new" && timeout 300 "$PEERS/pj.new/bin/pip" install -q pjsua2-python || return 1
    mv "$PEERS/pj.new" "$PEERS/pj"
}

# run_in_house NAME SECONDS PROGRAM LOG: a step in a namespace that has only loopback, within a time limit.
run_in_house() {
    local status
    house=herald-peers-$1
    leave_house
    house=herald-peers-$1
    ip netns add "$house"
    ip -n "$house" link set lo up
    house_inode=$(stat -Lc %i "/run/netns/$house")
    status=0
    NETNS=$house STEP_LOGS=$PEERS/results/$1 timeout --foreground --kill-after=30 "$2" \
        ip netns exec "$house" "$3" </dev/null 2>&1 9>&- | tee "$4" || status=${PIPESTATUS[0]}
    leave_house
    return "$status"
}

# Ends what still runs in the step's namespace and removes it, with those named after it.
leave_house() {
    local name
    [ -n "$house" ] || return 0
    if [ -n "${house_inode:-}" ]; then
        end_inhabitants TERM
        for _ in $(seq 30); do [ -n "$(inhabitants)" ] || break; sleep 0.1; done
        end_inhabitants KILL
        house_inode=
    fi
    for name in $(ip netns list 2>/dev/null | cut -d' ' -f1 | grep -x "$house\(-[a-z]*\)\?"); do
        ip netns del "$name"
    done
    house=
}

# Processes whose network is the step's: all of them were started by it.
inhabitants() {
    local place
    for place in /proc/[0-9]*; do
        [ "$(stat -Lc %i "$place/ns/net" 2>/dev/null)" != "$house_inode" ] || echo "${place#/proc/}"
    done
}

end_inhabitants() {
    local pid
    for pid in $(inhabitants); do kill "-$1" "$pid" 2>/dev/null || true; done
}
