// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Primitives

/// The rows of a card that come from the record of its call.
struct CardEvidence {
    typealias Row = WhyCard.Row

    let call: LedgerCallRow
    let brand: PresentBrand?
    let numbers: CardNumbers
    let zone: LocalZone

    private static let ofDecision: Set = ["policy", "lookup", "gates"]

    private var story: CallStory { call.story }
    private var steps: [DecisionSteps.Step] { call.steps }

    /// Time, identifiers and end of the call.
    var facts: [Row] {
        let ring = call.ringSeconds.map { "rang \($0) s" }
        let talk = call.callSeconds.map { "talked \($0) s" }
        let end = [call.outcomeShown, ring, talk, call.status.map { "SIP status \($0)" }].compactMap { $0 }
        return [
            Row("began", zone.withUTC(call.inviteAt / 1_000_000)), Row("call id", call.callID),
            Row("SIP Call-ID", TerminalText.visible(numbers.identifier(call.sipCallID))),
            Row("gateway", free(call.node)), Row("trunk", free(call.trunk)),
            Row("end", free(end.joined(separator: ", "))),
        ].filter { !$0.value.isEmpty }
    }

    /// The evidence that the INVITE brought: number, name, trust and signature.
    var received: [Row] {
        let own = steps.filter { !Self.ofDecision.contains($0.name) && $0.name != "decoration" }
        let name = story.record.carrierName.map { Row("carrier's name", numbers.text(StoryText(foreign: $0))) }
        return own.map(row) + [name].compactMap { $0 }
    }

    /// The decision with its cause, remedy and steps.
    var decided: [Row] {
        guard call.direction == "inbound" else { return [Row("decision", "none: the call came from the PBX")] }
        let cause = story.missing.map { numbers.text($0.cause) } ?? DecisionText.of(call.decision)
        let remedy = story.missing.map { Row("remedy", numbers.text($0.remedy)) }
        let brand = [call.brandShown(numbers.shown), call.brandID.map { "(\($0))" }].compactMap { $0 }
        return [Row("decision", free("\(call.decision): \(cause)"))]
            + [remedy].compactMap { $0 } + (brand.isEmpty ? [] : [Row("brand", free(brand.joined(separator: " ")))])
            + steps.filter { Self.ofDecision.contains($0.name) }.map(row)
    }

    /// The changed header lines, `-` as received and `+` as sent.
    var written: [Row] {
        let lines = story.changes.flatMap { $0.lines(brand, shown: numbers.shown) }
        let rows = lines.map { Row($0.mark == "+" ? "sent" : "received", free($0.line)) }
        let step = steps.filter { $0.name == "decoration" }.map(row)
        if !rows.isEmpty || !step.isEmpty { return step + rows }
        let isBranded = story.sent != nil
        return [
            Row("header lines", isBranded ? "not in the record" : "none: the INVITE went on as it came")
        ]
    }

    /// The evidence that a reader may look for and that has gone.
    func gone(hasPicture: Bool, isLogoSent: Bool) -> [Row] {
        let sent = story.sent ?? story.unsent
        let hasValues = sent?.logo == .written || sent?.callReason == .written
        let rows: [Row?] = [
            call.record == nil ? Row("record", "no gateway of this version can read the whole row") : nil,
            call.direction == "inbound" && call.evidence == nil
                ? Row("evidence", "the version of that time kept no findings, or kept them in another form") : nil,
            sent?.logo == .unknown && sent?.hasCallInfo == true
                ? Row("Call-Info", "the version of that time did not record its parts") : nil,
            hasValues ? Row("logo and reason", values(sent)) : nil,
            isLogoSent && !hasPicture ? Row("picture", "no copy of the logo is stored") : nil,
            call.direction == "inbound" && story.record.carrierName == nil
                ? Row("name of the carrier", "the ledger keeps only a name that was replaced") : nil,
            Row("messages", "the ledger keeps no SIP messages"), end,
        ]
        return rows.compactMap { $0 }
    }

    private func values(_ sent: SentBrand?) -> String {
        if sent?.isSigned == true { return "the record has that parts of the signature were written, without values" }
        return brand == nil
            ? "the brand has gone or is another one now; the record has that they were sent"
            : "those of the brand now; the record has only that they were sent"
    }

    private var end: Row? {
        if call.outcome == nil { return Row("end", "the call is still in progress") }
        return story.record.endIsKnown || call.record == nil ? nil : Row("end", "no message showed the end of the call")
    }

    private func row(_ step: DecisionSteps.Step) -> Row { Row(step.name, numbers.text(StoryText(step.parts))) }

    private func free(_ text: String?) -> String { TerminalText.visible(numbers.cleaned(text ?? "")) }
}
