// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("The space of a disk")
struct DiskSpaceTests {
    /// Free and all space in MiB; a tenth of a small disk is enough.
    private static let rows: [(free: Int64, total: Int64, isLow: Bool)] = [
        (255, 100_000, true), (257, 100_000, false), (20, 100, false), (9, 100, true), (0, 100, true),
    ]

    @Test(arguments: rows)
    func `little space is a problem with a remedy`(free: Int64, total: Int64, isLow: Bool) {
        let space = DiskSpace(free: free << 20, total: total << 20, isReadOnly: false)
        #expect(space.isLow == isLow)
        let problem = space.problem(of: "/state")
        #expect((problem != nil) == isLow)
        #expect(problem?.contains("Free space") ?? true)
    }

    @Test func `a read-only disk is named first, whatever its space`() {
        let space = DiskSpace(free: 0, total: 1 << 30, isReadOnly: true)
        #expect(space.problem(of: "/state")?.hasPrefix("/state is mounted read-only") == true)
    }

    @Test func `the system gives the figures of a folder, and none of a missing one`() throws {
        let space = try #require(DiskSpace(of: "/"))
        #expect(space.total > 0 && space.free <= space.total)
        #expect(DiskSpace(of: "/no/such/folder") == nil)
    }
}
