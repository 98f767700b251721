// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation

/// An address as people copy it from a carrier's page: also as a SIP URI.
enum SIPAddressText {
    /// The host with its port, without a scheme and parameters.
    ///
    /// - Throws: for TCP and TLS, which setup does not write.
    static func bare(_ text: String) throws(SetupProblem) -> String {
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard word.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SetupProblem("\"\(word)\" is not an IPv4 or IPv6 address, and no host name")
        }
        let lowered = word.lowercased()
        let isStream = lowered.hasPrefix("sips:") || lowered.contains(";transport=t")
        guard !isStream else {
            throw SetupProblem(
                "\"\(word)\" needs TCP or TLS; setup writes UDP: give the address alone, and add transport to the file "
                    + "later")
        }
        guard !lowered.contains("://") else {
            throw SetupProblem("\"\(word)\" is a URL; write an address with an optional port, such as 203.0.113.5:5060")
        }
        let host = lowered.hasPrefix("sip:") ? word.dropFirst(4) : word[...]
        return String(host.prefix { $0 != ";" && $0 != "?" })
    }

    /// Reads an address or a host name, with 5060 as the default port.
    static func read(_ text: String, allowsNames: Bool = true) throws(SetupProblem) -> EndpointAddress {
        let address = try bare(text)
        do throws(AddressProblem) {
            return try EndpointAddress.read(address, defaultPort: 5060, allowsNames: allowsNames)
        } catch {
            throw SetupProblem("\(error)")
        }
    }
}
