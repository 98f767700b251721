// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles

/// A request for a name: `GET /name/{number}?format=…&called=…&verstat=…&name=…`.
///
/// Clients send the number with a plus sign, its escape, a blank in its place, or none. Some write a name into the query
/// as it is, so `name` is the last parameter and reaches to the end of the query. Some write the caller's number as it is, which
/// may then begin a query of its own: `called` and `verstat` count only if a key names them.
package struct NamesRequest: Hashable, Sendable {
    /// The form of the response.
    package enum Format: String, Sendable, CaseIterable { case text, json }

    /// The cause of a request that no name belongs to.
    package enum Problem: Error, Hashable, Sendable {
        /// The path is not `/name/` with a number.
        case path
        /// `format` is neither text nor json.
        case format
    }

    /// A parameter besides the number.
    package typealias Statement = HeraldConfiguration.Doors.Names.Statement

    /// The path of a request.
    package static let route = "/name/{number}"

    package var call: StatedCall
    package var format: Format

    /// Reads the target of a request line.
    ///
    /// A number that is missing or unreadable is no problem of the request: the caller has no brand.
    ///
    /// - Parameters:
    ///   - target: at most some kilobytes; the decoder of the connection limits it.
    ///   - states: the parameters that count; the others are ignored.
    package init(target: some Collection<UInt8>, states: [Statement]) throws(Problem) {
        let target = Array(target)[...]
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let number = try Self.number(in: path)
        var query = Query(target[path.endIndex...].dropFirst())
        query.read()
        call = StatedCall(
            number: number, name: query.name, called: (states.contains(.called) ? query.called : nil) ?? [],
            attestation: (states.contains(.verstat) ? query.verstat : nil) ?? [])
        format = .text
        if let word = query.format {
            guard let known = Format(rawValue: String(decoding: word, as: UTF8.self)) else { throw .format }
            format = known
        }
    }

    /// The bytes behind `/name/`, without escapes.
    private static func number(in path: ArraySlice<UInt8>) throws(Problem) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let parts = path.drop { $0 == slash }
        let word = parts.prefix { $0 != slash }
        guard path.first == slash, word.elementsEqual("name".utf8) else { throw .path }
        var number = parts[word.endIndex...].drop { $0 == slash }
        while number.last == slash { number.removeLast() }
        return PercentEscapes.resolved(number)
    }
}

/// The parameters of a query, read as leniently as clients write them.
private struct Query {
    private(set) var name: [UInt8] = []
    private(set) var format: [UInt8]?
    private(set) var called: [UInt8]?
    private(set) var verstat: [UInt8]?
    private var rest: ArraySlice<UInt8>

    init(_ query: ArraySlice<UInt8>) { rest = query }

    /// Reads all parameters. The first one of a name counts, and nothing within a caller's name does.
    mutating func read() {
        while !rest.isEmpty {
            if rest.starts(with: "name=".utf8) { return readName() }
            let part = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[part.endIndex...].dropFirst()
            let key = part.prefix { $0 != UInt8(ascii: "=") }
            let value = Self.filled(PercentEscapes.resolved(part[key.endIndex...].dropFirst()))
            switch String(decoding: key, as: UTF8.self) {
            case "format": format = format ?? value
            case "called": called = called ?? value
            case "verstat": verstat = verstat ?? value
            default: break
            }
        }
    }

    /// Reads the name, which may contain `&` and `=`.
    ///
    /// A format behind it counts if none is before it, and at the end of the query alone.
    private mutating func readName() {
        var value = rest.dropFirst("name=".utf8.count)
        rest = []
        if format == nil {
            for known in NamesRequest.Format.allCases {
                let ending = Array("&format=\(known.rawValue)".utf8)
                guard value.suffix(ending.count).elementsEqual(ending) else { continue }
                format = Array(known.rawValue.utf8)
                value = value.dropLast(ending.count)
                break
            }
        }
        name = Self.utf8(Self.filled(PercentEscapes.resolved(Self.withBlanks(value))) ?? [])
    }

    /// Nil for an empty value, and for a variable that the client has not filled: `[NAME]`, `${name}`, `{{.Name}}`, `<null>`.
    private static func filled(_ value: [UInt8]) -> [UInt8]? {
        let forms = [("[", "]"), ("${", "}"), ("$(", ")"), ("{{", "}}"), ("<null>", "")]
        let isVariable = forms.contains { opening, closing in
            value.starts(with: opening.utf8) && value.suffix(closing.utf8.count).elementsEqual(closing.utf8)
        }
        return value.isEmpty || isVariable ? nil : value
    }

    /// Plus signs of a form as blanks; a value with `%20` has plus signs of its own.
    private static func withBlanks(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let plus = UInt8(ascii: "+")
        guard value.contains(plus), !hasEscapedBlank(value) else { return value }
        return ArraySlice(value.map { $0 == plus ? UInt8(ascii: " ") : $0 })
    }

    private static func hasEscapedBlank(_ value: ArraySlice<UInt8>) -> Bool {
        value.indices.contains { value[$0...].starts(with: "%20".utf8) }
    }

    /// Bytes that are no UTF-8 as Latin-1, which some PBXs have.
    private static func utf8(_ name: [UInt8]) -> [UInt8] {
        guard String(validating: name, as: UTF8.self) == nil else { return name }
        return Array(String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) })).utf8)
    }
}
