// SPDX-License-Identifier: Apache-2.0

import Testing
import Trust

/// Addresses of certificates: RFC 3986 §3, and networks of RFC 6890.
@Suite("Certificate addresses")
struct CertificateAddressTests {
    @Test(arguments: [
        "https://cert.example.net/spc.pem", "https://cr.sansay.example/a/b/c.crt", "HTTPS://cert.example.net/spc.pem",
        "https://cert.example.net:8443/spc.pem", "https://cert.example.net:443/spc.pem", "https://cert.example.net",
        "https://cert.example.net./spc.pem", "https://8.8.8.8/spc.pem", "https://[2606:4700::1]/spc.pem",
        "https://[2606:4700::1]:8443/spc.pem", "https://xn--bcher-kva.example/c.pem", "https://192.0.3.1/c.pem",
        "https://cert.example.net/" + String(repeating: "a", count: 487),
    ])
    func `a public address is allowed`(_ address: String) { #expect(AddressRules().allow(address)) }

    @Test(arguments: [
        "http://cert.example.net/spc.pem", "ftp://cert.example.net/spc.pem", "file:///etc/passwd",
        "https:cert.example.net",
        "//cert.example.net/spc.pem", "cert.example.net", "", "https://", "https:///spc.pem", "https://:443/spc.pem",
        "https://user@cert.example.net/spc.pem", "https://cert.example.net@127.0.0.1/",
        "https://cert.example.net/a?b=c",
        "https://cert.example.net/a#b", "https://cert.example.net:80/spc.pem", "https://cert.example.net:8080/spc.pem",
        "https://cert.example.net:/spc.pem", "https://cert.example.net:443x/", "https://cert.example.net:99999/",
        "https://cert.example.net:0443/spc.pem/?", "https://cert.example.net/a b", "https://cert.example.net/ä",
        "https://cert.example.net/a\\b", "https://localhost/spc.pem", "https://pbx/spc.pem",
        "https://pbx.local/spc.pem",
        "https://a.localhost/spc.pem", "https://a.internal/spc.pem", "https://a..b/spc.pem", "https://.example.net/",
        "https://127.0.0.1/spc.pem", "https://10.1.2.3/", "https://172.31.16.15/", "https://192.168.1.1/",
        "https://169.254.169.254/",
        "https://100.64.0.1/", "https://0.0.0.0/", "https://224.0.0.1/", "https://255.255.255.255/",
        "https://192.0.2.1/",
        "https://198.18.0.1/", "https://127.1/", "https://0177.0.0.1/", "https://2130706433/", "https://0x7f.0.0.1/",
        "https://1.2.3.4.5/",
        "https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fc00::1]/", "https://[ff02::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[2001:db8::1]/", "https://[2002:a00:1::]/", "https://[2001:0:4136:e378::]/", "https://[2606:4700::1/",
        "https://[]/",
        "https://[2606:4700::1]x/", "https://[2606:+4700::1]/",
        "https://cert.example.net/" + String(repeating: "a", count: 488),
    ])
    func `any other address is refused`(_ address: String) { #expect(!AddressRules().allow(address)) }

    @Test(arguments: [
        ("http://127.0.0.1:8088/spc.pem", true), ("http://pbx/spc.pem", true), ("https://10.0.0.1:9443/spc.pem", true),
        ("ftp://127.0.0.1/spc.pem", false), ("http://user@127.0.0.1/spc.pem", false), ("http:///spc.pem", false),
    ])
    func `a private regime allows its own network`(_ address: String, _ isAllowed: Bool) {
        var rules = AddressRules()
        rules.ports = nil
        rules.allowsHTTP = true
        rules.allowsPrivate = true
        #expect(rules.allow(address) == isAllowed)
    }
}
