// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The admissions of all trunks by name: a reload of the configuration, or another address of a peer, keeps their counts, and
/// what of their rate is used up as long as the limits are the same.
///
/// Any thread.
package final class TrunkRegister: Sendable {
    private let trunks = Mutex<[String: TrunkAdmission]>([:])

    package init() {}

    /// The admission of a trunk: the one it has, where that has these limits.
    package func admission(of name: String, _ limits: TrunkAdmission.Limits) -> TrunkAdmission {
        trunks.withLock { trunks in
            if let known = trunks[name], known.limits == limits { return known }
            let admission = TrunkAdmission(limits, calls: trunks[name]?.calls ?? TrunkCalls())
            trunks[name] = admission
            return admission
        }
    }
}
