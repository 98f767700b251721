// SPDX-License-Identifier: Apache-2.0

/// Requests per minute by `X-Client-Type`; 0 means no limit.
///
/// Each device of an API key has its own count, or each address for requests without a device.
package struct RateLimits: Hashable, Sendable {
    /// Clients without `X-Client-Type`, such as phones with the published SDKs.
    package var web: Int
    package var mobileIOS: Int
    package var mobileAndroid: Int
    /// Gateways report every call.
    package var herald: Int
    /// All clients of one API key together.
    package var key: Int
    /// Wrong keys and tokens per address.
    package var wrongKeys: Int
    /// Public cards per address.
    package var cards: Int

    package init(
        web: Int, mobileIOS: Int, mobileAndroid: Int, herald: Int, key: Int = 0, wrongKeys: Int, cards: Int = 0
    ) {
        (self.web, self.mobileIOS, self.mobileAndroid) = (web, mobileIOS, mobileAndroid)
        (self.herald, self.key, self.wrongKeys, self.cards) = (herald, key, wrongKeys, cards)
    }

    /// The limits of a configuration without the section.
    static let usual = RateLimits(
        web: 200, mobileIOS: 300, mobileAndroid: 300, herald: 600_000, key: 600_000, wrongKeys: 30,
        cards: 120)

    /// No limits.
    package static let none = RateLimits(web: 0, mobileIOS: 0, mobileAndroid: 0, herald: 0, wrongKeys: 0)
}
