// SPDX-License-Identifier: Apache-2.0

package import Branding

extension HeraldConfiguration {
    /// Routes of trunks' calls by called number.
    package struct Routes: Sendable {
        /// The header field that names the called number.
        package var called = CalledField.requestURI
        /// The treatment of calls that no route matches.
        package var unmatched = UnmatchedCalls.trunk
        /// The routes; positions in `numbers` count from the first one.
        package var table: [Route] = []
        /// The numbers and prefixes of all routes; empty if the file was loaded without its lists.
        package var numbers = CalledNumberTable()
        /// Entries that are listed twice within a route, with the places of the second ones.
        package var repetitions: [Repetition] = []
    }

    /// The PBX, the policy and the limits of calls to some numbers.
    package struct Route: Hashable, Sendable {
        package var name: String
        /// Position in `pbx`; nil for the trunk's PBX.
        package var pbx: Int?
        /// Nil for the trunk's policy.
        package var policy: BrandingPolicy?
        /// Whether its calls have brands; those of the trunk may be in shadow or off too.
        package var brands = BrandMode.on
        package var limits = TrunkLimits()
        /// Position in `customers`; nil for calls without a customer.
        package var customer: Int?
        /// Paths of its list files.
        package var lists: [String] = []
        /// Complete numbers of this route, from the file and from its lists.
        package var numberCount = 0
        /// Prefixes of this route.
        package var prefixCount = 0
    }

    /// An entry that one route lists more than once.
    package struct Repetition: Hashable, Sendable {
        package let route: String
        /// The number or the prefix as the table has it.
        package let entry: String
        /// File and line of the second place.
        package let place: String
        /// All repetitions of the route.
        package var count = 1
    }
}

extension HeraldConfiguration.Routes {
    /// Remarks about entries that are listed twice and about prefixes inside another route's prefix.
    package var remarks: [String] {
        let repeated = repetitions.map { repetition in
            let more = repetition.count > 1 ? ", and \(repetition.count - 1) more entries" : ""
            return "route \(repetition.route) lists \(repetition.entry) twice, again at \(repetition.place)\(more)"
        }
        let overlaps = numbers.overlaps().map { overlap in
            let more = overlap.count > 1 ? " and \(overlap.count - 1) more entries" : ""
            return "route \(table[overlap.route].name): \(overlap.example)\(more) within \(overlap.prefix) of route "
                + "\(table[overlap.outer].name); the longer entry wins"
        }
        return Self.first(10, of: repeated) + Self.first(10, of: overlaps)
    }

    private static func first(_ most: Int, of remarks: [String]) -> [String] {
        guard remarks.count > most else { return remarks }
        return remarks.prefix(most) + ["\(remarks.count - most) more remarks of this kind about routes"]
    }
}
