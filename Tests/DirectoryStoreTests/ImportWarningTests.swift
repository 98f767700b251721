// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("What an import says of a file", .timeLimit(.minutes(8)), .bothEngines)
struct ImportWarningTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path + "/state")
    }

    private func load(
        _ text: String, region: String? = nil, logos: LogoCheck.Place = .asServed
    ) throws -> BrandImport.Result {
        let normaliser = NumberNormaliser(region: try region.map { try #require(Region($0)) })
        return try BrandImport(database, region: region, logos: logos) { normaliser.normalise(Array($0.utf8)) }
            .run(Array(text.utf8), now: ManualTime.start)
    }

    private static let missing = """
        number,brand_name,logo_url
        +61491570156,Acme,acme.png
        +61491570157,Acme,nothere.png
        +61491570158,Other,nothere.png
        +61491570159,Third,https://l.example/nothere.png
        +61491570110,Fourth,page.svg

        """

    @Test func `each logo that the server does not have is named once, with its line and count`() throws {
        try folder.write(Self.png, to: "acme.png")
        try folder.write(Array("<svg/>".utf8), to: "page.svg")
        let result = try load(Self.missing, logos: .folder(folder.path))
        #expect(result.imported == 5 && result.problems == [])
        #expect(
            result.warnings.map(\.description) == [
                """
                line 3: logo "nothere.png" is neither in \(folder.path) nor among the uploaded logos; put it there, or \
                add it with herald-directory logos add (2 rows name it)
                """,
                """
                line 6: logo "page.svg" cannot be served: \(folder.path)/page.svg is neither a PNG nor a JPEG
                """,
            ])
    }

    @Test func `uploaded logos are there, and without a folder no others are`() throws {
        try LogoStore(database).add(Data(Self.png), name: "acme.png", now: 1)
        let result = try load(Self.missing, logos: .nowhere)
        #expect(result.warnings.map(\.line) == [3, 6])
        #expect(result.warnings.first?.reason.contains("logos: names no folder") == true)
    }

    @Test func `files behind a public URL of another server are nobody's to judge`() throws {
        #expect(try load(Self.missing, logos: .elsewhere).warnings == [])
    }

    @Test func `without a configuration the folder of the last run counts`() async throws {
        try await RunningDirectory.run(in: folder, logos: true) { _ in }
        try folder.write(Self.png, to: "acme.png")
        #expect(try load(Self.missing).warnings.map(\.line) == [3, 6])
    }

    @Test(
        arguments: [
            ("number;brand_name;call_reason\n+61491570156;Acme, Inc.;\"a;b\"\n", "Acme, Inc.", "a;b"),
            ("\u{FEFF}\"number\";\"brand_name\"\r\n\"+61491570156\";\"Acme\"\r\n", "Acme", nil),
            ("number\tbrand_name\tcall_reason\n+61491570156\tAcme; Co\tx\n", "Acme; Co", "x"),
            ("sep=;\r\nnumber;brand_name\r\n+61491570156;Acme\r\n", "Acme", nil),
            ("\n\nnumber;brand_name\n+61491570156;Acme\n", "Acme", nil),
            ("number,brand_name\n+61491570156,Acme; Co\n", "Acme; Co", nil),
        ] as [(String, String, String?)])
    func `the header shows the separator`(text: String, name: String, reason: String?) throws {
        #expect(try load(text).problems == [])
        let stored = try BrandEntries(database).active(limit: 9)
        #expect(stored.map(\.brandName) == [name] && stored.map(\.callReason) == [reason])
    }

    @Test func `lines are counted from the first of the file, whatever the separator`() throws {
        #expect(try load("sep=;\nnumber;brand_name\n+61491570156;A\nx;A\n").problems.map(\.line) == [4])
        #expect(try load("number\tbrand_name\n+61491570156\tA\nx\tA\n").problems.map(\.line) == [3])
    }

    @Test(arguments: ["6.1492E+10", "6,1492e+10", "+6E10"])
    func `a number that a spreadsheet has rounded is named as such`(cell: String) throws {
        let result = try load("number;brand_name\n\(cell);Acme\n", region: "AU")
        #expect(
            result.problems.map(\.description) == [
                """
                line 2: "\(cell)" is scientific notation, in which a spreadsheet has lost digits; format the column as \
                text, enter the numbers again, and save
                """
            ])
    }

    @Test(arguments: ["=\"+61491570156\"", "\"=\"\"+61491570156\"\"\"", "=\"0491 570 156\""])
    func `a number in a formula that keeps it as text is taken`(cell: String) throws {
        #expect(try load("number,brand_name\n\(cell),Acme\n", region: "AU").problems == [])
        #expect(try BrandEntries(database).active(limit: 9).map(\.phoneNumber) == ["+61491570156"])
    }

    @Test(
        arguments: [
            ("61491570156", nil, "\"61491570156\" is no number without its country: write it with + and"),
            ("12", "AU", "\"12\" is no valid number, neither with + nor in AU"),
            ("+6149", nil, "\"+6149\" is no valid number"),
            ("", nil, "no number"),
        ] as [(String, String?, String)])
    func `what is no number is shown with what would help`(cell: String, region: String?, reason: String) throws {
        let problems = try load("number,brand_name\n\(cell),Acme\n", region: region).problems
        #expect(problems.count == 1 && problems.first?.reason.hasPrefix(reason) == true, "\(problems)")
    }

    @Test func `joiners that names need are taken`() throws {
        #expect(try load("number,brand_name\n+61491570156,می\u{200C}خواهم 👩\u{200D}🚀\n").problems == [])
    }

    @Test func `a folder and a file that is not there are no empty files`() {
        let load = BrandImport(database) { E164Number($0) }
        #expect(throws: BrandImportError.folder("/tmp")) { try load.run(path: "/tmp", now: 1) }
        #expect(throws: BrandImportError.unreadable("/nowhere/x.csv", "No such file or directory")) {
            try load.run(path: "/nowhere/x.csv", now: 1)
        }
    }
}
