// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import BrandingAPI
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import Logging

/// `herald lookup`: what a call of a number would get, from the stored copy and with no network.
struct LookupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Say which brand a caller would be shown with, and why or why not.",
        discussion: """
            Decides as the gateway would decide about a call that comes in now by the given trunk, from the copy of \
            the brands in the state folder. Prints the decision with its reason and the header lines a phone would get.

            Examples:
              herald lookup +61255501001
              herald lookup '(02) 5550 1001' --region AU --json
            """)

    @Argument(help: "The caller's number, as the trunk would write it.")
    var number: String

    @Option(
        help: ArgumentHelp("Country whose national numbers are understood; the trunk's by default.", valueName: "XX"))
    var region: String?

    @Option(help: ArgumentHelp("The trunk the call comes by; the first by default.", valueName: "name"))
    var trunk: String?

    @Option(help: "What the carrier says of the number.")
    var attestation = Attestation.none

    @OptionGroup var options: OperatorOptions

    func run() throws {
        let configuration = try options.configuration()
        let trunk = try chosenTrunk(of: configuration)
        let region = try chosenRegion(trunk)
        let question = LookupAnswer.Question(
            number: number, normaliser: NumberNormaliser(region: region), trunkTrusted: trunk.isTrusted,
            verification: attestation.verification,
            policy: BrandingPolicy(rawValue: trunk.policy.rawValue) ?? .standard,
            host: trunk.targets.first.map { $0.address.isIPv6 ? "[\($0.address.host)]" : $0.address.host } ?? "",
            writesCallInfo: configuration.branding.writesCallInfo, keepsCarrierName: trunk.carrierName == .keep)
        let copy = try CommandFailure.reported { try StoredBrands(configuration, for: question) }
        let answer = LookupAnswer(question, gates: copy.gates, index: copy.index)
        let report = LookupReport(
            asked: number, answer: answer, trunk: trunk, region: region, copy: copy,
            isEnabled: configuration.branding.isEnabled,
            logo: LogoAnswer(
                named: copy.namedLogo, shown: answer.brand?.logoURL,
                isOfFile: configuration.brandsFile != nil,
                writesCallInfo: configuration.branding.writesCallInfo,
                allowsInsecure: configuration.branding.allowsInsecureLogos, copy: copy.logoCopy))
        if options.json { try Output.write(json: report.json) } else { Output.write(report.text) }
    }

    private func chosenTrunk(of configuration: HeraldConfiguration) throws -> HeraldConfiguration.Trunk {
        let names = configuration.trunks.map(\.name).joined(separator: ", ")
        guard let found = configuration.trunks.first(where: { trunk == nil || $0.name == trunk }) else {
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

/// A carrier's word on a number, as the command line spells it.
enum Attestation: String, ExpressibleByArgument, CaseIterable {
    case none, a = "A", b = "B", c = "C", failed

    var verification: Verification {
        switch self {
        case .none: .none
        case .a: .passedA
        case .b: .passedB
        case .c: .passedC
        case .failed: .failed
        }
    }
}

/// As much of the gateway's brands as one lookup needs.
struct StoredBrands {
    let index: BrandIndex
    let gates: BrandingGates
    /// Where they are from, for people.
    let origin: String
    /// The logo that the record names; nil without one, or where the index alone is known.
    private(set) var namedLogo: String?
    /// Of the gateway's own copy; nil where it keeps none.
    private(set) var logoCopy: LogoAnswer.Copy?

    init(_ configuration: HeraldConfiguration, for question: LookupAnswer.Question) throws {
        var profile = configuration.renderingProfile
        if let path = configuration.brandsFile {
            let silent = Logger(label: "herald.lookup") { _ in SwiftLogNoOpLogHandler() }
            let file = BrandFile(path: path, stateFolder: configuration.state, profile: profile, logger: silent)
            index = try file.loadIndex()
            gates = BrandingGates()
            origin = "the file \(path)"
            namedLogo = question.normaliser.normalise(question.number.utf8).flatMap { index.entry(for: $0) }
                .flatMap { index.logoURL(of: $0) }
            return
        }
        let reader = try BrandCacheReader(folder: configuration.state)
        let state = try reader.syncState()
        if let logos = configuration.logos {
            profile.logos = try LogoReader(folder: configuration.state).hosted(logos.storeSettings)
        }
        let number = question.normaliser.normalise(question.number.utf8)
        index = try number.map { try reader.index(of: $0, profile: profile) } ?? .empty(profile: profile)
        namedLogo = try number.flatMap { try reader.logoURL(of: $0) }
        if configuration.logos != nil, let namedLogo {
            logoCopy = LogoAnswer.Copy(problem: try LogoReader(folder: configuration.state).problem(of: namedLogo))
        }
        var gates = state.gates
        gates.obeysVoipDialer = configuration.directory?.voipDialer == .obey
        // The gateway's own lifetime is known here, one the directory gave is not.
        if let lifetime = configuration.directory?.cacheLifetime, lifetime > .zero, let last = state.lastSync {
            gates.isStale = Int64(Date().timeIntervalSince1970) - last > lifetime.components.seconds
        }
        self.gates = gates
        origin =
            state.lastSync.map { "the copy of \(Timestamp.string(from: $0))" } ?? "no copy yet: no sync has succeeded"
    }
}

/// A lookup's answer as text and as JSON.
struct LookupReport {
    let asked: String
    let answer: LookupAnswer
    let trunk: HeraldConfiguration.Trunk
    let region: Region?
    let copy: StoredBrands
    /// False where `branding.enabled` lets every call pass.
    let isEnabled: Bool
    let logo: LogoAnswer

    private var decision: String { isEnabled ? answer.decision : PassThroughReason.policy.description }
    private var brand: LookupAnswer.Brand? { isEnabled ? answer.brand : nil }

    var text: String {
        let conditions = "\(trunk.isTrusted ? "trusted" : "not trusted"), policy \(trunk.policy.rawValue), "
        var lines = [
            ("number", answer.number?.description ?? "not certain which number \"\(asked)\" is"),
            ("trunk", "\(trunk.name): " + conditions + (region.map { "region \($0)" } ?? "no region")),
            ("brands", copy.origin),
            (
                "decision",
                (brand == nil ? "pass through: " : "show: ") + decision + (isEnabled ? "" : " (branding.enabled)")
            ),
        ]
        if let brand {
            lines.append(("brand", brand.brandID.isEmpty ? brand.name : "\(brand.name) (\(brand.brandID))"))
            lines.append(("logo", logo.text))
        }
        let facts = lines.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + TerminalText.visible(value) + "\n"
        }
        let headers = (brand?.headers ?? []).map { TerminalText.visible($0) + "\n" }
        return facts.joined() + (headers.isEmpty ? "" : "\n" + headers.joined())
    }

    var json: [String: JSONValue?] {
        [
            "asked": .string(asked), "number": JSONValue(answer.number?.description), "trunk": .string(trunk.name),
            "region": JSONValue(region?.description), "decision": .string(decision), "shown": .bool(brand != nil),
            "brand_name": JSONValue(brand?.name), "brand_id": JSONValue(brand?.brandID),
            "logo_url": JSONValue(brand?.logoURL), "no_logo_because": brand.flatMap { _ in JSONValue(logo.obstacle) },
            "headers": brand.map { .array($0.headers.map(JSONValue.string)) },
        ]
    }
}
