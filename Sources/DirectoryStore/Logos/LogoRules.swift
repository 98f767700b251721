// SPDX-License-Identifier: Apache-2.0

import Branding
package import Foundation

/// The rules that every logo file keeps.
package enum LogoRules {
    /// True for a file name of 1 to 128 bytes that leads to no other folder.
    package static func isPlainName(_ name: String) -> Bool {
        !name.hasPrefix(".") && (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
    }

    /// A name for a file that somebody sends under a name of their own machine.
    ///
    /// Other characters become dashes. The ending of a format that is converted is replaced by that of the result.
    package static func name(fromFile name: String, type: String) -> String {
        let file = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        let plain = String(file.unicodeScalars.map { isPlainName("a\($0)") ? Character($0) : "-" }.prefix(100))
            .drop { $0 == "." }
        let ending = type == "image/png" ? "png" : "jpg"
        guard let dot = plain.lastIndex(of: ".") else { return plain.isEmpty ? "logo.\(ending)" : String(plain) }
        let own = plain[plain.index(after: dot)...].lowercased()
        let kept = type == "image/png" ? ["png"] : ["jpg", "jpeg"]
        let isConverted = LogoPicture.Format.names.contains(own) && !kept.contains(own)
        return isConverted ? "\(plain[..<dot]).\(ending)" : String(plain)
    }

    /// The media type by the first bytes, not by the name; nil unless it is a PNG or a JPEG.
    package static func contentType(_ data: Data) -> String? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        return data.starts(with: [0xFF, 0xD8, 0xFF]) ? "image/jpeg" : nil
    }
}
