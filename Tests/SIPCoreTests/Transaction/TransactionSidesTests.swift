// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SIPCore

/// What holds for both sides of a proxied request, whatever events they meet.
@Suite("The two sides of a proxied request, RFC 3261 §16.2 and §17")
struct TransactionSidesTests {
    private static func server(isInvite: Bool) -> ServerSide {
        var side = ServerSide(isInvite: isInvite, timers: .standard, isReliable: false)
        _ = side.start()
        return side
    }

    private static func client(isInvite: Bool) -> ClientSide {
        var side = ClientSide(isInvite: isInvite, timers: .standard, isReliable: false, patience: nil)
        _ = side.start()
        return side
    }

    @Test(arguments: allServerEvents)
    func `the server side does what its machine does`(event: ServerTransactionEvent) {
        var (invite, other) = (Self.server(isInvite: true), Self.server(isInvite: false))
        var inviteMachine = InviteServerTransaction.after([])
        var otherMachine = NonInviteServerTransaction.after([])
        #expect(Array(invite.receive(event)) == inviteMachine.effects(of: event))
        #expect(Array(other.receive(event)) == otherMachine.effects(of: event))
        #expect(invite.isTerminated == inviteMachine.isTerminated)
        #expect(other.isTerminated == otherMachine.isTerminated)
    }

    @Test(arguments: allClientEvents)
    func `so does the client side`(event: ClientTransactionEvent) {
        var (invite, other) = (Self.client(isInvite: true), Self.client(isInvite: false))
        var inviteMachine = InviteClientTransaction.after([])
        var otherMachine = NonInviteClientTransaction.after([])
        #expect(Array(invite.receive(event)) == inviteMachine.effects(of: event))
        #expect(Array(other.receive(event)) == otherMachine.effects(of: event))
        #expect(invite.isOver == inviteMachine.isTerminated && other.isOver == otherMachine.isTerminated)
        #expect(invite.awaitsResponses != invite.isOver && other.awaitsResponses != other.isOver)
    }

    @Test(arguments: allClientEvents)
    func `a request that was not forwarded takes no event`(event: ClientTransactionEvent) {
        var none = ClientSide.none
        #expect(none.start().isEmpty && none.receive(event).isEmpty && none.receiveForCancel(event).isEmpty)
        #expect(none.startCancel(timers: .standard, isReliable: false).isEmpty)
        #expect(none.isOver && !none.awaitsResponses && !none.isPendingInvite && !none.isCancelled)
    }

    @Test func `the CANCEL is a transaction of its own beside the INVITE's, §9.1`() {
        var side = Self.client(isInvite: true)
        _ = side.receive(.response(180))
        #expect(Array(side.receive(.cancel)).contains(.sendCancel))
        #expect(Array(side.startCancel(timers: .standard, isReliable: false)).first == .sendRequest)
        #expect(side.isCancelled && side.isPendingInvite)
        // The response to the CANCEL ends the CANCEL's timers, and says nothing of the INVITE.
        #expect(!side.receiveForCancel(.response(200)).isEmpty)
        #expect(side.isPendingInvite && !side.isOver)
        #expect(Array(side.receive(.response(487))).contains(.sendAck))
        #expect(!side.isPendingInvite && !side.isOver, "timers D and K run")
        _ = side.receive(.fired(.d))
        #expect(!side.isOver && !side.awaitsResponses)
        _ = side.receiveForCancel(.fired(.k))
        #expect(side.isOver)
    }

    @Test func `nothing but an INVITE has a CANCEL, §9.1`() {
        var side = Self.client(isInvite: false)
        #expect(side.startCancel(timers: .standard, isReliable: false).isEmpty)
        #expect(side.receiveForCancel(.response(200)).isEmpty)
        #expect(side.receive(.cancel).isEmpty && !side.isCancelled && !side.isPendingInvite)
    }

    @Test(
        arguments: [
            // RFC 6026 §7.1: after a 2xx further ones pass; after a failure, §17.2.1, the transaction takes none.
            ([], false), ([.respond(180)], false), ([.respond(200)], false), ([.respond(486)], true),
            ([.respond(486), .ack], true), ([.respond(486), .ack, .fired(.i)], true),
            ([.respond(200), .fired(.l)], true),
        ] as [([ServerTransactionEvent], Bool)])
    func `an INVITE that was refused takes no 2xx`(events: [ServerTransactionEvent], hasRefusedOrEnded: Bool) {
        var side = Self.server(isInvite: true)
        for event in events { _ = side.receive(event) }
        #expect(side.hasRefusedOrEnded == hasRefusedOrEnded)
        #expect(!Self.server(isInvite: false).hasRefusedOrEnded)
    }
}
