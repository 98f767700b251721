// SPDX-License-Identifier: Apache-2.0

import Host

/// The doctor's look at the doors of the running gateway.
enum DoctorDoors {
    /// Clients that get no name, and doors that nobody asks.
    static func running(_ doors: GatewayStatus.Doors?) -> [DoctorFinding] {
        guard let names = doors?.names else { return [] }
        func count(_ result: String) -> UInt64 { names.requests[result, default: 0] }
        var findings: [DoctorFinding] = []
        if count("not_allowed") > 0 {
            findings.append(
                finding(
                    .warning,
                    "\(count("not_allowed")) requests came from clients that doors.names.allow does not list: the log has "
                        + "their addresses; add those that are yours"))
        }
        if count("invalid") > 0 {
            findings.append(
                finding(
                    .warning,
                    "\(count("invalid")) requests were no GET /name/NUMBER: the log has the clients; correct their URL")
            )
        }
        if count("crowded") > 0 {
            findings.append(
                finding(.warning, "\(count("crowded")) connections had no place: let the clients close theirs"))
        }
        guard findings.isEmpty else { return findings }
        guard names.requests.values.contains(where: { $0 > 0 }) else {
            return [
                finding(.note, "no request for a name since the start; try curl http://\(names.listen)/name/NUMBER")
            ]
        }
        return [finding(.ok, names.text)]
    }

    private static func finding(_ level: DoctorFinding.Level, _ text: String) -> DoctorFinding {
        DoctorFinding("doors", level, text)
    }
}
