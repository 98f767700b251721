// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import HTTPTypes
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// Uploads as the Mobile API describes them ("Mobile Media Upload", "Mobile Error Codes"): shapes, codes and conversions.
@Suite("Uploads of pictures", .timeLimit(.minutes(8)), .bothEngines)
struct LogoUploadTests {
    /// A form with one file, as a phone or curl sends it.
    private static func form(_ bytes: [UInt8], file: String, type: String, name: String? = nil) -> [UInt8] {
        var body = Array(
            "--boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(file)\"\r\n".utf8)
        body += Array("Content-Type: \(type)\r\n\r\n".utf8) + bytes + Array("\r\n".utf8)
        if let name {
            body += Array("--boundary\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n\(name)\r\n".utf8)
        }
        return body + Array("--boundary--\r\n".utf8)
    }

    private static let formType = "multipart/form-data; boundary=boundary"

    @Test func `a HEIC of a form becomes a JPEG with the response of the Mobile API`() async throws {
        try await Operator.run(logos: true) { admin in
            let body = Self.form(PictureSample.opaqueHEIC, file: "photo.heic", type: "image/heic")
            let sent = try await admin.ask("logos", method: "POST", bytes: body, type: Self.formType)
            #expect(sent.status == 200, "\(sent.text)")
            #expect(sent.text("id") == "photo.jpg" && sent.text("format") == "jpeg")
            #expect(sent.text("url") == "https://brands.example/logos/photo.jpg")
            #expect(sent.text("thumbnail_url") == "https://brands.example/logos/photo_thumb.jpg")
            #expect(sent.object["width"] == .int(48) && sent.object["height"] == .int(32))
            let logo = try await admin.directory.ask("/logos/photo.jpg", headers: ["X-API-Key": ""])
            #expect(logo.headers["content-type"] == "image/jpeg" && sent.object["size"] == .int(logo.body.count))
            let copy = try await admin.directory.ask("/logos/photo_thumb.jpg", headers: ["X-API-Key": ""])
            #expect(copy.status == 200 && copy.headers["content-type"] == "image/jpeg")
            #expect(try await admin.ask("logos").texts("name") == ["photo.jpg"])
        }
    }

    static let conversions: [(String, [UInt8], String, [Int])] = [
        ("webp", PictureSample.webp, "image/png", [48, 32]), ("avif", PictureSample.avif, "image/png", [48, 32]),
        ("gif", PictureSample.animatedGIF, "image/png", [48, 32]),
        ("heic", PictureSample.heic, "image/png", [48, 32]),
        ("turned.jpg", PictureSample.turnedJPEG, "image/jpeg", [32, 48]),
        ("turned.avif", PictureSample.turnedAVIF, "image/jpeg", [32, 48]),
        ("large.webp", PictureSample.flatWebP, "image/jpeg", [1024, 1024]),
    ]

    @Test(arguments: conversions) func `a picture is served as PNG or JPEG, upright and without metadata`(
        name: String, bytes: [UInt8], type: String, size: [Int]
    ) async throws {
        try await Operator.run { admin in
            // The declared type does not count.
            let put = try await admin.ask("logos/\(name)", method: "PUT", bytes: bytes, type: "image/png")
            #expect(put.status == 200 && put.text("type") == type, "\(put.text)")
            let logo = try await admin.directory.ask("/logos/\(name)")
            let picture = try LogoPicture(logo.body)
            #expect(picture.format.contentType == type && [picture.width, picture.height] == size)
            for text in ["Exif", "Jan"] { #expect(logo.body.firstRange(of: Array(text.utf8)) == nil) }
            let copy = try #require(LogoThumbnail.name(of: name))
            let small = try LogoPicture(try await admin.directory.ask("/logos/\(copy)").body)
            #expect(max(small.width, small.height) == min(size.max() ?? 0, 256))
        }
    }

    @Test(arguments: [
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "svg"), ("BM6000", "bmp"), ("%PDF-1.7", "pdf"), ("", "empty"),
        ("\0\0\0\u{18}ftypmp42", "mp4"), ("hello", "unknown"),
    ]) func `another format is refused with the code of the Mobile API`(text: String, name: String) async throws {
        try await Operator.run { admin in
            let refused = try await admin.ask("logos/a.png", method: "PUT", bytes: Array(text.utf8), type: "image/png")
            #expect(refused.status == 422 && refused.text("code") == "UNSUPPORTED_FORMAT")
            #expect(refused.text("retry_guidance") == "Convert the file to a supported format and retry")
            guard case .object(let details) = refused.object["details"] else {
                Issue.record("\(refused.text)")
                return
            }
            #expect(details["provided_format"] == .string(name))
            #expect(
                details["supported_formats"]
                    == .array(["png", "jpg", "jpeg", "webp", "gif", "avif", "heic", "heif"].map { .string($0) }))
            if name == "svg" { #expect(refused.text("error")?.contains("scripts") == true) }
            #expect(try await admin.ask("logos").items.isEmpty)
        }
    }

