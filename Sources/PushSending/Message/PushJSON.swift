// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes JSON with sorted keys, so that equal messages are equal bytes.
enum PushJSON {
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    /// Reads a body of a push service; nil for another form.
    static func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(body))
    }
}
