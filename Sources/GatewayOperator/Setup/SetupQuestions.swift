// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import ConfigurationFiles
import Foundation
import GatewaySync
import Primitives

/// Finds the values of a setup: those of the options, then those of a person.
///
/// A wrong value is asked again with its reason. A wrong option ends the setup.
struct SetupQuestions {
    private let options: SetupOptions
    private let local: LocalDirectory?
    private let reach: PeerReach
    /// Nil where nobody is asked.
    private let terminal: SetupTerminal?

    init(_ options: SetupOptions, local: LocalDirectory?, reach: PeerReach, terminal: SetupTerminal?) {
        (self.options, self.local, self.reach, self.terminal) = (options, local, reach, terminal)
    }

    /// One question with its option.
    private struct Question {
        let option: String
        let text: String
        var usual: String?
        var isList = false
    }

    /// All values, in the order of the file.
    func values() async throws(SetupProblem) -> SetupValues {
        let (carrier, names) = try await carrier()
        let nextHop = try await nextHop(carrier)
        let pbx = try await pbx(carrier)
        let country = try await country()
        let vouches = try await vouches()
        let outside = try await outside(nextHop, pbx)
        let inside = try await inside(pbx, outside)
        return SetupValues(
            carrier: carrier, names: names, nextHop: nextHop, pbx: pbx.address, country: country, vouches: vouches,
            outside: outside, inside: inside, directory: try await directory())
    }

    // MARK: Peers

    private func carrier() async throws(SetupProblem) -> (CarrierAddresses, names: [String]) {
        let given = options.carrier.isEmpty ? nil : options.carrier.joined(separator: ",")
        let question = Question(
            option: "--carrier", text: "Carrier's addresses, networks or name (where its INVITEs come from)",
            isList: true)
        return try await value(question, given) { text async throws(SetupProblem) in
            var chosen = try CarrierAddresses.read(text)
            let names = chosen.hops.filter(\.isName)
            for name in names {
                let hosts = try await reach.resolve(name)
                try chosen.add(addressesOf: name, hosts)
                remark("\(name.host) is \(hosts.joined(separator: ", ")) now; INVITEs of other addresses get 403")
            }
            return (chosen, names.map(\.host))
        }
    }

    /// Where the PBX's calls go: the first single address or name of the carrier, or a value of its own.
    private func nextHop(_ carrier: CarrierAddresses) async throws(SetupProblem) -> EndpointAddress {
        if options.nextHop == nil, let hop = carrier.hops.first { return hop }
        let question = Question(option: "--next-hop", text: "Carrier's address for calls of the PBX")
        return try await value(question, options.nextHop) { text async throws(SetupProblem) in
            let hop = try SIPAddressText.read(text)
            try Self.check(hop)
            guard hop.isName || hop.isIPv6 == carrier.sources.first?.isIPv6 else {
                throw SetupProblem("\(hop) is of another family than the carrier's addresses")
            }
            return hop
        }
    }

    /// The PBX with one of its addresses.
    private func pbx(_ carrier: CarrierAddresses) async throws(SetupProblem) -> (address: EndpointAddress, host: String)
    {
        let question = Question(option: "--pbx", text: "PBX's address or name")
        return try await value(question, options.pbx) { text async throws(SetupProblem) in
            let pbx = try SIPAddressText.read(text)
            try Self.check(pbx)
            let host = try await pbx.isName ? reach.resolve(pbx).first ?? pbx.host : pbx.host
            guard !carrier.sources.contains(where: { $0.isSingle && $0.host == host }) else {
                throw SetupProblem("\(host) is an address of the carrier; PBX and carrier need different ones")
            }
            return (pbx, host)
        }
    }

    private static func check(_ address: EndpointAddress) throws(SetupProblem) {
        guard address.isWildcard else { return }
        throw SetupProblem("\(address.host) means every address; write one")
    }

    // MARK: Trunk

    private func country() async throws(SetupProblem) -> ChosenCountry {
        let question = Question(
            option: "--country", text: "Country of the carrier's national numbers (AU, Australia or +61)")
        return try await value(question, options.country) { text async throws(SetupProblem) in
            try ChosenCountry.read(text)
        }
    }

    private func vouches() async throws(SetupProblem) -> Bool {
        if let given = options.vouches { return given }
        remark("The carrier vouches if it sends numbers that it has checked. Without that no call gets a brand.")
        let question = Question(
            option: "--vouches", text: "Does the carrier vouch for its callers? yes or no", usual: "no")
        return try await value(question, nil) { text async throws(SetupProblem) in try Self.yes(text) }
    }

    /// Reads yes or no.
    static func yes(_ text: String) throws(SetupProblem) -> Bool {
        switch text.lowercased() {
        case "y", "yes": return true
        case "n", "no": return false
        default: throw SetupProblem("write yes or no")
        }
    }

    // MARK: Own addresses

