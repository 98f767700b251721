// SPDX-License-Identifier: Apache-2.0

import Yams

/// The values of a configuration file by their paths, for comparison with those of another file.
///
/// Entries of a list have their names, as in `trunks[carrier].region`, else their addresses or positions. The values are
/// those of the file: defaults and secrets are not among them.
package struct ConfigurationValues: Hashable, Sendable {
    /// A value of the file.
    struct Value: Hashable, Sendable {
        /// The text, or the texts of a list.
        var elements: [String]
        /// Lists of one element and single values mean the same, and differ in their form only.
        var isList: Bool

        static func == (left: Self, right: Self) -> Bool { left.elements == right.elements }
        func hash(into hasher: inout Hasher) { hasher.combine(elements) }
    }

    /// The paths in the order of the file.
    package private(set) var paths: [String] = []
    private(set) var values: [String: Value] = [:]
    /// Contents of files by the paths of the keys that name them.
    private(set) var contents: [String: Int] = [:]

    /// No values.
    package init() {}

    /// Whether the file has a value at a path.
    package func has(_ path: String) -> Bool { values[path] != nil }

    /// The values of a file without problems.
    ///
    /// - Parameter contents: contents by the paths of a schema, which number the entries of lists.
    init(_ root: Node.Mapping, contents: [String: Int]) {
        var names: [String: String] = [:]
        add(root, at: "", numbered: "", &names)
        for (path, hash) in contents { self.contents[names[path] ?? path] = hash }
    }

    private mutating func add(
        _ mapping: Node.Mapping, at path: String, numbered: String, _ names: inout [String: String]
    ) {
        for (key, node) in mapping {
            let key = key.scalar?.string ?? "?"
            let child = path.isEmpty ? key : "\(path).\(key)"
            add(node, at: child, numbered: numbered.isEmpty ? key : "\(numbered).\(key)", &names)
        }
    }

    private mutating func add(_ node: Node, at path: String, numbered: String, _ names: inout [String: String]) {
        names[numbered] = path
        switch node {
        case .scalar(let scalar): add(Value(elements: [scalar.string], isList: false), at: path)
        case .mapping(let mapping):
            if mapping.isEmpty { add(Value(elements: [], isList: true), at: path) }
            add(mapping, at: path, numbered: numbered, &names)
        case .sequence(let sequence):
            let labels = Self.labels(of: sequence)
            add(Value(elements: labels, isList: true), at: path)
            for (position, (element, label)) in zip(sequence, labels).enumerated() where element.scalar == nil {
                add(element, at: "\(path)[\(label)]", numbered: "\(numbered)[\(position)]", &names)
            }
        case .alias: break
        }
    }

    private mutating func add(_ value: Value, at path: String) {
        if values.updateValue(value, forKey: path) == nil { paths.append(path) }
    }

    /// The texts of a list's scalars, and the names, addresses or positions of its other elements.
    private static func labels(of sequence: Node.Sequence) -> [String] {
        for key in ["name", "address"] {
            let names = sequence.map { $0.mapping?[key]?.scalar?.string }
            guard !names.contains(nil), Set(names).count == names.count else { continue }
            return names.compactMap { $0 }
        }
        return sequence.enumerated().map { $1.scalar?.string ?? "\($0)" }
    }
}
