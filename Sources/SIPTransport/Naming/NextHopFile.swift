// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore

/// The file of the last good results. A start without name servers finds its peers in it.
struct NextHopFile: Sendable {
    /// The last good result of one name.
    struct Kept: Hashable, Sendable {
        var hops: [ResolvedHop]
        var isWhole: Bool
        /// Seconds since 1970.
        var resolvedAt: Int64
    }

    let path: String

    /// Reads the stored results; empty without a file.
    ///
    /// - Throws: `NextHopFileError`. The file counts as empty then.
    func read() throws(NextHopFileError) -> [NextHopName: Kept] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        let content: Content
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let data = try handle.read(upToCount: Self.sizeLimit) ?? Data()
            content = try JSONDecoder().decode(Content.self, from: data)
        } catch {
            throw .damaged(path: path)
        }
        guard content.version == Content.currentVersion else { throw .damaged(path: path) }
        var kept: [NextHopName: Kept] = [:]
        for line in content.names {
            guard let (name, result) = line.result else { throw .damaged(path: path) }
            kept[name] = result
        }
        return kept
    }

    /// Replaces the whole file.
    func write(_ results: [NextHopName: Kept]) throws(NextHopFileError) {
        let lines = results.map(Content.Line.init).sorted { ($0.host, $0.transport) < ($1.host, $1.transport) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            let data = try encoder.encode(Content(version: Content.currentVersion, names: lines))
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw .cannotWrite(path: path, reason: String(describing: error))
        }
    }

    /// Far more than any configuration needs. A longer file is truncated and then counts as damaged.
    private static let sizeLimit = 4 << 20
}

/// An unusable file of last good results. The resolver continues without it.
enum NextHopFileError: Error, Hashable, CustomStringConvertible {
    case damaged(path: String)
    case cannotWrite(path: String, reason: String)

    var description: String {
        switch self {
        case .damaged(let path):
            "\(path) cannot be read and is ignored; it is written again with the next results, nothing is to be done"
        case .cannotWrite(let path, let reason):
            "\(path) cannot be written (\(reason)); resolved names will not outlive a restart, check the folder's rights"
        }
    }
}

/// The JSON contents of the file.
private struct Content: Codable {
    static let currentVersion = 1

    struct Hop: Codable {
        var address: String
        var port: UInt16
        var priority: Int
        var weight: Int
    }

    struct Line: Codable {
        var host: String
        var port: UInt16?
        var transport: String
        var answeredAt: Int64
        var isWhole: Bool
        var hops: [Hop]
    }

    var version: Int
    var names: [Line]
}

extension Content.Line {
    init(_ name: NextHopName, _ kept: NextHopFile.Kept) {
        host = name.host
        port = name.port
        transport = name.transport.viaName.description
        answeredAt = kept.resolvedAt
        isWhole = kept.isWhole
        hops = kept.hops.map { hop in
            Content.Hop(
                address: hop.address.bareHostText, port: hop.address.port, priority: hop.priority, weight: hop.weight)
        }
    }

    /// Nil if a value or an address is invalid.
    var result: (NextHopName, NextHopFile.Kept)? {
        guard let kind = SIPTransportKind.allCases.first(where: { $0.viaName.description == transport }) else {
            return nil
        }
        let read = hops.compactMap { hop in
            PeerAddress(host: Array(hop.address.utf8)[...], port: hop.port).map {
                ResolvedHop(address: $0, priority: hop.priority, weight: hop.weight)
            }
        }
        guard read.count == hops.count else { return nil }
        let kept = NextHopFile.Kept(hops: read, isWhole: isWhole, resolvedAt: answeredAt)
        return (NextHopName(host: host, port: port, transport: kind), kept)
    }
}
