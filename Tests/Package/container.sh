# SPDX-License-Identifier: Apache-2.0
# The images of Deploy/image, read by skopeo and umoci, and run by Podman as Deploy/compose.yaml runs them; sourced by
# Tests/Package/run.

IMAGES=$TREES/images

# podman COMMAND...: Podman with images and containers of its own. runc also runs where two kinds of cgroups are mounted.
podman() {
    command podman --root "$IMAGES/storage" --runroot "$IMAGES/run" --runtime runc "$@" 9>&-
}

# compose_value EXPRESSION: a value of compose.yaml, with $$ as compose writes $.
compose_value() {
    python3 -c 'import sys, yaml
document = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
print(str(eval(sys.argv[2], {"d": document})).replace("$$", "$"), end="")' "$ROOT/Deploy/compose.yaml" "$1"
}

# image_file NAME: the archive of an image.
image_file() { echo "$IMAGES/$1_${VERSION}_$(dpkg --print-architecture).oci.tar"; }

# image_name NAME: the name of an image, whose tag has no '~'.
image_name() { echo "localhost/$1:${VERSION//[~+]/-}"; }

# unpacks NAME: umoci unpacks the layers of an image, which skopeo has read and whose sums it has compared.
unpacks() {
    { skopeo copy -q "oci-archive:$(image_file "$1")" "oci:$IMAGES/layout:$1" \
        && umoci unpack --image "$IMAGES/layout:$1" "$IMAGES/bundle-$1"; } >"$LOG/image-$1.log" 2>&1 \
        || { tail -n 5 "$LOG/image-$1.log" | sed 's/^/      /' >&2; return 1; }
}

# loads NAME: Podman takes the archive as that of `docker save`, which has the health check too.
loads() { [ "$(podman pull -q "docker-archive:$(image_file "$1")" | wc -l)" -eq 1 ] && podman image exists "$(image_name "$1")"; }

# same_configuration NAME: both forms of the archive name one configuration.
same_configuration() {
    cmp <(skopeo inspect --config --raw "oci-archive:$(image_file "$1")") \
        <(skopeo inspect --config --raw "docker-archive:$(image_file "$1")")
}

# container NAME OPTION... -- COMMAND...: a container with the options of compose.yaml, in the network of the test.
container() {
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    [ -z "${SWIFT_LIBRARIES:-}" ] || options+=(-v "$SWIFT_LIBRARIES:$SWIFT_LIBRARIES:ro")
    # There may be no systemd here, whose timers run health checks.
    podman run --rm --network "ns:/run/netns/$NETNS" --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \
        --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --health-interval disable "${options[@]}" "$(image_name "$name")" "$@" \
        2> >(grep -v 'systemd connection' >&2)
}

# start_image NAME OPTION...: an image with its own command, in the background.
start_image() {
    local name=$1
    shift
    container "$name" -d --name "$name" "$@" -- >"$LOG/image-$name-run.log" 2>&1
}

# in_image NAME COMMAND...: a command in the running container.
in_image() { podman exec "$@"; }

# healthy NAME [TRIES]: the health check of an image, five times a second.
healthy() {
    local _
    for _ in $(seq "${2:-50}"); do podman healthcheck run "$1" >/dev/null 2>&1 && return 0; sleep 0.2; done
    podman logs --tail 5 "$1" 2>&1 | sed 's/^/      /' >&2
    return 1
}

# ends_on_term NAME: ends within ten seconds on the signal of the image, by itself.
ends_on_term() {
    local said
    said=$(podman stop -t 10 "$1" 2>&1) && [[ $said != *SIGKILL* ]] || { echo "      $said" >&2; return 1; }
}

# ready_for_calls: the gateway in its container has brands and logos.
ready_for_calls() {
    local _ log logos
    for _ in $(seq 100); do
        log=$(podman logs herald 2>&1) logos=$(in_image herald /usr/bin/herald logos 2>/dev/null) || true
        [[ $log != *"ready for calls"* || $logos != *ready* ]] || return 0
        sleep 0.2
    done
    podman logs --tail 5 herald 2>&1 | sed 's/^/      /' >&2
    return 1
}

