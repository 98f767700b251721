// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TrustFixtures

@testable import Trust

/// RFC 8224 §4 for the header field, RFC 8225 §4 for the token header.
@Suite("Identity header field")
struct IdentityFieldTests {
    private static let lab = TrustLab.shared
    private static let address = "https://cert.example.net/spc.pem"
    private static let usual = ";info=<\(address)>;alg=ES256;ppt=shaken"

    private func causes(_ values: [String], _ regime: String = "us") throws -> [TrustCause] {
        try Self.lab.snapshot(["spc"]).verify(values, under: TrustLab.policy(regime)).causes
    }

    @Test(
        arguments: [
            (usual, [.passed], "RFC 8224 §4: the usual form"),
            (" ; info = <\(address)> ; alg = ES256 ; ppt = shaken", [.passed], "white space around separators"),
            ("\r\n ;info=<\(address)>\r\n\t;alg=ES256;ppt=\"shaken\"", [.passed], "RFC 3261 §7.3.1: folded lines"),
            (";ppt=shaken;alg=ES256;info=<\(address)>", [.passed], "any order"),
            (";INFO=<\(address)>;Alg=es256;PPT=SHAKEN", [.passed], "RFC 3261 §7.3.1: no case of letters"),
            (";info=<\(address)>;alg=\"ES256\";ppt=shaken", [.passed], "a quoted algorithm"),
            (";info=<\(address)>;ppt=shaken", [.passed], "RFC 8224 §4: alg is ES256 without the parameter"),
            (usual + ";x=1;y", [.passed], "further parameters"),
            (usual + ";x=\"a;b,c\\\"d\"", [.passed], "separators inside a quoted value"),
            (";info=\(address);alg=ES256;ppt=shaken", [.infoMissing], "no angle brackets"),
            (";info=\"\(address)\";alg=ES256;ppt=shaken", [.infoMissing], "a quoted address"),
            (";info=<cert.example.net>;alg=ES256;ppt=shaken", [.infoMissing], "RFC 3986 §4.3: no scheme"),
            (";info=<https://cert.example.net/a b>;alg=ES256;ppt=shaken", [.infoMissing], "a blank in the address"),
            (";info=<>;alg=ES256;ppt=shaken", [.malformed], "an empty address"),
            (";info=<\(address);alg=ES256;ppt=shaken", [.malformed], "an open bracket"),
            (usual + ";info=<\(address)>", [.malformed], "a parameter twice"),
            (usual + ";ppt=shaken", [.malformed], "a type twice"),
            (usual + ";=x", [.malformed], "a parameter without a name"),
            (usual + ";x=", [.malformed], "a parameter without its value"),
            (usual + " trash", [.malformed], "something behind the parameters"),
            (";info=<\(address)/>;alg=ES256;ppt=shaken", [.infoMismatch], "octet by octet"),
            (";info=<HTTPS://cert.example.net/spc.pem>;alg=ES256;ppt=shaken", [.infoMismatch], "with case"),
            (";info=<\(address)>;alg=ES384;ppt=shaken", [.alg], "RFC 8225 §10.2: another algorithm"),
            (";info=<\(address)>;alg=ES256;ppt=\"\"", [.malformed], "an empty type"),
            (";info=<\(address)>;alg=ES256;ppt=rph", [.unsupportedPPT], "RFC 8224 §6.2 step 1: an unknown type"),
        ] as [(String, [TrustCause], String)])
    func `parameters follow the grammar`(_ parameters: String, _ expected: [TrustCause], _ rule: String) throws {
        let value = try Self.lab.signed(TrustLab.claims(), parameters: parameters)
        #expect(try causes([value]) == expected, "\(rule)")
    }

    /// RFC 3261 §7.3.1: values with a comma between them are fields of their own.
    @Test(
        arguments: [
            ("GOOD , BAD", [.passed, .malformed], "in order"),
            ("BAD,GOOD", [.malformed, .passed], "in order, without blanks"),
            ("x;y=\",GOOD", [.malformed], "an open quote swallows what follows"),
            ("x;;,y;;,GOOD", [.malformed, .malformed, .passed], "a bad value does not hide the next one"),
            (", ,", [.unsigned], "a field without a value"),
        ] as [(String, [TrustCause], String)])
    func `values of one field are read like fields`(_ text: String, _ expected: [TrustCause], _ rule: String) throws {
        let good = try Self.lab.signed(TrustLab.claims())
        let field = text.replacing("GOOD", with: good).replacing("BAD", with: "a.b" + Self.usual)
        #expect(try causes([field]) == expected, "\(rule)")
    }

