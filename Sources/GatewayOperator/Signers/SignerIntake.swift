// SPDX-License-Identifier: Apache-2.0

import Trust

/// Chooses the requests of calls that are carried out, so that invented signers cost little. For one task.
///
/// Times are seconds of the steady clock.
struct SignerIntake {
    /// The most new addresses in a minute, for each trunk.
    static let addressesPerMinute = 20
    /// The most chains in a second.
    static let chainsPerSecond = 10
    /// Seconds until a chain is checked again.
    static let chainPause: Int64 = 600
    /// The most addresses that wait, such as for a full disk.
    static let mostWaiting = 1000

    /// Addresses that are to be stored.
    private(set) var waiting: [String] = []
    /// Requests that were dropped since the start.
    private(set) var dropped: UInt64 = 0
    /// Hashes of the addresses that are stored or wait. A text has ten times their size.
    private var known: Set<Int> = []
    private var minutes: [UInt16: (minute: Int64, count: Int)] = [:]
    private var second: (second: Int64, count: Int) = (.min, 0)
    /// The times until which chains are not checked again.
    private var pauses: [ChainDigest: Int64] = [:]

    /// Begins anew with the stored addresses; chains are checked again.
    mutating func begin(stored addresses: [String]) {
        known = Set((addresses + waiting).map(\.hashValue))
        pauses = [:]
    }

    /// Keeps an address for the next batch, if it is new and its trunk has named few others in this minute.
    ///
    /// - Returns: false if the address was dropped.
    mutating func take(address: String, trunk: UInt16, at now: Int64) -> Bool {
        let hash = address.hashValue
        guard !known.contains(hash) else { return true }
        let minute = now / 60
        let count = minutes[trunk].map { $0.minute == minute ? $0.count : 0 } ?? 0
        guard count < Self.addressesPerMinute, waiting.count < Self.mostWaiting else {
            drop()
            return false
        }
        minutes[trunk] = (minute, count + 1)
        known.insert(hash)
        waiting.append(address)
        return true
    }

    /// Removes the waiting addresses: they are stored.
    ///
    /// - Parameters:
    ///   - leftOut: addresses that the store had no space for.
    ///   - removed: addresses that left for others.
    mutating func stored(leftOut: [String], removed: [String]) {
        waiting = []
        known.subtract((leftOut + removed).map(\.hashValue))
        drop(leftOut.count)
    }

    /// True if a chain is to be checked now.
    mutating func mayCheck(_ chain: ChainDigest, at now: Int64) -> Bool {
        if let end = pauses[chain], now < end {
            drop()
            return false
        }
        if second.second != now { second = (now, 0) }
        guard second.count < Self.chainsPerSecond else {
            drop()
            return false
        }
        second.count += 1
        // Ten chains a second and ten minutes: 6,000 of them at most, and those that are over.
        if pauses.count >= 2 * Int(Self.chainPause) * Self.chainsPerSecond { pauses = pauses.filter { now < $0.value } }
        pauses[chain] = now + Self.chainPause
        return true
    }

    /// Counts dropped requests.
    mutating func drop(_ count: Int = 1) { dropped += UInt64(max(0, count)) }
}
