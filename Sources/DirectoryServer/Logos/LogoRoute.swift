// SPDX-License-Identifier: Apache-2.0

import Crypto
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// `GET /logos/{file}`: serves uploaded logos, then the files of a folder, then small copies of uploads, for phones and without a key.
struct LogoRoute: Sendable {
    let store: LogoStore
    /// The folder; nil serves uploaded logos only.
    let folder: String?

    func logo(_ request: Request, named name: String) async throws -> Response {
        guard let (data, type, hash) = try await find(name) else {
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

    /// The bytes of a logo, their media type and hash; nil without one. A small copy hides no logo of its name.
    func find(_ name: String) async throws -> (data: Data, type: String, hash: String)? {
        guard LogoRules.isPlainName(name) else { return nil }
        if let (logo, data) = try await store.find(name) { return (data, logo.type, logo.hash) }
        if let folder, case .success(let data) = LogoFolder(path: folder).read(name),
            let type = LogoRules.contentType(data)
        {
            return (data, type, Hexadecimal.text(SHA256.hash(data: data)))
        }
        return try await store.thumbnail(name).map { ($0.data, $0.logo.type, $0.logo.hash) }
    }
}
