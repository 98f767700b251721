// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation

/// A temporary folder for one test, removed afterwards.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/herald-configuration-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Loads text as `herald.yaml`, with `api-key` and `brands.psv` in the same folder.
    func load(
        _ yaml: String, secrets: HeraldConfiguration.Secrets = .read, environment: [String: String] = [:]
    ) throws -> HeraldConfiguration {
        let key = try write("key-of-the-test\n", to: "api-key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try write("+61255501001|Harbour Dental\n", to: "brands.psv")
        return try HeraldConfiguration.load(
            path: try write(yaml, to: "herald.yaml"), secrets: secrets, environment: environment)
    }

    /// Returns the problems of a configuration without the folder's name; empty if it is valid.
    func problems(in yaml: String, environment: [String: String] = [:]) throws -> [String] {
        do {
            _ = try load(yaml, environment: environment)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { $0.description.replacing(path + "/", with: "") }
        }
    }
}

/// The smallest valid configuration.
///
/// Tests append to it, from line 10 on.
let smallest = """
    listen:
      - address: 192.0.2.10:5060
    trunks:
      - sources: [203.0.113.5]
    pbx:
      - address: 192.0.2.20
    # Six lines say who, the rest has defaults.



    """
