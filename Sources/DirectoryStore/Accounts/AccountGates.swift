// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

extension DirectoryConfig {
    /// The form that clients get: `branding_enabled` combines the operator's switch, the account's status and its cap.
    ///
    /// Phones read no other gate. A gateway reads status and cap as well, and reports the closed gate by name.
    var forClients: DirectoryConfig {
        var config = self
        config.brandingEnabled = brandingEnabled != false && hasActiveAccount && !isCapReached
        return config
    }

    /// True while the account's status lets it brand calls.
    var hasActiveAccount: Bool { AccountState.isOpen(accountStatus ?? "") }

    /// True when the cap of this month is reached.
    var isCapReached: Bool {
        if case .events(let cap) = capThisMonth { usedThisMonth ?? 0 >= cap } else { false }
    }
}
