// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import WebPages

/// Lists, uploads and removes logos.
struct AdminLogoRoutes: Sendable {
    let logos: ServedLogos
    let intake: LogoIntake
    let now: @Sendable () -> Int64

    /// Bytes of a form beside its file: the header of each part, and the name.
    private static let formExtra = 64 << 10

    func list(_ admin: AdminRequest) async throws -> Response {
        try JSONBody.response(AdminPage(try await admin.blocking { try LogoStore(admin.database).all() }))
    }

    /// `PUT /logos/NAME`: the body is the picture. Its type is that of its bytes, whatever the request declares.
    func put(_ admin: AdminRequest) async throws -> Response {
        let name = try admin.pathPart("name")
        guard LogoRules.isPlainName(name) else { throw LogoStoreError.badName }
        let data = Data(try await body(admin.request, limit: LogoIntake.limit))
        return try await keep(try await intake.kept(data), as: name, admin)
    }

    /// `POST /logos`: a form with the part `file`, and perhaps the field `name`.
    func post(_ admin: AdminRequest) async throws -> Response {
        let body = try await body(admin.request, limit: LogoIntake.limit + Self.formExtra)
        guard let form = PageForm.multipart(body, type: admin.request.headers[.contentType]),
            let file = form.file("file")
        else {
            throw Refusal.badRequest("Send multipart/form-data with a part file that has a filename")
        }
        let name = form["name"]
        guard name.isEmpty || LogoRules.isPlainName(name) else { throw LogoStoreError.badName }
        let picture = try await intake.kept(Data(file.bytes))
        return try await keep(
            picture, as: name.isEmpty ? LogoRules.name(fromFile: file.name, type: picture.type) : name, admin)
    }

    func remove(_ admin: AdminRequest) async throws -> Response {
        let name = try admin.pathPart("name")
        try await admin.blocking { try LogoStore(admin.database).remove(name) }
        await logos.round()
        return try JSONBody.response(AdminDone())
    }

    private func body(_ request: Request, limit: Int) async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: limit).readableBytesView)
        } catch is NIOTooManyBytesError {
            let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
            throw LogoIntakeError.tooLarge(bytes: max(declared, limit + 1))
        }
    }

    private func keep(_ picture: LogoIntake.Kept, as name: String, _ admin: AdminRequest) async throws -> Response {
        let now = now()
        let logo = try await admin.blocking {
            try LogoStore(admin.database).add(picture.data, name: name, thumbnail: picture.thumbnail, now: now)
        }
        await logos.round()
        return try JSONBody.response(UploadedLogo(logo, picture, logos.urls))
    }
}

/// A logo as it was kept, in the shape of the Mobile API's media upload, with its name and hash.
struct UploadedLogo: Encodable {
    /// The name, as in the path of the operator's API.
    let id: String
    let name: String
    /// A path without `public_url`, and without an address that clients reach.
    let url: String
    /// Missing for a name too long to have a copy.
    let thumbnailURL: String?
    let type: String
    /// Bytes.
    let size: Int
    /// `png` or `jpeg`.
    let format: String
    /// Pixels.
    let width: Int
    let height: Int
    let sha256: String
    let created: String

    private enum CodingKeys: String, CodingKey {
        case id, name, url, type, size, format, width, height, sha256
        case thumbnailURL = "thumbnail_url"
        case created = "created_at"
    }

    init(_ logo: LogoStore.Logo, _ picture: LogoIntake.Kept, _ urls: LogoURLs) {
        (id, name, type, size) = (logo.name, logo.name, logo.type, logo.size)
        url = urls.url(of: logo.name) ?? "/logos/\(logo.name)"
        thumbnailURL = LogoThumbnail.name(of: logo.name).map { urls.url(ofCopy: $0, of: logo.name) }
        format = logo.type == "image/png" ? "png" : "jpeg"
        (width, height) = (picture.width, picture.height)
        (sha256, created) = (logo.hash, logo.created)
    }
}
