// SPDX-License-Identifier: Apache-2.0

/// A change that was not made, because another client has changed the object meanwhile.
///
/// Source: mobile-api, `SYNC_CONFLICT`.
package struct VersionConflict: OperatorError, Hashable {
    /// The kind of an object with a version.
    package enum Resource: String, Hashable, Sendable {
        case account, brand, number
    }

    package let resource: Resource
    /// The name of an account, the identifier of a brand, or a number in E.164.
    package let id: String
    /// The first version of the client's condition; nil for a client that expects no object.
    package let clientVersion: String?
    /// Nil for an object that does not exist.
    package let serverVersion: String?
    /// The fields whose present values differ from those of the client's version.
    package let fields: [String]

    init(_ resource: Resource, _ id: String, client: String?, _ present: ValueVersion?) {
        (self.resource, self.id, clientVersion, serverVersion) = (resource, id, client, present?.text)
        fields = present?.fields(changedSince: client) ?? []
    }

    package var kind: OperatorMistakeKind { .conflict }

    package var description: String {
        if clientVersion == nil {
            return
                "the \(resource.rawValue) \"\(id)\" exists; nothing was saved; read its present values, then change it"
        }
        if serverVersion == nil {
            return "the \(resource.rawValue) \"\(id)\" does not exist; nothing was saved; create it without a version"
        }
        return """
            the \(resource.rawValue) "\(id)" was changed meanwhile; nothing was saved; compare its present values, then \
            save again
            """
    }
}
