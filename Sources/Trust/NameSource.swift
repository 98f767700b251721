// SPDX-License-Identifier: Apache-2.0

/// The place that the name of a call comes from.
///
/// The raw value is stored with the call. A case keeps its raw value.
public enum NameOrigin: UInt8, Hashable, Sendable, CaseIterable {
    /// No name was written.
    case none
    /// The directory alone.
    case directory
    /// A signature alone (RFC 9795).
    case signature
    /// Both have the same name.
    case both
}

extension TrustRegime.Names {
    /// The place that the name of a call comes from.
    ///
    /// - Parameters:
    ///   - hasDirectory: whether the directory has a name for the number.
    ///   - hasSignature: whether a signature bears out a name.
    ///   - agree: whether both names are the same.
    public func origin(hasDirectory: Bool, hasSignature: Bool, agree: Bool) -> NameOrigin {
        let directory: NameOrigin = !hasDirectory ? .none : agree ? .both : .directory
        let signature: NameOrigin = !hasSignature ? .none : agree ? .both : .signature
        switch self {
        case .directoryOnly: return directory
        case .directoryFirst: return hasDirectory ? directory : signature
        case .rcdFirst: return hasSignature ? signature : directory
        // A directory with the same name adds nothing here: none of its values may be written.
        case .rcdOnly: return hasSignature ? .signature : .none
        case .mustAgree: return agree ? .both : .none
        }
    }

    /// Whether signed values are written before those of the directory.
    public var prefersSignature: Bool { self == .rcdFirst || self == .rcdOnly }

    /// Whether values of the directory may be written.
    public var takesDirectory: Bool { self != .rcdOnly }

    /// Whether values that a signature alone has may be written.
    public var takesSignature: Bool { self != .directoryOnly }

    /// Whether a call without a signed name has no name of the directory either.
    public var needsSignature: Bool { self == .mustAgree || self == .rcdOnly }
}

extension TrunkSignatures {
    /// The source of names: that of the trunk, else that of the first regime.
    public var nameSource: TrustRegime.Names {
        names ?? (policy.regimes.isEmpty ? .directoryFirst : policy.regimes[0].names)
    }
}
