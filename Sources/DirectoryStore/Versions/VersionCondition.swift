// SPDX-License-Identifier: Apache-2.0

/// The condition of a change on the present version of its object (RFC 9110 §13.1).
///
/// The store evaluates it in the transaction of the change, so of two changes from one version only the first is made.
package struct VersionCondition: Hashable, Sendable {
    /// The versions that a condition names.
    package enum Versions: Hashable, Sendable {
        /// Any version of an object that exists: `*`.
        case any
        case listed([String])

        fileprivate func contain(_ version: ValueVersion?) -> Bool {
            guard let version else { return false }
            return switch self {
            case .any: true
            case .listed(let texts): texts.contains(version.text)
            }
        }

        fileprivate var first: String? {
            switch self {
            case .any: "*"
            case .listed(let texts): texts.first
            }
        }
    }

    /// The change is made only from one of these versions; nil for any state.
    package var needed: Versions?
    /// The change is not made from one of these versions; `any` creates only.
    package var excluded: Versions?

    package init(needed: Versions? = nil, excluded: Versions? = nil) {
        (self.needed, self.excluded) = (needed, excluded)
    }

    /// The condition that always holds.
    package static let none = VersionCondition()

    /// The condition of a form that began with a version.
    package static func from(_ version: String) -> VersionCondition {
        VersionCondition(needed: .listed([version]))
    }

    /// - Parameter present: nil for an object that does not exist.
    /// - Throws: `VersionConflict`.
    func check(_ present: ValueVersion?, _ resource: VersionConflict.Resource, _ id: String) throws {
        if let needed, !needed.contain(present) {
            throw VersionConflict(resource, id, client: needed.first, present)
        }
        if let excluded, excluded.contain(present) { throw VersionConflict(resource, id, client: nil, present) }
    }
}
