// SPDX-License-Identifier: Apache-2.0

/// Any report of a call, as JSON, as a form or as a record of FreeSWITCH: its first byte is the form, its times are in order.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOutcome(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    let body = bytes.dropFirst()
    // 2026-01-01T00:01:00Z in microseconds, some seconds after the calls of the seeds.
    let now: Int64 = 1_767_225_660_000_000
    let outcome: StatedOutcome?
    switch bytes.first {
    case UInt8(ascii: "j"): outcome = try? OutcomeRequest.json(body, now: now)
    case UInt8(ascii: "f"): outcome = try? OutcomeRequest.form(body, now: now)
    case UInt8(ascii: "s"): outcome = (try? OutcomeRequest.freeSWITCH(body, now: now)) ?? nil
    default: return 0
    }
    if let outcome { check(outcome, now) }
    return 0
}

private func check(_ outcome: StatedOutcome, _ now: Int64) {
    precondition((1...160).contains(outcome.callID.count) && outcome.callID.allSatisfy { (0x21...0x7E).contains($0) })
    for text in [outcome.call.number, outcome.call.called, outcome.call.attestation, outcome.shownName] {
        precondition(text.count <= 200 && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character passes")
        precondition(String(validating: text, as: UTF8.self) != nil, "a text is no UTF-8")
    }
    // Rounded seconds may be two late.
    precondition(outcome.ended >= outcome.began && outcome.ended <= now + 2_000_000)
    precondition(outcome.began >= now - 86_400_000_000 - 300_000_000)
    let times = [outcome.began] + [outcome.rang, outcome.answered].compactMap(\.self) + [outcome.ended]
    precondition(zip(times, times.dropFirst()).allSatisfy(<=), "the times are not in their order")
    precondition(outcome.end.cause <= 127 && (outcome.end.status == 0 || (300...699).contains(outcome.end.status)))
    precondition((300...699).contains(outcome.end.finalStatus))
}

// The problems that the readers find; the type of the door has statuses of HTTP too.
package enum OutcomeProblem: Error {
    case unreadable
    case missing(String)
    case invalid(String, String)
}
