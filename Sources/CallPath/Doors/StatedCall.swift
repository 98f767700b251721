// SPDX-License-Identifier: Apache-2.0

/// The parts of a call that the client of a door states.
///
/// Bytes as the client sent them, without the escapes of its protocol. Each part may be empty and of any content.
public struct StatedCall: Hashable, Sendable {
    /// The caller's number, with or without its plus sign.
    public var number: [UInt8]
    /// The caller's present display name.
    public var name: [UInt8]
    /// The called number, which chooses route and customer.
    public var called: [UInt8]
    /// The carrier's attestation: a verstat value, or a level such as `A`.
    public var attestation: [UInt8]

    /// A call of which some parts are known.
    public init(
        number: [UInt8], name: [UInt8] = [], called: [UInt8] = [], attestation: [UInt8] = []
    ) {
        (self.number, self.name) = (number, name)
        (self.called, self.attestation) = (called, attestation)
    }
}
