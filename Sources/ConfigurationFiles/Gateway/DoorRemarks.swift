// SPDX-License-Identifier: Apache-2.0

import Branding
import Trust

extension HeraldConfiguration {
    /// Remarks about doors by which fewer or other callers get names or verifications than intended.
    var doorRemarks: [String] {
        let names =
            doors.names.map { trunkRemarks($0.trunk, of: "doors.names", states: $0.states) + clientRemarks($0) } ?? []
        return names + (doors.callingNames.map(callingNameRemarks) ?? []) + (doors.redirect.map(redirectRemarks) ?? [])
            + (doors.verification.map(verificationRemarks) ?? []) + (doors.outcomes.map(outcomeRemarks) ?? [])
    }

    /// Remarks about the trunk whose rules a door has.
    ///
    /// - Parameter states: the parameters that count besides the caller's number; nil for a door without any.
    private func trunkRemarks(_ name: String, of door: String, states: [Doors.Names.Statement]?) -> [String] {
        func sending(_ statement: Doors.Names.Statement) -> String? {
            guard let states else { return nil }
            let sending = "let the client send \(statement.word)"
            return states.contains(statement) ? sending : "add \(statement.word) to \(door).states and \(sending)"
        }
        guard let trunk = trunks.first(where: { $0.name == name }) else { return [] }
        let signatures = signatures(of: trunk)
        let decides = signatures?.mode == .decide
        if !trunk.isTrusted {
            return ["\(door) has the rules of trunk \(name), which is not trusted: no caller gets a brand by it"]
        }
        if trunk.brands != .on {
            return [
                "\(door) has the rules of trunk \(name) with brands: \(trunk.brands.word): no caller gets a brand by it"
            ]
        }
        if decides, signatures?.nameSource.needsSignature == true {
            return [
                "\(door) has the rules of trunk \(name), which needs signed names: no caller gets a brand by it"
            ]
        }
        var remarks: [String] = []
        if trunk.policy == .strict {
            let who =
                states?.contains(.verstat) == true
                ? "a request without verstat gets no brand" : "no caller gets a brand by it"
            remarks.append("\(door) has the rules of trunk \(name) with policy strict: \(who)")
        }
        if trunk.carrierName == .keep {
            remarks.append(
                "\(door) has the rules of trunk \(name) with carrier_name keep: no caller gets a brand by it")
        }
        if decides {
            remarks.append(
                "\(door) cannot verify signed calls as trunk \(name) does: "
                    + (sending(.verstat).map { "\($0), or " } ?? "")
                    + "a caller with a bad signature gets a brand by it")
        }
        if !customers.isEmpty {
            remarks.append(
                sending(.called).map {
                    "\(door) gives names of customers only to requests with the called number: \($0)"
                }
                    ?? "\(door) gives no names of customers: a query has no called number")
        }
        return remarks
    }

    private func clientRemarks(_ names: Doors.Names) -> [String] {
        var remarks: [String] = []
        if !names.listen.isLoopback {
            remarks.append("doors.names.listen is \(names.listen): names travel unencrypted; keep this network closed")
        }
        for range in names.allow where range.prefixLength == 0 {
            remarks.append("doors.names.allow has every address (\(range)): list the clients")
        }
        return remarks
    }

    private func outcomeRemarks(_ door: Doors.Outcomes) -> [String] {
        var remarks: [String] = []
        if !door.listen.isLoopback {
            remarks.append(
                "doors.outcomes.listen is \(door.listen): calls travel unencrypted; keep this network closed")
        }
        for range in door.allow where range.prefixLength == 0 {
            remarks.append("doors.outcomes.allow has every address (\(range)): list the clients")
        }
        return remarks
    }

    private func callingNameRemarks(_ door: Doors.CallingNames) -> [String] {
        var remarks = trunkRemarks(door.trunk, of: "doors.enum", states: nil)
        if !door.listen.isLoopback {
            remarks.append("doors.enum.listen is \(door.listen): names travel unencrypted; keep this network closed")
        }
        for range in door.allow where range.prefixLength == 0 {
            remarks.append("doors.enum.allow has every address (\(range)): list the clients")
        }
        return remarks
    }

    /// A request has all of a call: called number, verstat and signatures.
    private func redirectRemarks(_ door: Doors.Redirect) -> [String] {
        var remarks: [String] = []
        if let trunk = trunks.first(where: { $0.name == door.trunk }) {
            let rules = "doors.redirect has the rules of trunk \(trunk.name)"
            if !trunk.isTrusted, signatures(of: trunk)?.mode != .decide {
                remarks.append("\(rules), which is not trusted: no caller gets a brand by it")
            }
            if trunk.brands != .on {
                remarks.append("\(rules) with brands: \(trunk.brands.word): no caller gets a brand by it")
            }
            if trunk.carrierName == .keep {
                remarks.append("\(rules) with carrier_name keep: no caller gets a brand by it")
            }
        }
        if !door.listen.isLoopback {
            remarks.append(
                "doors.redirect.listen is \(door.listen): names travel unencrypted; keep this network closed")
        }
        for range in door.allow where range.prefixLength == 0 {
            remarks.append("doors.redirect.allow has every address (\(range)): list the clients")
        }
        for client in door.idleClients {
            remarks.append(
                "doors.redirect.clients has \(client), which doors.redirect.allow does not list: add it there")
        }
        return remarks
    }

    private func verificationRemarks(_ door: Doors.Verification) -> [String] {
        var remarks: [String] = []
        if let trunk = trunks.first(where: { $0.name == door.trunk }), signatures(of: trunk) == nil {
            remarks.append(
                "doors.verification has the rules of trunk \(door.trunk), which verifies nothing: each response is "
                    + "No-TN-Validation")
        }
        if !door.listen.isLoopback {
            remarks.append(
                "doors.verification.listen is \(door.listen): calls travel unencrypted; keep this network closed")
        }
        for range in door.allow where range.prefixLength == 0 {
            remarks.append("doors.verification.allow has every address (\(range)): list the clients")
        }
        return remarks
    }
}
