// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// One thing that must be open for a call to be branded.
    package struct Gate: Hashable, Sendable, Codable {
        /// `authorised`, `account_status`, `branding_enabled`, `voip_dialer_enabled`, `cap` or `fresh`.
        package var gate: String
        package var open: Bool
        /// Seconds since 1970 of the last change; nil while it is as it was at the start.
        package var since: Int64?
        /// Why it is closed, and what to do; of an open one, what of the directory is ignored.
        package var reason: String?

        package init(gate: String, open: Bool, since: Int64? = nil, reason: String? = nil) {
            self.gate = gate
            self.open = open
            self.since = since
            self.reason = reason
        }
    }

    /// What the directory says of itself and of this gateway.
    package struct DirectoryStanding: Hashable, Sendable, Codable {
        /// `live`, `testing` or a word of its own; calls are branded alike in each.
        package var mode: String?
        /// Versions of Herald the directory names; nil where it names none.
        package var minimumVersion: String?
        package var latestVersion: String?
        package var isUpdateDue: Bool
        /// Seconds a copy may be used without a successful sync; nil for no end.
        package var cacheLifetime: Int64?
        /// Lookups since the start by what they found; nil where they are off.
        package var lookups: [String: Int]?

        package init(
            mode: String? = nil, minimumVersion: String? = nil, latestVersion: String? = nil,
            isUpdateDue: Bool = false, cacheLifetime: Int64? = nil, lookups: [String: Int]? = nil
        ) {
            self.mode = mode
            self.minimumVersion = minimumVersion
            self.latestVersion = latestVersion
            self.isUpdateDue = isUpdateDue
            self.cacheLifetime = cacheLifetime
            self.lookups = lookups
        }

        package enum CodingKeys: String, CodingKey {
            case mode, lookups
            case minimumVersion = "minimum_version"
            case latestVersion = "latest_version"
            case isUpdateDue = "update_due"
            case cacheLifetime = "cache_lifetime_seconds"
        }
    }
}
