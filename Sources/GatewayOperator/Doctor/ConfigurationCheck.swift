// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation

/// `herald check-config`: reads the configuration and every file it names, without starting anything.
package struct ConfigurationCheck {
    /// Problems that would end a start; empty for a usable configuration.
    package let problems: [String]
    /// Listeners, trunks, PBXs, directory, certificates and remarks; empty with problems.
    package let summary: String
    /// Problems of folders and databases, which end no start.
    package let stateProblems: String

    /// Reads the file at `path` and the files it names.
    ///
    /// - Parameter now: seconds since 1970, for certificates.
    package init(path: String, at now: Int64 = Int64(Date().timeIntervalSince1970)) {
        do throws(ConfigurationError) {
            self.init(try HeraldConfiguration.load(path: path), path: path, at: now)
        } catch {
            self.init(problems: error.problems.map(\.description))
        }
    }

    /// Checks a text that is not in its file yet.
    ///
    /// - Parameter secrets: `.ignored` where the file of a key is not there yet.
    init(
        text: String, path: String, secrets: HeraldConfiguration.Secrets = .read,
        at now: Int64 = Int64(Date().timeIntervalSince1970)
    ) {
        do throws(ConfigurationError) {
            self.init(try HeraldConfiguration.load(text: text, path: path, secrets: secrets), path: path, at: now)
        } catch {
            self.init(problems: error.problems.map(\.description))
        }
    }

    private init(_ configuration: HeraldConfiguration, path: String, at now: Int64) {
        let certificates = CertificateReport(configuration, at: now)
        guard certificates.problems.isEmpty else {
            self.init(problems: certificates.problems.map { "\(path): \($0)" })
            return
        }
        let lines = certificates.summary + certificates.remarks.map { "note    \($0)" }
        self.init(
            summary: ConfigurationSummary(configuration).text + lines.map { $0 + "\n" }.joined(),
            stateProblems: StateCheck(configuration).text)
    }

    private init(problems: [String] = [], summary: String = "", stateProblems: String = "") {
        self.problems = problems
        self.summary = summary
        self.stateProblems = stateProblems
    }

    /// The lines of each part, for `--json`.
    package var json: [String: [String]] {
        func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
        return ["problems": problems, "state_problems": lines(stateProblems), "summary": lines(summary)]
    }

    /// The problems as lines, with their number.
    package var problemText: String {
        let end = "\(problems.count) problem\(problems.count == 1 ? "" : "s"); nothing would start"
        return (problems + [end]).map { $0 + "\n" }.joined()
    }
}
