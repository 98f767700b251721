# SPDX-License-Identifier: Apache-2.0
# The steps of Deploy/Dockerfile and Deploy/compose.yaml, run in a chroot without Docker; sourced by Tests/Package/run.
# The first stage (the build) is left out: the packages of this run take its place.

IMAGES=$TREES/images

dockerfile() { python3 -m Package.dockerfile "$@"; }

# compose_value EXPRESSION: a value of compose.yaml, with $$ as compose writes $.
compose_value() {
    python3 -c 'import sys, yaml
document = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
print(str(eval(sys.argv[2], {"d": document})).replace("$$", "$"), end="")' "$ROOT/Deploy/compose.yaml" "$1"
}

# build_image NAME: runs the RUN steps of a stage as root in a tree like debian:bookworm-slim.
build_image() {
    local tree=$IMAGES/$1
    mkdir -p "$tree"
    cp -a --one-file-system "$TREES/slim/." "$tree"
    cp -L /etc/resolv.conf "$tree/etc/resolv.conf"
    mkdir -p "$tree/packages"
    dockerfile steps "$1" >"$IMAGES/$1.sh" || return 1
    unshare -m bash -c 'set -e; mount --bind "$1" "$2/packages"; mount -t proc proc "$2/proc"; mount --bind /dev "$2/dev"
        mount --bind "$4" "$2/var/cache/apt/archives"
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$2" /bin/sh -exc "$(cat "$3")"' _ \
        "$TREES/packages/now" "$tree" "$IMAGES/$1.sh" "$TREES/archives" >"$LOG/image-$1.log" 2>&1 9>&- \
        || { tail -n 8 "$LOG/image-$1.log" | sed 's/^/      /'; return 1; }
}

# in_image NAME COMMAND...: a command in an image, as Docker runs it with the options of compose.yaml: the user of the
# image, no capability, no new privileges, and every folder read-only but /tmp and the volumes.
in_image() {
    local image=$1 tree=$IMAGES/$1 user volumes
    shift
    user=$(dockerfile USER "$image")
    volumes=$(dockerfile VOLUME "$image" | paste -sd ' ')
    ${EXEC:-} ip netns exec "$NETNS" unshare -m --propagation private bash -c 'set -e
        tree=$1 user=$2 volumes=$3 libraries=$4 environment=$5; shift 5
        mount --bind "$tree" "$tree"
        for volume in $volumes; do mount --bind "$tree$volume" "$tree$volume"; done
        mount -o remount,bind,ro "$tree"
        mount -t proc proc "$tree/proc"; mount --bind /dev "$tree/dev"; mount -t tmpfs tmpfs "$tree/tmp"
        [ -z "$libraries" ] || mount --bind "$libraries" "$tree$libraries"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin $environment chroot "$tree" setpriv --reuid "${user%:*}" \
            --regid "${user#*:}" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"' _ \
        "$tree" "$user" "$volumes" "${SWIFT_LIBRARIES:-}" "$(dockerfile environment "$image")" "$@"
}

# start_image NAME: the entry point of an image with its command, in the background.
start_image() {
    local words
    mapfile -t words < <(dockerfile ENTRYPOINT "$1"; dockerfile CMD "$1")
    # The process is the program itself, so that a signal reaches it.
    EXEC=exec in_image "$1" "${words[@]}" >"$LOG/image-$1-run.log" 2>&1 9>&- </dev/null &
    echo $! >"$RUN/image-$1.pid"
    disown
}

# healthy NAME [TRIES]: the health check of an image, five times a second.
healthy() {
    local words _
    mapfile -t words < <(dockerfile HEALTHCHECK "$1")
    for _ in $(seq "${2:-50}"); do in_image "$1" "${words[@]}" >/dev/null 2>&1 && return 0; sleep 0.2; done
    tail -n 5 "$LOG/image-$1-run.log" | sed 's/^/      /' >&2
    return 1
}

# Ends within ten seconds on the signal of docker stop, which the program itself gets.
ends_on_term() {
    local pid _
    pid=$(cat "$RUN/image-$1.pid")
    kill "$pid"
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
    return 1
}

container_image() {
    local image tree
    if [ ! -e "$TREES/slim.done" ]; then
        rm -rf --one-file-system "$TREES/slim"
        unshare -m debootstrap --variant=minbase bookworm "$TREES/slim" "$(archive_of_apt)" >"$LOG/debootstrap.log" 2>&1 \
            || fail "debootstrap made no tree; see $LOG/debootstrap.log"
        touch "$TREES/slim.done"
    fi
    rm -rf --one-file-system "$IMAGES"
    mkdir -p "$IMAGES"
    ip netns add "$NETNS"
    ip -n "$NETNS" link set lo up
    for address in 192.0.2.10 203.0.113.5; do ip -n "$NETNS" address add "$address/32" dev lo; done
    for image in herald-directory herald; do
        ok "Dockerfile: the steps of $image run in a chroot" build_image "$image"
        [ -z "${SWIFT_LIBRARIES:-}" ] || mkdir -p "$IMAGES/$image$SWIFT_LIBRARIES"
    done
    ok "Dockerfile: $image runs as the user of the packages" \
        grep -q "^herald:x:$(dockerfile USER herald | tr : ' ' | sed 's/ /:/'):" "$IMAGES/herald/etc/passwd"

    ok "compose: the sample brands are imported" \
        in_image herald-directory /usr/bin/herald-directory import /usr/share/herald/sample-brands.csv --config /etc/herald/herald-directory.yaml
    tree=$IMAGES/herald
    in_image herald-directory /usr/bin/herald-directory key create gateway >"$tree/etc/herald/api-key"
    compose_value 'd["configs"]["herald"]["content"]' >"$tree/etc/herald/herald.yaml"
    chown 990:990 "$tree"/etc/herald/{api-key,herald.yaml}
    chmod 400 "$tree/etc/herald/api-key"
    start_image herald-directory
    ok "Dockerfile: the health check of the directory passes" healthy herald-directory
    ok "compose: the configuration of the gateway is sound" eval "in_image herald /usr/bin/herald check-config >/dev/null"
    start_image herald
    ok "Dockerfile: the health check of the gateway passes" healthy herald
    wait_log "$LOG/image-herald-run.log" "ready for calls" 20 || true
    for _ in $(seq 50); do in_image herald /usr/bin/herald logos 2>/dev/null | grep -q ready && break; sleep 0.2; done
    PBX_ADDRESS=192.0.2.10 PBX_PORT=5080
    ok "compose: a call reaches the place of Asterisk with the brand" branded_call
    ok "Dockerfile: the gateway ends on SIGTERM" ends_on_term herald
    ok "Dockerfile: a stopped gateway fails its health check" eval '! healthy herald 1 2>/dev/null'
    ok "Dockerfile: the directory ends on SIGTERM" ends_on_term herald-directory
    ip netns delete "$NETNS"
}
