// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
package import Host
import Primitives
import Trust

/// `herald trust check`: verifies tokens as the call path does, and prints each step with its result.
package struct TrustCheck {
    /// The call that the tokens are compared with.
    package struct Call {
        /// Digits with or without a plus sign.
        package var caller: String
        package var called: String
        /// The number in To; nil for the called one.
        package var to: String?
        /// A day, a moment in ISO 8601, or seconds since 1970; nil for now.
        package var at: String?

        package init(caller: String, called: String, to: String? = nil, at: String?) {
            self.caller = caller
            self.called = called
            self.to = to
            self.at = at
        }
    }

    private let regimes: [ConfiguredRegime]
    private let trust: StoredTrust
    /// The addresses that the regimes with fetching allow; none where nothing is fetched.
    private let fetchRules: [AddressRules]
    private let call: SignedCall
    private let now: Int64

    /// - Parameters:
    ///   - regime: the only regime of the check, by name or path; nil for those of the configuration.
    ///   - path: the configuration file.
    /// - Throws: for a number or a time that cannot be read, for an unknown regime, and without any regime.
    package init(
        _ call: Call, regime: String?, _ configuration: HeraldConfiguration, path: String
    ) throws(CommandFailure) {
        if let regime {
            let folder = (path as NSString).deletingLastPathComponent
            var chosen = try RegimeListing.regime(regime, configuration.trust?.regimes ?? [], folder)
            chosen.regime.position = 0
            regimes = [chosen]
        } else {
            regimes = try configuration.trustSettings().regimes
        }
        trust = try StoredTrust.read(configuration.state)
        let isOn = configuration.trust?.fetches ?? false
        fetchRules = regimes.map(\.regime).filter { $0.verify && ($0.fetch ?? isOn) }.map(\.addresses)
        let called = try Self.number(call.called, "--called")
        let to = if let to = call.to { try Self.number(to, "--to") } else { called }
        self.call = SignedCall(caller: try Self.number(call.caller, "--caller"), called: called, to: to)
        now = try OperatorTime.ofCall(call.at) ?? Int64(Date().timeIntervalSince1970)
    }

    private static func number(_ text: String, _ option: String) throws(CommandFailure) -> CanonicalNumber {
        let digits = text.filter { !" -().".contains($0) }
        guard let number = CanonicalNumber(digits.hasPrefix("+") ? String(digits.dropFirst()) : digits) else {
            throw CommandFailure("\(option) takes a number with its country code, such as +12025551000")
        }
        return number
    }

    /// Writes the result of values of Identity, or of bare tokens.
    ///
    /// - Returns: whether the number passed; false if it failed, and without evidence.
    package func run(_ values: [String], asJSON: Bool) async throws -> Bool {
        let fields = values.map { Self.field($0) }
        let verdict = await verdict(on: fields)
        if asJSON {
            try Output.write(json: await json(fields, verdict))
        } else {
            Output.write(await text(fields, verdict))
        }
        if case .passed = verdict.number { return true }
        return false
    }

    /// The value of a header field: a bare token gets the parameters that its own header names.
    static func field(_ value: String) -> String {
        let value = value.trimmingCharacters(in: .whitespacesAndNewlines)
        let content = value.lowercased().hasPrefix("identity:") ? value.dropFirst(9).drop { $0 == " " } : value[...]
        guard !content.contains(";"), let header = PastedToken(String(content)).header else { return String(content) }
        let info = header["x5u"].map { ";info=<\($0)>" } ?? ";info=<https://unknown.invalid/>"
        return content + info + ";alg=\(header["alg"] ?? "ES256")" + (header["ppt"].map { ";ppt=\($0)" } ?? "")
    }

    /// Verifies against the stored signers that the tokens name, judged at the time of the check.
    func verdict(on fields: [String]) async -> TrustVerdict {
        var message: [UInt8] = []
        var ranges: [Range<Int>] = []
        for field in fields {
            let start = message.count
            message += Array(field.utf8)
            ranges.append(start..<message.count)
        }
        let snapshot = TrustSnapshot(generation: 1, regimeSet: 1, await entries(fields))
        var memory = TrustMemory()
        return snapshot.verify(
            message.span, ranges, of: call, under: TrunkTrustPolicy(regimes: regimes.map(\.regime), regimeSet: 1),
            at: now, with: &memory)
    }

    private var policy: ChainPolicy {
        ChainPolicy(
            RegimeSources(regimes).anchors(trust), issuers: trust.issuers,
            revocationLists: trust.revocationLists.map(\.der), at: now)
    }

    private func entries(_ fields: [String]) async -> [TrustSnapshot.Entry] {
        let tokens = fields.flatMap { PastedToken(String($0.prefix { $0 != ";" })).all }
        let addresses = Set(tokens.compactMap { $0.header?["x5u"] })
        let policy = self.policy
        var entries: [TrustSnapshot.Entry] = []
        for signer in trust.signers where signer.address.map(addresses.contains) ?? false {
            entries.append(Self.entry(await policy.decide(signer.certificates), signer.address, row: signer.row))
        }
        entries += unfetched(addresses)
        // The gateway judges such a chain aside, after the first call that brings it.
        for chain in tokens.compactMap(\.chain) {
            entries.append(Self.entry(await policy.decide(chain), nil, row: 0))
        }
        return entries
    }

    /// Addresses without a certificate whose last fetch failed, with the cause that a call has.
    private func unfetched(_ addresses: Set<String>) -> [TrustSnapshot.Entry] {
        let stored = Set(trust.signers.compactMap(\.address))
        return addresses.subtracting(stored).compactMap { address in
            guard let fetch = trust.fetches[address], let cause = fetch.cause.flatMap(TrustCause.init(rawValue:)) else {
                return nil
            }
            // Standings count for the regimes that they were decided for.
            let isDecided = DecidedRules(stored: trust.regimes)?.names == regimes.map(\.regime.name)
            let decided = isDecided ? fetch.standings.compactMap { TrustCause(rawValue: $0) } : []
            let standings =
                decided.count == regimes.count ? decided : Array(repeating: cause, count: regimes.count)
            return TrustSnapshot.Entry(
                address: address, chain: nil, signer: Signer(row: 0, key: nil, standings: standings))
        }
    }

    private static func entry(_ decision: ChainDecision, _ address: String?, row: Int64) -> TrustSnapshot.Entry {
        let signer = Signer(
            row: row, key: decision.key.flatMap { SignerKey(x963: $0) },
            authority: decision.authority.flatMap { AuthorityList(der: $0) } ?? AuthorityList(),
            constraints: decision.constraints.compactMap { ClaimConstraints(der: $0.der, isEnhanced: $0.isEnhanced) }
                .filter { !$0.isVoid },
            validity: decision.validity, standings: decision.standings.map(\.cause), subject: decision.subject)
        return TrustSnapshot.Entry(address: address, chain: ChainDigest(bytes: decision.digest), signer: signer)
    }

    // MARK: Output

    /// The steps of each header field, then the verdict.
    func text(_ fields: [String], _ verdict: TrustVerdict) async -> String {
        var lines: [String] = []
        for (index, cause) in verdict.causes.enumerated() {
            lines += await self.lines(index + 1, cause, Self.token(index, of: fields))
        }
        lines.append("verdict     \(TrustVerdictText(verdict).number)" + (cause(verdict).map { ": " + $0 } ?? ""))
        lines += TrustVerdictText(verdict).lines(under: regimes[0].regime)
        return lines.map { TerminalText.visible($0) + "\n" }.joined()
    }

    /// The token of the cause at a position; the verdict has one cause for several fields that are left out.
    private static func token(_ index: Int, of fields: [String]) -> PastedToken {
        let field = index < fields.count ? fields[index] : fields.last ?? ""
        return PastedToken(String(field.prefix { $0 != ";" }))
    }

    private func cause(_ verdict: TrustVerdict) -> String? {
        verdict.number == .failed || verdict.number == .none
            ? verdict.causes.first.map { TrustCauseText.text(of: $0) } : nil
    }

    private func lines(_ position: Int, _ cause: TrustCause, _ token: PastedToken) async -> [String] {
        var lines = ["token \(position)     \(token.summary)"]
        let stop = TrustStep(cause)
        for step in TrustStep.allCases {
            let state =
                step == stop
                ? (cause == .passed ? "passed" : "\(cause.name): \(TrustCauseText.text(of: cause))")
                : step < stop ? "ok" : "not reached"
            lines.append("  " + step.title + String(repeating: " ", count: 14 - step.title.count) + state)
        }
        if let reason = await reason(of: cause, token) { lines.append("                \(reason)") }
        if let chain = token.chain, !trust.signers.contains(where: { $0.certificates == chain }) {
            lines.append("                its chain is not stored: a gateway judges it after the first call")
        }
        return lines
    }

    /// Why the signer of a token is not known or does not count; nil for a cause of another step.
    private func reason(of cause: TrustCause, _ token: PastedToken) async -> String? {
        guard [.signer, .authority].contains(TrustStep(cause)) else { return nil }
        let address = token.header?["x5u"]
        let stored = address.flatMap { address in trust.signers.first { $0.address == address } }
        if let chain = token.chain ?? stored?.certificates {
            return await policy.decide(chain).standings.first { $0.cause == cause }?.reason
        }
        return address.map { FetchWords(trust.fetches[$0]).absence(of: $0, under: fetchRules) }
    }

    private func json(_ fields: [String], _ verdict: TrustVerdict) async -> [String: JSONValue?] {
        let text = TrustVerdictText(verdict)
        var reasons: [JSONValue] = []
        for (index, cause) in verdict.causes.enumerated() {
            reasons.append(JSONValue(await reason(of: cause, Self.token(index, of: fields))) ?? .null)
        }
        return [
            "number": .string(text.number), "bound_to": .string(text.binding),
            "causes": .array(verdict.causes.map { .string($0.name) }),
            "signer_reasons": .array(reasons),
            "steps": .array(verdict.causes.map { .string(TrustStep($0).title) }),
            "marks": .array(verdict.marks.all.map { .string($0.name) }), "signer": JSONValue(verdict.signer?.subject),
            "origid": JSONValue(verdict.origid), "name": .string(text.name), "reason": .string(text.reason),
            "icon": .string(text.icon), "code": JSONValue(verdict.code(under: regimes[0].regime).map { Int($0) }),
            "verstat": .string(verdict.verstat(under: regimes[0].regime).rawValue),
            "regime": .string(regimes[0].regime.name),
            "at": JSONValue(seconds: now),
        ]
    }
}

