// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore

/// A setting whose value is one of a few words.
///
/// Settings of the rules have the types of the rules. Their words are here, so a value without a word does not compile.
package protocol ConfigurationWord: CaseIterable, Equatable {
    /// The value as the file writes it.
    var word: String { get }
}

extension ConfigurationWord where Self: RawRepresentable, RawValue == String {
    package var word: String { rawValue }
}

extension BrandingPolicy: ConfigurationWord {}
extension CallingName.Umlauts: ConfigurationWord {}
extension HostedLogos.Missing: ConfigurationWord {}
extension PhoneFamily: ConfigurationWord {}
extension QuotePolicy: ConfigurationWord {}

extension BrandMode: ConfigurationWord {
    package var word: String {
        switch self {
        case .on: "true"
        case .shadow: "shadow"
        case .off: "false"
        }
    }
}

extension CalledField: ConfigurationWord {
    package var word: String {
        switch self {
        case .requestURI: "request_uri"
        case .to: "to"
        }
    }
}

extension CarrierNamePolicy: ConfigurationWord {
    package var word: String {
        switch self {
        case .replace: "replace"
        case .fill: "fill"
        case .keep: "keep"
        }
    }
}

extension IdentityHeader: ConfigurationWord {
    package var word: String {
        switch self {
        case .pAssertedIdentity: "pai"
        case .remotePartyID: "rpid"
        case .from: "from"
        }
    }
}

extension PercentPolicy: ConfigurationWord {
    package var word: String {
        switch self {
        case .spellOut: "spell_out"
        case .keep: "keep"
        }
    }
}

extension SIPTransportKind: ConfigurationWord {
    package var word: String {
        switch self {
        case .udp: "udp"
        case .tcp: "tcp"
        case .tls: "tls"
        }
    }
}

extension StrangerTreatment: ConfigurationWord {
    package var word: String {
        switch self {
        case .refuse: "refuse"
        case .drop: "drop"
        }
    }
}

extension UnmatchedCalls: ConfigurationWord {
    package var word: String {
        switch self {
        case .trunk: "trunk"
        case .reject: "reject"
        }
    }
}

extension HeraldConfiguration.CardLinkField: ConfigurationWord {
    package var word: String {
        switch self {
        case .off: "off"
        case .callInfo: "call_info"
        }
    }
}

extension VerstatMark: ConfigurationWord {
    package var word: String {
        switch self {
        case .off: "off"
        case .full: "full"
        case .levels: "levels"
        }
    }
}
