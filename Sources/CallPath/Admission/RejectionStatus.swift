// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import SIPCore

extension GatewayStatus.Rejected {
    /// Copies a rejection as the status page shows it.
    package init(_ rejection: Rejection) {
        self.init(
            address: rejection.source.description, transport: "\(rejection.transport)", peer: rejection.peer,
            method: rejection.methodText, status: rejection.status == 0 ? nil : Int(rejection.status),
            cause: rejection.causeText, count: rejection.count, first: rejection.first / 1_000_000,
            last: rejection.last / 1_000_000)
    }
}
