// SPDX-License-Identifier: Apache-2.0

/// The options of `herald setup` as they were typed; nil for what is asked.
package struct SetupOptions: Sendable {
    /// The configuration of the packages.
    package static let packagedPath = "/etc/herald/herald.yaml"

    /// The configuration file.
    package var config: String
    package var carrier: [String] = []
    package var nextHop: String?
    package var pbx: String?
    package var country: String?
    package var vouches: Bool?
    package var listen: String?
    package var pbxListen: String?
    package var directory: String?
    package var keyFile: String?
    /// True asks nothing, and takes the default of each question that has one.
    package var yes = false
    /// True prints the file and writes nothing.
    package var print = false

    package init(config: String = packagedPath) { self.config = config }

    /// The folder of the configuration file.
    var folder: String {
        guard let slash = config.lastIndex(of: "/") else { return "." }
        return slash == config.startIndex ? "/" : String(config[..<slash])
    }

    /// The file of the directory's key.
    var keyPath: String { keyFile ?? folder + "/api-key" }
}
