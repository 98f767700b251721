// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Primitives

/// The identifier and secret of an OAuth client: by HTTP Basic, or in the form (RFC 6749 §2.3.1).
struct ClientCredentials: Redacted {
    let id: String
    let secret: String

    /// Longest identifier or secret that is looked up, in bytes.
    private static let longest = 200

    /// - Throws: `TokenRefusal` for none, two, or ones that cannot be read.
    init(_ request: Request, _ form: [String: String]) throws {
        let header = request.headers[.authorization]
        let isInForm = form["client_id"] != nil || form["client_secret"] != nil
        guard header == nil || !isInForm else {
            throw TokenRefusal(.invalidRequest, "the client must authenticate by one method")
        }
        let found = header.map(Self.basic) ?? Self.pair(form["client_id"], form["client_secret"])
        guard let found, found.id.utf8.count <= Self.longest, found.secret.utf8.count <= Self.longest else {
            throw TokenRefusal(.invalidClient, "client_id and client_secret are needed, by HTTP Basic or in the form")
        }
        (id, secret) = found
    }

    private static func pair(_ id: String?, _ secret: String?) -> (id: String, secret: String)? {
        guard let id, let secret else { return nil }
        return (id, secret)
    }

    private static func basic(_ header: String) -> (id: String, secret: String)? {
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(words[1])),
            let text = String(bytes: bytes, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        return pair(FormBody.decoded(text[..<colon]), FormBody.decoded(text[text.index(after: colon)...]))
    }
}
