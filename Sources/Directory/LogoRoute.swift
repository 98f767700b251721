// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /logos/{file}`: the directory's own logo files, for phones, without a key.
struct LogoRoute: Sendable {
    /// The folder; nil serves none.
    let folder: String?

    /// Largest file served, in bytes.
    private static let limit = 1 << 20

    func logo(_ request: Request, named name: String) throws -> Response {
        guard let folder, Self.isPlain(name), let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
            data.count <= Self.limit, let type = Self.contentType(data)
        else { throw Refusal.notFound("There is no such logo") }
        let tag = "\"\(Hexadecimal.text(SHA256.hash(data: data).prefix(16)))\""
        var headers: HTTPFields = [.contentType: type, .eTag: tag, .cacheControl: "public, max-age=86400"]
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        if ConditionalRequest.holds(tag, request) {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
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
    private static func contentType(_ data: Data) -> String? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        return data.starts(with: [0xFF, 0xD8, 0xFF]) ? "image/jpeg" : nil
    }
}
