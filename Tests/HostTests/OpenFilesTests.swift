// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Host

@Suite("Files and sockets a process may have open")
struct OpenFilesTests {
    @Test(arguments: [
        (connections: 10_000, allowed: 11_024, room: 10_000),
        (connections: 10_000, allowed: 4096, room: 3072),
        // Half of a small limit is left for databases and logs.
        (connections: 10_000, allowed: 1024, room: 512),
        (connections: 100, allowed: 1024, room: 100),
    ]) func `connections leave room for everything else`(connections: Int, allowed: Int, room: Int) {
        let files = OpenFiles(connections: connections, allowed: allowed)
        #expect(files.allowedConnections == room)
        #expect((files.shortage == nil) == (room == connections))
    }

    @Test func `a shortage says what is missing and what to raise`() {
        let shortage = OpenFiles(connections: 10_000, allowed: 4096).shortage
        #expect(
            shortage == """
                only 3072 of 10000 connections are taken: the system allows 4096 open files, 11024 are needed; \
                raise LimitNOFILE= of the unit, or the hard limit (ulimit -Hn)
                """)
    }

    @Test func `HTTP ports count where the limit is small`() {
        #expect(OpenFiles(connections: 10_000, http: 368, allowed: 1024).allowedConnections == 328)
        #expect(OpenFiles(connections: 10_000, http: 368, allowed: 11_024).allowedConnections == 10_000)
        #expect(OpenFiles(connections: 10_000, http: 368, allowed: 300).allowedConnections == 0)
    }

    @Test(arguments: [(64, false), (100, false), (199, false), (200, true), (1024, true)])
    func `a start needs two hundred`(allowed: Int, isEnough: Bool) {
        let refusal = OpenFiles(connections: 0, allowed: allowed).refusal
        #expect((refusal == nil) == isEnough)
        if let refusal { #expect(refusal.contains("\(allowed) open files") && refusal.contains("LimitNOFILE=")) }
    }

    @Test func `the limit of the process is raised as far as the hard one allows, and never lowered`() {
        let before = limit()
        let files = OpenFiles.allow(connections: Int(before.rlim_cur))
        let after = limit()
        #expect(after.rlim_cur == min(before.rlim_cur + rlim_t(OpenFiles.others), before.rlim_max))
        #expect(files.allowed == Int(after.rlim_cur))
        _ = OpenFiles.allow(connections: 1)
        #expect(limit().rlim_cur == after.rlim_cur)
    }

    private func limit() -> rlimit {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }
}
