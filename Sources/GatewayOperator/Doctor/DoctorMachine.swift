// SPDX-License-Identifier: Apache-2.0

import CLinux
import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Host
import SIPTransport

/// Checks of the machine: clock, socket buffers, open files, memory.
enum DoctorMachine {
    /// - Parameter configuration: nil for one that cannot be read, whose limits are not known.
    static func findings(_ configuration: HeraldConfiguration?) -> [DoctorFinding] {
        var findings = [clock(), buffers()]
        guard let configuration else { return findings }
        findings.append(memory(configuration))
        if let files = openFiles(configuration) { findings.append(files) }
        return findings
    }

    /// Whether the kernel's clock is kept in step by NTP (adjtimex(2)).
    private static func clock() -> DoctorFinding {
        let result = herald_clock_is_synchronised()
        guard result >= 0 else {
            return DoctorFinding("clock", .note, "the kernel does not report its state: \(SystemError.text(-result))")
        }
        guard result == 0 else { return DoctorFinding("clock", .ok, "kept in step by NTP") }
        return DoctorFinding(
            "clock", .warning,
            "not kept in step by NTP: certificates, event times and cache lifetimes depend on it; run "
                + "timedatectl set-ntp true, or install chrony"
        )
    }

    private static func buffers() -> DoctorFinding {
        let path = "/proc/sys/net/core/rmem_max"
        let wanted = Int(UDPSocket.wantedBuffer)
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let most = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return DoctorFinding("buffers", .note, "\(path) cannot be read") }
        guard most < wanted else { return DoctorFinding("buffers", .ok, "net.core.rmem_max is \(most)") }
        return DoctorFinding(
            "buffers", .warning,
            "net.core.rmem_max is \(most): a burst of calls overflows the receive queue; write "
                + "net.core.rmem_max=\(wanted) into /etc/sysctl.d/herald.conf, run sysctl --system and restart herald"
        )
    }

    private static func memory(_ configuration: HeraldConfiguration) -> DoctorFinding {
        let memory = MemoryLimit.current()
        let budget = configuration.budget(of: memory)
        let text =
            "\(MemoryLimit.readable(memory.bytes)) (\(memory.source)); \(budget.most) transactions "
            + "can take \(MemoryLimit.readable(budget.bytes))"
            + (budget.streamBytes > 0 ? ", connections \(MemoryLimit.readable(budget.streamBytes))" : "")
        guard budget.isShort else { return DoctorFinding("memory", .ok, text) }
        return DoctorFinding(
            "memory", .warning,
            text + ": the system may kill herald in a flood; give it more memory or lower limits.max_transactions")
    }

    /// The limit of open files of this process, which `LimitNOFILE=` may change for the service.
    private static func openFiles(_ configuration: HeraldConfiguration) -> DoctorFinding? {
        let files = configuration.openFiles
        if let refusal = files.refusal { return DoctorFinding("open files", .error, refusal) }
        guard files.connections > 0 else { return nil }
        guard let shortage = files.shortage else {
            return DoctorFinding("open files", .ok, "\(files.allowed) are allowed to this user")
        }
        return DoctorFinding("open files", .warning, "for this user " + shortage)
    }
}
