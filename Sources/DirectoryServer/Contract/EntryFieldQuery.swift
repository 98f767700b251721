// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Hummingbird

/// Reads the fields that a client asks for: `fields=brand_name,logo_url`, or `lightweight=true` for none but those that are
/// always there.
///
/// Source: mobile-api, "List Stories with Field Filtering" and "Lightweight List Mode".
enum EntryFieldQuery {
    /// Of both parameters, `fields` counts. A name twice counts once.
    ///
    /// - Throws: `Refusal` (400) for an unknown or empty name.
    static func read(_ request: Request) throws -> Set<EntryField> {
        let always = Set(EntryField.allCases.filter { !$0.isOptional })
        let lists = request.uri.queryParameters[values: "fields"]
        let isLight = try isLight(request)
        if lists.isEmpty { return isLight ? always : EntryField.all }
        return try lists.reduce(into: always) { fields, list in
            for name in list.split(separator: ",", omittingEmptySubsequences: false) {
                fields.insert(try field(name))
            }
        }
    }

    private static func isLight(_ request: Request) throws -> Bool {
        switch QueryText.read("lightweight", of: request) {
        case nil, "false": false
        case "true": true
        default: throw Refusal.badRequest("lightweight must be true or false")
        }
    }

    private static func field(_ name: Substring) throws -> EntryField {
        if let field = EntryField(rawValue: String(name)) { return field }
        let known = EntryField.allCases.map(\.rawValue)
        let problem = name.isEmpty ? "fields has an empty name" : "Unknown name \(name.prefix(64)) in fields"
        var refusal = Refusal.badRequest("\(problem); the names are \(known.joined(separator: ", "))")
        refusal.details = ["allowed": .array(known.map { .string($0) })]
        throw refusal
    }
}
