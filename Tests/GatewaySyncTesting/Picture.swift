// SPDX-License-Identifier: Apache-2.0

package import TestFixtures

/// Pictures made by hand: valid to whoever reads the header, never decoded.
package enum Picture {
    /// The beginning of a PNG of this size, as the checks of a fetch read it.
    package static func png(width: Int = 3, height: Int = 2) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + number(13) + Array("IHDR".utf8) + number(width)
            + number(height) + [8, 6, 0, 0, 0] + number(0) + number(0) + Array("IEND".utf8) + number(0)
    }
}

extension FaultyPeer.Response {
    /// A picture, with more header fields.
    package static func picture(_ bytes: [UInt8], _ headers: [String: String] = [:]) -> Self {
        var head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(bytes.count)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        return .bytes(Array((head + "Connection: close\r\n\r\n").utf8) + bytes)
    }
}
