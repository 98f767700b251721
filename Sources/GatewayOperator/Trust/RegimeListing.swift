// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import Foundation
import Host
package import Primitives
import Trust

/// `herald trust regimes`: the regimes of the configuration and of the program.
package struct RegimeListing {
    private let folder: String
    private let configured: [ConfiguredRegime]

    /// - Parameters:
    ///   - configuration: the regimes in force; nil if the file cannot be read.
    ///   - path: the configuration file, whose folder has the operator's regimes.
    package init(_ configuration: HeraldConfiguration?, path: String) {
        configured = configuration?.trust?.regimes ?? []
        folder = (path as NSString).deletingLastPathComponent
    }

    /// Writes the file of a regime, which an operator may copy and change.
    ///
    /// - Throws: for an unknown name, and for a file with problems.
    package func write(_ name: String, asJSON: Bool) throws {
        let regime = try Self.regime(name, configured, folder)
        guard asJSON else { return Output.write(regime.text) }
        try Output.write(json: [
            "name": .string(regime.regime.name), "file": JSONValue(regime.file), "text": .string(regime.text),
        ])
    }

    /// Writes a line for each regime.
    package func list(_ form: TableForm, asJSON: Bool) throws {
        let others = RegimeFile.builtIn.filter { name in !configured.contains { $0.regime.name == name } }
        let rows =
            configured.map { (name: $0.regime.name, isUsed: true, file: $0.file) }
            + others.map { name in
                let own = folder.isEmpty ? "regimes/\(name).yaml" : folder + "/regimes/\(name).yaml"
                return (name, false, FileManager.default.fileExists(atPath: own) ? own : nil)
            }
        guard asJSON else {
            let cells = rows.map { [$0.name, $0.isUsed ? "yes" : "no", $0.file ?? "of the program"] }
            return Output.write(table: ["NAME", "IN USE", "FILE"], form, whole: ["NAME"], cells)
        }
        for row in rows {
            try Output.write(json: [
                "name": .string(row.name), "in_use": .bool(row.isUsed), "file": JSONValue(row.file),
            ])
        }
    }

    /// The regime of a name: one in force, else one of the program or of a file.
    static func regime(
        _ name: String, _ configured: [ConfiguredRegime], _ folder: String
    ) throws(CommandFailure) -> ConfiguredRegime {
        if let regime = configured.first(where: { $0.regime.name == name }) { return regime }
        return try CommandFailure.reported { try RegimeFile(name, beside: folder).read(position: 0) }
    }
}
