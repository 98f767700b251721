# SPDX-License-Identifier: Apache-2.0
# The walk of a new operator, from apt to a branded call with logo at a phone behind Asterisk; sourced by Tests/Package/run.
# Commands and configurations come from the pages as printed. Each step has its wall time, and the walk its effort of typing.

WALK=$TREES/walk
WALK_PBX=192.0.2.20 WALK_PHONE=192.0.2.131
# The caller of "A first call" in README.md, and the brand that the phone must show.
WALK_CALLER=+61491570110 WALK_BRAND="My Mobile" WALK_LOGO=acme-256x256.png WALK_REASON="A first call"

# Asterisk 22 in its own tree stands for the PBX, and has its address.
walk_asterisk() { KIND=22 PBX=$WALK_PBX PROXY=192.0.2.10 FILES=$WALK/asterisk "$PEER_FILES/asterisk/asterisk" "$@"; }

# timed NAME COMMAND...: a check with its wall time.
timed() {
    local begin=$EPOCHREALTIME
    ok "$@"
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "      %.1f s\n", b - a }'
}

# typed PAGE SECTION FILTER [MARK...]: command lines of a page that match FILTER, for the run and for the effort.
typed() {
    local page=$1 section=$2 filter=$3
    shift 3
    "$PACKAGE_TESTS/readme.py" "$ROOT/$page" "$section" "$@" | grep -E "$filter" | tee "$WALK/commands.sh" >>"$WALK/typed"
}

# run_typed SHELL...: the commands of the last `typed`, in the folder with the packages.
run_typed() {
    { echo 'set -eo pipefail; cd /root'; cat "$WALK/commands.sh"; } | "$@" >"$LOG/walk.log" 2>&1 \
        || { tail -n 8 "$LOG/walk.log" | sed 's/^/      /' >&2; return 1; }
}

walk_installs() {
    typed README.md "Your own trunk and PBX" 'apt install' '**1.'
    # apt has the network of the machine. The person confirms with "y".
    echo y >>"$WALK/typed"
    { echo 'cd /root; set -e'; sed 's/$/ <<<y/' "$WALK/commands.sh"; } >"$WALK/install.sh"
    nsenter -t "$leader" -m -u -i -p -r -w env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive bash <"$WALK/install.sh" >"$LOG/apt.log" 2>&1 9>&- \
        || { tail -n 8 "$LOG/apt.log" | sed 's/^/      /' >&2; return 1; }
}

walk_readme() {
    typed README.md "Your own trunk and PBX" '' "$1"
    run_typed inside bash
}

# The blocks of the recipe, as files.
walk_pbx() {
    rm -rf "$WALK/asterisk"
    mkdir -p "$WALK/asterisk"
    PYTHONPATH=$ROOT/Tests python3 -c 'import sys
from Peers.recipe_peers import printed
page, folder = "docs/recipes/asterisk.md", sys.argv[1]
for name, part in (("pjsip.conf", ""), ("extensions.conf", "for Asterisk 20.19")):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.write(printed(page, "/etc/asterisk/" + name, part))' "$WALK/asterisk"
    walk_asterisk start || return 1
    typed docs/recipes/asterisk.md Check '^asterisk -rx .pjsip show identifies'
    walk_asterisk cli 'pjsip show identifies' | grep '192.0.2.10/32' >/dev/null
}

# The phone registers with the user and password of the recipe; a person types them and the address of Asterisk.
walk_phone() {
    local folder=$TREES/baresip user password modules
    user=$(sed -n 's/^username=//p' "$WALK/asterisk/pjsip.conf")
    password=$(sed -n 's/^password=//p' "$WALK/asterisk/pjsip.conf")
    printf '%s\n' "$user" "$password" "$WALK_PBX" >>"$WALK/typed"
    mkdir -p "$folder"
    : >"$folder/contacts"
    modules=$(dirname "$(dpkg -L baresip-core | grep -m1 '/ctrl_tcp.so$')")
    sed -e "s#@PHONE@#$WALK_PHONE#g;s#@FOLDER@#$folder#;s#@MODULES@#$modules#" "$PEER_FILES/baresip/config" >"$folder/config"
    echo "<sip:$user@$WALK_PBX;transport=udp>;auth_user=$user;auth_pass=$password;answermode=auto;audio_codecs=PCMA" \
        >"$folder/accounts"
    bg baresip baresip -f "$folder" -s
    wait_log "$LOG/baresip.log" '\{0/UDP/v4\} 200 OK' 15
}

walk_brands_a_number() {
    typed README.md "A first call" 'herald(-directory)? (brand|number|sync|lookup|logos)'
    run_typed inside bash
    # A person reads the list of logos until the new one is ready.
    local _
    for _ in $(seq 60); do
        ! grep -qE "^Call-Info: <http://192.0.2.10:9480/.*$WALK_REASON" "$LOG/walk.log" || return 0
        sleep 1
        grep -E ' lookup ' "$WALK/commands.sh" | inside bash >"$LOG/walk.log" 2>&1 || true
    done
    return 1
}

