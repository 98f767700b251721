// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file that a person chose in a form.
package struct PageFile: Sendable {
    /// The name on the person's machine: foreign text.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
}

/// Reads the body of a form with files: `multipart/form-data` (RFC 7578, RFC 2046 §5.1).
enum MultipartForm {
    /// The most fields and files of a form.
    static let mostParts = 64
    /// The most bytes of the header of a part.
    static let headerLimit = 4096
    /// The most bytes of a boundary (RFC 2046 §5.1.1).
    private static let boundaryLimit = 70

    /// The boundary of a media type; nil for a form without files.
    static func boundary(of type: String?) -> String? {
        guard let type, type.lowercased().hasPrefix("multipart/form-data") else { return nil }
        return parameter("boundary", of: type)
    }

    /// The fields and files; nil for a body that breaks the format.
    ///
    /// The first of several equal names counts, as in a form of texts.
    static func decoded(_ body: [UInt8], boundary: String) -> PageForm? {
        guard (1...boundaryLimit).contains(boundary.utf8.count) else { return nil }
        let data = Data("\r\n".utf8) + Data(body)
        let delimiter = Data("\r\n--\(boundary)".utf8)
        guard var end = data.range(of: delimiter)?.upperBound else { return nil }
        var (fields, files): ([String: String], [String: PageFile]) = ([:], [:])
        for _ in 0...mostParts {
            if data[end...].starts(with: Data("--".utf8)) { return PageForm(fields: fields, files: files) }
            guard let line = data.range(of: Data("\r\n".utf8), in: end..<data.endIndex),
                let next = data.range(of: delimiter, in: line.lowerBound..<data.endIndex),
                let part = part(data[line.upperBound..<max(line.upperBound, next.lowerBound)])
            else { return nil }
            switch part.content {
            case .field(let text): if fields[part.name] == nil { fields[part.name] = text }
            case .file(let file): if files[part.name] == nil { files[part.name] = file }
            }
            end = next.upperBound
        }
        return nil
    }

    private enum Content {
        case field(String)
        case file(PageFile)
    }

    private static func part(_ data: Data) -> (name: String, content: Content)? {
        let blank = Data("\r\n\r\n".utf8)
        guard let gap = data.range(of: blank, in: data.startIndex..<min(data.startIndex + headerLimit, data.endIndex))
        else { return nil }
        let lines = String(decoding: data[..<gap.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }).map(String.init),
            let name = parameter("name", of: line)
        else { return nil }
        let bytes = data[gap.upperBound...]
        // A browser sends a file field without a file with an empty name.
        guard let file = parameter("filename", of: line) else {
            return (name, .field(String(decoding: bytes, as: UTF8.self)))
        }
        return (name, .file(PageFile(name: file, bytes: Array(bytes))))
    }

    /// A parameter of a header field, quoted or not; browsers write a quote in it as `%22`, and a semicolon as itself.
    private static func parameter(_ name: String, of field: String) -> String? {
        let pairs = field.matches(of: /;[ \t]*([A-Za-z]+)=(?:"([^"]*)"|([^;]*))/)
        guard let pair = pairs.first(where: { $0.1.lowercased() == name }) else { return nil }
        return pair.2.map(String.init) ?? pair.3.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

extension PageForm {
    /// Reads the body of an upload by another program.
    ///
    /// - Parameter type: the media type of the body, with its boundary.
    /// - Returns: nil unless it is a form with files.
    package static func multipart(_ body: [UInt8], type: String?) -> PageForm? {
        MultipartForm.boundary(of: type).flatMap { MultipartForm.decoded(body, boundary: $0) }
    }
}
