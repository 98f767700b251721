// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles

extension RateLimits {
    /// Requests per minute for a kind of client.
    func limit(of type: ClientType) -> Int {
        switch type {
        case .web: web
        case .mobileIOS: mobileIOS
        case .mobileAndroid: mobileAndroid
        case .herald: herald
        }
    }
}
