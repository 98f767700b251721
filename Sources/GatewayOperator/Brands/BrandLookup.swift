// SPDX-License-Identifier: Apache-2.0

import Branding
package import ConfigurationFiles
import Host
import Primitives

/// Attestations of a caller, as the command line spells them.
package enum Attestation: String, CaseIterable, Sendable {
    /// No attestation, or levels A to C of RFC 8588, or a failed check.
    case none, a = "A", b = "B", c = "C", failed

    fileprivate var verification: Verification {
        switch self {
        case .none: .none
        case .a: .passedA
        case .b: .passedB
        case .c: .passedC
        case .failed: .failed
        }
    }
}

/// `herald lookup`: decides about a number as the gateway would, from the stored copy and without a network.
package struct BrandLookup {
    private let caller: PastedCaller
    private let called: String?
    private let customer: String?
    private let region: String?
    private let trunk: String?
    private let attestation: Attestation
    private let configuration: HeraldConfiguration

    /// - Parameters:
    ///   - number: the caller as the trunk would write it: a number, a URI, or the value of From.
    ///   - called: the called number in the same forms; nil decides without a route.
    ///   - customer: the customer of the call; nil for that of the called number, or for none.
    ///   - region: two letters; nil for the trunk's region.
    ///   - trunk: name of a trunk; nil for the first.
    package init(
        _ number: String, called: String? = nil, customer: String? = nil, region: String?, trunk: String?,
        attestation: Attestation, _ configuration: HeraldConfiguration
    ) {
        caller = PastedCaller(number)
        self.called = called.map { PastedCaller($0).number }
        self.customer = customer
        self.region = region
        self.trunk = trunk
        self.attestation = attestation
        self.configuration = configuration
    }

    /// Reads the stored brands and decides.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk, region or customer, without a customer where only customers have
    ///   brands, and when the stored brands cannot be read.
    package func report() throws -> LookupReport {
        let asked = try asked()
        let (trunk, region, question) = (asked.trunk, asked.region, asked.question)
        let own = configuration.seen(by: asked.customer)
        let copy = try CommandFailure.reported { try StoredBrands(own, for: question) }
        let result = LookupResult(question, gates: copy.gates, index: copy.index, cards: copy.cards)
        return LookupReport(
            asked: caller.number, result: result, trunk: trunk, region: region, copy: copy,
            isEnabled: configuration.branding.isEnabled && asked.brands != .off, brands: asked.brands,
            destination: asked.destination, customer: asked.customer?.name,
            hasCustomers: !configuration.customers.isEmpty,
            logo: LogoResponse(
                named: copy.namedLogo, shown: result.brand?.logoURL, isOfFile: own.brandsFile != nil,
                writesCallInfo: configuration.branding.writesCallInfo,
                allowsInsecure: configuration.branding.allowsInsecureLogos, copy: copy.logoCopy))
    }

    /// The question with the trunk and the region it is about.
    struct Asked {
        let trunk: HeraldConfiguration.Trunk
        let region: Region?
        let question: LookupResult.Question
        /// Nil without a called number.
        let destination: CalledDestination?
        /// The customer whose brands decide; nil for the usual brands.
        let customer: HeraldConfiguration.Customer?

        /// Whether the call has a brand, or would have, by trunk and route.
        var brands: BrandMode { trunk.brands.joined(with: destination?.brands ?? .on) }
    }

    /// Finds the route of the called number alone; nil without one.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk or region, and for a customer who does not get the calls.
    package func destination() throws -> CalledDestination? { try asked().destination }

    /// Completes the question from the configuration.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk, region or customer.
    func asked() throws -> Asked {
        let trunk = try chosenTrunk()
        let region = try chosenRegion(trunk)
        let destination = called.map { CalledDestination($0, on: trunk, region: region, configuration) }
        let owner = try owner(destination)
        let policy = destination?.policy ?? trunk.policy
        let normaliser = NumberNormaliser(region: region, contexts: trunk.phoneContexts)
        var question = LookupResult.Question(
            number: caller.number, normaliser: normaliser, trunkTrusted: trunk.isTrusted,
            verification: attestation.verification, policy: policy,
            host: trunk.targets.first.map { $0.address.isIPv6 ? "[\($0.address.host)]" : $0.address.host } ?? "",
            writesCallInfo: configuration.branding.writesCallInfo, keepsCarrierName: trunk.carrierName == .keep)
        question.read = caller.number(by: normaliser)
        question.writesCardLink = configuration.branding.cardLink == .callInfo
        return Asked(trunk: trunk, region: region, question: question, destination: destination, customer: owner)
    }

    /// The customer of the call: that of the called number's route if there is a called number.
    private func owner(_ destination: CalledDestination?) throws -> HeraldConfiguration.Customer? {
        guard let destination else { return try configuration.brandOwner(named: customer) }
        let routed = try destination.customer.map(configuration.customer(named:))
        guard let customer, try configuration.customer(named: customer) != routed else { return routed }
        throw CommandFailure(
            "calls to \(TerminalText.visible(destination.asked)) belong to "
                + (routed.map { "customer \($0.name)" } ?? "no customer") + ": leave out --customer or --called")
    }

    private func chosenTrunk() throws -> HeraldConfiguration.Trunk {
        guard let found = configuration.trunks.first(where: { trunk == nil || $0.name == trunk }) else {
            throw CommandFailure(configuration.noTrunk(named: trunk ?? ""))
        }
        return found
    }

    private func chosenRegion(_ trunk: HeraldConfiguration.Trunk) throws -> Region? {
        guard let region else { return trunk.region }
        guard let known = Region(region.uppercased()) else {
            throw CommandFailure(
                "\(TerminalText.visible(region)) is no country with a numbering plan; write two letters, such as AU or DE"
            )
        }
        return known
    }
}
