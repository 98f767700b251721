// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ChildPrograms
import Foundation
import GatewayStore
import PostgreSQL
import PostgreSQLTesting
import TestFixtures
import Testing

@testable import GatewayCluster

/// Requirements: gateways that are restored by the commands of `docs/backup.md` have each call once in the shared ledger,
/// with the end that was seen, and no second end event.
@Suite("Gateways restored from a backup")
struct RestoredGatewaysTests: ThreeGateways {
    let gateways: Trio

    init() throws { gateways = try Trio() }

    /// Runs a block of commands of the page for one gateway.
    private func run(_ block: Block, in folder: String) async throws {
        for name in ["etc/herald", "new-etc"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        for name in ["secret", "device-id"] { try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
        let isBackup = block == .backup
        let commands = try block.commands()
            .replacing("/var/backups/herald", with: "\(folder)/backups")
            .replacing("/var/lib/herald", with: isBackup ? folder : "\(folder)/restored")
            .replacing(" /etc", with: " \(folder)/\(isBackup ? "etc" : "new-etc")")
        let ended = try await ChildProgram.run(
            "/bin/bash", ["-euc", "copy='\(folder)/copy' restored='\(folder)/restored/'\n" + Self.machine + commands])
        try #require(ended.code == 0, "\(ended.errors)")
        if isBackup {
            let path = try String(contentsOfFile: folder + "/copy", encoding: .utf8)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try StateDatabase.ledger.copy(from: folder, to: path + "/herald.sqlite")
        }
    }

    /// A machine without the user `herald`, and with the gateway stopped; `herald backup` leaves the path of its copy, and
    /// `herald restore` puts the ledger of one back.
    private static let machine = """
        sudo() { if [ "$1" = -u ]; then shift 2; fi; "$@"; }
        herald() {
            case "$1" in backup) printf %s "$2" >"$copy" ;; restore) cp "$2/herald.sqlite" "$restored" ;; esac
        }
        systemctl() { :; }
        install() {
            local words=()
            while [ $# -gt 0 ]; do case "$1" in -o | -g) shift 2 ;; *) words+=("$1"); shift ;; esac; done
            command install "${words[@]}"
        }

        """

    private enum Block: Int {
        case backup = 0
        case restore = 1

        /// The commands of the page, of the section on the gateway.
        func commands() throws -> String {
            let root = #filePath.components(separatedBy: "/Tests/")[0]
            let page = try String(contentsOfFile: root + "/docs/backup.md", encoding: .utf8)
            let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("Gateway") })
            let blocks = section.components(separatedBy: "\n\n").filter { $0.hasPrefix("    ") }
            return blocks[rawValue].split(separator: "\n").map { $0.dropFirst(4) + "\n" }.joined()
        }
    }

    /// Outcomes of the view by call, sorted, each row a line.
    private func shown() throws -> [String] {
        try shared.look.execute(
            "SELECT right(call_id, 4) || ' ' || outcome FROM ledger.calls ORDER BY 1"
        ).map { try $0.text(0) ?? "" }
    }

    private func name(_ number: UInt64) -> String { String(ClusterGateway.call(number).description.suffix(4)) }

    /// Plays calls of one gateway, from `first` on: one of each kind at the time of the backup.
    private func before(_ gateway: ClusterGateway, _ first: UInt64) {
        // Over.
        gateway.answered(first)
        gateway.sees(.bye, first, at: 30)
        // Missed, so that it may be returned.
        gateway.invite(first + 1)
        gateway.sees(.provisional, first + 1, at: 1, status: 180)
        gateway.sees(.failed, first + 1, at: 20, status: 480)
        // Open; over before the restore, after it, and at the deadline.
        for number in first + 2...first + 4 { gateway.answered(number) }
        // Rings; missed before the restore.
        gateway.invite(first + 5)
        gateway.sees(.provisional, first + 5, at: 1, status: 180)
    }

    /// What follows between the backup and the loss.
    private func meanwhile(_ gateway: ClusterGateway, _ first: UInt64) {
        gateway.sees(.bye, first + 2, at: 65)
        gateway.sees(.failed, first + 5, at: 50, status: 480)
        gateway.answered(first + 6)
        gateway.sees(.bye, first + 6, at: 70)
        gateway.answered(first + 7)
    }

    @Test(arguments: [true, false])
    func `the commands of the page list each call once`(ringIsKept: Bool) async throws {
        let firsts: [UInt64] = [100, 200, 300]
        for (gateway, first) in zip(all, firsts) { before(gateway, first) }
        for gateway in all { try gateway.rounds(2) }
        for gateway in all { try await run(.backup, in: gateway.folder.path) }
        for (gateway, first) in zip(all, firsts) { meanwhile(gateway, first) }
        for gateway in all { try gateway.rounds(2) }
        for gateway in all {
            try await run(.restore, in: gateway.folder.path)
            try gateway.restart(in: gateway.folder.path + "/restored", keepingRing: ringIsKept)
        }
        for _ in 0..<3 { for gateway in all { try gateway.round() } }
        for (gateway, first) in zip(all, firsts) { gateway.sees(.bye, first + 3, at: 90) }
        for _ in 0..<3 { for gateway in all { try gateway.round() } }

        let outcomes = ["ANSWERED", "MISSED", "ANSWERED", "ANSWERED", "OPEN", "MISSED", "ANSWERED", "OPEN"]
        let expected: [String] = firsts.flatMap { first -> [String] in
            outcomes.enumerated().map { place, outcome -> String in "\(name(first + UInt64(place))) \(outcome)" }
        }
        #expect(try shown() == expected.sorted())
        for (gateway, first) in zip(all, firsts) {
            #expect(try gateway.account(first + 2) == "ANSWERED after 60 s", "the end is that of the shared ledger")
            #expect(try gateway.account(first + 5) == "MISSED")
            #expect(try gateway.account(first + 7) == "OPEN", "a call of after the backup goes on")
        }
        // Long after all deadlines no call has got another end.
        for gateway in all { gateway.advance(20_000) }
        for _ in 0..<3 { for gateway in all { try gateway.round() } }
        #expect(try shown() == expected.map { $0.replacing("OPEN", with: "ANSWERED") }.sorted())
        let ends = try endEvents()
        #expect(ends.allSatisfy { $0.value.count == 1 }, "\(ends)")
    }

    /// The kinds of end events of each call in the shared ledger.
    private func endEvents() throws -> [String: Set<String>] {
        var kinds: [String: Set<String>] = [:]
        for row in try shared.look.execute("SELECT key FROM ledger.event WHERE key NOT LIKE 'displayed:%'") {
            let parts = (try row.text(0) ?? "").split(separator: ":").map(String.init)
            kinds[parts[1], default: []].insert(parts[0])
        }
        return kinds
    }
}
