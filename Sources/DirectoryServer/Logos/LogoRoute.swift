// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /logos/{file}`: uploaded logos, and behind them the files of a folder, for phones, without a key.
struct LogoRoute: Sendable {
    let store: LogoStore
    /// The folder; nil serves none.
    let folder: String?

    func logo(_ request: Request, named name: String) async throws -> Response {
        guard Self.isPlain(name), let (data, type, hash) = try await find(name) else {
            throw Refusal.notFound("There is no such logo")
        }
        let tag = "\"\(hash.prefix(32))\""
        var headers: HTTPFields = [.contentType: type, .eTag: tag, .cacheControl: "public, max-age=86400"]
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        if ConditionalRequest.holds(tag, request) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    private func find(_ name: String) async throws -> (data: Data, type: String, hash: String)? {
        if let (logo, data) = try await store.find(name) { return (data, logo.type, logo.hash) }
        guard let folder, let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
            data.count <= LogoStore.limit, let type = Self.contentType(data)
        else { return nil }
        return (data, type, Hexadecimal.text(SHA256.hash(data: data)))
    }

    /// A file name that leads nowhere else.
    static func isPlain(_ name: String) -> Bool {
        !name.hasPrefix(".") && (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
    }

    /// By the first bytes, not by the name: a logo is a PNG or a JPEG.
    static func contentType(_ data: Data) -> String? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        return data.starts(with: [0xFF, 0xD8, 0xFF]) ? "image/jpeg" : nil
    }
}
