// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore
import GatewaySync
import Trust

/// The state of the fetches of one address, for the operator.
struct FetchWords {
    private let fetch: StoredFetch?

    /// - Parameter fetch: nil for an address that was never fetched.
    init(_ fetch: StoredFetch?) { self.fetch = fetch }

    /// The name of the cause of the last failure; nil without one.
    var cause: String? { fetch?.cause.map(TrustWords.cause) }

    /// The last failure in a table.
    var short: String {
        guard let fetch else { return "-" }
        guard let cause else { return "waits for a call" }
        return "\(cause), \(fetch.attempts) failed, next after \(OperatorTime.text(fetch.nextAt))"
    }

    /// Why an address has no certificate: the last failure, or the reason for which nothing was fetched.
    ///
    /// - Parameter rules: the addresses that the regimes with fetching allow.
    func absence(of address: String, under rules: [AddressRules]) -> String {
        if let fetch, let cause {
            return
                "\(cause) by the last fetch: \(fetch.reason); \(fetch.attempts) failed in a row, the next one for a call "
                + "after \(OperatorTime.text(fetch.nextAt))"
        }
        guard !rules.isEmpty else {
            return "its certificate is not fetched, since fetch is off; import its chain with herald trust import"
        }
        guard CertificateFetch.allows(address, under: rules) else {
            return "its certificate is not fetched: \(CertificateProblem.notAllowed)"
        }
        return "its certificate has not been fetched yet: a fresh call on a trunk with fetch: on has it fetched"
    }

    /// Lines of `herald trust show`; none for an address that was never fetched.
    var lines: [String] {
        guard let fetch else { return [] }
        var lines: [String] = []
        if let fetchedAt = fetch.fetchedAt {
            let expires = fetch.expiresAt.map { ", kept until \(OperatorTime.text($0))" } ?? ""
            lines.append("  fetched     \(OperatorTime.text(fetchedAt)) from its address\(expires)")
        }
        if let cause {
            lines.append("  last fetch  \(cause): \(fetch.reason); \(fetch.attempts) failed in a row")
        }
        lines.append("  next fetch  not before \(OperatorTime.text(fetch.nextAt))")
        if fetch.isRenewed {
            lines.append(
                "  renewed     fetched again for a call that it failed; the next import permits another one")
        }
        return lines
    }

    /// Members of the JSON forms.
    var json: [String: JSONValue?] {
        guard let fetch else { return [:] }
        return [
            "fetched_at": fetch.fetchedAt.flatMap { JSONValue(seconds: $0) },
            "expires_at": fetch.expiresAt.flatMap { JSONValue(seconds: $0) },
            "next_fetch_at": JSONValue(seconds: fetch.nextAt), "fetch_failures": .int(fetch.attempts),
            "fetch_cause": JSONValue(cause), "fetch_reason": fetch.reason.isEmpty ? nil : .string(fetch.reason),
        ]
    }
}
