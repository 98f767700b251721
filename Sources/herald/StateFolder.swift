// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import SIPCore
import SystemReasons

/// The gateway's folders and the secret that is kept in one of them.
enum StateFolder {
    /// Makes the folders that are missing, and keeps every other gateway out of them.
    ///
    /// - Parameter folders: each with the key that names it; two keys may name one folder.
    static func claim(_ folders: [(key: String, path: String)]) throws -> [FolderClaim] {
        var claimed: Set<String> = []
        return try folders.compactMap { key, path in
            try prepare(path, key: key)
            let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            return claimed.insert(real).inserted ? try FolderClaim(path, key: key) : nil
        }
    }

    /// Makes a folder that only this user can read; one that is there stays as it is.
    private static func prepare(_ path: String, key: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        } catch {
            let reason = SystemReason.text(error) ?? error.localizedDescription
            throw CommandFailure("the folder \(path) cannot be made: \(reason); see \(key)")
        }
    }

    /// Reads the secret of branches, dialog notes and call names, or makes it at the first start.
    ///
    /// A lost secret harms no call: only what was in the air loses its thread.
    static func secret(in folder: String) throws -> Secret {
        let path = folder + "/secret"
        if let data = FileManager.default.contents(atPath: path) {
            guard data.count == 16 else {
                throw CommandFailure("\(path) must hold 16 bytes; remove it and a new one is made")
            }
            return secret(from: [UInt8](data))
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        do throws(FileReplacementError) {
            // A file cut short by a power failure would keep the next start from carrying calls.
            try FileReplacement.write(bytes, to: path, mode: 0o600)
        } catch {
            throw CommandFailure("\(error)")
        }
        return secret(from: bytes)
    }

    private static func secret(from bytes: [UInt8]) -> Secret {
        func word(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return Secret(key0: word(0..<8), key1: word(8..<16))
    }
}
