// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
package import ConfigurationFiles
import GatewayAdmin
import SafeText

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
    private let number: String
    private let called: String?
    private let region: String?
    private let trunk: String?
    private let attestation: Attestation
    private let configuration: HeraldConfiguration

    /// - Parameters:
    ///   - number: the caller as the trunk would write it.
    ///   - called: the called number as the trunk would write it; nil decides without a route.
    ///   - region: two letters; nil for the trunk's region.
    ///   - trunk: name of a trunk; nil for the first.
    package init(
        _ number: String, called: String? = nil, region: String?, trunk: String?, attestation: Attestation,
        _ configuration: HeraldConfiguration
    ) {
        self.number = number
        self.called = called
        self.region = region
        self.trunk = trunk
        self.attestation = attestation
        self.configuration = configuration
    }

    /// Reads the stored brands and decides.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk or region, and when the stored brands cannot be read.
    package func report() throws -> LookupReport {
        let asked = try asked()
        let (trunk, region, question) = (asked.trunk, asked.region, asked.question)
        let copy = try CommandFailure.reported {
            try StoredBrands(configuration.seen(by: asked.destination?.customer), for: question)
        }
        let result = LookupResult(question, gates: copy.gates, index: copy.index)
        return LookupReport(
            asked: number, result: result, trunk: trunk, region: region, copy: copy,
            isEnabled: configuration.branding.isEnabled && asked.destination?.brands ?? true,
            destination: asked.destination,
            logo: LogoResponse(
                named: copy.namedLogo, shown: result.brand?.logoURL, isOfFile: configuration.brandsFile != nil,
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
    }

    /// Finds the route of the called number alone; nil without one.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk or region.
    package func destination() throws -> CalledDestination? { try asked().destination }

    /// Completes the question from the configuration.
    ///
    /// - Throws: `CommandFailure` for an unknown trunk or region.
    func asked() throws -> Asked {
        let trunk = try chosenTrunk()
        let region = try chosenRegion(trunk)
        let destination = called.map { CalledDestination($0, on: trunk, region: region, configuration) }
        let policy = destination?.policy ?? trunk.policy
        let question = LookupResult.Question(
            number: number, normaliser: NumberNormaliser(region: region), trunkTrusted: trunk.isTrusted,
            verification: attestation.verification,
            policy: BrandingPolicy(rawValue: policy.rawValue) ?? .standard,
            host: trunk.targets.first.map { $0.address.isIPv6 ? "[\($0.address.host)]" : $0.address.host } ?? "",
            writesCallInfo: configuration.branding.writesCallInfo, keepsCarrierName: trunk.carrierName == .keep)
        return Asked(trunk: trunk, region: region, question: question, destination: destination)
    }

    private func chosenTrunk() throws -> HeraldConfiguration.Trunk {
        guard let found = configuration.trunks.first(where: { trunk == nil || $0.name == trunk }) else {
            let names = configuration.trunks.map(\.name).joined(separator: ", ")
            throw CommandFailure("no trunk is named \(TerminalText.visible(trunk ?? "")); there are \(names)")
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

extension HeraldConfiguration {
    /// The configuration as it is for the calls of a customer: its account and its folder of brands.
    ///
    /// - Parameter name: nil for calls without a customer.
    func seen(by name: String?) -> HeraldConfiguration {
        guard let name, let customer = customers.first(where: { $0.name == name }) else { return self }
        var own = self
        (own.directory, own.brandsFile, own.logos) = (customer.directory, nil, nil)
        own.state = CustomerFolders.link(of: name, in: state)
        return own
    }
}
