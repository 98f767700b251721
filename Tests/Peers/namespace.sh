# SPDX-License-Identifier: Apache-2.0
# The network namespace of a step, and its end; sourced by Tests/Peers/run, never run.

namespace=

# prepare_peers PART...: fetches the peers of a step over the machine's own network; each part is kept for the next run.
prepare_peers() {
    local part
    for part in $1; do
        case $part in
            asterisk22) asterisk22_tree ;;
            asterisk16) asterisk16_tree ;;
            sipp-tls) sipp_tls_tree ;;
            pjsua2) pjsua2_venv ;;
            axe) axe_script ;;
            *) echo "there is no peer '$part'"; return 1 ;;
        esac || return 1
    done
}

# run_in_namespace NAME SECONDS PROGRAM LOG: a step in a namespace that has only loopback, within a time limit.
run_in_namespace() {
    local status=0
    namespace=herald-peers-$1
    leave_namespace
    namespace=herald-peers-$1
    ip netns add "$namespace"
    ip -n "$namespace" link set lo up
    namespace_inode=$(stat -Lc %i "/run/netns/$namespace")
    NETNS=$namespace STEP_LOGS=$PEERS/results/$1 timeout --foreground --kill-after=30 "$2" \
        ip netns exec "$namespace" "$3" </dev/null 2>&1 9>&- | tee "$4" || status=${PIPESTATUS[0]}
    leave_namespace
    return "$status"
}

# Ends the processes in the step's namespace and removes it, with those named after it.
leave_namespace() {
    local name
    [ -n "$namespace" ] || return 0
    if [ -n "${namespace_inode:-}" ]; then
        end_processes TERM
        for _ in $(seq 30); do [ -n "$(processes_inside)" ] || break; sleep 0.1; done
        end_processes KILL
        namespace_inode=
    fi
    for name in $(ip netns list 2>/dev/null | cut -d' ' -f1 | grep -x "$namespace\(-[a-z]*\)\?"); do
        ip netns del "$name"
    done
    namespace=
}

# Processes whose network is the step's: the step started all of them.
processes_inside() {
    local place
    for place in /proc/[0-9]*; do
        [ "$(stat -Lc %i "$place/ns/net" 2>/dev/null)" != "$namespace_inode" ] || echo "${place#/proc/}"
    done
}

end_processes() {
    local pid
    for pid in $(processes_inside); do kill "-$1" "$pid" 2>/dev/null || true; done
}
