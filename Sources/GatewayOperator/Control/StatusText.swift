// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import GatewayStore
import Primitives

/// The text of `herald status`: one fact a line, problems with their cause and remedy.
struct StatusText {
    /// Columns of the names in front of the facts.
    static let columns = 10

    private let state: ControlledState
    private var gateway: GatewayStatus { state.gateway }

    init(_ state: ControlledState) { self.state = state }

    var text: String {
        let facts = [general, calls, branding, directory, trust, accounting, doors, operation].joined()
        return facts.map { name, value in
            name + String(repeating: " ", count: max(1, Self.columns - name.count)) + TerminalText.visible(value) + "\n"
        }.joined()
    }

    private var general: [(String, String)] {
        let up = AgeText.text(state.at - gateway.startedAt)
        return [
            ("gateway", "\(gateway.gateway), herald \(gateway.version)"),
            ("up", "\(up), since \(OperatorTime.text(gateway.startedAt))"),
            ("ready", state.obstacle.map { "no: \($0)" } ?? (gateway.standbyText.map { "yes, \($0)" } ?? "yes")),
            ("listening", gateway.listening.joined(separator: ", ")),
        ]
    }

    private var calls: [(String, String)] {
        var share = "none from trunks since the start"
        if state.inboundCalls > 0 {
            let percent = Int((Double(state.brandedCalls) * 100 / Double(state.inboundCalls)).rounded())
            share = "\(state.inboundCalls) from trunks since the start, \(state.brandedCalls) branded (\(percent) %)"
        }
        return [("calls", "\(state.callsInProgress) in progress; \(share)")]
            + (gateway.unknownCallers.map { [("rejected", $0.sentence)] } ?? [])
            + gateway.rejectedCalls(at: state.at).map { ("rejected", $0) }
            + (gateway.firstSteps ?? []).filter { !$0.done }.map { ("step", "\($0.step): \($0.sentence)") }
    }

    private var branding: [(String, String)] {
        let brands = "\(gateway.branding.numbers) numbers with \(gateway.branding.brands) brands"
        let shut = gateway.gates.filter { !$0.open }
        // A directory closes branding_enabled together with these.
        let hasCause = shut.contains { $0.gate == "cap" || $0.gate == "account_status" }
        let closed = shut.filter { !hasCause || $0.gate != "branding_enabled" }.map {
            "\($0.gate) closed\($0.reason.map { ": \($0)" } ?? "")"
        }
        return [("brands", brands)] + (gateway.shadow ?? []).map { ("shadow", ShadowText.remark(of: $0)) } + customers
            + closed.map { ("gate", $0) }
    }

    private var customers: [(String, String)] {
        guard let customers = gateway.customers else { return [] }
        let megabytes = Double(customers.memory / 100_000) / 10
        let sets = customers.brandSets == 1 ? "1 set" : "\(customers.brandSets) sets"
        let accounts = customers.accounts == 1 ? "1 account" : "\(customers.accounts) accounts"
        return [("customers", "\(customers.count) with \(accounts); \(sets) of brands in memory, \(megabytes) MB")]
            + (customers.trouble.map { [("customers", "\($0): see herald customers --problems")] } ?? [])
    }

    private var directory: [(String, String)] {
        guard let sync = gateway.sync else {
            let remedy =
                gateway.customers == nil ? "no directory is configured" : "each customer's: see herald customers"
            return [("sync", remedy)]
        }
        let age = state.syncAge.map { "last good sync \(AgeText.text($0)) ago" } ?? "no good sync yet"
        let next = sync.nextAt.map { ", next in \(AgeText.text($0 - state.at))" } ?? ""
        let failure = sync.lastError.map { [("sync", "failed \(sync.failuresInARow) in a row: \($0)")] } ?? []
        return [("sync", age + next)] + failure
    }

    private var trust: [(String, String)] {
        guard let trust = gateway.trust else { return [] }
        let unknown = trust.unknownAddresses > 0 ? ", \(trust.unknownAddresses) addresses without a certificate" : ""
        let decided = trust.decidedAt.map { ", decided \(AgeText.text(state.at - $0)) ago" } ?? ", not decided yet"
        let clock = trust.clockOffset.map { offset in
            [("signed", "tokens of most signers are \(abs(offset)) s \(offset < 0 ? "behind" : "ahead of") this clock")]
        }
        return [("signers", "\(trust.signers) with a certificate\(unknown)\(decided)"), ("signed", trust.callsText)]
            + (trust.fetches.map { [("fetches", $0.text)] } ?? []) + (clock ?? [])
            + (trust.lists ?? []).map { ("lists", $0.text(at: state.at)) }
            + (trust.problem.map { [("signers", $0)] } ?? [])
    }

