// SPDX-License-Identifier: Apache-2.0

import Branding
package import ConfigurationFiles
import GatewayCluster
import GatewayStore
import Host
import PostgreSQL

/// The calls of all gateways, for `herald calls`.
package struct SharedCalls {
    private let reader: SharedLedgerReader

    /// Nil without a shared ledger.
    ///
    /// - Parameter configuration: loaded with its secrets.
    package init?(_ configuration: HeraldConfiguration) {
        guard let address = configuration.cluster?.ledger else { return nil }
        reader = SharedLedgerReader(address)
    }

    /// The newest calls that pass the filter, newest first; nil after a warning if the shared ledger cannot be read.
    func calls(matching filter: CallFilter, limit: Int) -> [LedgerCallRow]? {
        do {
            let calls = try reader.calls(matching: filter, limit: limit)
            if let since = reader.searchedSince {
                Output.warn(
                    "warning: the search has read the calls since \(OperatorTime.text(since)) and ended, "
                        + "because it took long; "
                        + "go on with --until \(UTCTimestamp.string(seconds: since)), or give --since or a whole identifier"
                )
            }
            return calls
        } catch {
            Output.warn(
                "warning: only calls of this gateway are listed, because the shared ledger cannot be read: \(error)")
            return nil
        }
    }
}
