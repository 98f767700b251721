// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Primitives

/// The text of a configuration file for the values: the keys that a first call needs, each with its reason.
struct SetupFile {
    private let values: SetupValues
    /// The path of the later file.
    private let path: String

    init(_ values: SetupValues, path: String) { (self.values, self.path) = (values, path) }

    var text: String { (head + listen + trunks + pbx + directory + logos).map { $0 + "\n" }.joined() }

    private var head: [String] {
        let option = path == SetupOptions.packagedPath ? "" : " --config \(TerminalText.visible(path))"
        return [
            "# Configuration of herald, written by herald setup. Every key is explained in",
            "# /usr/share/doc/herald/examples/herald.yaml. After a change:",
            "#     sudo -u herald herald check-config\(option) && sudo -u herald herald reload\(option)",
            "",
        ]
    }

    /// A key and its value, with a remark beside it.
    private func line(_ text: String, _ remark: String) -> String {
        let width = 36
        return text + String(repeating: " ", count: max(2, width - text.count)) + "# " + remark
    }

    private var hasTwoSides: Bool { values.outside != values.inside }
    private func address(_ address: EndpointAddress) -> String { YAMLScalar.text("\(address)") }

    private var listen: [String] {
        let entries =
            hasTwoSides
            ? [("outside", values.outside, "towards the carrier"), ("inside", values.inside, "towards the PBX")]
            : [("sip", values.outside, "carrier and PBX send to it")]
        return ["listen:"]
            + entries.map { line("  - {name: \($0.0), address: \(address($0.1))}", $0.2) }
    }

    private var trunks: [String] {
        let sources = YAMLScalar.list(values.carrier.sources.map(\.description))
        let names = values.names.isEmpty ? "" : " (of \(values.names.joined(separator: ", ")) at the time of setup)"
        let code = values.country.region.callingCode
        return [
            "trunks:", "  - name: carrier",
            line("    sources: \(sources)", "addresses that send its INVITEs\(names); others get 403"),
            line("    next_hop: \(address(values.nextHop))", "destination of the PBX's calls"),
            line(
                "    region: \(YAMLScalar.text("\(values.country.region)"))",
                "country of its national numbers: \(values.country.name), +\(code)"),
            line(
                "    trusted: \(values.vouches)",
                values.vouches
                    ? "the carrier vouches for its callers"
                    : "its calls get no brand; true if the carrier vouches for its callers"),
        ] + (hasTwoSides ? ["    listen: outside"] : [])
    }

    private var pbx: [String] {
        let listen = hasTwoSides ? ", listen: inside" : ""
        return ["pbx:", "  - {name: office, address: \(address(values.pbx))\(listen)}"]
    }

    private var directory: [String] {
        guard let directory = values.directory else {
            return [
                "# The source of brands. Without it no call is branded.",
                "# directory: {url: 'https://directory.example', api_key_file: api-key}",
            ]
        }
        return [
            "directory: {url: \(YAMLScalar.text(directory.url)), api_key_file: \(YAMLScalar.text(directory.keyFile))}"
        ]
    }

    /// Phones get `https` logos from their own host; others need a copy of the gateway.
    private var logos: [String] {
        guard let directory = values.directory, directory.isPlain else { return [] }
        let host = EndpointAddress(host: values.inside.host, port: 9480, isIPv6: values.inside.isIPv6)
        return [line("logos:", "copies of the brands' logos, for phones"), "  listen: \(address(host))"]
            + [line("  allow_http: true", "the directory's URL is http")]
            + (directory.isPrivate ? [line("  allow_private: true", "its address is not in the Internet")] : [])
    }
}
