// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
package import Trust

/// A regime with its source. Paths in the regime are resolved.
package struct ConfiguredRegime: Equatable, Sendable {
    /// The rules.
    package var regime: TrustRegime
    /// The path of the operator's file; nil for a regime of the program.
    package var file: String?
    /// The text of the file.
    package var text: String
}

/// The file of a regime: one of the program, or the operator's.
///
/// A name such as `us` is the file `regimes/us.yaml` beside the configuration, else the regime of the program. Another
/// entry, such as `lab.yaml`, is the path of a file.
package struct RegimeFile {
    /// The names of the program's regimes.
    package static let builtIn = ["us", "ca", "fr", "br", "in", "private"]

    private let entry: String
    private let folder: String

    /// - Parameters:
    ///   - entry: a name or a path, as in `trust.regimes`.
    ///   - folder: the folder of the configuration file.
    package init(_ entry: String, beside folder: String) {
        self.entry = entry
        self.folder = folder
    }

    /// Reads the regime.
    ///
    /// - Parameter position: its place among the regimes of the process.
    /// - Throws: every problem of the file; a problem of the entry itself has no line.
    package func read(position: Int) throws(ConfigurationError) -> ConfiguredRegime {
        let regimes = resolved("regimes")
        guard entry.hasSuffix(".yaml") || entry.contains("/") else {
            let path = regimes + "/\(entry).yaml"
            if FileManager.default.fileExists(atPath: path) { return try read(path, position) }
            guard let text = Self.text(of: entry) else { throw unknown(path) }
            // Nobody can mend a file of the program, so its problems keep their text alone.
            let file = ConfigurationFile(path: path, text: text)
            return ConfiguredRegime(regime: try read(file, named: entry, position), file: nil, text: text)
        }
        return try read(resolved(entry), position)
    }

    private func read(_ path: String, _ position: Int) throws(ConfigurationError) -> ConfiguredRegime {
        let file = try ConfigurationFile(path: path, environment: [:])
        let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
        return ConfiguredRegime(regime: try read(file, named: name, position), file: path, text: file.text)
    }

    private func read(
        _ file: ConfigurationFile, named name: String, _ position: Int
    ) throws(ConfigurationError) -> TrustRegime {
        try file.read { RegimeSchema(file: file, root: $0).read(TrustRegime(name: name, position: position)) }
    }

    private func resolved(_ path: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
    }

    private func unknown(_ path: String) -> ConfigurationError {
        let names = Self.builtIn.joined(separator: ", ")
        let message =
            "\"\(entry)\" is no regime: write one of \(names), or make \(path)"
            + NearestName.hint(entry, among: Self.builtIn)
        return ConfigurationError(
            problems: [ConfigurationProblem(file: path, line: 0, column: 0, key: "", message: message)])
    }

    /// The text of a regime of the program; nil for another name.
    private static func text(of name: String) -> String? {
        let bytes: [UInt8]? =
            switch name {
            case "us": PackageResources.us_yaml
            case "ca": PackageResources.ca_yaml
            case "fr": PackageResources.fr_yaml
            case "br": PackageResources.br_yaml
            case "in": PackageResources.in_yaml
            case "private": PackageResources.private_yaml
            default: nil
            }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
