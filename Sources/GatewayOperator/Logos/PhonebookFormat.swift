// SPDX-License-Identifier: Apache-2.0

import Branding

/// A file format of phonebooks.
///
/// The structures follow the examples in the vendors' documents: Yealink, remote phone book; Grandstream, XML based
/// downloadable phonebook guide; Fanvil, remote phonebook; snom, remote XML directory and local directory 2.0; RFC 2426.
enum PhonebookFormat: String, Hashable, CaseIterable {
    case yealink = "yealink.xml"
    case grandstream = "grandstream.xml"
    case fanvil = "fanvil.xml"
    case snom = "snom.xml"
    case vCard = "brands.vcf"

    var contentType: String { self == .vCard ? "text/vcard; charset=utf-8" : "text/xml; charset=utf-8" }

    /// The family whose form of logo the format refers to; nil for the usual form.
    var family: PhoneFamily? {
        switch self {
        case .grandstream: .grandstream
        case .snom: .snom
        case .yealink, .fanvil, .vCard: nil
        }
    }

    /// True if the logo itself is in the file.
    var embedsPhotos: Bool { self == .snom }

    /// snom phones request the file by POST.
    var acceptsPost: Bool { self == .snom }

    /// The phonebook of these contacts, in UTF-8.
    func text(of contacts: [PhonebookContact]) -> String {
        switch self {
        case .yealink:
            Self.document("YealinkIPPhoneDirectory", contacts) { contact in
                Self.entry(contact, tags: ["Telephone", "Telephone", "Telephone"])
            }
        case .fanvil:
            Self.document("FanvilIPPhoneDirectory", contacts) { contact in
                // The phones refuse an ampersand, escaped or not.
                var contact = contact
                contact.name = contact.name.replacing("&", with: "+")
                return Self.entry(contact, tags: ["Telephone", "Mobile", "Other"])
            }
        case .grandstream: Self.document("AddressBook", contacts, before: "<version>1</version>\n", Self.grandstream)
        case .snom: Self.document("tbook", attributes: " e=\"2\" version=\"2.0\"", contacts, Self.snom)
        case .vCard: contacts.map(VCard.text).joined()
        }
    }

    private static func document(
        _ root: String, attributes: String = "", _ contacts: [PhonebookContact], before: String = "",
        _ element: (PhonebookContact) -> String
    ) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<\(root)\(attributes)>\n" + before
            + contacts.map(element).joined() + "</\(root)>\n"
    }

    private static func entry(_ contact: PhonebookContact, tags: [String]) -> String {
        "<DirectoryEntry>\n" + element("Name", contact.name)
            + zip(tags, contact.numbers).map { element($0, $1) }.joined() + "</DirectoryEntry>\n"
    }

    private static func grandstream(_ contact: PhonebookContact) -> String {
        let phones = zip(["Work", "Home", "Mobile"], contact.numbers).map { type, number in
            "<Phone type=\"\(type)\">\n" + element("phonenumber", number) + element("accountindex", "0") + "</Phone>\n"
        }
        return "<Contact>\n" + element("FirstName", contact.name) + phones.joined()
            + (contact.photoURL.map { element("PhotoUrl", $0) } ?? "") + "</Contact>\n"
    }

    private static func snom(_ contact: PhonebookContact) -> String {
        let numbers = contact.numbers.map {
            "<number no=\"\(XMLText.escaped($0))\" type=\"business\" outgoing_id=\"0\"/>\n"
        }
        return "<contact fav=\"false\" vip=\"false\" blocked=\"false\">\n" + element("last_name", contact.name)
            + (contact.photo.map { element("photo", $0) } ?? "")
            + "<numbers>\n" + numbers.joined() + "</numbers>\n</contact>\n"
    }

    private static func element(_ name: String, _ text: String) -> String {
        "<\(name)>\(XMLText.escaped(text))</\(name)>\n"
    }
}

/// A brand in a phonebook: at most three numbers, since phones have places for home, work and mobile.
struct PhonebookContact: Hashable {
    static let mostNumbers = 3

    var name: String
    /// In E.164 with a plus sign; at least one.
    var numbers: [String]
    var photoURL: String?
    /// The address of the brand's public card; vCard alone has a place for it.
    var cardURL: String?
    /// The picture in Base64.
    var photo: String?
}

/// Text of XML 1.0.
enum XMLText {
    /// Escapes the characters of markup and drops those that XML does not allow (§2.2).
    static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out.append(contentsOf: "&amp;".unicodeScalars)
            case "<": out.append(contentsOf: "&lt;".unicodeScalars)
            case ">": out.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": out.append(contentsOf: "&quot;".unicodeScalars)
            case "'": out.append(contentsOf: "&apos;".unicodeScalars)
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": continue
            default: out.append(scalar)
            }
        }
        return String(out)
    }
}

/// A card of vCard 3.0 (RFC 2426), which more phones read than 4.0.
enum VCard {
    static func text(_ contact: PhonebookContact) -> String {
        let name = escaped(contact.name)
        var lines = ["BEGIN:VCARD", "VERSION:3.0", "FN:\(name)", "N:\(name);;;;", "ORG:\(name)"]
        lines += contact.numbers.map { "TEL;TYPE=WORK,VOICE:\($0)" }
        if let photo = contact.photoURL { lines.append("PHOTO;VALUE=URI:\(photo)") }
        if let card = contact.cardURL { lines.append("URL:\(card)") }
        lines.append("END:VCARD")
        return lines.map { folded($0) + "\r\n" }.joined()
    }

    /// Escapes a text value (§4).
    private static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar.value >= 0x20 {
            if scalar == "\\" || scalar == "," || scalar == ";" { out.append("\\") }
            out.append(scalar)
        }
        return String(out)
    }

    /// Folds a line at 75 bytes, between two characters (§2.6).
    private static func folded(_ line: String) -> String {
        var out = String.UnicodeScalarView()
        var bytes = 0
        for scalar in line.unicodeScalars {
            let width = UTF8.width(scalar)
            if bytes + width > 75 {
                out.append(contentsOf: "\r\n ".unicodeScalars)
                bytes = 1
            }
            out.append(scalar)
            bytes += width
        }
        return String(out)
    }
}
