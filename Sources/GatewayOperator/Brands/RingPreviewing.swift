// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
import GatewayStore

// "How would this number ring": the decision of a call, with the index and the gates that calls use at this moment.

extension GatewayPageReport {
    func preview(_ question: RingQuestion) async throws -> RingPreview {
        let configuration = settings.configuration
        guard question.customer != nil || configuration.hasUsualBrands else {
            throw RingPreviewProblem("only customers have brands here: choose the customer of the call")
        }
        let lookup = BrandLookup(
            question.number, customer: question.customer, region: nil, trunk: question.trunk,
            attestation: question.attestation, configuration)
        let asked: BrandLookup.Asked
        do {
            asked = try lookup.asked()
        } catch {
            throw RingPreviewProblem("\(error)")
        }
        let own = configuration.seen(by: asked.customer)
        let snapshot = branding(of: asked.customer).load()
        let result = LookupResult(
            asked.question, gates: snapshot.gates, index: snapshot.index, cards: snapshot.cards)
        let isEnabled = configuration.branding.isEnabled && asked.brands != .off
        let brand = isEnabled ? result.brand : nil
        let trunk = asked.trunk
        let before = ["From: <sip:\(asked.question.number)@\(asked.question.host)>"]
        return RingPreview(
            number: result.number?.description, trunk: trunk.name, customer: asked.customer?.name,
            conditions: "\(trunk.isTrusted ? "trusted" : "not trusted"), policy \(trunk.policy.rawValue), "
                + (asked.region.map { "region \($0)" } ?? "no region"),
            decision: isEnabled ? asked.decision(result) : PassThroughReason.policy.description,
            card: try await brand.asyncMap { try await card($0, result.number, asked, own) }, before: before,
            after: brand.map { Self.after(before, $0.headers, result.number, as: asked.question.number) } ?? before)
    }

    /// The brands and gates in force of a customer, or those of calls without one.
    func branding(of customer: HeraldConfiguration.Customer?) -> CurrentBranding {
        guard let customer else { return status.branding }
        return status.customers.account(of: customer.name)?.brands.current ?? status.branding
    }

    /// The header lines to the PBX: the brand's own lines, and those of the trunk that stay.
    ///
    /// A lookup writes the number in E.164 form. A call keeps its URI as received.
    private static func after(
        _ before: [String], _ headers: [String], _ number: E164Number?, as received: String
    ) -> [String] {
        guard headers.contains(where: { $0.hasPrefix("From:") }) else { return before + headers }
        return headers.map { $0.replacing("<sip:\(number?.description ?? "")@", with: "<sip:\(received)@") }
    }

    private func card(
        _ brand: LookupResult.Brand, _ number: E164Number?, _ asked: BrandLookup.Asked,
        _ configuration: HeraldConfiguration
    ) async throws -> RingPreview.Card {
        let isOfFile = configuration.brandsFile != nil
        let record = isOfFile ? nil : try await ledger.record(of: number, in: configuration)
        let response = LogoResponse(
            named: isOfFile ? brand.logoURL : record?.logoURL ?? brand.logoURL, shown: brand.logoURL,
            isOfFile: isOfFile, writesCallInfo: configuration.branding.writesCallInfo,
            allowsInsecure: configuration.branding.allowsInsecureLogos, copy: record?.copy)
        return RingPreview.Card(
            name: asked.question.keepsCarrierName ? nil : brand.name,
            brandID: brand.brandID.isEmpty ? nil : brand.brandID, callReason: CallReasonText.first(in: brand.headers),
            logo: brand.logoURL.flatMap { ownCopy($0, configuration) }, logoText: response.text)
    }

    /// The name of the gateway's own copy, if the URL in Call-Info is of one.
    func ownCopy(_ url: String, _ configuration: HeraldConfiguration) -> String? {
        guard let logos = configuration.logos, url.hasPrefix(logos.publicURL + "/logos/") else { return nil }
        let name = String(url.dropFirst(logos.publicURL.utf8.count + "/logos/".utf8.count))
        return logo(name) == nil ? nil : name
    }
}

extension BrandLookup.Asked {
    /// The decision on the call; in shadow the brand that was found is shown as it would be.
    fileprivate func decision(_ result: LookupResult) -> String {
        result.brand != nil && brands == .shadow ? PassThroughReason.shadow.description : result.decision
    }
}

extension LedgerQueue {
    /// The logo of a number's record and the state of its copy, from the stored records.
    fileprivate func record(
        of number: E164Number?, in configuration: HeraldConfiguration
    ) async throws -> (logoURL: String?, copy: LogoResponse.Copy?)? {
        guard let number else { return nil }
        let hasCopies = configuration.logos != nil
        let folder = configuration.state
        return try? await read { _ in
            let url = try BrandCacheReader(folder: folder).logoURL(of: number)
            guard hasCopies, let url else { return (url, nil) }
            return (url, LogoResponse.Copy(problem: try LogoReader(folder: folder).problem(of: url)))
        }
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async rethrows -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}
