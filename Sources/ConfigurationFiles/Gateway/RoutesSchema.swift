// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Host
import Primitives

/// Reads the section `routes` of `herald.yaml`, and the list files that it names.
struct RoutesSchema {
    let file: ConfigurationFile
    let root: ConfigurationSection
    let lists: HeraldConfiguration.Lists
    let pbx: [HeraldConfiguration.PBX]
    let customers: [HeraldConfiguration.Customer]
    private let pbxNames: NamePositions
    private let customerNames: NamePositions

    init(
        file: ConfigurationFile, root: ConfigurationSection, lists: HeraldConfiguration.Lists,
        pbx: [HeraldConfiguration.PBX], customers: [HeraldConfiguration.Customer]
    ) {
        (self.file, self.root, self.lists, self.pbx, self.customers) = (file, root, lists, pbx, customers)
        pbxNames = NamePositions(pbx.map(\.name))
        customerNames = NamePositions(customers.map(\.name))
    }

    func read() -> HeraldConfiguration.Routes {
        var routes = HeraldConfiguration.Routes()
        root.within("routes") { section in
            routes.called = section.choice("called", default: routes.called)
            routes.unmatched = section.choice("default", default: routes.unmatched)
            if !section.has("table") { section.missing("table", "[{numbers: [+49301234*], pbx: office}]") }
            var names: Set<String> = []
            var entries = RouteEntries(lists: lists)
            routes.table =
                section.sections("table") { position, section in
                    route(section, position, &names, into: &entries)
                } ?? []
            entries.finish()
            routes.numbers = entries.table
            routes.repetitions = entries.repetitions
        }
        return routes
    }

    private func route(
        _ section: ConfigurationSection, _ position: Int, _ names: inout Set<String>, into entries: inout RouteEntries
    ) -> HeraldConfiguration.Route {
        let name = section.string("name", form: WordForm.name, WordForm.isName) ?? "route\(position + 1)"
        if !names.insert(name).inserted { section.problem("name", "an earlier entry is named \"\(name)\"") }
        var route = HeraldConfiguration.Route(name: name)
        route.pbx = self.position(section, "pbx", among: pbxNames)
        route.customer = self.position(section, "customer", among: customerNames)
        if route.customer != nil, !section.has("pbx") {
            section.missing("pbx", "office (a customer's calls need the PBX that they come back from)")
        }
        if section.has("policy") { route.policy = section.choice("policy", default: .standard) }
        route.brands = section.choice("brands", default: route.brands)
        route.limits = PeersSchema.limits(section)
        if !section.has("numbers"), !section.has("list") {
            section.missing("numbers", "[+4930123456, +49301234*], or list: numbers.csv")
        }
        let region = section.parsed("region") { text throws(AddressProblem) in
            guard let region = Region(text) else {
                throw .unfit("\"\(text)\" is not a country with a numbering plan (two letters, such as AU or DE)")
            }
            return region
        }
        let normaliser = region.map { NumberNormaliser(region: $0) }
        entries.begin(position, name, region: normaliser)
        for (element, text) in section.texts("numbers").enumerated() {
            entries.add(text, at: "numbers[\(element)]") { section.problem("numbers", element: element, $0) }
        }
        route.lists = section.texts("list").map(file.resolved)
        for (element, path) in route.lists.enumerated() {
            let content = entries.add(fileAt: path) { line, problem in
                if line == 0 { return section.problem("list", element: element, problem) }
                section.problem(inFile: path, line: line, key: "route \(name)", problem)
            }
            if let content { section.keep(content, of: "list") }
        }
        (route.numberCount, route.prefixCount) = entries.counts
        return route
    }

    private func position(_ section: ConfigurationSection, _ key: String, among entries: NamePositions) -> Int? {
        guard let name = section.string(key) else { return nil }
        if let position = entries[name] { return position }
        section.problem(key, "no entry is named \"\(name)\"" + NearestName.hint(name, among: entries.names))
        return nil
    }
}

/// Collects the entries of all routes, and reports what two routes list or what is no entry.
private struct RouteEntries {
    let lists: HeraldConfiguration.Lists
    private(set) var table = CalledNumberTable()
    private(set) var repetitions: [HeraldConfiguration.Repetition] = []
    private var names: [Int: String] = [:]
    private var route = 0
    private var region: NumberNormaliser?
    private var before = (numbers: 0, prefixes: 0)
    /// Problems of one list that are reported; the rest is counted.
    private static let mostProblems = 20

    init(lists: HeraldConfiguration.Lists) { self.lists = lists }

    /// Entries of the present route.
    var counts: (numbers: Int, prefixes: Int) {
        (table.numberCount - before.numbers, table.prefixCount - before.prefixes)
    }

    mutating func begin(_ position: Int, _ name: String, region: NumberNormaliser?) {
        (route, names[position], self.region) = (position, name, region)
        before = (table.numberCount, table.prefixCount)
    }

    mutating func finish() { table.compact() }

    /// Adds an entry of the configuration file.
    mutating func add(_ text: String, at place: String, _ report: (String) -> Void) {
        var text = text
        let problem = text.withUTF8 { add(UnsafeRawBufferPointer($0)[...], { place }) }
        if let problem { report(problem) }
    }

    /// Adds the entries of a list file.
    ///
    /// - Parameter report: receives line and problem; line 0 is the file as a whole.
    /// - Returns: the content; nil for a file that was not read.
    mutating func add(fileAt path: String, _ report: (Int, String) -> Void) -> Data? {
        guard lists == .read else { return nil }
        let data: Data
        do {
            // A copy: a mapped file that somebody shortens meanwhile would end the program with SIGBUS.
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            report(0, "\(path) cannot be read: \(SystemError.ofReading(path))")
            return nil
        }
        var (entries, problems) = (0, 0)
        data.withUnsafeBytes { bytes in
            var list = RouteList(bytes)
            list.read { text, line in
                entries += 1
                guard let problem = add(text, { "\(path):\(line)" }) else { return }
                problems += 1
                if problems <= Self.mostProblems { report(line, problem) }
            }
        }
        if problems > Self.mostProblems {
            report(0, "\(path) has \(problems - Self.mostProblems) more lines with problems")
        }
        if entries == 0 { report(0, "\(path) has no entry; write one number a line, such as +4930123456") }
        return data
    }

    /// Adds one entry; returns its problem.
    private mutating func add(_ text: Slice<UnsafeRawBufferPointer>, _ place: () -> String) -> String? {
        let keys: RouteEntry.Keys
        do throws(AddressProblem) {
            keys = try RouteEntry(text, region: region).keys
        } catch {
            return "\"\(String(decoding: text.prefix(64), as: UTF8.self))\" \(error)"
        }
        switch keys {
        case .one(let key): return add(key, place)
        case .range(let digits):
            for digits in digits {
                guard let number = E164Number(digits: digits) else { continue }
                if let problem = add(.number(number), place) { return problem }
            }
            return nil
        }
    }

    private mutating func add(_ key: CalledNumberTable.Key, _ place: () -> String) -> String? {
        guard let owner = table.add(key, route: route) else { return nil }
        guard owner == route else {
            return "\(key) belongs to route \(names[owner] ?? "") already; keep it in one of them"
        }
        if let last = repetitions.indices.last, repetitions[last].route == names[route] {
            repetitions[last].count += 1
        } else {
            repetitions.append(.init(route: names[route] ?? "", entry: "\(key)", place: place()))
        }
        return nil
    }
}