    @Test func `a file over 5 MiB is refused with its size`() async throws {
        try await Operator.run { admin in
            let bytes = PictureSample.png + [UInt8](repeating: 0, count: 5 << 20)
            let refused = try await admin.ask("logos/a.png", method: "PUT", bytes: bytes)
            #expect(refused.status == 413 && refused.text("code") == "FILE_TOO_LARGE")
            guard case .object(let details) = refused.object["details"] else {
                Issue.record("\(refused.text)")
                return
            }
            #expect(details["file_size"] == .int(bytes.count))
            #expect(details["max_size"] == .int(5_242_880) && details["max_size_mb"] == .int(5))
        }
    }

    @Test func `cut, damaged and huge pictures are refused, and change nothing`() async throws {
        try await Operator.run { admin in
            for bytes in [PictureSample.webp, PictureSample.avif, PictureSample.heic, PictureSample.gif] {
                let cut = try await admin.ask("logos/a.png", method: "PUT", bytes: Array(bytes.prefix(bytes.count / 2)))
                #expect(cut.status == 422 && cut.text("code") == "DAMAGED_FILE", "\(cut.text)")
            }
            // The header of a PNG is right, and its pixels are not.
            let place = try #require(PictureSample.png.firstRange(of: Array("IDAT".utf8))).upperBound
            var damaged = PictureSample.png
            for position in place..<place + 8 { damaged[position] ^= 0xA5 }
            #expect(try await admin.ask("logos/a.png", method: "PUT", bytes: damaged).text("code") == "DAMAGED_FILE")
            for bytes in [PictureSample.avif, PictureSample.heic] {
                let bomb = try await admin.ask(
                    "logos/a.png", method: "PUT", bytes: PictureSample.declaring(65_000, 65_000, bytes))
                #expect(bomb.status == 422 && bomb.text("code") == "TOO_MANY_PIXELS", "\(bomb.text)")
            }
            let circle = try await admin.ask("logos/a.png", method: "PUT", bytes: PictureSample.circularHEIC)
            // On a slow machine the limit of CPU time comes first.
            #expect([422, 504].contains(circle.status), "\(circle.text)")
            #expect(try await admin.ask("logos").items.isEmpty)
        }
    }

    @Test func `a form without a file is refused`() async throws {
        try await Operator.run { admin in
            for (body, type) in [
                (Array("hello".utf8), Self.formType), (PictureSample.png, "image/png"),
                (Self.form([], file: "", type: "image/png"), Self.formType),
            ] {
                let refused = try await admin.ask("logos", method: "POST", bytes: body, type: type)
                #expect(refused.status == 400, "\(refused.text)")
            }
        }
    }