/// A token as pasted, for the addresses and chains that it names. Verification reads the token on its own.
struct PastedToken {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The text members of the token header; nil for anything but a token.
    var header: [String: String]? { texts(members(0)) }

    /// The chain inside the token in DER; nil without one.
    var chain: [[UInt8]]? {
        guard case .array(let elements)? = members(0)?["x5c"] else { return nil }
        let chain = elements.compactMap { element -> [UInt8]? in
            guard case .string(let text) = element else { return nil }
            return Data(base64Encoded: text).map { Array($0) }
        }
        return chain.count == elements.count && !chain.isEmpty ? chain : nil
    }

    /// The token and those inside it (RFC 8946 §5), at most six.
    var all: [PastedToken] {
        var tokens = [self]
        while tokens.count < 6, case .string(let inner)? = tokens[tokens.count - 1].members(1)?["opt"] {
            tokens.append(PastedToken(inner))
        }
        return tokens
    }

    /// Type, address and numbers, such as `shaken of https://…, from 12025551000 to 12025551001, at …`.
    var summary: String {
        guard let header else { return "not readable" }
        let payload = members(1)
        var text =
            (header["ppt"] ?? "base")
            + (header["x5u"].map { " of \($0)" } ?? chain.map { _ in " with its chain" } ?? "")
        if case .object(let orig)? = payload?["orig"], case .string(let number)? = orig["tn"] {
            text += ", from \(number)"
        }
        if case .object(let dest)? = payload?["dest"], case .array(let numbers)? = dest["tn"] {
            let list = numbers.map { number in if case .string(let text) = number { text } else { "?" } }
            text += " to \(list.joined(separator: " "))"
        }
        if case .int(let time)? = payload?["iat"] { text += ", at \(OperatorTime.text(Int64(time)))" }
        return text
    }

    private func texts(_ members: [String: JSONValue]?) -> [String: String]? {
        members?.compactMapValues { value in if case .string(let text) = value { text } else { nil } }
    }

    private func members(_ part: Int) -> [String: JSONValue]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[part].utf8.count <= 12_000 else { return nil }
        let plain = parts[part].replacing("-", with: "+").replacing("_", with: "/")
        let padded = String(plain) + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: padded).flatMap { try? JSONValue.object(parsing: Array($0), levels: 8) }
    }
}
