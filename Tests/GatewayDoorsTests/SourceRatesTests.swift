// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayDoors

@Suite("Datagrams of each source are limited in bounded memory")
struct SourceRatesTests {
    private func address(_ number: UInt32) -> [UInt8] {
        [10, UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }

    @Test func `as many as in a second come at once, then one by one`() {
        var rates = SourceRates(perSecond: 10)
        for _ in 0..<10 { #expect(rates.take(address(1), at: 5_000_000) == .granted) }
        #expect(rates.take(address(1), at: 5_000_000) == .reduced)
        #expect(rates.take(address(1), at: 5_000_000) == .dropped)
        #expect(rates.take(address(1), at: 5_050_000) == .reduced)
        #expect(rates.take(address(1), at: 5_100_000) == .granted)
        #expect(rates.take(address(2), at: 5_100_000) == .granted)
        for _ in 0..<10 { #expect(rates.take(address(1), at: 9_000_000) == .granted) }
    }

    @Test func `a network of IPv6 is one source`() {
        var rates = SourceRates(perSecond: 1)
        let network: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1]
        #expect(rates.take(network + [0, 0, 0, 0, 0, 0, 0, 1], at: 1) == .granted)
        #expect(rates.take(network + [9, 9, 9, 9, 9, 9, 9, 9], at: 1) == .reduced)
        #expect(rates.take([0x20, 1, 0xD, 0xB8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1], at: 1) == .granted)
    }

    @Test func `forged sources share one bucket, and known ones keep theirs`() {
        var rates = SourceRates(perSecond: 2)
        let most = UInt32(SourceRates.mostSources)
        for number in 0..<most { #expect(rates.take(address(number), at: 1_000_000) == .granted) }
        var granted = 0
        for number in most..<most * 4 where rates.take(address(number), at: 1_000_000) == .granted { granted += 1 }
        #expect(granted == 2)
        #expect(rates.take(address(0), at: 1_000_000) == .granted)
        // Idle sources leave their place.
        #expect(rates.take(address(most + 1), at: 9_000_000) == .granted)
        #expect(rates.take(address(most + 2), at: 9_000_000) == .granted)
    }
}
