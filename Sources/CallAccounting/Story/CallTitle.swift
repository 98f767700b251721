// SPDX-License-Identifier: Apache-2.0

import Branding
import Primitives

// The call in one sentence: caller, callee, end of the call, and the name on the phone.

extension CallStory {
    /// The sentence, such as `Acme Bank rang reception for 12 s and was not answered; the phone showed "Acme Bank"`.
    public var title: StoryText {
        let clauses = [forward, display, route, callBack, continuation].compactMap { $0 }
        return clauses.reduce("\(caller) \(course)") { "\($0); \($1)" }
    }

    /// The caller as a reader knows it: the brand, else the number.
    public var caller: StoryText {
        guard record.direction == .inbound else {
            if !record.subscriber.isEmpty { return StoryText(number: record.subscriber) }
            return record.caller.map { StoryText(number: $0.description) } ?? "The PBX"
        }
        if let name = brandName, unsent == nil { return name }
        if isWithheld { return "A withheld caller" }
        if let caller = record.caller { return StoryText(number: caller.description) }
        return record.callerReceived.map { "\(number: $0) (unclear)" } ?? "A caller without a number"
    }

    /// Whether the caller withholds the number.
    public var isWithheld: Bool { record.reason == .privacy || record.evidence?.isWithheld == true }

    /// The callee: the name of the PBX user, else the called number, else the extension.
    private var callee: StoryText {
        let user = record.direction == .inbound ? record.subscriber : ""
        if user.unicodeScalars.contains(where: \.properties.isAlphabetic) { return StoryText(number: user) }
        if let called = record.destination?.description { return StoryText(number: called) }
        return user.isEmpty ? "an unknown number" : StoryText(number: user)
    }

    // MARK: Course

    private var course: StoryText {
        guard let outcome = record.outcome else { return courseSoFar }
        if let machine = record.answeredBy { return "\(ringing) and reached \(Self.place(of: machine))\(stay)" }
        switch outcome {
        case .answered: return "\(ringing) and \(talk)"
        case .missed: return missed
        case .rejected: return "\(ringing) and was declined"
        case .busy: return "called \(callee) and found the line busy"
        case .failed: return failed
        case .blocked: return "called \(callee) and was blocked by the network"
        case .answeredElsewhere: return "\(ringing) and was answered at another phone"
        case .declinedElsewhere: return "\(ringing) and was declined at another phone"
        }
    }

    private var courseSoFar: StoryText {
        if record.refusedAt != nil, record.answeredAt == nil {
            return "called \(callee) and got status \(Int(record.status)); another attempt is awaited"
        }
        if let machine = record.answeredBy { return "is at \(Self.place(of: machine)) of \(callee)" }
        if record.answeredAt != nil { return "is talking to \(callee)" }
        return record.ringingAt == nil ? "is calling \(callee)" : "is ringing \(callee)"
    }

    /// `rang reception for 12 s`; `called reception` where no phone is known to have rung.
    private var ringing: StoryText {
        guard hasRung else { return "called \(callee)" }
        return record.ringSeconds.map { "rang \(callee) for \(SpanText.of(Int64($0)))" } ?? "rang \(callee)"
    }

    private var hasRung: Bool { record.alertedAt != nil && record.reach != nil }

    private var talk: StoryText {
        record.callSeconds.map { "talked for \(SpanText.of(Int64($0)))" } ?? "was answered; the end was not seen"
    }

    private static func place(of machine: CallAnswerer) -> String {
        switch machine {
        case .voicemail: "the voicemail"
        case .system: "a queue or menu"
        }
    }

    /// The time at a queue or menu; a voicemail has none.
    private var stay: String { record.callSeconds.map { " for \(SpanText.of(Int64($0)))" } ?? "" }

    private var missed: StoryText {
        if hasRung { return "\(ringing) and was not answered" }
        return record.cancelledAt == nil
            ? "called \(callee) and was not answered" : "called \(callee) and gave up before a phone rang"
    }

    private var failed: StoryText {
        let status: StoryText = record.status >= 300 ? " with \(Int(record.status))" : ""
        if record.isRejected { return "called \(callee) and was rejected for its signature\(status)" }
        if !record.endIsKnown { return "\(ringing); the end was not seen" }
        return "\(ringing) and failed\(status)"
    }

    // MARK: Clauses

    private var forward: StoryText? { record.isForwarded ? "the call was forwarded" : nil }

    /// The name on the phone, or the reason why no brand was there.
    private var display: StoryText? {
        guard record.direction == .inbound else { return nil }
        guard let sent else { return missing.map { "no brand, because \($0.because)\(wouldShow)" } }
        let isOpen = record.outcome == nil
        guard let name = sent.name else {
            if record.isByDoor { return brandName.map { "no phone is known to have shown \"\($0)\"" } }
            return record.carrierName.map { "the carrier's name \"\(StoryText(foreign: $0))\" stayed" }
                ?? "the carrier's name stayed"
        }
        let quoted: StoryText = sent.isSigned ? "the signed name \"\(name)\"" : "\"\(name)\""
        guard record.reach != nil else { return isOpen ? "the INVITE has \(quoted)" : "no phone showed \(quoted)" }
        return "the phone \(isOpen ? "shows" : "showed") \(quoted)"
    }

    /// The name that a call in shadow would have shown; empty for every other call.
    private var wouldShow: StoryText {
        guard let unsent else { return "" }
        guard let name = unsent.name else { return "; logo or reason of the brand were not written" }
        return unsent.isSigned
            ? "; the signed name \"\(name)\" was not written" : "; \"\(name)\" was not written"
    }

    private var route: StoryText? {
        guard record.direction == .outbound, let trunk = record.trunk else { return nil }
        return "the call left by trunk \(trunk)"
    }

    private var callBack: StoryText? {
        returnedAt.map { time in
            let since = record.endedAt ?? record.inviteAt
            return "\(callee) called back \(SpanText.of((time - since) / 1_000_000)) later"
        }
    }

    private var continuation: StoryText? { isContinued ? "another gateway goes on with the call" : nil }
}
