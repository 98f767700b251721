// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import TestFixtures

extension ReceivedResponse {
    func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }

    /// The fields of a JSON object; empty when the body is something else.
    var object: [String: JSONValue] {
        guard case .object(let fields) = try? decoded(JSONValue.self) else { return [:] }
        return fields
    }

    /// True for the contract's error envelope with a text and this code.
    func isEnvelope(_ code: String) -> Bool {
        guard case .string(let message) = object["error"] else { return false }
        return object["success"] == .bool(false) && object["code"] == .string(code) && !message.isEmpty
            && headers["content-type"]?.hasPrefix("application/json") == true
    }
}