    @Test func `a call without the field is unsigned`() throws { #expect(try causes([]) == [.unsigned]) }

    @Test(
        arguments: [
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .passed,
                "RFC 8588 §4"
            ),
            (
                #"{"x5u":"https:\/\/cert.example.net\/spc.pem","typ":"passport","ppt":"shaken","alg":"ES256"}"#,
                .passed,
                "any order, and escapes"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem","kid":"1"}"#,
                .passed,
                "RFC 7515 §4: an unknown member"
            ),
            (
                #"{"alg":"ES256","ppt":"SHAKEN","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#,
                .unsupportedPPT,
                "RFC 7515 §4: members have a case"
            ),
            (
                #"{"alg":"ES256","ppt":7,"typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .malformed,
                "a type of no text"
            ),
            (
                #"{"alg":"ES256","crit":["b64"],"b64":false,"ppt":"shaken","typ":"passport","x5u":"https://a.example/c"}"#,
                .malformed, "RFC 7515 §4.1.11: an extension that is not known"
            ),
            (
                #"{"alg":"ES256","crit":["x"],"ppt":"vvp","typ":"passport"}"#, .unsupportedPPT,
                "an unknown type comes before its extensions"
            ),
            (
                #"{"alg":"es256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .alg,
                "RFC 7518 §3.1"
            ),
            (
                #"{"alg":"none","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .alg,
                "RFC 8725 §3.1"
            ),
            (
                #"{"alg":"HS256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .alg,
                "a symmetric one"
            ),
            (
                #"{"alg":256,"ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#, .alg,
                "a number"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"Passport","x5u":"https://cert.example.net/spc.pem"}"#, .typ,
                "RFC 8225 §4.1"
            ),
            (#"{"alg":"ES256","ppt":"shaken","typ":"passport"}"#, .headerIncomplete, "RFC 8225 §4.3: no certificate"),
            (#"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":1}"#, .headerIncomplete, "an address of no text"),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":1,"x5c":[]}"#, .headerIncomplete,
                "the same beside a chain"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":[]}"#, .certificateMalformed,
                "RFC 7515 §4.1.6: no certificate"
            ),
            (#"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":"MIIC"}"#, .certificateMalformed, "no array"),
            (#"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MII-"]}"#, .certificateMalformed, "base64url"),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MIIC7zCC","MIIC7zCC"]}"#,
                .certificateMalformed, "a length that is wrong"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MIIAAgUA",1]}"#, .certificateMalformed,
                "a number in the chain"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MIIAAgUA"]}"#, .signerNotYetKnown,
                "a sequence of two bytes"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA"]}"#,
                .signerNotYetKnown, "six certificates"
            ),
            (
                #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5c":["MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA","MIIAAgUA"]}"#,
                .certificateMalformed, "seven certificates"
            ),
        ] as [(String, TrustCause, String)])
    func `the token header has its members`(_ header: String, _ expected: TrustCause, _ rule: String) throws {
        let value = try Self.lab.signed(TrustLab.claims(), header: header)
        #expect(try causes([value]) == [expected], "\(rule)")
    }

    @Test(
        arguments: [
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .passed, "RFC 8588 §4"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"],"uri":["sip:a@b"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .passed,
                "RFC 8225 §5.2.1: numbers and URIs"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418.0,"orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "RFC 7519 §2: whole seconds"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":"1471375418","orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "RFC 8225 §5.1.1: a number"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"orig":{"tn":"12025551000"},"origid":"o""#, .claims,
                "no iat"
            ),
            (#""attest":"A","iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#, .claims, "no dest"),
            (
                #""attest":"A","dest":{},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#, .claims,
                "an empty dest"
            ),
            (
                #""attest":"A","dest":{"tn":[]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#, .claims,
                "no number in dest"
            ),
            (
                #""attest":"A","dest":{"tn":[12025551001]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "a number that is no text"
            ),
            (
                #""attest":"A","dest":["12025551001"],"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "dest as a list"
            ),
            (
                #""attest":"A","dest":{"uri":"sip:a@b"},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "a URI that is no list"
            ),
            (#""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"origid":"o""#, .claims, "no orig"),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{},"origid":"o""#, .claims,
                "an empty orig"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":["12025551000"]},"origid":"o""#,
                .claims, "RFC 8225 §5.2.1: one caller"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000","uri":"sip:a@b"},"origid":"o""#,
                .claims,
                "a caller of two kinds"
            ),
            (
                #""dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#, .claims,
                "RFC 8588 §4: no attestation"
            ),
            (
                #""attest":"","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .claims, "an empty attestation"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":1"#,
                .claims, "RFC 8588 §5: no text"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"uri":"sip:a@b"},"origid":"o""#,
                .notANumber, "a caller without a number"
            ),
            (
                #""attest":"A","dest":{"uri":["sip:a@b"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .notANumber, "a callee without a number"
            ),
            (
                #""attest":"A","dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"+12025551000"},"origid":"o""#,
                .callerMismatch,
                "RFC 8224 §8.3: no plus sign"
            ),
            (
                #""attest":"A","dest":{"tn":["1-202-555-1001"]},"iat":1471375418,"orig":{"tn":"12025551000"},"origid":"o""#,
                .calledMismatch,
                "RFC 8224 §8.3: no separators"
            ),
        ] as [(String, TrustCause, String)])
    func `the payload has its claims`(_ claims: String, _ expected: TrustCause, _ rule: String) throws {
        #expect(try causes([try Self.lab.signed("{" + claims + "}")]) == [expected], "\(rule)")
    }

