// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The scopes of the registrations.
enum CamaraScope: String, CaseIterable, Sendable {
    case create = "brand-registration:create"
    case read = "brand-registration:read"
    case update = "brand-registration:update"
    case delete = "brand-registration:delete"

    /// The scope that a method needs; nil for a method that no path has.
    init?(_ method: HTTPRequest.Method) {
        switch method {
        case .post: self = .create
        case .get: self = .read
        case .put: self = .update
        case .delete: self = .delete
        default: return nil
        }
    }
}
