// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The fields of a JSON object that was read already, so that its text is gone through once only.
struct RequestFields<Key: CodingKey> {
    private let fields: [String: JSONValue]

    /// - Throws: `Refusal` (400) for a field that is not among the known ones.
    init(_ fields: [String: JSONValue], known: Set<String>) throws {
        if let unknown = fields.keys.filter({ !known.contains($0) }).min() { throw Refusal.unknownField(unknown) }
        self.fields = fields
    }

    /// A text; nil where it is missing or null.
    func text(_ key: Key) throws -> String? {
        switch fields[key.stringValue] {
        case .string(let text): text
        case nil, .null: nil
        default: throw Refusal.wrongType(key.stringValue)
        }
    }

    func needed(_ key: Key) throws -> String {
        if let text = try text(key) { return text }
        throw fields[key.stringValue] == nil
            ? Refusal.badRequest("Missing field \(key.stringValue)") : Refusal.wrongType(key.stringValue)
    }

    func object(_ key: Key) throws -> [String: JSONValue]? {
        switch fields[key.stringValue] {
        case .object(let object): object
        case nil, .null: nil
        default: throw Refusal.wrongType(key.stringValue)
        }
    }
}

extension EventRequest {
    /// Reads an event.
    ///
    /// - Throws: `Refusal` (400) that names the field, for one that is unknown, missing or of a wrong type.
    init(_ object: [String: JSONValue]) throws {
        let fields = try RequestFields<CodingKeys>(object, known: EventCheck.fields)
        self.init(
            phoneNumber: try fields.needed(.phoneNumber), outcome: try fields.needed(.outcome),
            surface: try fields.text(.surface), deviceID: try fields.text(.deviceID),
            displayedAt: try fields.text(.displayedAt), eventKey: try fields.text(.eventKey),
            meta: try fields.object(.meta), brandingRequestID: try fields.text(.brandingRequestID))
    }
}

extension DebugUpload {
    /// Reads a debug upload; throws like an event's.
    init(_ object: [String: JSONValue]) throws {
        let fields = try RequestFields<CodingKeys>(
            object, known: ["device_id", "nonce", "created_at", "expires_at", "state", "logs", "logs_upload_id"])
        self.init(
            deviceID: try fields.needed(.deviceID), nonce: try fields.needed(.nonce),
            createdAt: try fields.text(.createdAt), expiresAt: try fields.text(.expiresAt),
            state: try fields.object(.state), logs: try fields.text(.logs),
            logsUploadID: try fields.text(.logsUploadID))
    }
}

extension Refusal {
    static func unknownField(_ name: String) -> Refusal { badRequest("Unknown field \(String(name.prefix(64)))") }

    static func wrongType(_ field: String) -> Refusal { badRequest("Wrong type of field \(String(field.prefix(64)))") }
}
