# SPDX-License-Identifier: Apache-2.0
# A carrier, the gateway, an Asterisk and a desk phone: what both sides see of each call. Sourced by two steps, never run.

source "$PEER_FILES/lab.sh"
readonly ASTERISK=$PEER_FILES/asterisk/asterisk BARESIP=$PEER_FILES/baresip/baresip

# at_the_phone REGEX: a line of the INVITE as baresip prints it, within three seconds.
at_the_phone() {
    local _
    for _ in $(seq 30); do
        sed 's/\x1b\[[0-9;]*m//g' "$LOG/baresip.log" | tr -d '\r' | grep -aE "$1" >/dev/null && return 0
        sleep 0.1
    done
    return 1
}

# rejected STATUS EXTENSION: the carrier's call must end with this status.
rejected() {
    sed "s/STATUS/$1/" "$PEER_FILES/scenarios/carrier-rejected.xml" >"$RUN/rejected.xml"
    in_ns timeout 30 sipp "$PROXY:5060" -i "$CARRIER" -p 5060 -m 1 -nostdin -timeout 20 -timeout_error \
        -sf "$RUN/rejected.xml" -s "$2" >"$LOG/sipp.log" 2>&1
}

# More than a second of sound that baresip decoded.
phone_heard_the_caller() { [ "$(cat "$PEERS"/baresip/dump-*-dec.wav 2>/dev/null | wc -c)" -gt 16000 ]; }

# The phone calls back through PBX and gateway; the carrier answers, the phone hangs up.
phone_calls_the_carrier() {
    local carrier
    in_ns timeout 40 sipp -sf "$PEER_FILES/scenarios/carrier-is-called.xml" -i "$CARRIER" -p 5060 -m 1 -nostdin \
        -timeout 30 -timeout_error -trace_msg -message_file "$LOG/carrier.messages" >"$LOG/sipp.log" 2>&1 &
    carrier=$!
    wait_port 5 "src $CARRIER:5060" || return 1
    in_ns python3 "$PEER_FILES/baresip/control.py" "$PHONE" 4444 dial "sip:+4989123456@$PBX" >"$LOG/control.log"
    sleep 3
    in_ns python3 "$PEER_FILES/baresip/control.py" "$PHONE" 4444 hangup >>"$LOG/control.log"
    wait "$carrier"
}

whole_call() {
    local pair
    trap 'stop baresip asterisk herald' EXIT
    "$ASTERISK" start && "$PEER_FILES/herald-run" start && "$BARESIP" start || { echo "FAIL  the peers did not start"; failed=1; conclude; return; }

    ok "the PBX answers by itself" from_carrier carrier-calls 1000
    ok "the phone answers: 200, ACK, BYE" from_carrier carrier-calls 4921155500200 -mi "$CARRIER" -mp 6000 -rtp_echo
    ok "the phone's From has the brand's name" at_the_phone '^From: "Acme Bank" <sip:\+?4989123456@'
    ok "the phone's Call-Info has the brand's logo" at_the_phone '^Call-Info: <https://logos.example/acme.png>;purpose=icon'
    ok "the phone hears the caller" phone_heard_the_caller
    # Asterisk sends 403 for cause 21. A proxy forwards a 503 as 500 (RFC 3261 §16.7 step 6).
    for pair in 1486:486 1404:404 1603:403 1480:480 1503:500; do
        ok "the carrier gets ${pair#*:} from extension ${pair%:*}" rejected "${pair#*:}" "${pair%:*}"
    done
    "$BARESIP" stop
    ANSWER=manual "$BARESIP" start
    ok "the caller gives up while the phone rings: 487" from_carrier carrier-gives-up 4921155500200
    ok "the phone calls back, the carrier answers" phone_calls_the_carrier
    ok "the carrier sees the phone's own name" grep -aq '^From: "Desk 200"' "$LOG/carrier.messages"
    conclude
}
