// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/sync/batch`: operations that are done one by one, in order.
///
/// Source: mobile-api, "Batch Operations"; the resource here is always `event`.
package struct BatchRequest: Codable, Hashable, Sendable {
    /// One thing to do.
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

/// The answer to a batch: one result for each operation, in the order of the request.
package struct BatchResponse: Codable, Hashable, Sendable {
    /// What became of one operation.
    package struct Result: Codable, Hashable, Sendable {
        /// `success` or `error`.
        package var status: String
        /// The status the operation would have had as a request of its own, such as 200 or 400; where the directory gives
        /// none, as in the published example, 200 for a success and 0 for an error.
        package var statusCode: Int
        /// The event's id, of a success.
        package var resourceID: String?
        /// What the event endpoint would have answered, of a success.
        package var data: EventResponse?
        /// Of an error.
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

        package init(success response: EventResponse) {
            status = "success"
            statusCode = response.partial == true ? 202 : 200
            resourceID = response.eventID
            data = response
        }

        package init(status code: Int, error envelope: ErrorEnvelope) {
            status = "error"
            statusCode = code
            error = envelope
        }

        package var isSuccess: Bool { status == "success" }
    }

    package var results: [Result]

    package init(results: [Result]) { self.results = results }
}
