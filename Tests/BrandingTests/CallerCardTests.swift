// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Values of directory and signature, RFC 9796 §7 and §8")
struct CallerCardTests {
    /// The picture and its digest in RFC 9796 §8.
    private static let picture = "https://example.com/photos/q-256x256.png"
    private static let digest = "sha256-RojgWwU6xUtI4q82+kHPyHm1JKbm7+663bMvzymhkl4"
    private static let hash = "4688e05b053ac54b48e2af36fa41cfc879b524a6e6efeebaddb32fcf29a1925e"
    private static let file = "4688e05b053ac54b48e2af36fa41cfc8-256x256.png"
    private static let ownLogo = "https://logos.example/q-256x256.png"

    private static let name = "Q Branch Spy Gadgets"
    private static let reason = "Rendezvous for Little Nellie"

    private struct Brand {
        var name = CallerCardTests.name
        var logo: String?
        var reason: String?
    }

    /// The rules of a source of names, as the call path sets them.
    private enum Source {
        static let directory = CallerCard.Rules(
            takesSignedName: false, takesDirectory: true, takesSigned: true, prefersSigned: false)
        static let signature = CallerCard.Rules(
            takesSignedName: true, takesDirectory: true, takesSigned: true, prefersSigned: true)
        static let alone = CallerCard.Rules(
            takesSignedName: true, takesDirectory: false, takesSigned: true, prefersSigned: true)
    }

    private static func logos(_ missing: HostedLogos.Missing) -> HostedLogos {
        HostedLogos(publicURL: "http://gw.example", missing: missing, files: [ownLogo: file])
    }

    private static func icon(hash: String = hash) -> SignedValues.Icon {
        SignedValues.Icon(address: picture, digest: digest, hash: hash)
    }

    private func card(
        _ brand: Brand?, _ signed: SignedValues, _ rules: CallerCard.Rules, _ profile: RenderingProfile = .init(),
        form: String? = nil
    ) throws -> CallerCard? {
        let number = try #require(E164Number("+12025551000"))
        var builder = BrandIndexBuilder(profile: profile, generation: 1, expectedCount: 1)
        if let brand {
            builder.add(
                BrandRecord(
                    number: number, name: brand.name, brandID: "q", logoURL: brand.logo, callReason: brand.reason,
                    updatedAt: "x"))
        }
        let index = builder.finish()
        let entry = index.entry(for: number)
        return CallerCard(entry, in: index, signed, rules, logo: form.map { Array($0.utf8) })
    }

    private func value(_ card: CallerCard?, withLogo: Bool = true, isNamed: Bool = true) -> String {
        guard let card, card.hasCallInfo(withLogo: withLogo, isNamed: isNamed) else { return "" }
        var out: [UInt8] = []
        card.appendCallInfo(withLogo: withLogo, isNamed: isNamed, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    // MARK: The values of RFC 9796 §8

    @Test func `the picture of the token has verified and integrity`() throws {
        let profile = RenderingProfile(logos: Self.logos(.original))
        let signed = SignedValues(name: Self.name, reason: Self.reason, icon: Self.icon())
        let card = try card(nil, signed, Source.alone, profile)
        #expect(
            value(card) == "<\(Self.picture)>;purpose=icon;call-reason=\"\(Self.reason)\";verified=\"true\";"
                + "integrity=\"\(Self.digest)\"")
        #expect(
            value(card, withLogo: false) == "<data:>;purpose=jcard;call-reason=\"\(Self.reason)\";verified=\"true\"")
        #expect(card?.hasVerifiedLogo == true)
    }

    @Test func `a name alone has a value without URI`() throws {
        let card = try card(nil, SignedValues(name: Self.name), Source.alone)
        #expect(value(card) == "<data:>;purpose=jcard;verified=\"true\"")
        #expect(card?.name == Self.name)
        #expect(value(card, isNamed: false).isEmpty, "From or P-Asserted-Identity has another name")
    }

    @Test func `the brand's name counts as verified if it is the signed one`() throws {
        let card = try card(Brand(), SignedValues(name: Self.name), Source.directory)
        #expect(value(card) == "<data:>;purpose=jcard;verified=\"true\"")
        #expect(card?.isOfIndex == true && card?.isNameVerified == true)
    }

    // MARK: Values without a mark

    /// The brand, the signed values, and the value of Call-Info; nil where the index has it all.
    @Test func `what no signature bears out has no mark`() throws {
        let null = "<data:>;purpose=jcard"
        let cases: [(Brand, SignedValues, String?)] = [
            // A name of the directory without a signed one, or with another spelling.
            (Brand(), SignedValues(), nil), (Brand(name: "Q Branch"), SignedValues(name: Self.name), nil),
            (Brand(name: "Q BRANCH SPY GADGETS"), SignedValues(name: Self.name), nil),
            // A reason of the directory beside a verified name, and the reverse.
            (Brand(reason: "Delivery"), SignedValues(name: Self.name), "\(null);call-reason=\"Delivery\""),
            (
                Brand(name: "Q"), SignedValues(reason: Self.reason),
                "\(null);call-reason=\"\(Self.reason)\""
            ),
            // The directory's reason is the signed one too.
            (
                Brand(reason: Self.reason), SignedValues(name: Self.name, reason: Self.reason),
                "\(null);call-reason=\"\(Self.reason)\";verified=\"true\""
            ),
            // A logo of the directory beside verified texts.
            (
                Brand(logo: Self.ownLogo), SignedValues(name: Self.name, reason: Self.reason),
                "<\(Self.ownLogo)>;purpose=icon;call-reason=\"\(Self.reason)\""
            ),
            // Nobody has seen the bytes of the picture, even at the same address.
            (
                Brand(logo: Self.picture), SignedValues(name: Self.name, icon: Self.icon()),
                "<\(Self.picture)>;purpose=icon"
            ),
        ]
        for (brand, signed, expected) in cases {
            let card = try card(brand, signed, Source.directory)
            #expect((card == nil ? nil : value(card)) == expected, "\(brand) \(signed)")
        }
    }

