// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
public import SIPCore

/// The caller of a test call: a trunk of its own for as long as the operator's order lasts.
///
/// It has the rules of a configured trunk, and the address, port and Call-ID that the order names. Its mark is in the sealed
/// cookie of its dialogs, so every worker knows their later messages for a test's, after a restart too. Immutable.
public final class TestTrunk: Sendable {
    /// The call back that a test waits for.
    public struct CallBack: Sendable {
        /// The number that the PBX calls: the caller of the test call.
        let number: E164Number
        /// The party that the test call rang.
        let called: CalledParty
        /// The customer of the test call; nil for none.
        let customer: String?
        /// Decides whether a caller is that party.
        let policy: ReturnPolicy

        public init(to number: E164Number, from called: CalledParty, of customer: String?, policy: ReturnPolicy) {
            (self.number, self.called, self.customer, self.policy) = (number, called, customer, policy)
        }
    }

    let trunk: TrunkPeer
    private let socket: Int
    private let callID: [UInt8]
    private let callBack: CallBack?

    /// - Parameters:
    ///   - model: the configured trunk whose rules hold.
    ///   - caller: the only address and port of the caller.
    ///   - socket: position of the local UDP or TCP address that the caller sends to.
    ///   - callID: the Call-ID of the ordered call.
    ///   - callBack: nil where no call back is awaited.
    public init(
        like model: TrunkPeer, from caller: PeerAddress, by socket: Int, callID: String, callBack: CallBack? = nil
    ) {
        trunk = TrunkPeer(testingAs: model, from: caller, by: socket)
        (self.socket, self.callID, self.callBack) = (socket, Array(callID.utf8), callBack)
    }

    /// Whether a message came from the caller's address and port to the local address of the test.
    ///
    /// The same port number of another transport may belong to another program.
    func isCaller(_ flow: Flow) -> Bool { flow.socket == socket && isCaller(at: flow.source) }

    /// Whether an address is the caller's.
    func isCaller(at address: PeerAddress) -> Bool { trunk.sources.contains { $0.contains(address) } }

    /// Whether a message from the caller's address is the test's: a message of the ordered call, or a response to a call back.
    func isOrdered(_ message: SIPMessage) -> Bool {
        if let field = message.first(.callID), isOrdered(callID: message[field.value]) { return true }
        return callBack != nil && message.status != nil
    }

    /// Whether a Call-ID is that of the ordered call, byte for byte (RFC 3261 §20.8).
    func isOrdered(callID: ArraySlice<UInt8>) -> Bool { callID.elementsEqual(self.callID) }

    /// The caller's trunk if a PBX's INVITE is the call back that the test waits for; nil for every other call.
    ///
    /// Other calls to the same number go to their carrier.
    func trunk(calledBackBy invite: SIPMessage, from pbx: PBXPeer, _ routes: CallRoutes) -> TrunkPeer? {
        guard let callBack, !CallerPrivacy.isAsked(in: invite), let called = SIPURI(invite.bytes, invite.requestURI),
            CallerIdentity.number(of: called, trunk: trunk) == callBack.number
        else { return nil }
        let caller = invite.first(.from).flatMap { NameAddress(invite.bytes, $0.value)?.uri }
        let number = CalledNumber.caller(of: invite, caller, on: trunk)
        let party = CalledParty(number: number, user: String(decoding: caller?.user ?? [], as: UTF8.self))
        let customer = routes.customer(ofCaller: number, at: pbx)?.name
        let isReturn = callBack.policy.isSubscriber(
            party, of: customer, thatWasCalled: callBack.called, of: callBack.customer)
        return isReturn ? trunk : nil
    }
}

extension TrunkPeer {
    /// The rules of a configured trunk for the caller of a test call.
    fileprivate convenience init(testingAs model: TrunkPeer, from caller: PeerAddress, by socket: Int) {
        let state = TargetState(name: "test call \(caller)", rules: TargetHealthRules())
        self.init(
            name: model.name,
            sources: [PeerSource(network: caller, prefixLength: caller.isIPv6 ? 128 : 32, port: caller.port)],
            targets: TargetGroup(
                name: "test call", targets: [Target(targetState: state, address: caller, socket: socket)]),
            socket: socket, isTrusted: model.isTrusted, policy: model.policy, normaliser: model.normaliser,
            identityOrder: model.identityOrder, keepsForeignCallInfo: model.keepsForeignCallInfo,
            trunkHeader: model.trunkHeader, pbx: model.pbx, pbxSocket: model.pbxSocket,
            carrierName: model.carrierName, takesWithheldIdentity: model.takesWithheldIdentity,
            admission: model.admission, emergencyNumbers: model.emergencyNumbers,
            attestationHeaders: model.attestationHeaders.map { String(decoding: $0, as: UTF8.self) },
            signatures: model.signatures, brands: model.brands, isTest: true)
    }
}
