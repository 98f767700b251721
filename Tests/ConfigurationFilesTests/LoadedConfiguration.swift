// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures

extension TemporaryFolder {
    /// Loads a text as `herald.yaml`; `api-key` and `brands.psv` lie beside it.
    func load(
        _ yaml: String, secrets: HeraldConfiguration.Secrets = .read, environment: [String: String] = [:]
    ) throws -> HeraldConfiguration {
        let key = try write("key-of-the-test\n", to: "api-key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try write("+61255501001|Harbour Dental\n", to: "brands.psv")
        return try HeraldConfiguration.load(
            path: try write(yaml, to: "herald.yaml"), secrets: secrets, environment: environment)
    }

    /// The problems of a text, without the folder's name; empty if the text is accepted.
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
