// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// The fields of a parsed JSON object.
struct RequestFields<Key: CodingKey> {
    private let fields: [String: JSONValue]

    /// Accepts all fields.
    init(_ fields: [String: JSONValue]) { self.fields = fields }

    /// - Throws: `Refusal` (400) for an unknown field.
    init(_ fields: [String: JSONValue], known: Set<String>) throws {
        if let unknown = fields.keys.filter({ !known.contains($0) }).min() { throw Refusal.unknownField(unknown) }
        self.fields = fields
    }

    /// A text; nil if missing or null.
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

    /// A text of a client about itself, cut and cleaned; nil if missing.
    func clean(_ key: Key, atMost limit: Int = 128) -> String? {
        ClientText.clean(fields[key.stringValue], atMost: limit)
    }

    /// The identifier of a device, unchanged.
    ///
    /// - Throws: `Refusal` (400) unless it is a text of 1 to 128 characters.
    func deviceID(_ key: Key) throws -> String {
        let id = try needed(key)
        try FieldCheck.length(id, 1...128, key.stringValue)
        return id
    }

    /// Any value; nil if missing or null.
    func any(_ key: Key) -> JSONValue? {
        let value = fields[key.stringValue]
        return value == .null ? nil : value
    }
}

extension DebugUpload {
    /// Reads a debug upload.
    init(_ object: [String: JSONValue]) throws {
        let fields = try RequestFields<CodingKeys>(
            object, known: ["device_id", "nonce", "created_at", "expires_at", "state", "logs", "logs_upload_id"])
        self.init(
            deviceID: try fields.needed(.deviceID), nonce: try fields.needed(.nonce),
            createdAt: try fields.text(.createdAt), expiresAt: try fields.text(.expiresAt),
            state: fields.any(.state), logs: try fields.text(.logs),
            logsUploadID: try fields.text(.logsUploadID))
    }
}

extension Refusal {
    static func unknownField(_ name: String) -> Refusal { badRequest("Unknown field \(String(name.prefix(64)))") }

    static func wrongType(_ field: String) -> Refusal { badRequest("Wrong type of field \(String(field.prefix(64)))") }
}
