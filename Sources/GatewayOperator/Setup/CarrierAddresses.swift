// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import Primitives

/// The addresses of a carrier as its page lists them: addresses, networks, ranges and names.
struct CarrierAddresses: Hashable, Sendable {
    /// Networks and addresses without a port, in the order of the text, each once.
    private(set) var sources: [SourceRange] = []
    /// Single addresses and names, each a possible destination of calls.
    private(set) var hops: [EndpointAddress] = []

    /// Prefixes below these lengths have most of the world in them: anybody would be the carrier.
    private static let widest = (ipv4: 8, ipv6: 16)

    /// Reads a list with commas, semicolons or blanks.
    static func read(_ text: String) throws(SetupProblem) -> CarrierAddresses {
        let joined = text.replacing(/\s*–\s*|\s*-\s+|\s+-\s*/, with: "-")
        // A semicolon begins a parameter in a SIP URI, and separates in all other lists.
        let words = joined.split { $0 == "," || $0.isWhitespace }.flatMap { word in
            word.lowercased().hasPrefix("sip") ? [word] : word.split(separator: ";")
        }.map(String.init)
        guard !words.isEmpty else { throw SetupProblem("write at least one address, such as 203.0.113.5") }
        var chosen = CarrierAddresses()
        for word in words { try chosen.add(word) }
        try chosen.checkFamily()
        let all = chosen.sources
        chosen.sources.removeAll { range in all.contains { $0 != range && $0.covers(range) } }
        return chosen
    }

    /// Adds the addresses of a name as sources.
    mutating func add(addressesOf name: EndpointAddress, _ hosts: [String]) throws(SetupProblem) {
        for host in hosts { try add(Self.range(host.contains(":") ? "[\(host)]" : host)) }
        try checkFamily()
    }

    private mutating func add(_ word: String) throws(SetupProblem) {
        let address = try SIPAddressText.bare(word)
        if let ranges = try Self.written(address) {
            for range in ranges { try add(range) }
            return
        }
        if address.contains("/") { return try add(Self.range(address)) }
        let hop = try SIPAddressText.read(address)
        guard !hop.isWildcard else { throw SetupProblem("\(hop.host) means every address; write the carrier's own") }
        if !hops.contains(hop) { hops.append(hop) }
        // The carrier may send from any port.
        if !hop.isName { try add(Self.range(hop.isIPv6 ? "[\(hop.host)]" : hop.host)) }
    }

    private mutating func add(_ range: SourceRange) throws(SetupProblem) {
        guard range.prefixLength >= (range.isIPv6 ? Self.widest.ipv6 : Self.widest.ipv4) else {
            throw SetupProblem("\(range) has so many addresses that anybody may be the carrier; write its own networks")
        }
        guard !sources.contains(range) else { return }
        sources.append(range)
        if range.isSingle, !hops.contains(where: { $0.host == range.host }) {
            hops.append(EndpointAddress(host: range.host, port: 5060, isIPv6: range.isIPv6, hasPort: false))
        }
    }

    /// One trunk has one listening address, so its peers are of one family.
    private func checkFamily() throws(SetupProblem) {
        guard let first = sources.first, let other = sources.first(where: { $0.isIPv6 != first.isIPv6 }) else { return }
        throw SetupProblem(
            "\(first) and \(other) are of two families; give those of one, and add a second trunk to the file later")
    }

    private static func range(_ text: String) throws(SetupProblem) -> SourceRange {
        do throws(AddressProblem) {
            return try SourceRange.read(text)
        } catch {
            throw SetupProblem("\(error)")
        }
    }

    /// The networks of `88.214.8.*` and `88.214.8.230-88.214.8.240`; nil for another form.
    private static func written(_ text: String) throws(SetupProblem) -> [SourceRange]? {
        if let star = text.wholeMatch(of: /((?:[0-9]+\.){1,3})\*(?:\.\*)*/) {
            let parts = star.1.split(separator: ".")
            let zeros = Array(repeating: "0", count: 4 - parts.count)
            return [try range((parts.map(String.init) + zeros).joined(separator: ".") + "/\(parts.count * 8)")]
        }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2, let first = ipv4(ends[0]) else { return nil }
        // "203.0.113.1-20" names the last number alone.
        let isShort = ends[1].utf8.allSatisfy { (48...57).contains($0) }
        let last = isShort ? UInt32(ends[1]).flatMap { $0 < 256 ? first & ~255 | $0 : nil } : ipv4(ends[1])
        guard let last, last >= first else {
            throw SetupProblem("\"\(text)\" is no range of IPv4 addresses; write it as 203.0.113.0/24")
        }
        return try networks(from: first, to: last).map { network throws(SetupProblem) in try range(network) }
    }

    private static func ipv4(_ text: String) -> UInt32? {
        AddressBytes(text).flatMap { $0.isIPv6 ? nil : $0.bytes.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The fewest networks that have exactly these addresses.
    private static func networks(from first: UInt32, to last: UInt32) -> [String] {
        var (next, end, found) = (UInt64(first), UInt64(last), [String]())
        while next <= end {
            var size: UInt64 = next == 0 ? 1 << 32 : next & (~next + 1)
            while next + size - 1 > end { size >>= 1 }
            let host = [24, 16, 8, 0].map { String(next >> UInt64($0) & 255) }.joined(separator: ".")
            found.append("\(host)/\(32 - size.trailingZeroBitCount)")
            next += size
        }
        return found
    }
}
