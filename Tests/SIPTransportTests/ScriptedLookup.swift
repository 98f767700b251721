// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SIPTransport
import Synchronization

/// Results from a table, which a test may change; a name that is not in it does not exist.
final class ScriptedLookup: NameLookup {
    typealias Table = [String: Result<[NameRecord], NameLookupError>]

    private struct State {
        var table: Table
        var asked: [String] = []
    }

    private let state: Mutex<State>

    init(_ table: Table = [:]) { state = Mutex(State(table: table)) }

    /// What was asked for so far, as `pbx.example A`.
    var asked: [String] { state.withLock { $0.asked } }

    func set(_ question: String, _ outcome: Result<[NameRecord], NameLookupError>) {
        state.withLock { $0.table[question] = outcome }
    }

    func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord] {
        let question = "\(name) \(type.name)"
        let outcome = state.withLock { state in
            state.asked.append(question)
            return state.table[question] ?? .failure(.notFound)
        }
        return try outcome.get()
    }
}

extension NameRecord {
    /// An A or AAAA record.
    static func address(_ literal: String, ttl: Int = 300) -> NameRecord {
        let address = PeerAddress(host: Array(literal.utf8)[...], port: 0) ?? PeerAddress(ipv4: 0, port: 0)
        return NameRecord(timeToLive: ttl, content: .address(address))
    }

    /// An SRV record as a zone file writes it: priority, weight, port, target.
    static func service(
        _ priority: UInt16, _ weight: UInt16, _ port: UInt16, _ target: String, ttl: Int = 300
    ) -> NameRecord {
        NameRecord(
            timeToLive: ttl, content: .service(priority: priority, weight: weight, port: port, target: target))
    }
}

extension ResolvedHop {
    /// A hop as the tests' tables write it: `192.0.2.1:5060`, without SRV, or `192.0.2.1:5060/10/60` with it.
    var text: String { priority == 0 && weight == 0 ? "\(address)" : "\(address)/\(priority)/\(weight)" }
}
