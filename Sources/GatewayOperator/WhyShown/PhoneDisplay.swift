// SPDX-License-Identifier: Apache-2.0

package import Host
import Primitives

/// The parts of a call that a family of phones shows, as docs/phones.md has them.
package enum PhoneDisplay: String, Hashable, Sendable, CaseIterable {
    case auerswald, avaya
    case avayaIPOffice = "avaya_ip_office"
    case cisco, fanvil, gigaset, grandstream, jssip
    case linphoneAndroid = "linphone_android"
    case mitel
    case mitel6739 = "mitel_6739"
    case mivoice, poly, snom
    case snom370 = "snom_370"
    case snomM9 = "snom_m9"
    case softphone, yealink, zoom

    /// The way of a picture to the phone.
    enum Picture: Hashable, Sendable {
        /// The phone reads the URL in Call-Info, and shows these forms.
        case callInfo(String)
        /// The phone asks a server for the caller's number, whatever the INVITE holds.
        case byNumber(String)
        case none(String)
    }

    /// The family as people name it.
    var title: String {
        switch self {
        case .auerswald: "Auerswald COMfortel 1400, 2600, 3600 IP"
        case .avaya: "Avaya J100"
        case .avayaIPOffice: "Avaya IP Office"
        case .cisco: "Cisco MPP 6800, 7800, 8800 and Webex"
        case .fanvil: "Fanvil, Panasonic, Akuvox"
        case .gigaset: "Gigaset Desktop IP PRO"
        case .grandstream: "Grandstream GXP, GRP"
        case .jssip: "JsSIP, Browser-Phone"
        case .linphoneAndroid: "Linphone for Android"
        case .mitel: "Mitel 68xx, 69xx"
        case .mitel6739: "Mitel 6739i"
        case .mivoice: "MiVoice"
        case .poly: "Poly VVX, Edge"
        case .snom: "snom 820, 870, D series"
        case .snom370: "snom 370"
        case .snomM9: "snom m9"
        case .softphone: "baresip, PJSIP, linphone, twinkle"
        case .yealink: "Yealink T2 to T5, W"
        case .zoom: "Zoom Phone"
        }
    }

    /// The header fields of the name; nil where the source has none.
    var nameFields: String? {
        switch self {
        case .auerswald, .jssip, .linphoneAndroid, .softphone: "From"
        case .snom, .snom370, .snomM9, .gigaset: "P-Asserted-Identity, then From"
        case .cisco, .poly: "P-Asserted-Identity"
        case .avaya: "P-Asserted-Identity or From"
        case .grandstream: "From or P-Asserted-Identity"
        case .yealink: "the fields of its configuration"
        case .avayaIPOffice, .fanvil, .mitel, .mitel6739, .mivoice, .zoom: nil
        }
    }

    var picture: Picture {
        switch self {
        case .snom: .callInfo("JPEG, PNG or BMP from an http URL")
        case .snom370: .callInfo("8-bit grey BMP, uncompressed")
        case .snomM9: .callInfo("JPEG of 40 × 50")
        case .gigaset: .callInfo("JPEG, PNG or BMP")
        case .auerswald: .callInfo("JPEG from an http URL")
        case .mitel: .byNumber("PNG of 150 × 150")
        case .mitel6739: .byNumber("PNG of 150 × 200, 24 bit")
        case .mivoice: .none("it has internal pictures only")
        case .softphone: .none("the header arrives and is not drawn")
        case .yealink: .none("the header and format of its pictures are not documented")
        case .jssip, .linphoneAndroid: .none("the program has no picture of a caller's INVITE")
        case .avaya, .avayaIPOffice, .cisco, .fanvil, .grandstream, .poly, .zoom:
            .none("no document of the vendor has one")
        }
    }

    /// The marks that the family draws from verstat or an attestation; nil for none.
    var marks: String? {
        switch self {
        case .poly: "Trusted, Unknown or Spam"
        case .cisco: "a mark of trust"
        case .avaya: "passed, failed or unknown"
        case .avayaIPOffice: "a tick, question mark or cross before the name"
        case .zoom: "an icon for attestation A"
        case .auerswald, .fanvil, .gigaset, .grandstream, .jssip, .linphoneAndroid, .mitel, .mitel6739, .mivoice,
            .snom, .snom370, .snomM9, .softphone, .yealink:
            nil
        }
    }

    /// The source of these statements.
    var source: String {
        switch self {
        case .softphone: "run by this project: Deploy/test-peers phones"
        case .jssip: "the program's source; not run"
        case .linphoneAndroid: "an issue of the program; not run"
        case .fanvil: "no document found; not run"
        default: "the vendor's document; not run"
        }
    }

    /// The family of a text of an operator.
    ///
    /// - Throws: `CommandFailure` with the nearest family and all of them.
    package static func read(_ text: String) throws(CommandFailure) -> PhoneDisplay {
        if let phone = PhoneDisplay(rawValue: text) { return phone }
        let names = allCases.map(\.rawValue)
        let name = TerminalText.visible(
            "no family of phones has the name \(text)\(NearestName.hint(text, among: names))")
        throw CommandFailure("\(name); the families are \(names.joined(separator: ", "))")
    }
}
