// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import GatewayConfiguration
import Host
import Primitives
import SIPCore

/// The secret that keys branches, route cookies and call identifiers: 16 bytes in the state folder.
///
/// A secret that cannot be read or written is replaced. The new one is kept in a spare folder or in memory. Calls go on; only
/// requests in progress lose their transaction.
struct GatewaySecret: Redacted {
    private let bytes: [UInt8]
    private let path: String

    /// Reads the secret; creates it at the first start.
    ///
    /// - Parameter spare: the folder that holds the secret while the state folder cannot be written.
    init(in folder: String, spare: String, reporting troubles: StateTroubles) {
        path = folder + "/secret"
        let spareFile = spare + "/secret"
        let found = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
        if let found, found.count == Secret.size {
            bytes = found
            if spareFile != path { unlink(spareFile) }
            return
        }
        if found != nil, rename(path, path + ".damaged") == 0 {
            troubles.add(
                """
                the secret \(path) does not hold \(Secret.size) bytes and is kept as \(path).damaged; a new one is used, and calls in \
                progress are forwarded without their cookies
                """)
        }
        // An earlier start may have used the spare folder.
        let kept = FileManager.default.contents(atPath: spareFile).map { [UInt8]($0) }
        bytes = kept.flatMap { $0.count == Secret.size ? $0 : nil } ?? Self.random()
        guard let reason = write(to: path) else {
            if spareFile != path { unlink(spareFile) }
            return
        }
        let isKept = spareFile != path && write(to: spareFile) == nil
        troubles.add(
            """
            the secret \(path) can be neither read nor written: \(reason); another one is used and kept \
            \(isKept ? "in \(spare)" : "in memory"); make the folder writable for herald and restart it
            """)
    }

    /// The secret in the form that the call path uses.
    var secret: Secret { Secret(bytes: bytes) }

    /// Writes the secret again when its file has disappeared with its folder.
    func restore() {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        _ = write(to: path)
    }

    /// Writes the secret.
    ///
    /// - Returns: the reason of a failure; nil on success.
    private func write(to path: String) -> String? {
        do throws(FileReplacementError) {
            // Written as a whole: a power failure must not leave a shorter file.
            try PrivateFile.write(bytes, to: path)
            return nil
        } catch {
            return SystemError.text(error.code)
        }
    }

    private static func random() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<Secret.size).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
