// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// A gate that must be open for a branded call.
    package struct Gate: Hashable, Sendable, Codable {
        /// `authorised`, `account_status`, `branding_enabled`, `voip_dialer_enabled`, `cap` or `fresh`.
        package var gate: String
        package var open: Bool
        /// Seconds since 1970 of the last change; nil while it is as it was at the start.
        package var since: Int64?
        /// Cause and remedy of a closed gate; for an open gate, the ignored part of the directory's response.
        package var reason: String?

        package init(gate: String, open: Bool, since: Int64? = nil, reason: String? = nil) {
            self.gate = gate
            self.open = open
            self.since = since
            self.reason = reason
        }
    }

    /// The directory's report on itself and on this gateway.
    package struct DirectoryStanding: Hashable, Sendable, Codable {
        /// `live`, `testing` or another value; branding is the same in each.
        package var mode: String?
        /// Versions of Herald in the directory's response; nil for none.
        package var minimumVersion: String?
        package var latestVersion: String?
        package var isUpdateDue: Bool
        /// Seconds a copy may be used without a successful sync; nil for no end.
        package var cacheLifetime: Int64?
        /// Lookups since the start by result; nil if they are off.
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
