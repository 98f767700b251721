// SPDX-License-Identifier: Apache-2.0

public import Logging

/// The base of the log handlers that write one line for each event.
///
/// It holds level and metadata, and merges the metadata of handler, provider and event. A later one wins.
public protocol LineLogHandler: LogHandler {
    /// The state that every handler keeps.
    var context: LogLineContext { get set }
    /// Writes one event. Any thread.
    func write(line: LogLine)
}

/// Label, level and metadata of a log handler.
public struct LogLineContext: Sendable {
    public let label: String
    public var metadata: Logger.Metadata = [:]
    public var provider: Logger.MetadataProvider?
    private let general: @Sendable () -> Logger.Level
    private var own: Logger.Level?

    /// - Parameter level: read for each line, so that a reload can change it.
    public init(label: String, level: @escaping @autoclosure @Sendable () -> Logger.Level) {
        self.label = label
        general = level
    }

    /// The least level of a line; a set level belongs to this logger alone.
    public var level: Logger.Level {
        get { own ?? general() }
        set { own = newValue }
    }
}

/// One event of the log with its whole metadata.
public struct LogLine: Sendable {
    public let label: String
    public let level: Logger.Level
    public let message: String
    public let metadata: [String: String]
}

extension LineLogHandler {
    public var logLevel: Logger.Level {
        get { context.level }
        set { context.level = newValue }
    }

    public var metadata: Logger.Metadata {
        get { context.metadata }
        set { context.metadata = newValue }
    }

    public var metadataProvider: Logger.MetadataProvider? {
        get { context.provider }
        set { context.provider = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { context.metadata[key] }
        set { context.metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var all = context.metadata
        if let provided = context.provider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        write(
            line: LogLine(
                label: context.label, level: event.level, message: event.message.description,
                metadata: all.mapValues(\.description)))
    }
}
