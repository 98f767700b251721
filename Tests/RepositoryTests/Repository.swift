// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The files of this repository as a test sees them; found from where this file was compiled.
enum Repository {
    /// The folder that holds Package.swift.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Top-level folders that are somebody else's: build products and version control.
    private static let foreign: Set<String> = [".build", ".git"]

    /// Paths of all files under a folder, relative to the root, sorted; the whole repository for "".
    static func paths(under folder: String = "") -> [String] {
        let top = folder.isEmpty ? root : root.appendingPathComponent(folder)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: top.path) else { return [] }
        return names.sorted().flatMap { name -> [String] in
            let path = folder.isEmpty ? name : folder + "/" + name
            if foreign.contains(name) || name.hasPrefix(".build") || name == "__pycache__" { return [] }
            return isFolder(path) ? paths(under: path) : [path]
        }
    }

    /// Paths of all files under a folder whose name ends with one of the endings.
    static func paths(under folder: String, endingWith endings: [String]) -> [String] {
        paths(under: folder).filter { path in endings.contains { path.hasSuffix($0) } }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(
            atPath: root.appendingPathComponent(path).path, isDirectory: &isFolder)
        return exists && isFolder.boolValue
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The text of a file, bytes that are no UTF-8 replaced.
    static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self)
    }

    /// The text of the one source file with a name, wherever it lies.
    static func text(named name: String) throws -> String {
        let found = paths(under: "Sources").filter { $0.hasSuffix("/" + name) }
        guard let path = found.first, found.count == 1 else { throw CocoaError(.fileNoSuchFile) }
        return try text(path)
    }

    /// The lines of a file, without the empty one behind the last line end.
    static func lines(_ path: String) throws -> [Substring] {
        var lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
