// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@Suite("GET /logos", .timeLimit(.minutes(8)), .bothEngines)
struct LogoTests {
    /// A JPEG with Exif, which has the place of the photograph (GPS), and a comment; ITU-T T.81 annex B, Exif 2.3 §4.6.
    private static let photograph: [UInt8] = {
        func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [0xFF, marker, 0, UInt8(payload.count + 2)] + payload
        }
        let tiff: [UInt8] = Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 26]
        return [0xFF, 0xD8] + segment(0xE1, Array("Exif\0\0".utf8) + tiff + Array("-33.8568,151.2153".utf8))
            + segment(0xFE, Array("by Jane Doe".utf8)) + segment(0xDB, [UInt8](repeating: 16, count: 65))
            + segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD9]
    }()

    @Test func `a file of the folder is served without its metadata, on every way`() async throws {
        let folder = TemporaryFolder()
        try folder.write(Self.photograph, to: "exif.jpg")
        try await RunningDirectory.run(in: folder, logos: true) { directory in
            try directory.put("+61491570156", logo: "exif.jpg")
            let url = try #require(try await directory.sync().branding.first?.logoURL)
            let path = String(url.dropFirst("https://brands.example".count))
            for path in [path, "/logos/exif.jpg"] {
                let logo = try await directory.ask(path)
                #expect(logo.status == 200 && logo.headers["content-type"] == "image/jpeg")
                for secret in ["151.2153", "Jane Doe", "Exif"] {
                    #expect(logo.body.firstRange(of: Array(secret.utf8)) == nil, "\(secret) at \(path)")
                }
                #expect(logo.body.suffix(6) == Self.photograph.suffix(6))
            }
            let tag = try #require(try await directory.ask(path).headers["etag"])
            #expect(try await directory.ask(path, headers: ["If-None-Match": tag]).status == 304)
        }
    }

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
