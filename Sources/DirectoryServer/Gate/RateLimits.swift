// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Requests per minute; 0 means no limit.
///
/// Each device of an API key has its own count, or each address for requests without a device. `key` limits them all
/// together.
package struct RateLimits: Hashable, Sendable {
    package var web: Int
    package var mobileIOS: Int
    package var mobileAndroid: Int
    package var herald: Int
    /// All clients of one API key together.
    package var key: Int
    /// Wrong keys and tokens per address.
    package var wrongKeys: Int

    package init(web: Int, mobileIOS: Int, mobileAndroid: Int, herald: Int, key: Int = 0, wrongKeys: Int) {
        self.web = web
        self.mobileIOS = mobileIOS
        self.mobileAndroid = mobileAndroid
        self.herald = herald
        self.key = key
        self.wrongKeys = wrongKeys
    }

    package static let none = RateLimits(web: 0, mobileIOS: 0, mobileAndroid: 0, herald: 0, wrongKeys: 0)

    func limit(of type: ClientType) -> Int {
        switch type {
        case .web: web
        case .mobileIOS: mobileIOS
        case .mobileAndroid: mobileAndroid
        case .herald: herald
        }
    }
}
