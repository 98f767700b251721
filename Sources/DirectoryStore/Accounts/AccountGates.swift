// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

extension DirectoryConfig {
    /// The form for clients: `branding_enabled` is the operator's switch, the account's status and its cap together.
    ///
    /// Phones read no other gate. A gateway still sees status and cap beside it, and names the one that is closed.
    var asSent: DirectoryConfig {
        var config = self
        config.brandingEnabled = brandingEnabled != false && hasActiveAccount && !isCapReached
        return config
    }

    /// True for the states in which an account may brand calls.
    var hasActiveAccount: Bool { accountStatus == "active" || accountStatus == "trial" }

    /// True when no more events count this month.
    var isCapReached: Bool {
        if case .events(let cap) = capThisMonth { usedThisMonth ?? 0 >= cap } else { false }
    }
}
