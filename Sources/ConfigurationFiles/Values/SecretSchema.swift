// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads a secret from a file or the environment, never from the configuration file.
///
/// No message repeats the configured value, because a secret may have been written under the wrong key.
struct SecretSchema {
    let file: ConfigurationFile

    /// Reads `<name>_file` or `<name>_env`.
    ///
    /// One of them is required.
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
        return ConfiguredSecret(secret, openFile: isOpen ? found : nil)
    }

    private func fromEnvironment(
        _ variable: String, _ section: ConfigurationSection, _ key: String
    ) -> ConfiguredSecret? {
        guard let text = file.environment[variable] else {
            section.problem(key, "the environment variable is not set")
            return nil
        }
        return checked(text, "the variable", section, key).map { ConfiguredSecret($0) }
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
        return secret
    }
}
