// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import Synchronization

/// A folder with the configuration of one gateway, removed with the object.
package final class GatewayFolder: Sendable {
    package let path = FileManager.default.temporaryDirectory.path + "/herald-app-\(UUID().uuidString)"
    /// A loopback address that no other gateway of this process has.
    package let address: String

    private static let count = Mutex(UInt16.random(in: 0 ... .max))

    package init() throws {
        let number = Self.count.withLock { count in
            count &+= 1
            return count
        }
        address = "127.84.\(number >> 8).\(number & 0xFF)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package var configurationPath: String { path + "/herald.yaml" }

    /// Every section that a gateway without directory needs, each in one line.
    package var sections: ConfigurationText {
        ConfigurationText(sections: [
            "gateway": "{id: edge, state: state, runtime: run}", "listen": "[{name: sip, address: '\(address):5060'}]",
            "trunks":
                "[{name: carrier, sources: [127.85.0.1], next_hop: '127.85.0.1:5060', region: AU, trusted: true}]",
            "pbx": "[{name: office, address: '127.85.0.2:5060'}]", "admin": "{enabled: false}",
        ])
    }

    /// Writes the configuration file.
    package func write(_ text: ConfigurationText) throws { try write(text.text) }

    /// Writes the configuration file.
    package func write(_ text: String) throws {
        try text.write(toFile: configurationPath, atomically: true, encoding: .utf8)
    }

    /// Writes and reads the configuration file.
    package func configuration(_ text: ConfigurationText) throws -> HeraldConfiguration {
        try write(text)
        return try HeraldConfiguration.load(path: configurationPath, environment: ["KEY": "k3y"])
    }

    /// Puts bytes into a file of the folder, with the folders above it.
    package func put(_ bytes: [UInt8], in name: String) throws {
        let url = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    /// The bytes of a file of the folder; nil without it.
    package func bytes(of name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path + "/" + name).map { [UInt8]($0) }
    }
}

/// The sections of a configuration file, each in one line.
package struct ConfigurationText: Sendable {
    package var sections: [String: String]

    package var text: String { sections.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined() }

    /// The same with another text for one section.
    package func with(_ section: String, _ value: String) -> ConfigurationText {
        var next = self
        next.sections[section] = value
        return next
    }
}
