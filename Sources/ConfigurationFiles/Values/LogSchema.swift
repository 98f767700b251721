// SPDX-License-Identifier: Apache-2.0

/// Reads the `log` section of both programs.
enum LogSchema {
    /// - Parameter isGateway: false for the directory, which has only `level`.
    static func read(_ root: ConfigurationSection, isGateway: Bool) -> LogSettings {
        var log = LogSettings()
        root.within("log") { section in
            log.level = section.choice("level", default: log.level)
            guard isGateway else { return }
            log.format = section.choice("format", default: log.format)
            log.hasCalls = section.bool("calls", default: log.hasCalls)
            log.numbers = section.choice("numbers", default: log.numbers)
        }
        return log
    }
}
