// SPDX-License-Identifier: Apache-2.0

import Primitives

/// One line of a doctor: what was checked, and cause and remedy of what is wrong.
public struct DoctorFinding: Hashable, Sendable, Encodable {
    /// The weight of a finding.
    public enum Level: String, Hashable, Sendable, CaseIterable, Encodable {
        case ok
        /// Nothing is wrong; worth knowing.
        case note
        /// The service goes on, and something else does not work or will not.
        case warning
        /// The service or a start fails.
        case error
    }

    /// The area, such as `ports`.
    public let area: String
    public let level: Level
    /// Thing, cause and remedy.
    public let text: String

    public init(_ area: String, _ level: Level, _ text: String) {
        (self.area, self.level, self.text) = (area, level, text)
    }
}

/// The findings of a doctor as text and as JSON.
public struct DoctorReport: Hashable, Sendable {
    public let findings: [DoctorFinding]

    public init(_ findings: [DoctorFinding]) { self.findings = findings }

    /// Columns of a line in front of the text.
    private static let (level, area) = (8, 14)

    /// True with an error among the findings.
    public var hasError: Bool { findings.contains { $0.level == .error } }

    /// A line for each finding, then the counts.
    public var text: String {
        let lines = findings.map { finding in
            finding.level.rawValue.padded(Self.level) + finding.area.padded(Self.area)
                + TerminalText.visible(finding.text) + "\n"
        }
        let counts = DoctorFinding.Level.allCases.reversed().map { level in
            let count = findings.count { $0.level == level }
            return "\(count) \(level.rawValue)\(count == 1 || level == .ok ? "" : "s")"
        }
        return lines.joined() + "\n" + counts.joined(separator: ", ") + "\n"
    }

    /// Writes the text, or one JSON object a finding.
    public func write(asJSON: Bool) throws {
        guard asJSON else { return Output.write(sentences: text, behind: Self.level + Self.area) }
        for finding in findings { try Output.write(json: finding) }
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