# again NAME: a second run over the same packages writes the same bytes.
again() {
    "$ROOT/Deploy/image" --packages "$TREES/packages/now" --output "$IMAGES/again" >"$LOG/image-again.log" 2>&1 || return 1
    cmp "$(image_file "$1")" "$IMAGES/again/$(basename "$(image_file "$1")")"
}

# forget_images: removes what a run of Podman has mounted.
forget_images() {
    [ ! -d "$IMAGES/storage" ] || { podman rm -af -t 2; podman volume rm -af; podman rmi -af; } >/dev/null 2>&1 || true
    rm -rf --one-file-system "$IMAGES"
}

container_image() {
    local image configuration=$IMAGES/herald.yaml key=$IMAGES/api-key
    local directory=(-v directory-state:/var/lib/herald-directory)
    # A commit between both runs would be another time.
    local -x SOURCE_DATE_EPOCH
    SOURCE_DATE_EPOCH=$(stat -c %Y "$TREES/unpacked/usr/bin/herald")
    forget_images
    mkdir -p "$IMAGES"
    ip netns add "$NETNS"
    ip -n "$NETNS" link set lo up
    for address in 192.0.2.10 203.0.113.5; do ip -n "$NETNS" address add "$address/32" dev lo; done
    ok "Deploy/image writes both images" \
        eval '"$ROOT/Deploy/image" --packages "$TREES/packages/now" --output "$IMAGES" >"$LOG/image.log" 2>&1'
    ok "a second run writes the same bytes" again herald
    for image in herald-directory herald; do
        ok "skopeo and umoci read the image $image" unpacks "$image"
        ok "both forms of the image $image have one configuration" same_configuration "$image"
        ok "Podman loads the image $image" loads "$image"
    done
    ok "the image has the licences of included software" \
        grep -q 'swift-nio 2' <(zcat "$IMAGES/bundle-herald/rootfs/usr/share/doc/herald-common/THIRD-PARTY-NOTICES.txt.gz")
    ok "the image names no mirror, no machine and no log of its build" \
        [ "$(cat "$IMAGES"/bundle-herald/rootfs/etc/{hostname,resolv.conf} 2>/dev/null | wc -c)
$(find "$IMAGES/bundle-herald/rootfs/var/log" -type f | wc -l)
$(grep -vc '^deb http://deb.debian.org/' "$IMAGES/bundle-herald/rootfs/etc/apt/sources.list")" = "0
0
0" ]

    ok "compose: the sample brands are imported" eval 'container herald-directory "${directory[@]}" \
        -- import /usr/share/herald/sample-brands.csv --config /etc/herald/herald-directory.yaml >/dev/null'
    container herald-directory "${directory[@]}" -- keys add gateway >"$key"
    compose_value 'd["configs"]["herald"]["content"]' >"$configuration"
    chown 990:990 "$key"
    chmod 400 "$key"
    start_image herald-directory "${directory[@]}"
    ok "the health check of the directory passes" healthy herald-directory
    local gateway=(-v "$configuration:/etc/herald/herald.yaml:ro" -v "$key:/etc/herald/api-key:ro"
        -v gateway-state:/var/lib/herald -v gateway-ring:/run/herald)
    ok "compose: the configuration of the gateway is sound" eval 'container herald "${gateway[@]}" -- check-config >/dev/null'
    start_image herald "${gateway[@]}"
    ok "the health check of the gateway passes" healthy herald
    ok "the gateway runs as the user of the packages" [ "$(in_image herald id -un 2>&1)" = herald ]
    ok "the gateway is ready for calls, and has logos" ready_for_calls
    PBX_ADDRESS=192.0.2.10 PBX_PORT=5080
    ok "compose: a call reaches the place of Asterisk with the brand" branded_call
    ok "the gateway ends on SIGTERM" ends_on_term herald
    ok "a stopped gateway fails its health check" eval '! healthy herald 1 2>/dev/null'
    ok "the directory ends on SIGTERM" ends_on_term herald-directory
    forget_images
    ip netns delete "$NETNS"
}
