// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Branding

@Suite("A calling name has at most 15 characters of ASCII, draft-ietf-enum-cnam-08")
struct CallingNameTests {
    @Test(arguments: [
        ("Acme Bank", "Acme Bank"), ("  Acme\tBank ", "Acme Bank"), ("O'Brien & Co.", "O'Brien & Co."),
        ("Q Branch Spy Gadgets", "Q Branch Spy Ga"), ("Fourteen Chars Co", "Fourteen Chars"),
        ("24/7 Taxi!", "24/7 Taxi!"),
        ("A\u{0}c\u{7}me\u{7F}", "Acme"), ("Acme\r\nBank", "Acme Bank"),
    ]) func `a name in ASCII is cleaned and cut`(name: String, text: String) {
        #expect(CallingName(name)?.text == text)
        #expect(CallingName(name, umlauts: .german)?.text == text)
    }

    @Test(arguments: [
        ("Müller & Söhne", "Muller & Sohne", "Mueller & Soehn"), ("Mu\u{308}ller", "Muller", "Mueller"),
        ("Straßenbahn", "Strassenbahn", "Strassenbahn"), ("ÖBB", "OBB", "OEBB"), ("ÄRZTE", "ARZTE", "AERZTE"),
        ("Łódź Æsir", "Lodz AEsir", "Lodz AEsir"), ("Crédit Agricole", "Credit Agricole", "Credit Agricole"),
        ("Ελληνική", "Ellenike", "Ellenike"), ("Банк Москвы", "Bank Moskvy", "Bank Moskvy"),
        ("Київ", "Kiiv", "Kiiv"), ("Ａｃｍｅ", "Acme", "Acme"), ("Acme\u{3000}Bank", "Acme Bank", "Acme Bank"),
    ]) func `letters get the form of ICU`(name: String, plain: String, german: String) {
        #expect(CallingName(name)?.text == plain)
        #expect(CallingName(name, umlauts: .german)?.text == german)
    }

    @Test(arguments: [
        ("☎️ Acme™", "Acme"), ("“Acme” – Bank", "\"Acme\" - Bank"), ("Acme €", "Acme"), ("Zoë 🙂", "Zoe"),
        ("O’Brien", "O'Brien"), ("A\u{202E}cme", "Acme"),
    ]) func `signs without a form are left out`(name: String, text: String) {
        #expect(CallingName(name)?.text == text)
    }

    /// Half of such a name would be the name of somebody else.
    @Test(arguments: [
        "北京银行", "北京 Bank", "東京ガス", "삼성전자", "بنك مصر", "ธนาคารไทย", "x²", "٣", "🙂", "", " ", "--", "\u{0}",
    ]) func `a name in another script has no form`(name: String) {
        for umlauts in CallingName.Umlauts.allCases { #expect(CallingName(name, umlauts: umlauts) == nil) }
    }

    @Test func `any text becomes printable ASCII or nothing`() {
        var random = RepeatableRandom(seed: 58)
        for _ in 0..<2_000 {
            var name = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &random)) { name.append(scalar) }
            }
            guard let text = CallingName(String(name))?.text else { continue }
            #expect((1...CallingName.longest).contains(text.utf8.count))
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(text.first != " " && text.last != " " && !text.contains("  "))
        }
    }

    @Test func `a long name is cut before it is transliterated`() {
        #expect(CallingName(String(repeating: "ß", count: 10_000))?.text == String(repeating: "s", count: 15))
    }
}
