// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

extension EventRequest {
    /// Reads an event from a JSON object that was read already, so that its text is gone through once only.
    ///
    /// - Throws: `Refusal` (400) that names the field, for one that is unknown, missing or of a wrong type.
    init(_ fields: [String: JSONValue]) throws {
        if let unknown = fields.keys.filter({ !EventCheck.fields.contains($0) }).min() {
            throw Refusal.unknownField(unknown)
        }
        func text(_ key: CodingKeys) throws -> String? {
            switch fields[key.rawValue] {
            case .string(let text): text
            case nil, .null: nil
            default: throw Refusal.wrongType(key.rawValue)
            }
        }
        func needed(_ key: CodingKeys) throws -> String {
            if let text = try text(key) { return text }
            throw fields[key.rawValue] == nil
                ? Refusal.badRequest("Missing field \(key.rawValue)") : Refusal.wrongType(key.rawValue)
        }
        let meta: [String: JSONValue]?
        switch fields[CodingKeys.meta.rawValue] {
        case .object(let object): meta = object
        case nil, .null: meta = nil
        default: throw Refusal.wrongType(CodingKeys.meta.rawValue)
        }
        self.init(
            phoneNumber: try needed(.phoneNumber), outcome: try needed(.outcome), surface: try text(.surface),
            deviceID: try text(.deviceID), displayedAt: try text(.displayedAt), eventKey: try text(.eventKey),
            meta: meta, brandingRequestID: try text(.brandingRequestID))
    }
}

extension Refusal {
    static func unknownField(_ name: String) -> Refusal { badRequest("Unknown field \(String(name.prefix(64)))") }

    static func wrongType(_ field: String) -> Refusal { badRequest("Wrong type of field \(String(field.prefix(64)))") }
}
