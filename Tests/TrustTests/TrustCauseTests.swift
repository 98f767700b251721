// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Trust
import TrustFixtures

/// Causes as they are stored, shown and reported.
@Suite("Causes of signed identity")
struct TrustCauseTests {
    /// Stored value, name, effect and code of RFC 8224 §6.2.2. A stored value never changes.
    private static let rows: [(UInt8, String, TrustEffect, UInt16?)] = [
        (1, "unsigned", .none, nil), (2, "unsupported_ppt", .none, nil), (3, "malformed", .failsAsMalformed, 438),
        (4, "oversize", .failsAsMalformed, 438), (5, "compact_form", .failsAsMalformed, 438),
        (6, "info_missing", .failsAsMalformed, 436), (7, "header_incomplete", .failsAsMalformed, 436),
        (8, "info_mismatch", .failsAsMalformed, 436), (9, "typ", .failsAsMalformed, 437),
        (10, "alg", .failsAsMalformed, 437),
        (11, "ppt_mismatch", .failsAsMalformed, 438), (12, "parameters", .failsAsMalformed, 438),
        (13, "bad_address", .failsAsMalformed, 436), (14, "claims", .failsAsMalformed, 438), (15, "stale", .fails, 403),
        (16, "future", .fails, 403), (17, "date", .fails, 403), (18, "clock_suspect", .none, nil),
        (19, "caller_mismatch", .fails, 438), (20, "called_mismatch", .fails, 438), (21, "to_only", .none, nil),
        (22, "not_a_number", .none, nil), (23, "signer_not_yet_known", .none, nil),
        (24, "certificate_unreachable", .none, 436),
        (25, "certificate_malformed", .fails, 437), (26, "untrusted_signer", .fails, 437),
        (27, "certificate_policy", .fails, 437),
        (28, "certificate_expired", .fails, 437), (29, "revoked", .fails, 437), (30, "crl_stale", .none, nil),
        (31, "no_authority", .fails, 437), (32, "constraint", .fails, 438), (33, "signer_changed", .none, nil),
        (34, "chain_broken", .fails, 438), (35, "chain_incomplete", .none, nil), (36, "too_many", .none, nil),
        (37, "shed", .none, nil),
        (38, "bypass", .none, nil), (39, "rcd_malformed", .none, nil), (40, "rcd_name", .none, nil),
        (41, "rcd_icon", .none, nil),
        (42, "rcd_alone", .none, nil), (43, "rcd_attestation", .none, nil), (44, "rcd_digest_bare", .none, nil),
        (45, "passed", .passes, nil), (46, "bad_signature", .fails, 438), (47, "rcd_digest_whole", .none, nil),
        (48, "rcd_jcl", .none, nil),
        (49, "origid_form", .none, nil), (50, "seen_before", .none, nil),
        (51, "denied", .none, nil),
    ]

    @Test func `each cause has its stored value, name, effect and code`() throws {
        #expect(Self.rows.map(\.0) == TrustCause.allCases.map(\.rawValue))
        for (value, name, effect, code) in Self.rows {
            let cause = try #require(TrustCause(rawValue: value))
            #expect(cause.name == name && cause.effect == effect && cause.code == code, "\(name)")
            #expect(TrustCause(named: name) == cause)
        }
        #expect(TrustCause(named: "bad signature") == nil)
    }

    @Test func `the page on signers has the effect and the code of each cause`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../docs/trust.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        for (_, name, effect, code) in Self.rows {
            let numbers =
                switch effect {
                case .passes: ["passed"]
                case .fails, .failsAsMalformed: ["failed"]
                // A remark on a signed name leaves the number as it is.
                case .none: ["none", "unchanged"]
                }
            let column = code.map { " \($0) " } ?? " "
            #expect(numbers.contains { page.contains("| `\(name)` | \($0) |\(column)| ") }, "\(name)")
        }
    }

    @Test func `a set holds each cause`() {
        var set = TrustCauses()
        #expect(set.isEmpty)
        for cause in TrustCause.allCases {
            #expect(!set.contains(cause))
            set.insert(cause)
            #expect(set.contains(cause))
        }
        #expect(set.all == TrustCause.allCases)
        #expect(TrustCauses.failures.all.count == 26)
        #expect(TrustCauses.atis.all.count == 7)
    }

    @Test func `a regime replaces codes`() throws {
        let fr = try #require(TrustLab.regimes.first { $0.name == "fr" })
        let us = try #require(TrustLab.regimes.first { $0.name == "us" })
        #expect(fr.code(for: .unsigned) == 428 && us.code(for: .unsigned) == nil)
        #expect(fr.code(for: .unsupportedPPT) == 438 && us.code(for: .unsupportedPPT) == nil)
        var required = us
        required.required = true
        #expect(required.code(for: .unsigned) == 428)
        required.codes = [.stale: 0, .unsigned: 499]
        #expect(required.code(for: .stale) == nil && required.code(for: .unsigned) == 499)
        required.required = false
        #expect(required.code(for: .unsigned) == nil)
    }

    @Test func `436 is reported only if no certificate can be had`() {
        // RFC 8224 §6.2.2.
        var verdict = TrustVerdict(.certificateUnreachable)
        #expect(verdict.code(under: TrustLab.regimes[0]) == 436)
        verdict.causes = [.certificateUnreachable, .passed]
        #expect(verdict.code(under: TrustLab.regimes[0]) == nil)
        verdict.causes = [.certificateUnreachable, .stale]
        #expect(verdict.code(under: TrustLab.regimes[0]) == 403)
    }

    @Test(
        arguments: [
            (.stale, "us", .none), (.stale, "private", .failed), (.stale, "fr", .none), (.revoked, "us", .failed),
            (.revoked, "fr", .none), (.badSignature, "us", .failed), (.badSignature, "private", .failed),
        ] as [(TrustCause, String, EmittedVerstat)])
    func `a regime lists the causes of a failed verstat`(
        _ cause: TrustCause, _ regime: String, _ expected: EmittedVerstat
    ) throws {
        var verdict = TrustVerdict(cause)
        verdict.number = .failed
        let regime = try #require(TrustLab.regimes.first { $0.name == regime })
        #expect(verdict.verstat(under: regime) == expected)
        verdict.number = .none
        #expect(verdict.verstat(under: regime) == .none)
    }
}