    @Test func `damage to the form of a token is found before its signature`() throws {
        let token = try Self.lab.token(
            #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#,
            TrustLab.claims())
        let parts = token.split(separator: ".").map(String.init)
        let rows: [(String, TrustCause, String)] = [
            (token, .passed, "RFC 7515 §7.1"),
            (token + ".", .malformed, "a fourth part"),
            ("." + token, .malformed, "an empty part"),
            (parts[0] + ".." + parts[2], .malformed, "no payload"),
            (parts[0] + "." + parts[1] + ".", .malformed, "RFC 8725 §3.2: no signature"),
            (parts[0] + "." + parts[1] + "=." + parts[2], .malformed, "RFC 7515 §2: padding"),
            (parts[0] + "." + parts[1] + "." + parts[2].dropLast(2), .malformed, "63 bytes of signature"),
            (parts[0] + "." + parts[1] + "." + parts[2] + "AA", .malformed, "65 bytes of signature"),
            (parts[0].replacing("J", with: "+") + "." + parts[1] + "." + parts[2], .malformed, "another alphabet"),
            (".." + parts[2], .compactForm, "RFC 8225 §7"),
            ("..", .malformed, "an empty compact form"),
            ("", .malformed, "no token"),
        ]
        for (text, expected, rule) in rows { #expect(try causes([text + Self.usual]) == [expected], "\(rule)") }
        // RFC 4648 §3.5: the last character of a signature has four bits that no byte takes.
        let last = try #require(parts[2].last)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let place = try #require(alphabet.firstIndex(of: last))
        let other = alphabet[alphabet.index(after: place)]
        #expect(try causes(["\(parts[0]).\(parts[1]).\(parts[2].dropLast())\(other)" + Self.usual]) == [.malformed])
    }

    @Test func `the compact form of a token without type counts by switch`() throws {
        let full = try Self.lab.token(
            #"{"alg":"ES256","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#,
            #"{"dest":{"tn":["12025551001"]},"iat":1471375418,"orig":{"tn":"12025551000"}}"#)
        let compact = ".." + full.split(separator: ".")[2] + ";info=<\(Self.address)>;alg=ES256"
        var policy = TrustLab.policy("us")
        var call = SignedCall.usual
        call.date = 1_471_375_418
        let snapshot = try Self.lab.snapshot(["spc"])
        #expect(snapshot.verify([compact], of: call, under: policy).causes == [.compactForm])
        policy.allowsCompactForm = true
        // RFC 8224 §4.1: header and payload are made from the call.
        let verdict = snapshot.verify([compact], of: call, under: policy)
        #expect(verdict.causes == [.passed] && verdict.number == .passed(nil))
        call.date = 1_471_375_419
        #expect(snapshot.verify([compact], of: call, under: policy).causes == [.badSignature])
        call.date = nil
        #expect(snapshot.verify([compact], of: call, under: policy).causes == [.compactForm])
        #expect(snapshot.verify([compact + ";ppt=shaken"], of: call, under: policy).causes == [.compactForm])
    }

    @Test func `a strict regime wants each parameter and no other`() throws {
        let rows: [(String, TrustCause)] = [
            (Self.usual, .passed), (Self.usual + ";toto=titi", .parameters),
            (";info=<\(Self.address)>;ppt=shaken", .alg),
        ]
        for (parameters, expected) in rows {
            #expect(try causes([try Self.lab.signed(TrustLab.claims(), parameters: parameters)], "fr") == [expected])
        }
    }

    @Test func `an operator softens broken header fields`() throws {
        var policy = TrustLab.policy("us")
        let snapshot = try Self.lab.snapshot(["spc"])
        #expect(snapshot.verify(["a.b.c" + Self.usual], under: policy).number == .failed)
        policy.malformed = .none
        let verdict = snapshot.verify(["a.b.c" + Self.usual], under: policy)
        #expect(verdict.number == .none && verdict.causes == [.malformed])
        let wrong = try Self.lab.signed(TrustLab.claims(orig: "12025557777"))
        #expect(snapshot.verify([wrong], under: policy).number == .failed, "a wrong number stays evidence")
    }

    @Test func `a regime without chains in tokens reads the address alone`() throws {
        var policy = TrustLab.policy("us")
        policy.regimes[0].allowsX5C = false
        let item = try #require(Self.lab.cases.first { $0.id == "x02" })
        #expect(try Self.lab.snapshot().verify(item.identity, under: policy).causes == [.headerIncomplete])
        let both = try #require(Self.lab.cases.first { $0.id == "x03" })
        #expect(try Self.lab.snapshot().verify(both.identity, under: policy).causes == [.passed])
    }
}
