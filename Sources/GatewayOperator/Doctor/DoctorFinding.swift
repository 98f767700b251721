// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Primitives

/// One line of `herald doctor`: what was checked, and cause and remedy of what is wrong.
package struct DoctorFinding: Hashable, Sendable {
    /// The weight of a finding.
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case ok
        /// Nothing is wrong; worth knowing.
        case note
        /// Calls go on, and something else does not work or will not.
        case warning
        /// Calls or a start fail.
        case error
    }

    /// The area, such as `ports`.
    package let area: String
    package let level: Level
    /// Thing, cause and remedy.
    package let text: String

    init(_ area: String, _ level: Level, _ text: String) {
        (self.area, self.level, self.text) = (area, level, text)
    }
}

/// The findings of `herald doctor` as text and as JSON.
package struct DoctorReport: Hashable, Sendable {
    package let findings: [DoctorFinding]

    init(_ findings: [DoctorFinding]) { self.findings = findings }

    /// True with an error among the findings.
    package var hasError: Bool { findings.contains { $0.level == .error } }

    /// A line for each finding, then the counts.
    package var text: String {
        let lines = findings.map { finding in
            finding.level.rawValue.padded(8) + finding.area.padded(14) + TerminalText.visible(finding.text) + "\n"
        }
        let counts = DoctorFinding.Level.allCases.reversed().map { level in
            let count = findings.count { $0.level == level }
            return "\(count) \(level.rawValue)\(count == 1 || level == .ok ? "" : "s")"
        }
        return lines.joined() + "\n" + counts.joined(separator: ", ") + "\n"
    }

    /// One object for each finding.
    package var json: [[String: JSONValue?]] {
        findings.map {
            ["area": .string($0.area), "level": .string($0.level.rawValue), "text": .string($0.text)]
        }
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
