// SPDX-License-Identifier: Apache-2.0

import Branding

/// Reads the keys of a trunk about numbers and attestation.
enum TrunkIdentitySchema {
    /// Reads emergency numbers in addition to those of the region: `[0000, 0112]`.
    static func emergencyNumbers(_ section: ConfigurationSection) -> [String] {
        section.list("emergency_numbers") { text throws(AddressProblem) in
            guard EmergencyNumbers.isDialled(text) else {
                throw .unfit(
                    "\"\(text)\" is not an emergency number (2 to \(EmergencyNumbers.maxDigits) digits as dialled, "
                        + "such as 0000)")
            }
            return text
        }
    }

    /// Reads domain names of phone-contexts for the trunk's national numbers.
    static func phoneContexts(_ section: ConfigurationSection) -> [String] {
        section.list("phone_contexts") { text throws(AddressProblem) in
            let isName = text.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
            guard isName, text.utf8.count <= 255 else {
                throw .unfit(
                    "\"\(text)\" is not a domain name; contexts such as +61 need no entry")
            }
            return text
        }
    }

    /// Reads the names of header fields with the carrier's attestation.
    static func attestationHeaders(_ section: ConfigurationSection) -> [String] {
        section.list("attestation_header") { text throws(AddressProblem) in
            let name = text.lowercased()
            let isToken = name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
            guard isToken, name.utf8.count <= 64, name.hasPrefix("x-") || name.hasPrefix("p-"), name.utf8.count > 2,
                !readOtherwise.contains(name)
            else {
                throw .unfit(
                    "\"\(text)\" cannot be an attestation header (use a name that starts with X- or P-, such as "
                        + "X-Twilio-VerStat)")
            }
            return text
        }
    }

    /// Names with another meaning, and names that are read without configuration.
    private static let readOtherwise: Set<String> = [
        "p-asserted-identity", "p-preferred-identity", "p-attestation-indicator", "p-origination-id", "x-auth-ip",
        "x-auth-port",
    ]
}
