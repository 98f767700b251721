// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath

/// The members of a report by their names, as text, and the rules for them.
struct OutcomeFields {
    /// Microseconds by which the clock of a PBX may be ahead. Such a call is moved back as a whole.
    static let ahead: Int64 = 300_000_000
    /// Microseconds between the begin of a call and its report: rows of the ledger are in the order of their calls within a day.
    static let age: Int64 = 86_400_000_000
    /// Microseconds by which two times of a PBX may be in the wrong order, for rounded seconds.
    private static let rounding: Int64 = 2_000_000
    /// Most bytes of a number.
    private static let mostNumberBytes = 64

    var callID = ""
    var caller = ""
    var called = ""
    var attestation = ""
    var began = ""
    var rang = ""
    var answered = ""
    var ended = ""
    var cause = ""
    var sipStatus = ""
    /// The end as a word of Asterisk, which counts without a code.
    var status = ""
    var shownName = ""
    var answeredBy = ""

    /// Reads the members.
    ///
    /// - Parameter now: microseconds since 1970.
    func outcome(now: Int64) throws(OutcomeProblem) -> StatedOutcome {
        guard !callID.isEmpty else { throw .missing("call_id") }
        guard callID.utf8.count <= 160, callID.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalid("call_id", "must be 1 to 160 visible ASCII characters")
        }
        let call = StatedCall(
            number: try Self.plain("caller", caller, most: Self.mostNumberBytes),
            called: try Self.plain("called", called, most: Self.mostNumberBytes),
            attestation: try Self.plain("verstat", attestation, most: Self.mostNumberBytes))
        let times = try times(now: now)
        var outcome = StatedOutcome(call, callID: Array(callID.utf8), began: times.began, ended: times.ended)
        (outcome.rang, outcome.answered) = (times.rang, times.answered)
        outcome.end = try end()
        outcome.shownName = try Self.plain("shown_name", shownName, most: 200)
        outcome.answerer = try answerer()
        return outcome
    }

    private typealias Times = (began: Int64, rang: Int64?, answered: Int64?, ended: Int64)

    private func times(now: Int64) throws(OutcomeProblem) -> Times {
        guard let began = try Self.time("began", began) else { throw .missing("began") }
        guard let ended = try Self.time("ended", ended) else { throw .missing("ended") }
        let (rang, answered) = (try Self.time("rang", rang), try Self.time("answered", answered))
        guard ended >= began - Self.rounding else { throw .invalid("ended", "is before began") }
        guard ended <= now + Self.ahead else {
            throw .invalid("ended", "is more than 5 minutes in the future: set the clock of the PBX")
        }
        guard began >= now - Self.age else { throw .invalid("began", "is more than a day ago") }
        let span = (began - Self.rounding)...(max(began, ended) + Self.rounding)
        guard rang.map(span.contains) ?? true else { throw .invalid("rang", "is not between began and ended") }
        guard answered.map(span.contains) ?? true else { throw .invalid("answered", "is not between began and ended") }
        if let rang, let answered, answered < rang - Self.rounding { throw .invalid("answered", "is before rang") }
        // No call ends in the future, and rounded times come into their order.
        let shift = max(0, ended - now)
        let end = max(began, ended)
        let success = answered.map { min(max($0, began), end) }
        let ring = rang.map { min(max($0, began), success ?? end) }
        return (began - shift, ring.map { $0 - shift }, success.map { $0 - shift }, end - shift)
    }

    /// Unix seconds with or without a fraction, or a time by ISO 8601; nil for none, as empty or 0.
    private static func time(_ name: String, _ text: String) throws(OutcomeProblem) -> Int64? {
        guard !text.isEmpty else { return nil }
        if let microseconds = Self.microseconds(text) { return microseconds == 0 ? nil : microseconds }
        let time = UpdateTime(text).microseconds
        // Up to the year 2255, as in the ring.
        guard (1..<(1 << 53)).contains(time) else {
            throw .invalid(name, "must be Unix seconds such as 1767225600.25, or a time by ISO 8601")
        }
        return time
    }

    /// Seconds as decimal digits with at most six further ones behind a point; nil for anything else.
    static func microseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count > 1 ? parts[1].prefix(6) : ""
        guard let whole = parts.first, (1...10).contains(whole.utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let seconds = Int64(whole), let rest = Int64(fraction + String(repeating: "0", count: 6 - fraction.count))
        else { return nil }
        return seconds < 1 << 33 ? seconds * 1_000_000 + rest : nil
    }

    private func end() throws(OutcomeProblem) -> ReportedEnd {
        var end = ReportedEnd()
        if !sipStatus.isEmpty, sipStatus != "0" {
            guard let code = UInt16(sipStatus), (200...699).contains(code) else {
                throw .invalid("sip_status", "must be a final status of SIP")
            }
            end.status = code >= 300 ? code : 0
        }
        if !cause.isEmpty {
            guard let code = UInt16(cause), code <= 127 else {
                throw .invalid("cause", "must be a cause of Q.850, 0 to 127")
            }
            end.cause = code
        }
        guard !status.isEmpty, end.status == 0, end.cause == 0 || end.cause == 16 else { return end }
        guard let cause = Self.causes[status.uppercased()] else {
            throw .invalid("status", "must be a value of DIALSTATUS, or of disposition of a CDR")
        }
        // The usual clearing of the caller's channel does not show how the dialled one ended.
        if cause != 0 { end.cause = cause }
        return end
    }

    /// The causes of Asterisk's words: DIALSTATUS of Dial, and disposition of a CDR.
    private static let causes: [String: UInt16] = [
        "ANSWER": 0, "ANSWERED": 0, "BUSY": 17, "NOANSWER": 19, "NO ANSWER": 19, "CANCEL": 16, "CONGESTION": 34,
        "CHANUNAVAIL": 20, "FAILED": 41, "DONTCALL": 21, "TORTURE": 21, "INVALIDARGS": 41,
    ]

    private func answerer() throws(OutcomeProblem) -> CallAnswerer? {
        guard !answeredBy.isEmpty, answeredBy != "person" else { return nil }
        guard let machine = CallAnswerer(rawValue: answeredBy) else {
            throw .invalid("answered_by", "must be person, voicemail or system")
        }
        return machine
    }

    /// Text on one line.
    private static func plain(_ name: String, _ text: String, most: Int) throws(OutcomeProblem) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count <= most else { throw .invalid(name, "must have at most \(most) bytes") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalid(name, "must have no control character")
        }
        return bytes
    }
}
