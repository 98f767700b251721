// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import Glibc
import Host

/// Checks of the gateway's folders: permissions, databases, free space, and the time of a synchronous write.
struct DoctorState {
    /// Free bytes below which a warning is due: a day of calls of a busy gateway and the copies of a merge.
    private static let leastFree: UInt64 = 512 << 20
    /// Milliseconds of a synchronous write above which the recorder may fall behind.
    private static let slowWrite = 250

    let findings: [DoctorFinding]

    init(_ configuration: HeraldConfiguration) {
        var findings = StateCheck(configuration).problems.map { DoctorFinding("state", .warning, $0) }
        do throws(BackupProblem) {
            try InterruptedRestore.refuse(in: configuration.state)
        } catch {
            findings.append(DoctorFinding("state", .warning, "\(error)"))
        }
        for (key, folder) in [("gateway.state", configuration.state), ("gateway.runtime", configuration.runtime)] {
            findings.append(Self.space(of: folder, key))
        }
        findings.append(Self.write(in: configuration.state))
        self.findings = findings
    }

    private static func space(of folder: String, _ key: String) -> DoctorFinding {
        var system = statvfs()
        guard statvfs(folder, &system) == 0 else {
            guard errno == ENOENT else {
                return DoctorFinding(
                    "disk", .warning, "\(folder) (\(key)) cannot be examined: \(SystemError.text(errno))")
            }
            return DoctorFinding("disk", .note, "\(folder) (\(key)) does not exist yet; the first start makes it")
        }
        let free = UInt64(system.f_bavail) * UInt64(system.f_frsize)
        let text = "\(folder) (\(key)) has \(MemoryLimit.readable(free)) free"
        let isMemory = key == "gateway.runtime"
        guard free < (isMemory ? 64 << 20 : leastFree) else { return DoctorFinding("disk", .ok, text) }
        return DoctorFinding(
            "disk", .warning, text + ": a full disk pauses accounting; free space, or lower outcomes.max_size")
    }

    /// Writes and removes a small file, as the recorder's commit does each second.
    private static func write(in folder: String) -> DoctorFinding {
        let path = folder + "/.doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno == ENOENT else {
                return DoctorFinding(
                    "disk", .warning,
                    "\(folder) cannot be written by this user: \(SystemError.text(errno)); run the "
                        + "command as the gateway's user, or see gateway.state"
                )
            }
            return DoctorFinding("disk", .note, "no write was tried, because \(folder) does not exist yet")
        }
        defer {
            close(descriptor)
            unlink(path)
        }
        let start = DispatchTime.now().uptimeNanoseconds
        let block = [UInt8](repeating: 0, count: 4096)
        guard Glibc.write(descriptor, block, block.count) == block.count, fsync(descriptor) == 0 else {
            return DoctorFinding(
                "disk", .error, "a write to \(folder) failed: \(SystemError.text(errno)); see df and dmesg")
        }
        let milliseconds = Int((DispatchTime.now().uptimeNanoseconds - start) / 1_000_000)
        let text = "a synchronous write to \(folder) takes \(milliseconds) ms"
        guard milliseconds > slowWrite else { return DoctorFinding("disk", .ok, text) }
        return DoctorFinding(
            "disk", .warning, text + ": the recorder commits once a second; move gateway.state to a faster disk")
    }
}
