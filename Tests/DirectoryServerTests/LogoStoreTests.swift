// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Uploaded logos", .timeLimit(.minutes(8)), .bothEngines)
struct LogoStoreTests {
    private static let png = PictureSample.png
    private static let jpeg = PictureMetadata.removed(from: PictureSample.jpeg)

    /// The count of stored pictures, with their small copies.
    private static func files(_ directory: RunningDirectory) throws -> Int {
        switch Engine.current {
        case .sqlite:
            try FileManager.default.contentsOfDirectory(atPath: directory.folder.path + "/state/logos").count
        case .postgreSQL:
            try directory.database.pool.read { try $0.value(Int.self, "SELECT count(*) FROM blob") } ?? 0
        }
    }

    @Test func `a logo is served at once, with the type of its bytes`() async throws {
        try await Operator.run { admin in
            let put = try await admin.ask("logos/acme.png", method: "PUT", bytes: Self.jpeg)
            #expect(put.status == 200 && put.text("type") == "image/jpeg")
            let logo = try await admin.directory.ask("/logos/acme.png", headers: ["X-API-Key": ""])
            #expect(logo.status == 200 && logo.body == Self.jpeg)
            #expect(logo.headers["content-type"] == "image/jpeg")
            #expect(logo.headers["x-content-type-options"] == "nosniff")
            #expect(logo.headers["cache-control"] == "public, max-age=86400")
            let tag = try #require(logo.headers["etag"])
            let known = try await admin.directory.ask("/logos/acme.png", headers: ["If-None-Match": tag])
            #expect(known.status == 304)
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: Self.png)
            let other = try await admin.directory.ask("/logos/acme.png", headers: ["If-None-Match": tag])
            #expect(other.status == 200 && other.body == Self.png)
            #expect(try Self.files(admin.directory) == 2)
        }
    }

    @Test func `an uploaded logo is served without metadata`() async throws {
        try await Operator.run { admin in
            let comment = [0xFF, 0xFE, 0, 10] + Array("Jane Doe".utf8)
            let put = try await admin.ask(
                "logos/acme.jpg", method: "PUT", bytes: [0xFF, 0xD8] + comment + Self.jpeg.dropFirst(2))
            #expect(put.object["size"] == .int(Self.jpeg.count))
            #expect(try await admin.directory.ask("/logos/acme.jpg").body == Self.jpeg)
        }
    }

    @Test func `the same bytes are kept once, until the last name of them goes`() async throws {
        try await Operator.run { admin in
            for name in ["a.png", "b.png"] { _ = try await admin.ask("logos/" + name, method: "PUT", bytes: Self.png) }
            #expect(try Self.files(admin.directory) == 2)
            let list = try await admin.ask("logos")
            #expect(list.texts("name") == ["a.png", "b.png"])
            _ = try await admin.ask("logos/a.png", method: "DELETE")
            let other = try await admin.directory.ask("/logos/b.png")
            #expect(other.status == 200)
            _ = try await admin.ask("logos/b.png", method: "DELETE")
            #expect(try Self.files(admin.directory) == 0)
            let gone = try await admin.directory.ask("/logos/b.png")
            #expect(gone.status == 404)
        }
    }

    @Test func `a logo in use stays`() async throws {
        try await Operator.run { admin in
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: Self.png)
            try admin.directory.put(entry("+61491570156", logo: "acme.png"))
            let used = try await admin.ask("logos/acme.png", method: "DELETE")
            #expect(used.status == 409)
            try admin.directory.put(entry("+61491570156"))
            let free = try await admin.ask("logos/acme.png", method: "DELETE")
            #expect(free.status == 200)
            let unknown = try await admin.ask("logos/acme.png", method: "DELETE")
            #expect(unknown.status == 404)
        }
    }

    @Test func `a name that is no plain file name is refused`() async throws {
        try await Operator.run { admin in
            let name = try await admin.ask("logos/%2e%2e%2fa.png", method: "PUT", bytes: Self.png)
            #expect(name.status == 400)
            let copy = try await admin.ask("logos/.a_thumb.png", method: "DELETE")
            #expect(copy.status == 404)
        }
    }

    @Test func `a logo uploaded to a server without a folder has a URL`() async throws {
        let folder = TemporaryFolder()
        try LogoStore(Engine.open(folder.path + "/state"))
            .add(Data(Self.png), name: "acme.png", now: 1)
        try await RunningDirectory.run(in: folder, publicURL: nil) { directory in
            try directory.put(entry("+61491570156", logo: "acme.png"))
            let sync = try await directory.sync()
            #expect(sync.branding.map(\.logoURL) == ["http://127.0.0.1:\(directory.port)/logos/acme.png"])
        }
    }
}