walk_calls() {
    in_ns timeout 60 sipp 192.0.2.10:5060 -sf "$ROOT/Tests/Scenarios/answered/carrier.xml" -i 203.0.113.5 -p 5060 -nostdin -m 1 \
        -timeout 30 -timeout_error -key caller "$WALK_CALLER" -key called +61255502000 \
        -trace_err -error_file "$LOG/carrier.errors" >"$LOG/carrier.log" 2>&1 \
        || { head -n 3 "$LOG/carrier.errors" | cut -c 1-300 >&2; return 1; }
}

# phone_received FIELD: the value of a header field in the first INVITE that the phone has received.
phone_received() {
    sed -e 's/\x1b\[[0-9;]*m//g; s/\r$//' "$LOG/baresip.log" \
        | awk -v field="$1: " '/^INVITE sip:/ { on = 1 } on && $0 == "" { exit } on && index($0, field) == 1 { print substr($0, length(field) + 1) }'
}

phone_shows() { phone_received "$1" | grep -qF -- "$2" || { phone_received "$1" >&2; return 1; }; }

# The phone fetches the logo from its own address. The bytes are a PNG of 128 pixels that shows the brand's logo.
phone_fetches_logo() {
    local url type
    url=$(phone_received Call-Info | sed -n 's/^<\(http[^>]*\)>.*/\1/p')
    type=$(in_ns curl -sf --interface "$WALK_PHONE" -o "$WALK/logo" -w '%{content_type}' "$url") || return 1
    [ "$type" = image/png ] || { echo "      $url is of type $type" >&2; return 1; }
    # Debian's Python, which has the package python3-pil.
    /usr/bin/python3 -c 'import sys
from PIL import Image, ImageChops, ImageStat
fetched, source = (Image.open(path) for path in sys.argv[1:])
if fetched.format != "PNG" or fetched.size != (128, 128):
    sys.exit(f"      the logo is {fetched.format} of {fetched.size}")
fetched, source = fetched.convert("RGBA"), source.convert("RGBA").resize((128, 128), Image.LANCZOS)
difference = max(ImageStat.Stat(ImageChops.difference(fetched, source)).mean)
sys.exit(f"      the pixels differ by {difference:.1f} of 255 on average" if difference > 6 else 0)' \
        "$WALK/logo" "$ROOT/Config/logos/$WALK_LOGO"
}

# The outcome follows about a second after the end of the call.
walk_has_call() {
    local _
    for _ in $(seq 10); do
        run_typed inside bash || return 1
        ! grep -qE "$WALK_BRAND +matched +ANSWERED" "$LOG/walk.log" || return 0
        sleep 0.5
    done
    return 1
}

walk() {
    local begin=$SECONDS
    asterisk22_tree >"$LOG/asterisk-tree.log" 2>&1 || fail "Asterisk 22 could not be fetched; see $LOG/asterisk-tree.log"
    rm -rf "$WALK"
    mkdir -p "$WALK"
    fresh_tree
    boot_tree
    ip -n "$NETNS" address add "$WALK_PHONE/32" dev lo
    apt update || fail "apt has no archive; see $LOG/apt.log"
    # The person copies the three files, as README.md says.
    mkdir -p "$TREE/root/.build-package"
    cp "$TREES"/packages/now/*.deb "$TREE/root/.build-package"

    begin=$SECONDS
    timed "walk: README.md installs the packages" walk_installs
    timed "walk: README.md fills the directory" walk_readme '**2.'
    timed "walk: README.md configures the gateway" walk_readme '**3.'
    timed "walk: README.md starts the gateway" walk_readme '**4.'
    ok "walk: the log shows 'ready for calls'" grep -q 'ready for calls' "$LOG/walk.log"
    timed "walk: docs/recipes/asterisk.md configures Asterisk 22" walk_pbx
    timed "walk: the phone registers" walk_phone
    timed "walk: README.md brands a number" walk_brands_a_number
    timed "walk: a call from this number is answered" walk_calls
    ok "walk: the phone shows the brand's name" phone_shows From "\"$WALK_BRAND\" <sip:$WALK_CALLER@"
    ok "walk: the phone has the reason" phone_shows Call-Info "call-reason=\"$WALK_REASON\""
    timed "walk: the phone fetches the brand's logo" phone_fetches_logo
    typed README.md "A first call" 'herald calls'
    timed "walk: herald calls has the call as answered" walk_has_call
    echo "      $((SECONDS - begin)) s from apt install to the branded call, without the typing"
    ok "walk: at most ten minutes of typing" "$PACKAGE_TESTS/typing_effort.py" "$WALK/typed" "$WALK"/asterisk/*
    stop baresip asterisk
    halt_tree
}
