// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// The answer to a sync, read so that one malformed record does not cost the others.
///
/// Everything around the records is read strictly: what is not the contract's answer changes nothing.
package struct SyncAnswer: Decodable, Sendable {
    package let success: Bool
    package let items: [BrandingItem]
    /// Elements of `branding` that are no record at all.
    package let malformed: Int
    /// The cursor of the next sync.
    package let syncedAt: String
    package let config: DirectoryConfig?

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SyncResponse.CodingKeys.self)
        success = try container.decode(Bool.self, forKey: .success)
        syncedAt = try container.decode(String.self, forKey: .syncedAt)
        config = try container.decodeIfPresent(DirectoryConfig.self, forKey: .config)
        let elements = try container.decode([Element].self, forKey: .branding)
        items = elements.compactMap(\.item)
        malformed = elements.count - items.count
    }

    private struct Element: Decodable {
        let item: BrandingItem?

        init(from decoder: any Decoder) throws {
            item = try? BrandingItem(from: decoder)
        }
    }
}