    /// Cleaned text is another text than the signed one.
    @Test(arguments: [
        ("Q\u{202E}Branch", "QBranch"), ("Q\r\nBranch", "Q Branch"), ("100% Q", "100 percent Q"), (" Q", "Q"),
        (String(repeating: "Q", count: 300), String(repeating: "Q", count: 80)), ("Q\u{200B}", "Q"),
    ]) func `a cleaned name has no mark`(signed: String, shown: String) throws {
        let card = try card(nil, SignedValues(name: signed, reason: signed), Source.alone)
        #expect(card?.name == shown)
        #expect(value(card).contains("call-reason"))
        #expect(!value(card).contains("verified") && card?.isNameVerified == false)
    }

    @Test(arguments: [#"Q "Branch" \ <b>"#, "Ünïcode 株式会社", "O'Brien & Sons; a=b, c"])
    func `an escape in the header field changes no text`(name: String) throws {
        let card = try card(nil, SignedValues(name: name), Source.alone)
        #expect(value(card) == "<data:>;purpose=jcard;verified=\"true\"")
        let typographic = try self.card(
            nil, SignedValues(name: #"Q "Branch""#), Source.alone, RenderingProfile(quotes: .typographic))
        #expect(value(typographic).isEmpty, "other quotes are other characters")
    }

    @Test(arguments: ["\u{202E}\u{200B}", "\u{0}", "   "]) func `a name that nobody can read is none`(name: String)
        throws
    {
        #expect(try card(nil, SignedValues(name: name), Source.alone) == nil)
    }

    // MARK: Pictures

    /// The picture of the token, its bytes among the stored logos, and the addresses that Call-Info may have.
    @Test(
        arguments: [
            (hash, .original, "<\(picture)>;purpose=icon;verified=\"true\";integrity=\"\(digest)\""),
            // The gateway's own address is not the signed one.
            (hash, .none, "<http://gw.example/logos/\(file)>;purpose=icon"),
            (String(hash.reversed()), .original, "<data:>;purpose=jcard;verified=\"true\""),
        ] as [(String, HostedLogos.Missing, String)])
    func `a picture counts if its bytes are stored`(
        hash: String, missing: HostedLogos.Missing, expected: String
    ) throws {
        let signed = SignedValues(name: Self.name, icon: Self.icon(hash: hash))
        let card = try card(nil, signed, Source.alone, RenderingProfile(logos: Self.logos(missing)))
        #expect(value(card) == expected)
    }

    @Test func `a rescaled copy of the gateway has the form of the phone and no mark`() throws {
        let signed = SignedValues(name: Self.name, icon: Self.icon())
        let card = try card(
            nil, signed, Source.alone, RenderingProfile(logos: Self.logos(.none)), form: "64x64.jpg")
        #expect(value(card) == "<http://gw.example/logos/4688e05b053ac54b48e2af36fa41cfc8-64x64.jpg>;purpose=icon")
    }

    @Test(arguments: ["http://example.com/q.png", "https://user@example.com/q.png", "https://example.com/a>b.png"])
    func `an address that is unsafe in a header field is left out`(address: String) throws {
        let icon = SignedValues.Icon(address: address, digest: Self.digest, hash: Self.hash)
        let signed = SignedValues(name: Self.name, icon: icon)
        let card = try card(nil, signed, Source.alone, RenderingProfile(logos: Self.logos(.original)))
        #expect(value(card) == "<data:>;purpose=jcard;verified=\"true\"")
    }

    @Test func `without stored logos no picture was seen`() throws {
        let signed = SignedValues(name: Self.name, icon: Self.icon())
        #expect(value(try card(nil, signed, Source.alone)) == "<data:>;purpose=jcard;verified=\"true\"")
    }

    // MARK: Precedence

    @Test func `the source decides which of two values goes first`() throws {
        let brand = Brand(logo: Self.ownLogo, reason: "Delivery")
        let signed = SignedValues(name: Self.name, reason: Self.reason)
        let icon = "<\(Self.ownLogo)>;purpose=icon"
        #expect(
            value(try card(brand, signed, Source.directory), withLogo: false)
                == "<data:>;purpose=jcard;call-reason=\"Delivery\"")
        #expect(value(try card(brand, signed, Source.signature)) == "\(icon);call-reason=\"\(Self.reason)\"")
        #expect(
            value(try card(brand, signed, Source.alone))
                == "<data:>;purpose=jcard;call-reason=\"\(Self.reason)\";verified=\"true\"")
    }
}
