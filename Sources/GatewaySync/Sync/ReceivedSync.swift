// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
package import CallAccounting
import Foundation

/// The values of a sync response beside its records.
///
/// `synced_at` is required: each published description names it. `success` is optional; only `false` makes the response
/// unusable. Other members never do: the end of the JSON shows that the response is complete.
package struct ReceivedSync: Hashable, Sendable {
    /// The cursor of the next sync.
    package let syncedAt: String
    package let config: DirectoryConfig?

    /// - Parameter values: the values beside the records, as received.
    /// - Throws: `DirectoryError.badResponse` if the response reports a failure or has no cursor.
    init(_ values: [String: [UInt8]]) throws(DirectoryError) {
        let keys = SyncResponse.CodingKeys.self
        if Self.isFailure(values[keys.success.stringValue]) { throw .badResponse(reason: "its success is false") }
        guard let cursor = try Self.value(String.self, keys.syncedAt, values), (1...256).contains(cursor.utf8.count)
        else { throw .badResponse(reason: "its synced_at is missing, empty or longer than 256 bytes") }
        syncedAt = cursor
        config = try Self.value(DirectoryConfig.self, keys.config, values)
    }

    /// True for `false`, also as 0 or in quotes.
    private static func isFailure(_ success: [UInt8]?) -> Bool {
        let text = success.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let word = text.filter { !$0.isWhitespace && $0 != "\"" }.lowercased()
        return word == "false" || word == "0"
    }

    private static func value<Value: Decodable>(
        _ type: Value.Type, _ key: SyncResponse.CodingKeys, _ values: [String: [UInt8]]
    ) throws(DirectoryError) -> Value? {
        guard let bytes = values[key.stringValue] else { return nil }
        do {
            return try JSONDecoder().decode(Value?.self, from: Data(bytes))
        } catch {
            throw .badResponse(reason: "its \(key.stringValue) is of the wrong type or broken JSON")
        }
    }
}

/// Result of a successful sync request.
package enum SyncDelivery: Sendable {
    /// 304: nothing has changed since the last delivery.
    case unchanged
    /// The records are in the intake.
    case delivered(ReceivedSync, tally: SyncTally, validator: SyncValidator?)
}
