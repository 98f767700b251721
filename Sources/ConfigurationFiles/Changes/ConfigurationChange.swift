// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A setting that differs between two configuration files.
///
/// No text has a secret: the files have none, and `ShownURL` leaves out the secret parts of URLs.
package struct ConfigurationChange: Hashable, Sendable {
    /// Its place, such as `trunks[carrier].region`.
    package let path: String
    /// The earlier value; nil where the file had none. A list is in brackets.
    package let old: String?
    /// The later value; nil where the file has none.
    package let new: String?
    /// Elements that a list gets; empty for a single value, and for a list that comes or goes as a whole.
    package let added: [String]
    /// Elements that a list loses.
    package let removed: [String]
    /// True if the value is the same and names a file with another content.
    package let isContent: Bool

    init(
        _ path: String, from old: ConfigurationValues.Value?, to new: ConfigurationValues.Value?,
        isContent: Bool = false
    ) {
        self.path = path
        let shown = ShownValue(path: path)
        (self.old, self.new) = (old.map(shown.text), new.map(shown.text))
        self.isContent = isContent
        guard let old, let new, old.isList || new.isList, !isContent else {
            (added, removed) = ([], [])
            return
        }
        let (before, after) = (Set(old.elements), Set(new.elements))
        added = new.elements.filter { !before.contains($0) }.map(shown.text)
        removed = old.elements.filter { !after.contains($0) }.map(shown.text)
    }
}

extension ConfigurationValues {
    /// The settings that differ from those of an earlier file: in the order of this file, then the ones that it lacks.
    package func changes(from earlier: ConfigurationValues) -> [ConfigurationChange] {
        let known = Set(paths)
        let all = paths + earlier.paths.filter { !known.contains($0) }
        return all.compactMap { path in
            let (old, new) = (earlier.values[path], values[path])
            guard old == new else { return ConfigurationChange(path, from: old, to: new) }
            guard earlier.contents[path] != contents[path] else { return nil }
            return ConfigurationChange(path, from: old, to: new, isContent: true)
        }
    }
}

/// Writes values of one setting for an operator.
private struct ShownValue {
    let path: String

    func text(_ value: ConfigurationValues.Value) -> String {
        let texts = value.elements.map(text)
        return value.isList ? "[\(texts.joined(separator: ", "))]" : texts.first ?? ""
    }

    func text(_ text: String) -> String { isSecret ? "<redacted>" : shown(text) }

    /// Whether the key is that of a secret, which a schema refuses in a file.
    private var isSecret: Bool {
        let key = path.split(separator: ".").last ?? ""
        return ["secret", "password", "token", "api_key", "auth_key", "ledger_password"].contains(String(key))
    }

    private func shown(_ text: String) -> String {
        path.hasSuffix("webhook.url") ? ShownURL.withoutPath(text) : ShownURL.text(text)
    }
}
