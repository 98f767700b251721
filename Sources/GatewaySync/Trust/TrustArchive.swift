// SPDX-License-Identifier: Apache-2.0

import Host
import Subprocess
import SystemPackage

/// A tar archive of certificates and lists, which `herald trust import` takes in.
///
/// GNU tar reads it twice from memory: once for the list of members, once for their contents. It writes no file, so links and
/// names that lead elsewhere have no effect; an archive with such a member is refused as a whole. A compressed one is refused
/// too: nothing bounds its size.
package struct TrustArchive: Sendable {
    /// A file of the archive.
    package struct Member: Equatable, Sendable {
        /// The name with all but visible characters escaped.
        package var name: String
        package var bytes: [UInt8]
    }

    /// The reason for which an archive is refused, with the remedy.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// The most members of an archive.
    static let mostMembers = 10_000
    /// The most bytes of all members together.
    static let mostBytes = 64 << 20
    /// The most bytes of the list of members, some 400 for each of them.
    private static let mostListed = 4 << 20

    private let bytes: [UInt8]

    /// Nil for a file that is no archive.
    package init?(_ bytes: [UInt8]) {
        let isTar = bytes.count >= 512 && bytes[257..<262].elementsEqual("ustar".utf8)
        guard isTar || bytes.starts(with: [0x1F, 0x8B]) else { return nil }
        self.bytes = bytes
    }

    /// The files in the order of the archive, without folders.
    package func members() async throws(Refusal) -> [Member] {
        guard bytes.first != 0x1F else { throw Refusal(description: "is compressed: unpack it with gunzip first") }
        let listing = try await tar(
            ["--list", "--verbose", "--numeric-owner", "--full-time", "--quoting-style=escape"], limit: Self.mostListed)
        let files = try Self.files(String(decoding: listing, as: UTF8.self))
        let size = files.reduce(0) { $0 + $1.size }
        let contents = try await tar(["--extract", "--to-stdout"], limit: size)
        guard contents.count == size else { throw Refusal(description: "has other contents than its list of members") }
        var start = 0
        return files.map { file in
            defer { start += file.size }
            return Member(name: file.name, bytes: Array(contents[start..<(start + file.size)]))
        }
    }

    private typealias File = (name: String, size: Int)

    /// Reads lines such as `-rw-r--r-- 0/0 1024 2026-11-29 12:00:00 chains.pem`.
    private static func files(_ listing: String) throws(Refusal) -> [File] {
        var (files, members, total) = ([File](), 0, 0)
        for line in listing.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, let kind = fields[0].first else { throw unreadable }
            let name = ServerText.clean(fields[5].drop { $0 == " " })
            members += 1
            guard members <= mostMembers else { throw Refusal(description: "has more than \(mostMembers) members") }
            guard !isElsewhere(name) else { throw Refusal(description: "member \(name) leads out of the archive") }
            guard kind != "d" else { continue }
            guard kind == "-" else { throw Refusal(description: "member \(name) is no file: \(meaning(of: kind))") }
            guard let size = Int(fields[2]), size >= 0 else { throw unreadable }
            guard size <= mostBytes - total else {
                throw Refusal(description: "has more than \(mostBytes >> 20) MB, with member \(name) of \(size) bytes")
            }
            total += size
            files.append((name, size))
        }
        return files
    }

    private static var unreadable: Refusal { Refusal(description: "cannot be read as an archive") }

    /// Whether a name is absolute or has a part `..`.
    private static func isElsewhere(_ name: String) -> Bool {
        name.hasPrefix("/") || name.split(separator: "/").contains("..")
    }

    private static func meaning(of kind: Character) -> String {
        switch kind {
        case "l", "h": "a link"
        case "b", "c": "a device"
        case "p": "a pipe"
        default: "a member of the kind \(ServerText.clean(String(kind)))"
        }
    }

    /// The output of tar; it has no environment, so `TAR_OPTIONS` has no effect.
    private func tar(_ options: [String], limit: Int) async throws(Refusal) -> [UInt8] {
        do {
            let archive = try MemoryFile(bytes, "herald-archive")
            let result = try await Subprocess.run(
                .path("/usr/bin/tar"), arguments: Arguments(options + ["--file=-"]),
                environment: .custom(["LC_ALL": "C", "TZ": "UTC"]),
                input: .fileDescriptor(FileDescriptor(rawValue: archive.descriptor), closeAfterSpawningProcess: false),
                output: .bytes(limit: limit), error: .string(limit: 1 << 20))
            withExtendedLifetime(archive) {}
            guard result.terminationStatus.isSuccess else {
                let reason = result.standardError.split(separator: "\n").first.map { ": \(ServerText.clean($0))" }
                throw Refusal(description: "cannot be read as an archive\(reason ?? "")")
            }
            return result.standardOutput
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            throw Refusal(description: "has too many members, or too long names")
        } catch {
            throw Refusal(description: "cannot be unpacked: tar cannot be run: \(ServerText.clean("\(error)"))")
        }
    }
}
