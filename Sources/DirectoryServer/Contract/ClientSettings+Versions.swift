// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles

extension ClientSettings {
    /// The versions for a client; empty for an unknown platform.
    ///
    /// A gateway is recognised by its client type, because its platform is a configurable text.
    func versions(for platform: String, _ type: ClientType?) -> Versions {
        if type == .herald { return herald }
        return switch platform.lowercased() {
        case "ios": ios
        case "android": android
        case "linux", "sip", "herald": herald
        default: Versions()
        }
    }
}
