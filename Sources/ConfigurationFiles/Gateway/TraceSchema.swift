// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// The copies of messages for traces, and their export.
    package struct Trace: Hashable, Sendable {
        /// Messages that wait for the reader of traces.
        package var buffer = 8192
        /// Nil exports nothing.
        package var hep: HEP?
    }

    /// A collector of the Homer Encapsulation Protocol, version 3.
    package struct HEP: Hashable, Sendable {
        package enum Transport: String, ConfigurationWord, Sendable { case udp, tcp }
        /// The treatment of telephone numbers in exported messages. A withheld number appears in neither.
        package enum Numbers: String, ConfigurationWord, Sendable { case masked, full }

        package var collector: EndpointAddress
        package var transport = Transport.udp
        /// The number by which the collector distinguishes capture agents.
        package var captureID = 1
        /// The collector's shared secret; nil for none.
        package var authKey: ConfiguredSecret?
        package var numbers = Numbers.masked
    }
}

extension HeraldSchema {
    /// Reads the `trace` section.
    func trace() -> HeraldConfiguration.Trace {
        var trace = HeraldConfiguration.Trace()
        root.within("trace") { section in
            trace.buffer = section.integer("buffer", default: trace.buffer, in: 1024...262_144)
            trace.hep = section.section("hep") { section in
                if !section.has("collector") { section.missing("collector", "192.0.2.50:9060") }
                let collector = section.parsed("collector") { text throws(AddressProblem) in
                    try EndpointAddress.read(text, defaultPort: 9060, allowsNames: true)
                }
                let transport = section.choice("transport", default: HeraldConfiguration.HEP.Transport.udp)
                let captureID = section.integer("capture_id", default: 1, in: 1...Int(UInt32.max))
                let hasKey = ["auth_key", "auth_key_file", "auth_key_env"].contains { section.has($0) }
                let key = hasKey ? SecretSchema(file: file).read(section, "auth_key", secrets: secrets) : nil
                let numbers = section.choice("numbers", default: HeraldConfiguration.HEP.Numbers.masked)
                return collector.map {
                    HeraldConfiguration.HEP(
                        collector: $0, transport: transport, captureID: captureID, authKey: key, numbers: numbers)
                }
            }
        }
        return trace
    }
}
