// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import ConfigurationFiles
import GatewayStore
import Synchronization

/// The permanent addresses of calls' pages: `admin.public_url` and the id of the call.
///
/// Any thread. A reload replaces the URL.
package final class CallLinks: Sendable {
    private let base: Mutex<String?>
    /// Calls of another gateway have no page here.
    private let gateway: String?

    /// - Parameter gateway: its name in rows of the shared ledger; nil where no such row comes.
    init(_ base: String?, gateway: String? = nil) {
        self.base = Mutex(base)
        self.gateway = gateway
    }

    /// The links of a gateway.
    package convenience init(_ configuration: HeraldConfiguration) {
        self.init(configuration.pagesURL, gateway: configuration.id)
    }

    /// The row with its link; nil as the link without `admin.public_url`.
    func linked(_ call: LedgerCallRow) -> LedgerCallRow {
        var call = call
        let isOwn = call.node == nil || call.node == gateway
        call.link = isOwn ? link(call.callID) : nil
        return call
    }

    /// The address of the page of a call; nil for a text that is no id.
    func link(_ callID: String) -> String? {
        guard let base = base.withLock({ $0 }), let id = CallIdentifier(callID) else { return nil }
        return "\(base)/calls/\(id)"
    }

    /// The step to the URL of another configuration; nil where it is the same.
    package func change(to next: HeraldConfiguration) -> (@Sendable () -> Void)? {
        let url = next.pagesURL
        guard base.withLock({ $0 }) != url else { return nil }
        return { [self] in base.withLock { $0 = url } }
    }
}
