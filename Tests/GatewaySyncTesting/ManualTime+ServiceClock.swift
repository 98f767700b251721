// SPDX-License-Identifier: Apache-2.0

package import GatewaySync
package import TestFixtures

extension ManualTime {
    /// The clock for the code under test, without random spread.
    package var clock: ServiceClock {
        ServiceClock(now: { self.now }, sleep: { try await self.sleep($0) }, chance: { 0.5 })
    }
}
