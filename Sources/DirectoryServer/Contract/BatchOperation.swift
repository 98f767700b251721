// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes

/// One operation of a batch: `create event`, `create imprint` or `update device`.
///
/// Source: mobile-api, "Batch Operations".
enum BatchOperation: Sendable {
    case event(ReportedEvent)
    case imprint(Imprint)
    case device(DeviceUpdate)

    /// - Parameter now: seconds since 1970.
    /// - Throws: `Refusal` (400).
    init(_ operation: JSONValue, now: Int64) throws {
        guard case .object(let fields) = operation else {
            throw Refusal.badRequest("An operation must be a JSON object")
        }
        if let unknown = fields.keys.filter({ !["type", "resource", "data"].contains($0) }).min() {
            throw Refusal.unknownField(unknown)
        }
        let (type, resource) = (fields["type"], fields["resource"])
        let isEvent = type == .string("create") && resource == .string("event")
        let isImprint = type == .string("create") && resource == .string("imprint")
        guard isEvent || isImprint || type == .string("update") && resource == .string("device") else {
            throw Refusal.badRequest(
                "Operations create an event, create an imprint, or update a device: set type and resource so")
        }
        guard case .object(let data) = fields["data"] else {
            throw Refusal.badRequest("The body must be a JSON object")
        }
        self =
            isEvent
            ? .event(ReportedEvent(data))
            : isImprint ? .imprint(try Imprint(data, now: now)) : .device(try DeviceUpdate(data))
    }
}

/// The result of one operation of a batch.
enum BatchResult: Sendable {
    case event(EventResponse)
    case imprint(ImprintResponse)
    /// - Parameter updated: ISO 8601.
    case device(String, updated: String)
    case refused(Refusal)

    /// Writes a `BatchResponse.Result`.
    func write(to text: inout JSONText) throws {
        switch self {
        case .event(let response):
            Self.success(
                response.partial == true ? 202 : 200, response.eventID, to: &text, data: response.write)
        case .imprint(let response):
            let data: [String: JSONValue] = [
                "success": .bool(true), "imprint_id": .string(response.imprintID),
                "displayed_at": .string(response.displayedAt),
            ]
            Self.success(200, response.imprintID, to: &text) { $0.value(.object(data)) }
        case .device(let id, let updated):
            let data: [String: JSONValue] = ["success": .bool(true), "updated_at": .string(updated)]
            Self.success(200, id, to: &text) { $0.value(.object(data)) }
        case .refused(let refusal):
            let error = try JSONBody.encoder().encode(refusal.envelope)
            text.object { object in
                object.add(Key.status.rawValue, "error")
                object.add(Key.statusCode.rawValue, refusal.status.code)
                object.add(Key.error.rawValue) { $0.raw(error) }
            }
        }
    }

    private typealias Key = BatchResponse.Result.CodingKeys

    private static func success(
        _ code: Int, _ id: String?, to text: inout JSONText, data: (inout JSONText) -> Void
    ) {
        text.object { object in
            object.add(Key.status.rawValue, "success")
            object.add(Key.statusCode.rawValue, code)
            object.add(Key.resourceID.rawValue, id)
            object.add(Key.data.rawValue) { data(&$0) }
        }
    }
}
