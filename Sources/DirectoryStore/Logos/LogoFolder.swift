// SPDX-License-Identifier: Apache-2.0

import Branding
import Crypto
package import Foundation
import Glibc
import Host
import Primitives

/// The operator's folder of logo files (`logos:` in the configuration).
package struct LogoFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// A file that the server serves.
    package struct File: Hashable, Sendable {
        /// Inode, size and time of the file; equal stamps mean unchanged contents.
        package let stamp: String
        /// SHA-256 of the bytes, in hexadecimal digits.
        package let hash: String

        package init(stamp: String, hash: String) {
            self.stamp = stamp
            self.hash = hash
        }
    }

    /// Lists the valid logo files by name; nil for an unreadable folder.
    ///
    /// - Parameter known: files of an earlier listing.
    package func files(known: [String: File]) -> [String: File]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        var files: [String: File] = [:]
        for name in names where LogoRules.isPlainName(name) {
            guard let stamp = Self.stamp(path + "/" + name) else { continue }
            if let file = known[name], file.stamp == stamp {
                files[name] = file
            } else if case .success(let data) = read(name) {
                files[name] = File(stamp: stamp, hash: Hexadecimal.text(SHA256.hash(data: data)))
            }
        }
        return files
    }

    /// Reasons for which a file is not a valid logo.
    package enum Problem: Error, Hashable {
        case missing
        case unreadable(String)
        case tooLarge
        case badType
    }

    /// Reads a logo without its metadata, such as the place of a photograph.
    ///
    /// It is the only way to the files of the folder, so that no metadata goes out.
    package func read(_ name: String) -> Result<Data, Problem> {
        let file = path + "/" + name
        guard access(file, F_OK) == 0 else { return .failure(.missing) }
        guard let handle = FileHandle(forReadingAtPath: file),
            let data = try? handle.read(upToCount: LogoStore.limit + 1)
        else { return .failure(.unreadable(SystemError.ofReading(file))) }
        guard data.count <= LogoStore.limit else { return .failure(.tooLarge) }
        if LogoRules.contentType(data) == nil { return .failure(.badType) }
        return .success(Data(PictureMetadata.removed(from: [UInt8](data))))
    }

    private static func stamp(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= LogoStore.limit else {
            return nil
        }
        // The ending makes hashes of earlier versions invalid: they include the metadata.
        return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) clean"
    }
}