    @Test func `a copy goes with its logo, and changes with it`() async throws {
        try await Operator.run { admin in
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: PictureSample.png)
            let first = try await admin.directory.ask("/logos/acme_thumb.png")
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: PictureSample.flatWebP)
            let second = try await admin.directory.ask("/logos/acme_thumb.png")
            #expect(first.status == 200 && second.status == 200 && first.body != second.body)
            // A logo of that name comes first.
            _ = try await admin.ask("logos/acme_thumb.png", method: "PUT", bytes: PictureSample.png)
            #expect(try await admin.directory.ask("/logos/acme_thumb.png").body == PictureSample.png)
            for name in ["acme.png", "acme_thumb.png"] { _ = try await admin.ask("logos/\(name)", method: "DELETE") }
            #expect(try await admin.directory.ask("/logos/acme_thumb.png").status == 404)
        }
    }

    @Test func `a copy hides no file of the folder with its name`() async throws {
        try await Operator.run(logos: true) { admin in
            let file = admin.directory.folder.path + "/acme_thumb.png"
            try Data(PictureSample.deepPNG).write(to: URL(fileURLWithPath: file))
            _ = try await admin.ask("logos/acme.png", method: "PUT", bytes: PictureSample.png)
            #expect(try await admin.directory.ask("/logos/acme_thumb.png").body == PictureSample.deepPNG)
            try FileManager.default.removeItem(atPath: file)
            let copy = try await admin.directory.ask("/logos/acme_thumb.png")
            #expect(copy.status == 200 && copy.body != PictureSample.deepPNG)
        }
    }

    @Test(arguments: [
        ("photo.heic", "image/jpeg", "photo.jpg"), ("a b/ü.webp", "image/png", "-.png"),
        ("../../etc/passwd", "image/png", "passwd"), (".hidden.png", "image/png", "hidden.png"),
        ("", "image/jpeg", "logo.jpg"), ("acme.jpeg", "image/jpeg", "acme.jpeg"),
        ("photo.png", "image/jpeg", "photo.jpg"), ("acme.JPG", "image/png", "acme.png"),
        ("C:\\Users\\x\\logo v2.AVIF", "image/png", "logo-v2.png"),
    ]) func `the name of a file becomes a plain name`(file: String, type: String, name: String) {
        #expect(LogoRules.name(fromFile: file, type: type) == name)
        #expect(LogoRules.isPlainName(name))
    }

    @Test func `two pictures are decoded at once, a few wait, and more are busy`() async throws {
        let turns = DecoderTurns(most: 1, waiting: 1)
        let intake = LogoIntake(executable: "/nowhere/herald-scale-logo", turns: turns)
        #expect(await turns.take())
        await withTaskGroup { others in
            for _ in 0..<2 { others.addTask { await turns.take() } }
            // One of them waits, so the other one is refused.
            #expect(await others.next() == false)
            await #expect(throws: LogoIntakeError.busy) { try await intake.kept(Data(PictureSample.png)) }
            // What needs no decoder is refused by its cause.
            await #expect(throws: LogoIntakeError.unsupported("pdf")) { try await intake.kept(Data("%PDF-1.7".utf8)) }
            turns.giveBack()
            #expect(await others.next() == true)
        }
        turns.giveBack()
        // A failed picture gives its turn back.
        await #expect(throws: LogoIntakeError.self) { try await intake.kept(Data(PictureSample.png)) }
        #expect(await turns.take())
    }

    @Test func `a busy decoder is 503 with a time to wait`() {
        let refusal = Refusal.picture(.busy)
        #expect(refusal.status == .serviceUnavailable && refusal.code == "busy")
        #expect(refusal.headers[.retryAfter] == "5")
    }

    @Test func `a name that no logo may have is refused before its picture`() async throws {
        try await Operator.run { admin in
            let refused = try await admin.ask("logos/.hidden.png", method: "PUT", bytes: Array("%PDF-1.7".utf8))
            #expect(refused.status == 400 && refused.text("code") == "bad_request", "\(refused.text)")
        }
    }

    @Test func `without the program nothing is taken, and the error names it`() async {
        let intake = LogoIntake(executable: "/nowhere/herald-scale-logo")
        await #expect {
            try await intake.kept(Data(PictureSample.png))
        } throws: { error in
            guard case .unavailable(let problem) = error as? LogoIntakeError else { return false }
            return problem.contains("/nowhere/herald-scale-logo") && "\(error)".contains("install herald-scale-logo")
        }
    }
}
