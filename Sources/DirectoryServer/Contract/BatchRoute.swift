// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// `POST mobile/sync/batch`: up to 500 events in one request and one transaction, each with a result of its own.
struct BatchRoute: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64
    let counters: ServerCounters

    /// An event, or its refusal.
    private typealias Judged = Result<ReportedEvent, Refusal>

    func batch(_ request: Request, _ context: AccountContext) async throws -> Response {
        let body = try await JSONBody.object(of: request, levels: .max)
        if let unknown = body.keys.filter({ $0 != "operations" }).min() { throw Refusal.unknownField(unknown) }
        guard let value = body["operations"] else { throw Refusal.badRequest("Missing field operations") }
        guard case .array(let operations) = value else { throw Refusal.wrongType("operations") }
        guard (1...FieldLimit.batch).contains(operations.count) else {
            throw Refusal.badRequest("operations must have 1 to \(FieldLimit.batch) entries")
        }
        let judged = operations.map(Self.judge)
        var stored = try await EventLedger(database, account: context.account).record(
            judged.compactMap { try? $0.get() }, now: now())[...]
        for response in stored { counters.addEvent(response.outcome, isCounted: response.counted) }
        let results = judged.map { judged in
            switch judged {
            case .success: stored.popFirst().map { BatchResponse.Result(success: $0) }
            case .failure(let refusal): BatchResponse.Result(status: refusal.status.code, error: refusal.envelope)
            }
        }
        return JSONBody.response(try Self.text(results.compactMap { $0 }))
    }

    /// The text of a `BatchResponse`.
    private static func text(_ results: [BatchResponse.Result]) throws -> JSONText {
        var text = JSONText()
        try text.object { response in
            try response.add("results") { list in
                try list.list(results) { result, text in try write(result, to: &text) }
            }
        }
        return text
    }

    private static func write(_ result: BatchResponse.Result, to text: inout JSONText) throws {
        typealias Key = BatchResponse.Result.CodingKeys
        try text.object { object in
            object.add(Key.status.rawValue, result.status)
            object.add(Key.statusCode.rawValue, result.statusCode)
            object.add(Key.resourceID.rawValue, result.resourceID)
            if let data = result.data { object.add(Key.data.rawValue) { data.write(to: &$0) } }
            if let error = result.error {
                let bytes = try JSONBody.encoder().encode(error)
                object.add(Key.error.rawValue) { $0.raw(bytes) }
            }
        }
    }

    private static func judge(_ operation: JSONValue) -> Judged {
        do {
            guard case .object(let fields) = operation else {
                throw Refusal.badRequest("An operation must be a JSON object")
            }
            if let unknown = fields.keys.filter({ !["type", "resource", "data"].contains($0) }).min() {
                throw Refusal.unknownField(unknown)
            }
            guard fields["type"] == .string("create"), fields["resource"] == .string("event") else {
                throw Refusal.badRequest("Operations create an event: type must be create, and resource event")
            }
            guard case .object(let data) = fields["data"] else {
                throw Refusal.badRequest("The body must be a JSON object")
            }
            return .success(ReportedEvent(data))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            return .failure(.badRequest("The operation cannot be read"))
        }
    }
}
