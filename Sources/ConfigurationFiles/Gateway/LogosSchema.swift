// SPDX-License-Identifier: Apache-2.0

package import Branding
import Foundation

extension HeraldConfiguration {
    /// The image format of local copies.
    package enum LogoFormat: String, ConfigurationWord, Sendable { case png, jpeg, bmp }

    /// Settings of the logo service, which fetches logos and serves them to phones.
    package struct Logos: Hashable, Sendable {
        /// HTTP address for phones.
        package var listen: EndpointAddress
        /// An `http` or `https` URL without a trailing slash.
        package var publicURL: String
        /// Allowed hosts: `host` or `host:port` in lower case.
        package var hosts: [String]
        /// The Call-Info icon for a logo without a local copy.
        package var missing = HostedLogos.Missing.original
        /// False serves images unchanged.
        package var scales = true
        /// 1 to 4 different sizes, 16 to 1024 pixels.
        package var sizes = [128]
        package var format = LogoFormat.png
        /// Families of phones with logos of their own, those of PBXs included.
        package var phones: [PhoneFamily] = []
        /// True serves the logo of a number at `/pictures/NUMBER.ext`.
        package var servesPictures = false
        /// True serves phonebooks of the brands.
        package var servesPhonebook = false
        /// Largest number of contacts in a phonebook.
        package var phonebookContacts = 1_000
        /// True allows hosts in private networks and on this machine.
        package var allowsPrivate = false
        /// True allows `http:` URLs.
        package var allowsHTTP = false
        /// Largest image in bytes.
        package var maxFile = 524_288
        /// Largest image in pixels.
        package var maxPixels = 4_194_304
        /// Limit of all files in bytes.
        package var maxTotal = 268_435_456
        /// Time limit of a fetch.
        package var timeout = Duration.seconds(10)
        /// Time between checks of a logo.
        package var refresh = Duration.seconds(86_400)
        /// Time before an unused file is deleted.
        package var grace = Duration.seconds(604_800)
    }
}

extension HeraldSchema {
    /// Reads the `logos` section; nil disables the logo service.
    func logos(
        _ directory: HeraldConfiguration.DirectoryAccess?, _ customers: [HeraldConfiguration.Customer],
        admin: EndpointAddress?, pbx: [HeraldConfiguration.PBX]
    ) -> HeraldConfiguration.Logos? {
        root.section("logos") { section in
            let listen = logoListener(section, admin: admin)
            let publicURL = publicURL(section, listen)
            let hosts = logoHosts(section, directory)
            if directory == nil, !customers.contains(where: { $0.logoHosts != nil }) {
                section.problem("hosts", "logos need a directory, and none is configured")
            }
            var logos = HeraldConfiguration.Logos(
                listen: listen ?? EndpointAddress(host: "127.0.0.1", port: 9480, isIPv6: false),
                publicURL: publicURL ?? "", hosts: hosts)
            logos.missing = section.choice("missing", default: logos.missing)
            logos.scales = section.bool("scale", default: logos.scales)
            logos.sizes = sizes(section) ?? logos.sizes
            logos.format = section.choice("format", default: logos.format)
            logos.phones = phones(section, pbx, scales: logos.scales)
            logos.servesPictures = section.bool("pictures", default: logos.servesPictures)
            logos.servesPhonebook = section.bool("phonebook", default: logos.servesPhonebook)
            logos.phonebookContacts = section.integer(
                "phonebook_contacts", default: logos.phonebookContacts, in: 1...20_000)
            logos.allowsPrivate = section.bool("allow_private", default: logos.allowsPrivate)
            logos.allowsHTTP = section.bool("allow_http", default: logos.allowsHTTP)
            logos.maxFile = section.integer("max_file", default: logos.maxFile, in: 1_024...8_388_608)
            logos.maxPixels = section.integer("max_pixels", default: logos.maxPixels, in: 256...16_777_216)
            logos.maxTotal = section.integer("max_total", default: logos.maxTotal, in: 1_048_576...1_099_511_627_776)
            let day = Duration.seconds(86_400)
            logos.timeout = section.duration("timeout", default: logos.timeout, in: .seconds(1) ... .seconds(120))
            logos.refresh = section.duration("refresh", default: logos.refresh, in: .seconds(60)...(day * 30))
            logos.grace = section.duration("grace", default: logos.grace, in: .zero...(day * 365))
            return logos
        }
    }

    /// The hosts of logos: those of `hosts`, else the directory's host and that of SecureNode's logos.
    func logoHosts(
        _ section: ConfigurationSection, _ directory: HeraldConfiguration.DirectoryAccess?
    ) -> [String] {
        let hosts = section.list("hosts") { text throws(AddressProblem) in try Self.host(text) }
        return section.has("hosts") ? hosts : Self.usualHosts(directory)
    }

    private func logoListener(_ section: ConfigurationSection, admin: EndpointAddress?) -> EndpointAddress? {
        if !section.has("listen") { section.missing("listen", "192.0.2.10:9480") }
        let listen = section.parsed("listen") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: 9480)
        }
        if let listen, listen == admin {
            section.problem("listen", "equals admin.listen; phones must not reach the admin pages")
        }
        return listen
    }

    private func publicURL(_ section: ConfigurationSection, _ listen: EndpointAddress?) -> String? {
        if section.has("public_url") {
            let url = section.string("public_url", form: URLForm.header, URLForm.isFitForHeader)
            return url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        }
        guard let listen else { return nil }
        if listen.isWildcard {
            section.missing("public_url", "http://192.0.2.10:\(listen.port)")
            return nil
        }
        return "http://\(listen)"
    }

    /// Returns the families of `phones` and those of PBXs, each once.
    private func phones(
        _ section: ConfigurationSection, _ pbx: [HeraldConfiguration.PBX], scales: Bool
    ) -> [PhoneFamily] {
        var phones = section.choices("phones", default: [PhoneFamily]())
        for family in pbx.compactMap(\.phones) where !phones.contains(family) { phones.append(family) }
        if !phones.isEmpty, !scales {
            section.problem("scale", "must be true for phones: with false no logo is made in another form")
        }
        return phones
    }

    private func sizes(_ section: ConfigurationSection) -> [Int]? {
        guard section.has("sizes") else { return nil }
        let texts = section.list("sizes") { text throws(AddressProblem) in text }
        let sizes = texts.compactMap { Int($0) }.filter { [16, 32, 64, 128, 256, 512, 1024].contains($0) }
        guard sizes.count == texts.count, Set(sizes).count == sizes.count, (1...4).contains(sizes.count) else {
            section.problem("sizes", "must be 1 to 4 different powers of two from 16 to 1024 (RFC 9796)")
            return nil
        }
        return sizes
    }

    /// Returns the directory's host and the host of SecureNode's logos.
    private static func usualHosts(_ directory: HeraldConfiguration.DirectoryAccess?) -> [String] {
        let own = directory.flatMap { URLComponents(string: $0.url) }.flatMap { parts in
            parts.host.map { $0.lowercased() + (parts.port.map { ":\($0)" } ?? "") }
        }
        return [own, "assets.securenode.io"].compactMap { $0 }
    }

    /// Normalises a host for comparison: `[v6]`, IPv4 address or name, with an optional port.
    private static func host(_ text: String) throws(AddressProblem) -> String {
        let address = try EndpointAddress.read(text.lowercased(), defaultPort: 0, allowsNames: true)
        let host = address.isIPv6 ? "[\(address.host)]" : address.host
        return address.hasPort ? "\(host):\(address.port)" : host
    }
}