    private func outside(
        _ nextHop: EndpointAddress, _ pbx: (address: EndpointAddress, host: String)
    ) async throws(SetupProblem) -> EndpointAddress {
        let hop = try await nextHop.isName ? reach.resolve(nextHop).first ?? "" : nextHop.host
        // The address towards a peer on this machine is the peer's own.
        let usual = reach.own(hop).flatMap { $0 == hop ? nil : "\(Self.endpoint($0))" }
        let question = Question(option: "--listen", text: "This gateway's address towards the carrier", usual: usual)
        return try await listen(question, options.listen, isIPv6: hop.contains(":"), pbx)
    }

    /// One address serves both sides where it can: the PBX on this machine is reached from each of its addresses.
    private func inside(
        _ pbx: (address: EndpointAddress, host: String), _ outside: EndpointAddress
    ) async throws(SetupProblem) -> EndpointAddress {
        let isIPv6 = pbx.host.contains(":")
        let own = reach.own(pbx.host)
        let isSame = own == nil || own == outside.host || reach.isLocal(pbx.host)
        if options.pbxListen == nil, outside.isIPv6 == isIPv6, isSame { return outside }
        let question = Question(
            option: "--pbx-listen", text: "This gateway's address towards the PBX",
            usual: own.map { "\(Self.endpoint($0))" })
        return try await listen(question, options.pbxListen, isIPv6: isIPv6, pbx)
    }

    private static func endpoint(_ host: String) -> EndpointAddress {
        EndpointAddress(host: host, port: 5060, isIPv6: host.contains(":"))
    }

    private func listen(
        _ question: Question, _ given: String?, isIPv6: Bool, _ pbx: (address: EndpointAddress, host: String)
    ) async throws(SetupProblem) -> EndpointAddress {
        try await value(question, given) { text async throws(SetupProblem) in
            let address = try SIPAddressText.read(text, allowsNames: false)
            guard !address.isWildcard else {
                throw SetupProblem("\(address.host) means every interface; write one address of this machine")
            }
            guard address.isIPv6 == isIPv6 else {
                let family = isIPv6 ? "IPv6" : "IPv4"
                throw SetupProblem("\(address) is of another family than the peer; write an \(family) address")
            }
            guard address.host != pbx.host || address.port != pbx.address.port else {
                throw SetupProblem("\(address) is the PBX's address; write another port, such as \(address.port + 10)")
            }
            return address
        }
    }

    // MARK: Directory

    private func directory() async throws(SetupProblem) -> SetupValues.Directory? {
        if let local, options.directory == nil { remark("A branding directory is on this machine: \(local.url)") }
        let question = Question(
            option: "--directory", text: "URL of the branding directory, or none", usual: local?.url)
        let url = try await value(question, options.directory) { text async throws(SetupProblem) -> String? in
            if text.lowercased() == "none" { return nil }
            guard URLForm.isDirectory(text), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SetupProblem("\"\(ShownURL.text(text))\" must be \(URLForm.text)")
            }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        guard let url else { return nil }
        let path = options.keyPath
        let folder = (path as NSString).deletingLastPathComponent
        let isBeside = folder == options.folder || folder.isEmpty && options.folder == "."
        let name = isBeside ? (path as NSString).lastPathComponent : Self.absolute(path)
        return .init(url: url, keyFile: name, isPrivate: await isPrivate(url))
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// True if logos of the URL's host come from a private network or from this machine.
    private func isPrivate(_ url: String) async -> Bool {
        guard let host = URLComponents(string: url)?.host?.trimmingCharacters(in: ["[", "]"]) else { return false }
        if host.lowercased() == "localhost" { return true }
        let name = EndpointAddress(host: host, port: 80, isIPv6: false, isName: true)
        let hosts = AddressBytes(host) != nil ? [host] : (try? await reach.resolve(name)) ?? []
        return hosts.contains { HostAddress($0)?.isPublic == false || reach.isLocal($0) }
    }

    // MARK: Asking

    private func remark(_ text: String) { terminal?.write("  \(TerminalText.visible(text))\n") }

    /// The value of an option, or of the first good chosen.
    private func value<Value>(
        _ question: Question, _ given: String?, _ read: (String) async throws(SetupProblem) -> Value
    ) async throws(SetupProblem) -> Value {
        if let given {
            do throws(SetupProblem) {
                return try await read(given.trimmingCharacters(in: .whitespacesAndNewlines))
            } catch {
                throw SetupProblem(TerminalText.visible("\(question.option): \(error)"))
            }
        }
        guard let terminal else {
            guard let usual = question.usual else {
                throw SetupProblem("give \(question.option); it has no default here")
            }
            return try await read(usual)
        }
        while true {
            let usual = question.usual.map { " [\($0)]" } ?? ""
            let line = try terminal.line("\(question.text)\(usual): ", isList: question.isList)
            guard let entered = line.isEmpty ? question.usual : line else { continue }
            do throws(SetupProblem) {
                return try await read(entered)
            } catch {
                remark("\(error)")
            }
        }
    }
}
