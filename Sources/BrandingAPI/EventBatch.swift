// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/sync/batch`: operations with a result each, in their order.
///
/// The directory executes device updates, then imprints, then events.
///
/// Herald sends events alone. Source: mobile-api, "Batch Operations".
package struct BatchRequest: Codable, Hashable, Sendable {
    /// One operation of a batch.
    package struct Operation: Codable, Hashable, Sendable {
        /// Always `create`.
        package var type: String
        /// Always `event`.
        package var resource: String
        package var data: EventRequest

        package init(_ event: EventRequest) {
            type = "create"
            resource = "event"
            data = event
        }
    }

    package var operations: [Operation]

    package init(_ events: [EventRequest]) { operations = events.map { Operation($0) } }
}

/// The response to a batch: one result per operation, in the order of the request.
package struct BatchResponse: Codable, Hashable, Sendable {
    /// The result of one operation.
    package struct Result: Codable, Hashable, Sendable {
        /// `success` or `error`.
        package var status: String
        /// The HTTP status that the operation would have on its own, such as 200 or 400.
        ///
        /// The published example omits it. Then 200 means success and 0 an error.
        package var statusCode: Int
        /// The identifier of the event, the imprint or the device; only on success.
        package var resourceID: String?
        /// The response of the event endpoint; only on success of an event.
        package var data: EventResponse?
        /// Only on error.
        package var error: ErrorEnvelope?

        package enum CodingKeys: String, CodingKey {
            case status, data, error
            case statusCode = "status_code"
            case resourceID = "resource_id"
        }

        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            status = try fields.decode(String.self, forKey: .status)
            statusCode = fields.tolerantInt(.statusCode) ?? (status == "success" ? 200 : 0)
            resourceID = fields.tolerantString(.resourceID)
            data = fields.tolerant(EventResponse.self, .data)
            error = fields.tolerant(ErrorEnvelope.self, .error)
        }

        package var isSuccess: Bool { status == "success" }
    }

    package var results: [Result]
}
