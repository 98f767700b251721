// SPDX-License-Identifier: Apache-2.0

package import NIOHTTP1

/// A response of a door by HTTP.
package struct DoorResponse: Hashable, Sendable {
    /// A header field beside those of each response.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package let status: HTTPResponseStatus
    /// Empty for none.
    package let body: [UInt8]
    /// Nil without a body.
    package let contentType: String?
    package var fields: [Field]

    package init(
        _ status: HTTPResponseStatus, _ body: [UInt8] = [], _ contentType: String? = nil, fields: [Field] = []
    ) {
        (self.status, self.body, self.contentType, self.fields) = (status, body, contentType, fields)
    }

    /// The response to a client that the door does not serve.
    package static let notAllowed = DoorResponse(.forbidden)
}
