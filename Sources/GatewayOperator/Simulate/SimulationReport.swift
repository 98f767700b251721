// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI
import CallAccounting
import CallPath
import ConfigurationFiles
import Primitives

/// The result of `herald simulate` as text and as JSON: the step of each decision, and the lines that change.
package struct SimulationReport {
    let paste: PastedInvite
    /// The time of the call in Unix seconds; nil for now.
    let time: Int64?
    /// Address of the sender, and where it was found.
    let sender: String
    let trunk: TrunkPeer
    /// The route of the called number; nil where none matches.
    let route: CallRoute?
    /// The customer whose brands the call has; nil for calls without a customer.
    let customer: String?
    let caller: CallSimulation.Caller
    let isInDialog: Bool
    let stored: StoredBrands
    let result: CallSimulation.Result
    /// Address or name of the target; nil for a rejected call.
    let target: String?
    /// The value of `branding.enabled`.
    let isEnabled: Bool

    /// The steps, then the message with its removed (`-`) and added (`+`) lines.
    package var text: String {
        let steps = steps.map { name, value in
            name + String(repeating: " ", count: max(1, 12 - name.count)) + TerminalText.visible(value) + "\n"
        }
        let lines = changes.map { TerminalText.visible("\($0.mark) \($0.line)") + "\n" }
        let notes = paste.changes.map { "note        the paste: \($0)\n" }
        return (notes + steps + ["\n"] + lines).joined()
    }

    /// The same for `--json`.
    package var json: [String: JSONValue?] {
        let removed = changes.filter { $0.mark == "-" }.map { JSONValue.string($0.line) }
        let added = changes.filter { $0.mark == "+" }.map { JSONValue.string($0.line) }
        let steps = steps.map { JSONValue.object(["step": .string($0.0), "finding": .string($0.1)]) }
        var members: [String: JSONValue?] = [
            "sender": .string(sender), "trunk": .string(trunk.name), "route": JSONValue(route?.name),
            "customer": JSONValue(customer), "caller_header": JSONValue(caller.header),
            "number": JSONValue(caller.number?.description), "withheld": .bool(caller.isWithheld),
            "attestation": .string(attestation), "gate": JSONValue(stored.gates.closed?.description),
            "at": JSONValue(seconds: time), "signature": signature?.json,
        ]
        let outcome: [String: JSONValue?] = [
            "decision": .string(decision), "branded": .bool(result.isBranded), "target": JSONValue(target),
            "response": JSONValue(result.response), "before": .string(Self.text(of: paste.bytes)),
            "after": JSONValue(result.sent.map { Self.text(of: $0) }), "removed": .array(removed),
            "added": .array(added), "steps": .array(steps),
        ]
        members.merge(outcome) { own, _ in own }
        return members
    }

    private var steps: [(String, String)] {
        let trust = trunk.isTrusted ? "trusted" : "not trusted"
        let region = trunk.normaliser.region.map { "region \($0)" } ?? "no region"
        let policy = "policy \(trunk.policy.rawValue)"
        var steps: [(String, String)] = []
        if let time { steps.append(("time", OperatorTime.text(time))) }
        steps += [
            ("sender", sender),
            ("trunk", "\(trunk.name): \(trust), \(policy), \(region); its calls go to pbx \(trunk.pbx.name)"),
        ]
        if let routeText { steps.append(("route", routeText)) }
        steps += [
            ("caller", callerText), ("number", numberText),
            ("privacy", caller.isWithheld ? "asked for: no lookup, no name" : "not asked for"),
        ]
        if let signature { steps += signature.steps }
        steps += [
            ("attestation", attestation), ("brands", stored.origin),
            ("gates", stored.gates.closed.map { "closed: \($0.description)" } ?? "open"),
            ("lookup", lookup), ("decision", decisionText), ("written", written), ("target", targetText),
        ]
        return steps
    }

    /// The values of the route that replace those of the trunk; nil where no route matches.
    private var routeText: String? {
        route.map { route in
            "\(route.name): policy \((route.policy ?? trunk.policy).rawValue); its calls go to pbx \(pbx.name)"
                + Self.text(of: route.brands) + (customer.map { "; customer \($0)" } ?? "")
        }
    }

    private var pbx: PBXPeer { route?.pbx ?? trunk.pbx }

    private var callerText: String {
        if isInDialog {
            return "the INVITE has a To tag, so it belongs to a call that has begun; nothing is decided anew"
        }
        if caller.isWithheld { return "withheld" }
        guard let header = caller.header else {
            return "no header names the caller" + (trunk.isTrusted ? "" : "; of an untrusted trunk only From counts")
        }
        return "\(header): \(caller.received ?? "")"
    }

    private var numberText: String {
        if caller.isWithheld { return "not read" }
        if let number = caller.number { return number.description }
        return "not certain: write the number with + and country code, or set region of the trunk"
    }

    private var attestation: String {
        guard trunk.isTrusted else { return "ignored, because the trunk is not trusted" }
        return switch caller.verification {
        case .none: "none"
        case .passedA: "A, full"
        case .passedB: "B, partial"
        case .passedC: "C, gateway"
        case .failed: "the check failed"
        }
    }

    /// The verified signatures; nil on a trunk whose calls are not verified.
    private var signature: SimulatedSignature? { trunk.signatures == nil ? nil : SimulatedSignature(result.decided) }

    private var lookup: String {
        guard let number = caller.number else { return "none without a number" }
        guard let entry = stored.index.entry(for: number) else { return "no brand has \(number)" }
        let id = stored.index.text(.brandID, entry)
        return "\(stored.index.text(.name, entry))\(id.isEmpty ? "" : " (\(id))")"
    }

    private var decision: String {
        if let response = result.response { return "rejected: \(response)" }
        return result.passThrough?.description ?? (result.isBranded ? "matched" : "none")
    }

    private var decisionText: String {
        if let response = result.response { return "rejected with \(response)" }
        guard let reason = result.passThrough else { return result.isBranded ? "show the brand" : "forwarded as it is" }
        if reason == .signedName { return "write the signed values: \(reason); docs/reasons.md has the cause" }
        return "pass through: \(reason)\(switchedOff); docs/reasons.md has cause and remedy"
    }

    /// The setting that switches brands off; empty where none does.
    private var switchedOff: String {
        if !isEnabled { return " (branding.enabled is false)" }
        if route?.brands == .off { return " (the route has brands: false)" }
        switch trunk.brands.joined(with: route?.brands ?? .on) {
        case .on: return ""
        case .shadow:
            guard result.passThrough == .shadow else { return "" }
            let isSigned = result.decided?.evidence.isNamedBySigner ?? false
            return " (with brands: true the \(isSigned ? "signed values are" : "brand is") written)"
        case .off: return " (the trunk has brands: false)"
        }
    }

    private static func text(of brands: BrandMode) -> String {
        switch brands {
        case .on: ""
        case .shadow: "; brands: shadow"
        case .off: "; brands: false"
        }
    }

    private var written: String {
        guard result.sent != nil else { return "nothing" }
        let added = changes.filter { $0.mark == "+" }.map { Self.name(of: $0.line) }
        let removed = changes.filter { $0.mark == "-" }.map { Self.name(of: $0.line) }
        let changed = added.filter(removed.contains)
        let groups = [
            ("changed", changed), ("added", added.filter { !changed.contains($0) }),
            ("removed", removed.filter { !changed.contains($0) }),
        ]
        return groups.filter { !$0.1.isEmpty }.map { "\($0.0) \(Self.unique($0.1).joined(separator: ", "))" }.joined(
            separator: "; ")
    }

    private var targetText: String {
        target.map { "\($0), of pbx \(pbx.name)" }
            ?? "none: \(result.response.map { "Herald responds with \($0)" } ?? "the call is not forwarded")"
    }

    /// The lines of the message, with those that Herald removes and adds.
    private var changes: [ChangedLines.Line] {
        ChangedLines(from: Self.text(of: paste.bytes), to: result.sent.map(Self.text(of:))).all
    }

    private static func text(of bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The header's name, or the first characters of another line.
    private static func name(of line: String) -> String {
        line.firstIndex(of: ":").map { String(line[..<$0]) } ?? String(line.prefix(20))
    }

    private static func unique(_ names: [String]) -> [String] {
        names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
