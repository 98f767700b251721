// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host

/// Reads a secret from a file or the environment, never from the configuration file.
///
/// No message repeats the configured value, because a secret may have been written under the wrong key.
struct SecretSchema {
    let file: ConfigurationFile

    /// Reads `<name>_file` or `<name>_env`. One of them is required.
    func read(
        _ section: ConfigurationSection, _ name: String, secrets: HeraldConfiguration.Secrets
    ) -> ConfiguredSecret? {
        let fileKey = name + "_file"
        let variableKey = name + "_env"
        if section.has(name) {
            section.problem(
                name, "secrets are not allowed in this file; use \(fileKey) or \(variableKey)"
            )
        }
        let path = section.string(fileKey)
        let variable = section.string(variableKey)
        switch (path, variable) {
        case (nil, nil):
            if !section.has(name), !section.has(fileKey), !section.has(variableKey) {
                section.missing(fileKey, "/etc/herald/" + name.replacing("_", with: "-"))
            }
            return nil
        case (_?, _?):
            section.problem(variableKey, "cannot be combined with \(fileKey); the secret has one source")
            return nil
        case (let path?, nil):
            return secrets == .read ? fromFile(path, section, fileKey) : nil
        case (nil, let variable?):
            return secrets == .read ? fromEnvironment(variable, section, variableKey) : nil
        }
    }

    /// Reads the keys of a required file: one to three lines of 32 hexadecimal digits.
    ///
    /// - Returns: nil after a problem; empty if secrets are ignored.
    func readKeys(
        _ section: ConfigurationSection, _ key: String, secrets: HeraldConfiguration.Secrets
    ) -> [ConfiguredSecret]? {
        guard let path = section.string(key) else {
            if !section.has(key) { section.missing(key, "/etc/herald/cluster-secret") }
            return nil
        }
        guard secrets == .read else { return [] }
        let found = file.resolved(path)
        guard let data = FileManager.default.contents(atPath: found) else {
            section.problem(key, "\(found) cannot be read: \(SystemError.ofReading(found))")
            return nil
        }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        let areKeys = lines.allSatisfy { $0.utf8.count == 32 && $0.utf8.allSatisfy(Self.isDigit) }
        guard areKeys, (1...3).contains(lines.count), Set(lines).count == lines.count else {
            section.problem(
                key,
                "\(found) contains no valid secrets: expected one to three different lines of 32 hexadecimal digits")
            return nil
        }
        var status = stat()
        let isOpen = stat(found, &status) == 0 && status.st_mode & S_IROTH != 0
        section.keep(data, of: key)
        return lines.map { ConfiguredSecret($0, openFile: isOpen ? found : nil) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private func fromFile(_ path: String, _ section: ConfigurationSection, _ key: String) -> ConfiguredSecret? {
        // Text that starts with a slash or a dot is a path. Other text may be the secret itself.
        let shown = path.hasPrefix("/") || path.hasPrefix(".") ? file.resolved(path) : "the file"
        let found = file.resolved(path)
        guard let data = FileManager.default.contents(atPath: found) else {
            // It names the path only of a file that exists: other text may be the secret itself.
            let obstacle = ConfigurationSection.obstacle(ofReading: found)
            section.problem(key, "\(shown) cannot be read: \(obstacle)")
            return nil
        }
        guard let secret = checked(String(decoding: data, as: UTF8.self), shown, section, key) else { return nil }
        var status = stat()
        let isOpen = stat(found, &status) == 0 && status.st_mode & S_IROTH != 0
        // The file holds a usable secret, so its name is none.
        return ConfiguredSecret(secret, openFile: isOpen ? found : nil, source: "the file \(found)")
    }

    private func fromEnvironment(
        _ variable: String, _ section: ConfigurationSection, _ key: String
    ) -> ConfiguredSecret? {
        guard let text = file.environment[variable] else {
            section.problem(key, "the environment variable is not set")
            return nil
        }
        return checked(text, "the variable", section, key).map {
            ConfiguredSecret($0, source: "the environment variable \(variable)")
        }
    }

    private func checked(
        _ text: String, _ holder: String, _ section: ConfigurationSection, _ key: String
    ) -> String? {
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...1024).contains(secret.utf8.count), secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            section.problem(
                key, "\(holder) contains no valid secret: expected one line of 1 to 1024 visible ASCII characters")
            return nil
        }
        section.keep(Data(secret.utf8), of: key)
        return secret
    }
}
