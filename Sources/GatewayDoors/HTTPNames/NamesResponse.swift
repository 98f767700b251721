// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import CallPath
import NIOHTTP1

/// The responses of the door for names.
///
/// Clients take any body for the name, whatever the status is. So a name has status 200, a caller without a brand too, and
/// every other status has no body.
extension DoorResponse {
    /// The name of a caller, as one line without its end, or as a JSON object.
    package init(_ name: CallerName, as format: NamesRequest.Format) {
        switch format {
        case .text: self.init(.ok, Array(name.text.utf8), "text/plain; charset=utf-8")
        case .json: self.init(.ok, Self.json(name), "application/json")
        }
    }

    /// The response to any method but GET and HEAD.
    static let onlyGet = DoorResponse(.methodNotAllowed, fields: [Field("Allow", "GET, HEAD")])

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
