// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Finds a stored name that is similar to a mistyped one, for errors of operators.
struct SimilarName {
    /// Most names that are compared, so that an error costs milliseconds.
    private static let most = 5_000

    private let database: any SQLConnection

    init(_ database: any SQLConnection) { self.database = database }

    /// The most similar name; nil without a similar one.
    ///
    /// - Parameter query: gives the names in a column `name`.
    func of(_ word: String, _ query: String, _ arguments: SQLArguments = []) throws -> String? {
        let names = try database.rows("\(query) ORDER BY name LIMIT \(Self.most)", arguments).map {
            $0["name"] as String
        }
        return NearestName.find(word, among: names)
    }

    /// `; did you mean "…"?`, or nothing.
    static func hint(_ similar: String?) -> String { similar.map { "; did you mean \"\($0)\"?" } ?? "" }
}