    private var accounting: [(String, String)] {
        let (waiting, refused) = (gateway.outbox.waiting, gateway.outbox.refused)
        let outbox =
            "\(waiting) events wait" + (refused > 0 ? ", \(refused) refused: see herald events --state refused" : "")
        let age = state.recorderAge
        let recorder =
            age < 30 ? "at work" : "no round for \(AgeText.text(Int64(age))): check the disk of gateway.state"
        let logos = gateway.logos.map { logos in
            [
                (
                    "logos",
                    (logos.known == 0 ? "no copies yet" : "\(logos.ready) of \(logos.known) ready")
                        + (logos.failed > 0 ? ", \(logos.failed) failed: see herald logos" : "")
                )
            ]
        }
        return [("outbox", outbox)] + records + [("recorder", recorder)] + sharedLedger + (logos ?? [])
    }

    private var doors: [(String, String)] {
        let doors = gateway.doors
        return [
            ("names", doors?.names?.text), ("enum", doors?.callingNames?.text), ("302", doors?.redirect?.text),
            ("verify", doors?.verification?.text), ("reports", doors?.outcomes?.text),
        ]
        .compactMap { name, text in text.map { (name, $0) } }
    }

    private var records: [(String, String)] {
        (gateway.callRecords ?? []).flatMap { output in
            [("records", "\(output.waiting) wait for outcomes.\(output.output)")]
                + (output.problem.map { [("records", $0)] } ?? [])
        }
    }

    private var sharedLedger: [(String, String)] {
        guard let shared = gateway.sharedLedger else { return [] }
        let behind = Int64(shared.behindSeconds.rounded(.up))
        let isBehind = behind > 5 || shared.problem != nil
        let state =
            isBehind
            ? "\(AgeText.text(behind)) behind, \(shared.waiting) changes wait"
            : shared.ledgerProblem != nil
                ? "call updates wait in the ring, because this gateway's own ledger stores nothing" : "up to date"
        let adopted = shared.adopted ?? 0
        let away = shared.away ?? 0
        return [("shared", state)]
            + (adopted > 0 ? [("shared", "\(adopted) open calls of silent gateways go on here")] : [])
            + (away > 0
                ? [("shared", "\(away) open calls of this gateway go on at another, because it was silent")] : [])
            + (shared.problem.map { [("shared", "not written: \($0)")] } ?? [])
            + (shared.server.map { [("shared", "server: \($0)")] } ?? [])
            + (shared.serverProblems ?? []).map { ("shared", $0) }
    }

    private var operation: [(String, String)] {
        let usable = gateway.targets.filter(\.isInUse).count
        let waiting = gateway.targets.filter { $0.state == "standby" }.count
        let down = gateway.targets.filter { $0.state != "standby" && (!$0.isInUse || $0.state != "up") }.map(\.sentence)
        let targets =
            "\(usable) of \(gateway.targets.count) take calls" + (waiting > 0 ? ", \(waiting) on standby" : "")
            + down.map { "; \($0)" }.joined()
        var facts = [("targets", targets)] + gateway.siblings.map { ("sibling", Self.text(of: $0)) }
        facts += [("log", state.log.text.trimmingLineEnd)]
        if let reload = state.reload {
            facts.append(
                ("reload", "\(OperatorTime.text(reload.at ?? 0)): \(reload.text.trimmingLineEnd)"))
        }
        facts += state.certificates.map { ("tls", $0) }
        if let problem = gateway.ledgerProblem { facts.append(("problem", "outcomes cannot be stored: \(problem)")) }
        return facts + gateway.stateProblems.map { ("problem", $0) }
    }
}

extension StatusText {
    private static func text(of sibling: GatewayStatus.Sibling) -> String {
        let state =
            switch sibling.state {
            case "reachable": "responds"
            case "other_secret": "has another secret: copy the file of cluster.secret_file and reload both"
            default: "does not respond: see whether it runs and UDP reaches its cluster.listen"
            }
        let waiting = sibling.waiting > 0 ? "; \(sibling.waiting) call updates wait for it" : ""
        let dropped = sibling.dropped > 0 ? "; \(sibling.dropped) were dropped" : ""
        let clock = sibling.hasOtherTime ? "; its clock differs by a second or more: start an NTP client on both" : ""
        return "\(sibling.address) \(state)\(waiting)\(dropped)\(clock)"
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
