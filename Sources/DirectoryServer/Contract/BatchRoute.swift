// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// `POST mobile/sync/batch`: up to 500 operations in one request, each with a result of its own.
struct BatchRoute: Sendable {
    let database: DirectoryDatabase
    let links: ClientLinks
    let now: @Sendable () -> Int64
    let counters: ServerCounters

    func batch(_ request: Request, _ context: AccountContext) async throws -> Response {
        let body = try await JSONBody.object(of: request, levels: .max)
        if let unknown = body.keys.filter({ $0 != "operations" }).min() { throw Refusal.unknownField(unknown) }
        guard let value = body["operations"] else { throw Refusal.badRequest("Missing field operations") }
        guard case .array(let operations) = value else { throw Refusal.wrongType("operations") }
        guard (1...FieldLimit.batch).contains(operations.count) else {
            throw Refusal.badRequest("operations must have 1 to \(FieldLimit.batch) entries")
        }
        let now = now()
        let judged = operations.map { Self.judge($0, now: now) }
        let results = try await results(of: judged, context.account, scheme: links.scheme(for: request), now: now)
        var text = JSONText()
        try text.object { response in
            try response.add("results") { list in try list.list(results) { try $0.write(to: &$1) } }
        }
        return JSONBody.response(text)
    }

    /// The operation, or its refusal.
    private static func judge(_ operation: JSONValue, now: Int64) -> Result<BatchOperation, Refusal> {
        do {
            return .success(try BatchOperation(operation, now: now))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            return .failure(.badRequest("The operation cannot be read"))
        }
    }

    /// Executes the operations, those of a kind in one transaction and in order.
    ///
    /// Events come last. An event without a key is stored again when the client repeats the batch, so nothing that can
    /// fail follows them. Imprints and updates can be repeated.
    private func results(
        of judged: [Result<BatchOperation, Refusal>], _ account: AccountID, scheme: String?, now: Int64
    ) async throws -> [BatchResult] {
        let operations = judged.compactMap { try? $0.get() }
        var devices = try await update(operations, account, now: now)[...]
        var imprints = try await store(operations, account, now: now)[...]
        var events = try await record(operations, account, scheme: scheme, now: now)[...]
        return judged.compactMap { judged in
            switch judged {
            case .success(.device): devices.popFirst()
            case .success(.imprint): imprints.popFirst()
            case .success(.event): events.popFirst()
            case .failure(let refusal): .refused(refusal)
            }
        }
    }

    private func update(
        _ operations: [BatchOperation], _ account: AccountID, now: Int64
    ) async throws -> [BatchResult] {
        let updates = operations.compactMap { if case .device(let update) = $0 { update } else { nil } }
        if updates.isEmpty { return [] }
        let known = try await DeviceList(database, account: account).update(updates, now: now)
        let time = Timestamp.string(from: now)
        return zip(updates, known).map { update, isKnown in
            isKnown ? .device(update.deviceID, updated: time) : .refused(.deviceUnknown)
        }
    }

    private func store(
        _ operations: [BatchOperation], _ account: AccountID, now: Int64
    ) async throws -> [BatchResult] {
        let imprints = operations.compactMap { if case .imprint(let imprint) = $0 { imprint } else { nil } }
        if imprints.isEmpty { return [] }
        let stored = try await ImprintLedger(database, account: account).store(imprints, now: now)
        return try zip(imprints, stored).map { imprint, result -> BatchResult in
            switch result {
            case .success(let id):
                return .imprint(ImprintResponse(imprintID: id, displayedAt: imprint.displayedAt))
            case .failure(let error):
                // Every error of the store has a refusal.
                guard let refusal = Refusal(of: error) else { throw error }
                return .refused(refusal)
            }
        }
    }

    private func record(
        _ operations: [BatchOperation], _ account: AccountID, scheme: String?, now: Int64
    ) async throws -> [BatchResult] {
        let events = operations.compactMap { if case .event(let event) = $0 { event } else { nil } }
        if events.isEmpty { return [] }
        let responses = try await EventLedger(database, account: account).record(events, now: now)
        for response in responses { counters.addEvent(response.outcome, isCounted: response.counted) }
        return zip(events, responses).map { reported, response in
            var response = response
            if let scheme { response.link(to: reported.event, scheme: scheme) }
            return .event(response)
        }
    }
}
