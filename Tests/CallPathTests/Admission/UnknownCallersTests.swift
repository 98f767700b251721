// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import Testing

@Suite("Unknown peers that send INVITEs")
struct UnknownCallersTests {
    private static let carrier: UInt32 = 0xC633_6409

    private func rejection(
        _ host: UInt32, _ method: StaticString = "INVITE", sender: Rejection.Sender = .unknown
    ) -> Rejection {
        Rejection(
            source: PeerAddress(ipv4: host, port: 5060), transport: .udp, sender: sender, method: ShortText(method),
            status: 403, cause: .unlisted, at: 0)
    }

    private func digest(_ rounds: [(Int64, [Rejection])]) -> RejectionDigest {
        var digest = RejectionDigest()
        for (time, rejections) in rounds { _ = digest.take(rejections, at: time) }
        return digest
    }

    @Test func `an INVITE counts for ten minutes`() {
        let digest = digest([(100, [rejection(Self.carrier)])])
        #expect(digest.unknownCallers.summary(at: 700)?.invites == 1)
        #expect(digest.unknownCallers.summary(at: 701) == nil)
    }

    @Test(
        arguments: [
            ("OPTIONS", Rejection.Sender.unknown), ("REGISTER", .unknown), ("invite", .unknown), ("INVITED", .unknown),
            ("INVITE", .scanner), ("INVITE", .trunk("carrier")),
        ] as [(StaticString, Rejection.Sender)])
    func `other methods, scanners and configured peers do not count`(method: StaticString, sender: Rejection.Sender) {
        let digest = digest([(1, [rejection(Self.carrier, method, sender: sender)])])
        #expect(digest.unknownCallers.summary(at: 1) == nil)
    }

    @Test func `an address that also sends OPTIONS has its INVITEs counted`() {
        var merged = rejection(Self.carrier)
        merged.add(rejection(Self.carrier, "OPTIONS"))
        merged.add(rejection(Self.carrier))
        let summary = digest([(1, [merged])]).unknownCallers.summary(at: 1)
        #expect(summary?.invites == 2 && summary?.callers.first?.invites == 2)
    }

    @Test func `a flood from forged addresses neither takes memory nor hides the carrier`() {
        var digest = RejectionDigest()
        for second in 0..<600 as Range<Int64> {
            var round = (0..<250).map { rejection(0x0A00_0000 + UInt32(second) * 250 + $0) }
            round.append(rejection(Self.carrier))
            _ = digest.take(round, at: second)
        }
        let summary = digest.unknownCallers.summary(at: 600)
        #expect(summary?.isMore == true)
        #expect(summary?.addresses == 256)
        #expect(summary?.callers.count == 5)
        #expect(
            summary?.callers.first?.rejection.source.hasSameHost(as: PeerAddress(ipv4: Self.carrier, port: 0)) == true)
        #expect(summary?.invites == 600 * 251)
    }

    @Test func `those that come most often are named first`() {
        let digest = digest([
            (1, [rejection(1), rejection(2)]), (2, [rejection(3), rejection(2)]), (3, [rejection(4)]),
        ])
        let hosts = digest.unknownCallers.summary(at: 3)?.callers.map {
            UInt32(truncatingIfNeeded: $0.rejection.source.low)
        }
        #expect(hosts == [2, 4, 3, 1])
    }
}
