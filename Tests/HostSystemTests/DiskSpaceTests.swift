// SPDX-License-Identifier: Apache-2.0

import HostSystem
import Testing

@Suite("The space of a disk")
struct DiskSpaceTests {
    private static let gib = Int64(1) << 30

    @Test(arguments: [
        (free: 255 << 20, total: 100 * gib, isLow: true), (257 << 20, 100 * gib, false),
        // A tenth of a small disk is enough.
        (20 << 20, 100 << 20, false), (9 << 20, 100 << 20, true), (0, 100 << 20, true),
    ]) func `little space is a problem with a remedy`(free: Int64, total: Int64, isLow: Bool) {
        let space = DiskSpace(free: free, total: total, isReadOnly: false)
        #expect(space.isLow == isLow)
        #expect((space.problem(of: "/state")?.contains("Free space") ?? false) == isLow)
    }

    @Test func `a read-only disk is named first, whatever its space`() {
        let space = DiskSpace(free: 0, total: Self.gib, isReadOnly: true)
        #expect(space.problem(of: "/state")?.hasPrefix("/state is mounted read-only") == true)
    }

    @Test func `the system gives the figures of a folder, and none of a missing one`() throws {
        let space = try #require(DiskSpace(of: "/"))
        #expect(space.total > 0 && space.free <= space.total)
        #expect(DiskSpace(of: "/no/such/folder") == nil)
    }
}
