// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@Suite("GET /logos", .timeLimit(.minutes(8)), .bothEngines)
struct LogoTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3]

    /// A folder of logos and of files that are none.
    private static func folder() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/deep", withIntermediateDirectories: true)
        try folder.write(png, to: "acme-256x256.png")
        try folder.write(jpeg, to: "photo.png")
        try folder.write(png, to: ".hidden.png")
        try folder.write(png, to: "deep/acme.png")
        try folder.write(Array("<svg onload=\"alert(1)\"/>".utf8), to: "page.svg")
        try folder.write(png + [UInt8](repeating: 0, count: 1 << 20), to: "huge.png")
        return folder
    }

    @Test(arguments: [("acme-256x256.png", "image/png"), ("photo.png", "image/jpeg")])
    func `a logo has the type its bytes have, and headers to cache it by`(name: String, type: String) async throws {
        try await RunningDirectory.run(in: Self.folder(), publicURL: nil, logos: true) { directory in
            let response = try await directory.ask("/logos/" + name, headers: ["X-API-Key": ""])
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == type)
            #expect(response.headers["cache-control"] == "public, max-age=86400")
            #expect(response.headers["x-content-type-options"] == "nosniff")
            #expect(response.body == (type == "image/png" ? Self.png : Self.jpeg))
            let head = try await directory.ask("/logos/" + name, method: "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
        }
    }

    @Test func `a phone that has the logo is not sent it again`() async throws {
        try await RunningDirectory.run(in: Self.folder(), publicURL: nil, logos: true) { directory in
            let tag = try #require(try await directory.ask("/logos/photo.png").headers["etag"])
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let response = try await directory.ask("/logos/photo.png", headers: ["If-None-Match": known])
                #expect(response.status == 304)
                #expect(response.body.isEmpty)
                #expect(response.headers["etag"] == tag)
            }
            let other = try await directory.ask("/logos/photo.png", headers: ["If-None-Match": "\"other\""])
            #expect(other.status == 200)
            #expect(try await directory.ask("/logos/acme-256x256.png").headers["etag"] != tag)
        }
    }

    /// `@` stands for the folder's own name, so that a way out would lead back to a good logo.
    @Test(arguments: [
        "../@/acme-256x256.png", "..%2F@%2Facme-256x256.png", "..%2f@%2facme-256x256.png",
        "%2e%2e%2f@%2facme-256x256.png", "..\\@\\acme-256x256.png", "..%5c@%5cacme-256x256.png",
        "%2e%2e/@/acme-256x256.png", "./acme-256x256.png", ".%2Facme-256x256.png", "deep/acme.png", "deep%2Facme.png",
        "deep/../acme-256x256.png", "deep", ".hidden.png", "%2Ehidden.png", "acme-256x256.png%00",
        "acme-256x256.png%00.png",
        "page.svg", "huge.png", "nobody.png", "", "..", "%2F%2Fetc%2Fpasswd", "state%2Fdirectory.sqlite",
    ])
    func `nothing but logos of the folder is served`(name: String) async throws {
        let folder = try Self.folder()
        let name = name.replacing("@", with: URL(fileURLWithPath: folder.path).lastPathComponent)
        try await RunningDirectory.run(in: folder, logos: true) { directory in
            let response = try await directory.ask("/logos/" + name)
            #expect(response.status == 404)
            #expect(response.isEnvelope("not_found"))
        }
    }

    @Test func `without a folder there are no logos`() async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.ask("/logos/acme-256x256.png")
            #expect(response.status == 404)
        }
    }

    @Test func `a plain file name becomes a URL of this server`() async throws {
        try await RunningDirectory.run(in: Self.folder(), publicURL: nil, logos: true) { directory in
            try directory.put(entry("+61491570156", logo: "acme-256x256.png"))
            let url = try #require(try await directory.sync().branding.first?.logoURL)
            #expect(url == "http://127.0.0.1:\(directory.port)/logos/acme-256x256.png")
            #expect(try await directory.ask("/logos/acme-256x256.png").status == 200)
        }
    }

    @Test(arguments: ["https://directory.example.com", "https://directory.example.com/"])
    func `the public URL is in front when there is one`(url: String) async throws {
        try await RunningDirectory.run(publicURL: url) { directory in
            try directory.put(
                entry("+61491570156", logo: "a.png"), entry("+61491570157", logo: "https://l.example/b.png"))
            #expect(
                try await directory.sync().branding.map(\.logoURL)
                    == ["https://directory.example.com/logos/a.png", "https://l.example/b.png"])
        }
    }

    @Test func `a server without logos leaves out a logo that only it could have`() async throws {
        try await RunningDirectory.run(publicURL: nil) { directory in
            try directory.put(entry("+61491570156", logo: "acme-256x256.png"))
            #expect(try await directory.sync().branding.map(\.logoURL) == [nil])
        }
    }
}
