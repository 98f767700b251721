// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import CallPath
package import NIOHTTP1

/// A response of the door for names.
///
/// Clients take any body for the name, whatever the status is. So a name has status 200, a caller without a brand too, and
/// every other status has no body.
package struct NamesResponse: Hashable, Sendable {
    package let status: HTTPResponseStatus
    /// Empty for none.
    package let body: [UInt8]
    /// Nil without a body.
    package let contentType: String?
    /// The methods of a 405; nil for other responses.
    package let allow: String?

    private init(_ status: HTTPResponseStatus, _ body: [UInt8] = [], _ contentType: String? = nil, allow: String? = nil)
    {
        (self.status, self.body, self.contentType, self.allow) = (status, body, contentType, allow)
    }

    /// The name of a caller, as one line without its end, or as a JSON object.
    package init(_ name: CallerName, as format: NamesRequest.Format) {
        switch format {
        case .text: self.init(.ok, Array(name.text.utf8), "text/plain; charset=utf-8")
        case .json: self.init(.ok, Self.json(name), "application/json")
        }
    }

    /// The response to a client that is not in `doors.names.allow`.
    package static let notAllowed = NamesResponse(.forbidden)
    /// The response to any method but GET and HEAD.
    package static let wrongMethod = NamesResponse(.methodNotAllowed, allow: "GET, HEAD")

    /// The response to a request without a name.
    package init(_ problem: NamesRequest.Problem) {
        switch problem {
        case .path: self.init(.notFound)
        case .format: self.init(.badRequest)
        }
    }

    /// A caller without a brand has no member `name` unless the request has one. A withheld number appears nowhere.
    private static func json(_ name: CallerName) -> [UInt8] {
        var text = JSONText()
        text.object { object in
            object.add("name", name.text.isEmpty ? nil : name.text)
            object.add("matched", name.isBranded)
            object.add("number", name.number?.description)
            object.add("decision", name.reason?.description ?? "matched")
            object.add("brand_id", name.brandID)
        }
        return text.bytes
    }
}
