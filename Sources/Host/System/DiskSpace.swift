// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The space of the file system of a folder (statvfs(3)).
public struct DiskSpace: Hashable, Sendable {
    /// Bytes that this user may still write.
    public let free: Int64
    public let total: Int64
    public let isReadOnly: Bool

    public init(free: Int64, total: Int64, isReadOnly: Bool) {
        (self.free, self.total, self.isReadOnly) = (free, total, isReadOnly)
    }

    /// Reads the present figures; nil if the system does not give them.
    public init?(of folder: String) {
        var space = statvfs()
        guard statvfs(folder, &space) == 0 else { return nil }
        let unit = Int64(space.f_frsize)
        self.init(
            free: Int64(space.f_bavail) * unit, total: Int64(space.f_blocks) * unit,
            isReadOnly: space.f_flag & UInt(ST_RDONLY) != 0)
    }

    /// True with less than 256 MiB, or than a tenth of a smaller disk: a day's events and a merge fit into it.
    public var isLow: Bool { free < min(256 << 20, total / 10) }

    /// A problem with its remedy; nil if the folder has space and can be written.
    public func problem(of folder: String) -> String? {
        if isReadOnly { return "\(folder) is mounted read-only, so nothing can be stored. Mount it for writing." }
        return isLow ? "The disk of \(folder) has \(free >> 20) MiB left. Free space before writes fail." : nil
    }
}
