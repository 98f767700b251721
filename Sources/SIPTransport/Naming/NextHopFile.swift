// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore

/// The file that keeps last good answers over restarts, so that a start without name servers still finds its peers.
struct NextHopFile: Sendable {
    /// The last good answer of one name.
    struct Kept: Hashable, Sendable {
        var hops: [ResolvedHop]
        var isWhole: Bool
        /// Wall clock seconds.
        var answeredAt: Int64
    }

    let path: String

    /// Reads what was kept; nothing when there is no file yet.
    ///
    /// - Throws: `NextHopFileError`, after which the file counts as empty.
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
            guard let (name, answer) = line.answer else { throw .damaged(path: path) }
            kept[name] = answer
        }
        return kept
    }

    /// Replaces the file whole.
    func write(_ answers: [NextHopName: Kept]) throws(NextHopFileError) {
        let lines = answers.map(Content.Line.init).sorted { ($0.host, $0.transport) < ($1.host, $1.transport) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            let data = try encoder.encode(Content(version: Content.currentVersion, names: lines))
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw .cannotWrite(path: path, reason: String(describing: error))
        }
    }

    /// Far more than any configuration's names need; a longer file is cut and so found damaged.
    private static let sizeLimit = 4 << 20
}

/// What is wrong with the file of last good answers; the resolver goes on without it.
enum NextHopFileError: Error, Hashable, CustomStringConvertible {
    case damaged(path: String)
    case cannotWrite(path: String, reason: String)

    var description: String {
        switch self {
        case .damaged(let path):
            "\(path) cannot be read and is ignored; it is written anew with the next answers, nothing is to be done"
        case .cannotWrite(let path, let reason):
            "\(path) cannot be written (\(reason)); resolved names will not outlive a restart, check the folder's rights"
        }
    }
}

/// The file's text.
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
        answeredAt = kept.answeredAt
        isWhole = kept.isWhole
        hops = kept.hops.map { hop in
            Content.Hop(
                address: hop.address.bareHostText, port: hop.address.port, priority: hop.priority, weight: hop.weight)
        }
    }

    /// Nil when a word or an address is none.
    var answer: (NextHopName, NextHopFile.Kept)? {
        guard let kind = SIPTransportKind.allCases.first(where: { $0.viaName.description == transport }) else {
            return nil
        }
        let read = hops.compactMap { hop in
            PeerAddress(host: Array(hop.address.utf8)[...], port: hop.port).map {
                ResolvedHop(address: $0, priority: hop.priority, weight: hop.weight)
            }
        }
        guard read.count == hops.count else { return nil }
        let kept = NextHopFile.Kept(hops: read, isWhole: isWhole, answeredAt: answeredAt)
        return (NextHopName(host: host, port: port, transport: kind), kept)
    }
}
