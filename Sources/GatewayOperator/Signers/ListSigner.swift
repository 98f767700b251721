// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Primitives
import Trust

/// The signer of a fetched list: its certificate is fetched if no stored one verifies the list.
///
/// The list names the address, and it is not verified yet. So the certificate comes from the host of the list alone, which the
/// operator has named. It counts by its chain to `list_root`.
struct ListSigner: Sendable {
    /// The certificate of a list's signer could not be fetched.
    struct Failure: Error, CustomStringConvertible {
        /// The reason for which the list was refused without it.
        let reason: String
        let problem: CertificateProblem

        var description: String { "\(reason); the present certificate cannot be fetched: \(problem)" }
    }

    let list: ListAddress
    let fetch: CertificateFetch

    /// Takes in a list.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the change, and the address of a certificate that was fetched for it; nil without one.
    /// - Throws: `TrustMerge.ListRefusal`, and `Failure`. Nothing changes then.
    func take(
        _ fetched: FetchedList, by intake: TrustImport, at now: Int64
    ) async throws -> (outcome: TrustImport.Outcome, signer: String?) {
        do {
            return (try await intake.take(fetched, of: list), nil)
        } catch let refusal as TrustMerge.ListRefusal {
            guard let address = refusal.signer else { throw refusal }
            let certificates = try await certificates(at: address, after: refusal, now)
            let signer = TrustMaterial.Chain(address: address, certificates: certificates, place: address)
            return (try await intake.take(fetched, of: list, signer: signer), TerminalText.visible(address))
        }
    }

    /// The certificates of the signer in DER, the leaf first.
    private func certificates(
        at address: String, after refusal: TrustMerge.ListRefusal, _ now: Int64
    ) async throws -> [[UInt8]] {
        guard list.hasHost(of: address) else {
            throw TrustMerge.ListRefusal(
                reason: refusal.reason
                    + "; the present certificate is not fetched, since it is on another host than the list")
        }
        do throws(CertificateProblem) {
            switch try await fetch.response(of: address, under: list.rules, known: nil, at: now) {
            case .chain(let certificates, _): return certificates
            case .unchanged: throw .notPEM
            }
        } catch {
            throw Failure(reason: refusal.reason, problem: error)
        }
    }
}
