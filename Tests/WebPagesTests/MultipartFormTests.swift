// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WebPages

@Suite("Forms with files", .timeLimit(.minutes(8)))
struct MultipartFormTests {
    private static let boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"

    private static func body(_ parts: String...) -> [UInt8] {
        Array((parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined() + "--\(boundary)--\r\n").utf8)
    }

    private static func field(_ name: String, _ value: String) -> String {
        "Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)"
    }

    /// The shape of Chromium's body for a form with a text, an empty file field and a chosen file.
    @Test func `a browser's body has its fields and its files`() throws {
        let picture: [UInt8] = [0x89, 0x50, 0x0D, 0x0A, 0x2D, 0x2D, 0, 0xFF]
        let head = """
            --\(Self.boundary)\r\nContent-Disposition: form-data; name="brand_name"\r\n\r\n  Acme \u{e9}\r\nBank \r
            --\(Self.boundary)\r\nContent-Disposition: form-data; name="empty"\r\n\r\n\r
            --\(Self.boundary)\r\nContent-Disposition: form-data; name="none"; filename=""\r
            Content-Type: application/octet-stream\r\n\r\n\r
            --\(Self.boundary)\r\nContent-Disposition: form-data; name="file"; filename="a%22;b.png"\r
            Content-Type: image/png\r\n\r\n
            """
        let bytes = Array(head.utf8) + picture + Array("\r\n--\(Self.boundary)--\r\n".utf8)
        let form = try #require(MultipartForm.decoded(bytes, boundary: Self.boundary))
        #expect(form["brand_name"] == "Acme \u{e9}\r\nBank" && form["empty"] == "" && form.isTicked("empty"))
        #expect(form.file("none") == nil && form.file("brand_name") == nil)
        #expect(form.file("file")?.bytes == picture)
        #expect(form.file("file")?.name == "a%22;b.png")
    }

    @Test func `the first of several equal names counts`() throws {
        let body = Self.body(Self.field("a", "1"), Self.field("a", "2"))
        #expect(try #require(MultipartForm.decoded(body, boundary: Self.boundary))["a"] == "1")
    }

    @Test(
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"),
            ("Multipart/Form-Data;boundary=\"a b\"; charset=utf-8", "a b"),
            ("multipart/form-data", nil), ("application/x-www-form-urlencoded", nil), (nil, nil),
        ] as [(String?, String?)])
    func `the boundary is that of the media type`(type: String?, boundary: String?) {
        #expect(MultipartForm.boundary(of: type) == boundary)
    }

    @Test func `a body that breaks the format is no form`() {
        let whole = Self.body(Self.field("a", "1"))
        let broken: [[UInt8]] = [
            [], Array("a=1".utf8), Array(whole.dropLast(4 + Self.boundary.utf8.count + 2)),
            Self.body("no header"), Self.body("Content-Type: text/plain\r\n\r\nx"),
            Self.body("Content-Disposition: form-data\r\n\r\nx"),
            Self.body(
                Self.field("a", "1").replacing(
                    "\r\n\r\n", with: "\r\nX: \(String(repeating: "x", count: 5000))\r\n\r\n")),
            Array(String(repeating: "--\(Self.boundary)\r\n", count: 3).utf8),
        ]
        for (place, body) in broken.enumerated() {
            #expect(MultipartForm.decoded(body, boundary: Self.boundary) == nil, "\(place)")
        }
        #expect(MultipartForm.decoded(whole, boundary: "") == nil)
        #expect(MultipartForm.decoded(whole, boundary: String(repeating: "b", count: 71)) == nil)
    }

    @Test func `a form has a limited number of parts`() {
        func body(_ count: Int) -> [UInt8] {
            Array(
                ((0..<count).map { "--\(Self.boundary)\r\n\(Self.field("f\($0)", "x"))\r\n" }.joined()
                    + "--\(Self.boundary)--").utf8)
        }
        #expect(MultipartForm.decoded(body(MultipartForm.mostParts), boundary: Self.boundary) != nil)
        #expect(MultipartForm.decoded(body(MultipartForm.mostParts + 1), boundary: Self.boundary) == nil)
    }

    /// A quarter of a megabyte of dashes and line ends is refused in a moment.
    @Test func `a hostile body takes no long time`() {
        let body = Array(String(repeating: "\r\n--", count: 1 << 16).utf8)
        #expect(MultipartForm.decoded(body, boundary: Self.boundary) == nil)
    }
}
