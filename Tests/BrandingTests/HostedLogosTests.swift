// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Testing

@Suite("Hosted logos")
struct HostedLogosTests {
    private static let logo = "https://assets.example/acme.png"
    private static let file = "0123456789abcdef0123456789abcdef-128x128.png"

    private func profile(
        _ missing: HostedLogos.Missing, files: [String: String] = [HostedLogosTests.logo: HostedLogosTests.file],
        publicURL: String = "http://192.0.2.10:9480"
    ) -> RenderingProfile {
        RenderingProfile(logos: HostedLogos(publicURL: publicURL, missing: missing, files: files))
    }

    @Test func `a logo with a local copy gets the gateway's URL`() throws {
        let info = CallInfo(logoURL: Self.logo, reason: nil, profile: profile(.original))
        #expect(info.logoURL == "http://192.0.2.10:9480/logos/" + Self.file)
        let slash = CallInfo(
            logoURL: Self.logo, reason: nil, profile: profile(.original, publicURL: "https://pbx.example/herald/"))
        #expect(slash.logoURL == "https://pbx.example/herald/logos/" + Self.file)
    }

    @Test(arguments: [
        ("https://assets.example/other.png", "https://assets.example/other.png"),
        ("http://assets.example/plain.png", nil), ("https://assets.example/<evil>", nil),
    ]) func `a logo without a local copy keeps the directory's URL if it is safe in a header`(
        url: String, expected: String?
    ) {
        #expect(CallInfo(logoURL: url, reason: nil, profile: profile(.original)).logoURL == expected)
        #expect(CallInfo(logoURL: url, reason: nil, profile: profile(.none)).logoURL == nil)
    }

    @Test func `a hosted logo is written in the form of one family, everything else stays`() throws {
        let index = try index(profile(.original))
        let number = try #require(E164Number("+61255501001"))
        let entry = try #require(index.entry(for: number))
        func callInfo(_ form: LogoForm?) -> String {
            var out: [UInt8] = []
            index.append(.callInfo, of: entry, logo: form.map { Array($0.key.utf8) }, to: &out)
            return String(decoding: out, as: UTF8.self)
        }
        let hash = Self.file.prefix(32)
        let end = #">;purpose=icon;call-reason="Delivery""#
        #expect(callInfo(nil) == "<http://192.0.2.10:9480/logos/\(hash)-128x128.png" + end)
        #expect(
            callInfo(PhoneFamily.snom370.form) == "<http://192.0.2.10:9480/logos/\(hash)-64x64grey.bmp" + end)
        #expect(callInfo(PhoneFamily.mitel6739.form).contains("-200x150opaque.png>"))
        #expect(index.logoFile(of: entry) == Self.file)
        #expect(index.logoFile(of: entry, form: "50x40.jpg") == "\(hash)-50x40.jpg")
    }

    @Test func `a logo of the directory has one form`() throws {
        for profile in [RenderingProfile(), profile(.original, files: [:])] {
            let index = try index(profile)
            let number = try #require(E164Number("+61255501001"))
            let entry = try #require(index.entry(for: number))
            var out: [UInt8] = []
            index.append(.callInfo, of: entry, logo: Array("50x40.jpg".utf8), to: &out)
            #expect(String(decoding: out, as: UTF8.self).hasPrefix("<\(Self.logo)>;purpose=icon"))
            #expect(index.logoFile(of: entry, form: "50x40.jpg") == nil)
        }
    }

    @Test func `no two families with different pictures share a file name`() {
        let forms = Set(PhoneFamily.allCases.map(\.form))
        #expect(Set(forms.map(\.key)).count == forms.count)
        #expect(LogoForm(width: 64, height: 64, .bmp).key != PhoneFamily.snom370.form.key)
    }

    @Test func `a brand without an icon keeps its call reason`() throws {
        let index = try index(profile(.none, files: [:]))
        let number = try #require(E164Number("+61255501001"))
        let entry = try #require(index.entry(for: number))
        #expect(index.text(.callInfo, entry) == #"<data:>;purpose=jcard;call-reason="Delivery""#)
    }

    @Test func `a saved index is rejected if the local copies differ`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).index"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let mine = profile(.original)
        try index(mine).save(to: path)
        #expect(try BrandIndex.load(from: path, generation: 1, profile: mine).count == 1)
        let others = [
            RenderingProfile(), profile(.none), profile(.original, files: [:]),
            profile(.original, files: [Self.logo: Self.file.replacing("128x128", with: "256x256")]),
            profile(.original, publicURL: "http://192.0.2.11:9480"),
        ]
        for other in others {
            #expect(throws: BrandIndexFileError.otherProfile(path: path)) {
                try BrandIndex.load(from: path, generation: 1, profile: other)
            }
        }
    }

    @Test func `the order of the local copies does not change the fingerprint`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).index"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let pairs = (0..<50).map { ("https://assets.example/\($0).png", "file-\($0)") }
        try index(profile(.none, files: Dictionary(uniqueKeysWithValues: pairs))).save(to: path)
        let again = profile(.none, files: Dictionary(uniqueKeysWithValues: pairs.reversed()))
        #expect(try BrandIndex.load(from: path, generation: 1, profile: again).count == 1)
    }

    private func index(_ profile: RenderingProfile) throws -> BrandIndex {
        var builder = BrandIndexBuilder(profile: profile, generation: 1, expectedCount: 1)
        let number = try #require(E164Number("+61255501001"))
        builder.add(
            BrandRecord(
                number: number, name: "Acme", brandID: "b-1", logoURL: Self.logo, callReason: "Delivery",
                updatedAt: "2026-01-01T00:00:00Z"))
        return builder.finish()
    }
}
