// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives

/// Finds the problems at the top of the first page, the gravest first.
///
/// Texts have no ages, because a screen reader reads each change.
struct PageTroubles {
    let all: [PageTrouble]

    /// - Parameter further: problems that the status does not show.
    init(_ status: GatewayStatus, further: [PageTrouble]) {
        let found = Self.calls(status) + Self.accounts(status) + Self.siblings(status) + Self.brands(status) + further
        all = found.filter(\.isError) + found.filter { !$0.isError }
    }

    /// Problems of calls: draining, sockets, targets.
    private static func calls(_ status: GatewayStatus) -> [PageTrouble] {
        var found: [PageTrouble] = []
        if status.isDraining {
            found.append(
                PageTrouble(isError: false, "The gateway stops", "New calls get 503, calls in progress go on."))
        }
        if status.listening.isEmpty {
            found.append(
                PageTrouble(
                    isError: true, "No socket listens", "Calls cannot arrive. The log names the address and the cause.")
            )
        }
        if let problem = status.pbxProblem {
            found.append(
                PageTrouble(
                    isError: true, problem.hasPrefix("every target") ? "Every target is disabled" : "No PBX responds",
                    sentence(problem)
                        + (problem.hasPrefix("every target")
                            ? "" : " Check that the PBX runs, its address in herald.yaml, and the firewall.")))
        }
        return found + unknownCallers(status)
            + status.targets.filter { $0.state != "up" && $0.state != "standby" }.map { target in
                let since = target.since.map { " since \(LocalZone.ofProcess.withUTC($0))" } ?? ""
                let last = target.lastResponse.map { "Its last response was at \(LocalZone.ofProcess.withUTC($0))." }
                let title = "\(target.group): \(target.address) is \(target.state)\(since)"
                let hasOther = status.targets.contains { $0.group == target.group && $0 != target && $0.isInUse }
                let calls =
                    target.isInUse
                    ? "New calls still go there."
                    : hasOther ? "Calls go to other targets of its group." : "It gets no calls."
                if target.state == "disabled" {
                    return PageTrouble(isError: false, title, calls + " The command herald targets enable ends that.")
                }
                let cause = target.cause.map { sentence($0) + " " } ?? ""
                let past =
                    target.state == "resting"
                    ? "It asked for a pause with 503 and Retry-After." : last ?? "It has never responded."
                return PageTrouble(
                    isError: false, title, "\(cause)\(past) \(calls) Check the peer, its address and the firewall.")
            }
    }

    /// Unknown peers that send INVITEs; the most frequent ones by name.
    private static func unknownCallers(_ status: GatewayStatus) -> [PageTrouble] {
        guard let unknown = status.unknownCallers else { return [] }
        let isFew = unknown.addresses <= 3 && !unknown.isMore
        let named = isFew ? unknown.callers : Array(unknown.callers.prefix(1))
        return named.map { caller in
            PageTrouble(
                isError: false, "INVITEs of \(caller.address)\(isFew ? "" : " and other unknown peers") are rejected",
                sentence(caller.advice) + (isFew ? "" : " The table of rejected senders lists the others."))
        }
    }

    /// Problems of accounts: ledger, folders, outbox.
    private static func accounts(_ status: GatewayStatus) -> [PageTrouble] {
        var found: [PageTrouble] = []
        if let problem = status.ledgerProblem {
            found.append(
                PageTrouble(
                    isError: true, "Outcomes cannot be stored",
                    sentence(problem)
                        + " Calls go on, and their outcomes wait in memory. Free space on the disk of gateway.state, or"
                        + " make the folder writable. If it was read-only at the start of herald, restart herald then.")
            )
        }
        found += (status.callRecords ?? []).compactMap { output in
            output.problem.map { problem in
                PageTrouble(
                    isError: false, "\(output.waiting) call records wait for outcomes.\(output.output)", problem + ".")
            }
        }
        if let shared = status.sharedLedger, let problem = shared.problem {
            found.append(
                PageTrouble(
                    isError: false, "The shared ledger is not written",
                    sentence(problem) + " Calls go on, and their changes wait in this gateway's own ledger."))
        }
        found += (status.sharedLedger?.serverProblems ?? []).map {
            PageTrouble(isError: false, "The server of the shared ledger", sentence($0))
        }
        found += status.stateProblems.map { PageTrouble(isError: true, "State folder", sentence($0)) }
        if status.outbox.refused > 0 {
            found.append(
                PageTrouble(
                    isError: false, "\(status.outbox.refused) events were refused by the directory",
                    "herald events --state refused lists them with the reason; herald events retry --all sends them again."
                ))
        }
        return found + signers(status)
    }

