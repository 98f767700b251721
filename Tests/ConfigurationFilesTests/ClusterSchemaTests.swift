// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@Suite("The cluster section")
struct ClusterSchemaTests {
    private let folder = TemporaryFolder()
    private static let one = "00112233445566778899aabbccddeeff"
    private static let two = "ffeeddccbbaa99887766554433221100"

    private func yaml(
        _ lines: String = "listen: 192.0.2.10\n  siblings: [192.0.2.11, '192.0.2.12:5071']\n  route: sip.example.com"
    ) -> String {
        smallest + "cluster:\n  secret_file: cluster-secret\n  " + lines + "\n"
    }

    /// A cluster with its secret and these lines, and the file of the ledger's password.
    private func yaml(withLedger lines: String) throws -> String {
        try write(Self.one)
        try folder.write("terces\n", to: "ledger-password")
        return yaml("listen: 192.0.2.10\n  siblings: [192.0.2.11]\n  route: sip.example.com\n  " + lines)
    }

    private func write(_ text: String) throws {
        let path = try folder.write(text, to: "cluster-secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test func `it names the secret, the siblings and the route`() throws {
        try write(Self.one + "\n")
        let cluster = try #require(try folder.load(yaml()).cluster)
        #expect(cluster.secrets.map { $0.reveal() } == [Self.one])
        #expect(cluster.listen.description == "192.0.2.10:5070")
        #expect(cluster.siblings.map(\.description) == ["192.0.2.11:5070", "192.0.2.12:5071"])
        #expect(cluster.route?.description == "sip.example.com" && cluster.route?.hasPort == false)
        #expect(cluster.limits == .divided && cluster.nodes == 3)
        #expect(try folder.load(smallest).cluster == nil)
    }

    @Test func `it names the shared ledger, whose password is in a file`() throws {
        let ledger = "ledger: postgres://herald@db1,db2/calls\n  ledger_password_file: ledger-password"
        let cluster = try #require(try folder.load(try yaml(withLedger: ledger)).cluster)
        #expect(cluster.ledger.map { "\($0)" } == "db1,db2/calls")
        #expect(!"\(cluster)".contains("terces"))
        #expect(try folder.load(yaml()).cluster?.ledger == nil)
    }

    @Test func `a password of the ledger that every user can read causes a remark`() throws {
        let ledger = "ledger: postgres://herald@127.0.0.1/calls\n  ledger_password_file: ledger-password"
        let text = try yaml(withLedger: ledger)
        let path = folder.path + "/ledger-password"
        for (mode, isRemarked) in [(0o640, false), (0o644, true)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(try folder.load(text).remarks.contains { $0.hasPrefix(path) } == isRemarked)
        }
    }

    @Test(arguments: [
        ("ledger: postgres://herald:terces@db/calls", "password file"),
        ("ledger: mysql://db/calls", "postgres://"),
        ("ledger: postgres://db", "names no database"),
        ("ledger_password_file: ledger-password", "ledger"),
    ])
    func `a shared ledger that cannot be right is a problem, which does not show the password`(
        line: String, words: String
    ) throws {
        let problems = try folder.problems(in: try yaml(withLedger: line))
        #expect(problems.count == 1 && problems.first?.contains(words) == true, "\(problems)")
        #expect(!problems.joined().contains("terces"))
    }

    @Test(arguments: [1, 2, 3])
    func `the file has one to three secrets, the signing one first`(count: Int) throws {
        let lines = [Self.one, Self.two, "0123456789abcdef0123456789ABCDEF"].prefix(count)
        try write(lines.joined(separator: "\r\n") + "\n\n")
        #expect(try folder.load(yaml()).cluster?.secrets.map { $0.reveal() } == Array(lines))
    }

    @Test(arguments: [
        "", "\n", "secret\n", String(one.dropLast()), one + "0", one + "\n" + one, one + " " + two,
        one.replacing("0", with: "g"), "\(one)\n\(two)\n\(one.reversed())\n0123456789abcdef0123456789abcdef",
    ])
    func `another file is a problem that does not show the secret`(text: String) throws {
        try write(text)
        let problems = try folder.problems(in: yaml())
        #expect(problems.count == 1)
        #expect(
            problems.first?.contains("expected one to three different lines of 32 hexadecimal digits") == true,
            "\(problems)")
        #expect(!problems.contains { $0.contains(Self.one.prefix(8)) })
    }

    @Test func `a missing file is a problem, and none for commands without secrets`() throws {
        #expect(try folder.problems(in: yaml()).first?.contains("cluster-secret cannot be read") == true)
        #expect(try folder.load(yaml(), secrets: .ignored).cluster?.secrets.isEmpty == true)
    }

    @Test(arguments: [
        ("siblings: [192.0.2.11]\n  route: a.example", "is missing; write listen"),
        ("listen: 192.0.2.10\n  route: a.example", "is missing; write siblings"),
        ("listen: 192.0.2.10\n  siblings: [192.0.2.11]", "is missing; write route"),
        ("listen: 0.0.0.0\n  siblings: [192.0.2.11]\n  route: a.example", "write the address that siblings have"),
        ("listen: 192.0.2.10\n  siblings: [192.0.2.10]\n  route: a.example", "is this gateway's own address"),
        ("listen: 192.0.2.10\n  siblings: [192.0.2.11, 192.0.2.11]\n  route: a.example", "contains an address twice"),
        ("listen: 192.0.2.10\n  siblings: [192.0.2.11]\n  route: 0.0.0.0", "write a host name or the shared address"),
        ("listen: 192.0.2.10\n  siblings: [b.example]\n  route: a.example", "b.example"),
        ("listen: 192.0.2.10\n  siblings: [192.0.2.11]\n  route: a.example\n  limits: none", "limits"),
    ])
    func `a mistake is named`(lines: String, text: String) throws {
        try write(Self.one)
        let problems = try folder.problems(in: yaml(lines))
        #expect(problems.contains { $0.contains(text) }, "\(problems)")
    }

    @Test func `no route is needed where each listen entry has a name of its own`() throws {
        try write(Self.one)
        let text = yaml("listen: 192.0.2.10\n  siblings: [192.0.2.11]")
            .replacing("- address: 192.0.2.10:5060", with: "- {address: '192.0.2.10:5060', advertise: a.example}")
        #expect(try folder.problems(in: text) == [])
    }

    @Test func `a route with a port does not fit several listen entries`() throws {
        try write(Self.one)
        let text = yaml("listen: 192.0.2.10\n  siblings: [192.0.2.11]\n  route: 'a.example:5060'")
            .replacing(
                "  - address: 192.0.2.10:5060", with: "  - address: 192.0.2.10:5060\n  - address: 192.0.2.10:5062")
        #expect(try folder.problems(in: text).contains { $0.contains("write it without the port") })
    }
}
