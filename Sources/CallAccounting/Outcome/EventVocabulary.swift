// SPDX-License-Identifier: Apache-2.0

/// The terms that a directory expects in events; each is configurable, none may be empty.
///
/// Directories differ (`branding_disabled` or `disabled`, `returned` or `call_returned`). The term is also the first
/// half of the event's key. Source: securenode-endpoint-contract §7.
public struct EventVocabulary: Hashable, Sendable {
    /// A branded call alerted or was answered.
    public var displayed = "displayed"
    /// A branded call ended and was not missed.
    public var callSeen = "call_seen"
    /// A branded call ended and nobody picked up.
    public var missed = "missed"
    /// The subscriber called the brand back.
    public var returned = "returned"
    /// The directory's own gates kept the brand from being shown.
    public var brandingDisabled = "branding_disabled"
    /// A branded call failed before any phone alerted.
    public var error = "error"
    /// No brand for the caller; sent for the share `noMatchShare` of such calls.
    public var noMatch = "no_match"
    /// The contract's `surface` of every event.
    public var surface = "sip"
    /// `meta.identity_type` of branded calls: the identity is a directory's brand and not a certificate.
    public var identityType = "brand"
    /// The reported share of calls without a brand, 0 to 1.
    ///
    /// 0 by default, because these events disclose numbers of callers that the directory does not list.
    public var noMatchShare = 0.0

    public init() {}
}