    /// Problems of signed calls.
    private static func signers(_ status: GatewayStatus) -> [PageTrouble] {
        (status.trust?.problem).map {
            [PageTrouble(isError: false, "Signed calls are judged by old signers, or by none", sentence($0))]
        } ?? []
    }

    /// Problems of the other gateways of a cluster.
    private static func siblings(_ status: GatewayStatus) -> [PageTrouble] {
        status.siblings.compactMap { sibling in
            let name = "The gateway \(sibling.address)"
            switch sibling.state {
            case "reachable":
                guard sibling.hasOtherTime else { return nil }
                return PageTrouble(
                    isError: false, "\(name) has another time", "Start an NTP client, such as chrony, on both machines."
                )
            case "other_secret":
                return PageTrouble(
                    isError: true, "\(name) has another secret",
                    "Calls that change the gateway are not carried on. Copy the file of cluster.secret_file to every gateway,"
                        + " then reload them.")
            default:
                return PageTrouble(
                    isError: false, "\(name) does not respond",
                    "Call updates wait for it. Check that it runs, and that UDP reaches its cluster.listen.")
            }
        }
    }

    /// Problems of brands: gates, sync, version.
    private static func brands(_ status: GatewayStatus) -> [PageTrouble] {
        let shut = status.gates.filter { !$0.open }
        // A directory closes branding_enabled together with these.
        let hasCause = shut.contains { $0.gate == "cap" || $0.gate == "account_status" }
        var found = shut.filter { !hasCause || $0.gate != "branding_enabled" }.map { gate in
            PageTrouble(
                isError: true, "Branding is off: the gate \(gate.gate) is closed",
                sentence(gate.reason ?? "the directory closed it") + " Calls go on without a brand.")
        }
        // A refused key has its gate above, with the error of the sync.
        let isRefused = shut.contains { $0.gate == "authorised" && $0.reason == status.sync?.lastError }
        if let sync = status.sync, sync.failuresInARow > 0, !isRefused {
            found.append(
                PageTrouble(
                    isError: false,
                    sync.failuresInARow == 1
                        ? "The last sync has failed" : "\(sync.failuresInARow) syncs in a row have failed",
                    sentence(sync.lastError ?? "the log has the cause") + " Brands of the last good sync stay in use."))
        }
        if let trouble = status.customers?.trouble {
            found.append(
                PageTrouble(
                    isError: false, trouble, "The page of customers lists them first, with the cause of each."))
        }
        if !status.branding.isSettled {
            found.append(
                PageTrouble(
                    isError: false, "No brands yet",
                    "The first sync with the directory has not ended. Calls pass unbranded."))
        }
        if status.directory?.isUpdateDue == true {
            let wanted = status.directory?.minimumVersion ?? "a newer version"
            found.append(
                PageTrouble(
                    isError: false, "An update is due", "The directory requests herald \(wanted). Upgrade herald."))
        }
        return found
    }

    /// A text as a sentence, with a capital letter and a full stop.
    static func sentence(_ text: String) -> String {
        let text = text.prefix(1).uppercased() + text.dropFirst()
        return text.hasSuffix(".") || text.isEmpty ? text : text + "."
    }
}
