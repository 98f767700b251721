// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation
package import Gateway

/// What a sync answer says beside its records; read strictly, because what is not the contract's answer changes nothing.
package struct SyncAnswer: Hashable, Sendable {
    /// The cursor of the next sync.
    package let syncedAt: String
    package let config: DirectoryConfig?

    /// - Parameter values: the values beside the records, as they came.
    /// - Throws: `DirectoryError.badAnswer` when one is missing, of a wrong type, or says that this is no success.
    init(_ values: [String: [UInt8]], records: Int) throws(DirectoryError) {
        let keys = SyncResponse.CodingKeys.self
        guard let success = try Self.value(Bool.self, keys.success, values) else {
            throw .badAnswer(reason: "success is missing")
        }
        guard success else { throw .badAnswer(reason: "it says success: false") }
        guard let cursor = try Self.value(String.self, keys.syncedAt, values), (1...256).contains(cursor.utf8.count)
        else { throw .badAnswer(reason: "its synced_at is missing, empty or longer than 256 bytes") }
        syncedAt = cursor
        config = try Self.value(DirectoryConfig.self, keys.config, values)
        if let count = try Self.value(Int.self, keys.count, values), count != records {
            throw .badAnswer(reason: "it says it has \(count) records and has \(records)")
        }
    }

    private static func value<Value: Decodable>(
        _ type: Value.Type, _ key: SyncResponse.CodingKeys, _ values: [String: [UInt8]]
    ) throws(DirectoryError) -> Value? {
        guard let bytes = values[key.stringValue] else { return nil }
        do {
            return try JSONDecoder().decode(Value?.self, from: Data(bytes))
        } catch {
            throw .badAnswer(reason: "its \(key.stringValue) is of the wrong type or broken JSON")
        }
    }
}

/// How a sync ended well.
package enum SyncDelivery: Sendable {
    /// 304: what was delivered before is still so.
    case unchanged
    /// The records are in the intake.
    case delivered(SyncAnswer, tally: SyncTally, validator: SyncValidator?)
}
