// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import CallPath
import ConfigurationFiles
package import SIPCore

/// The caller of a test call, by the order of an operator.
package struct TestCaller: Hashable, Sendable {
    /// The call back that it waits for.
    package struct CallBack: Hashable, Sendable {
        /// The number that the PBX calls.
        package var number: E164Number
        /// The party that the test call rings.
        package var called: CalledParty
        /// The customer of the test call; nil for none.
        package var customer: String?

        package init(number: E164Number, called: CalledParty, customer: String?) {
            (self.number, self.called, self.customer) = (number, called, customer)
        }
    }

    /// The name of the trunk whose rules hold.
    package let trunk: String
    package let address: PeerAddress
    /// Position of the local socket that it sends to.
    package let socket: Int
    /// The Call-ID of the ordered call; another call from the address is not the test's.
    package let callID: String
    /// Nil where no call back is awaited.
    package let callBack: CallBack?

    package init(trunk: String, address: PeerAddress, socket: Int, callID: String, callBack: CallBack? = nil) {
        (self.trunk, self.address, self.socket) = (trunk, address, socket)
        (self.callID, self.callBack) = (callID, callBack)
    }
}

extension HeraldConfiguration {
    /// The trunk of a test call's caller; nil where its model has left the configuration.
    func testTrunk(_ caller: TestCaller, in topology: GatewayTopology) -> TestTrunk? {
        guard let model = topology.trunks.first(where: { $0.name == caller.trunk }) else { return nil }
        let callBack = caller.callBack.map {
            TestTrunk.CallBack(to: $0.number, from: $0.called, of: $0.customer, policy: returnPolicy)
        }
        return TestTrunk(
            like: model, from: caller.address, by: caller.socket, callID: caller.callID, callBack: callBack)
    }
}
