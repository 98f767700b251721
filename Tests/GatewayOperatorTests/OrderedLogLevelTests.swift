// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Logging
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("The log level at run time")
struct OrderedLogLevelTests {
    @Test func `an ordered level holds for its time and returns by itself`() {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let order = OrderedLogLevel { start + passed.withLock { $0 } }
        #expect(order.level == nil && order.until == nil)
        order.set(.debug, for: .seconds(600))
        #expect(order.level == .debug && order.until != nil)
        passed.withLock { $0 = .seconds(599) }
        #expect(order.level == .debug)
        passed.withLock { $0 = .seconds(600) }
        #expect(order.level == nil && order.until == nil)
    }

    @Test func `without a time it holds until it is taken back`() {
        let order = OrderedLogLevel()
        order.set(.error)
        #expect(order.level == .error && order.until == nil)
        order.set(nil)
        #expect(order.level == nil)
    }

    @Test func `loggers that exist already follow it, and those with a level of their own do not`() {
        let output = LogOutput(LogSettings())
        let logger = Logger(label: "herald.test") { output.handler($0) }
        var quiet = logger
        quiet.logLevel = .notice
        #expect(logger.logLevel == .info)
        output.ordered.set(.debug)
        #expect(logger.logLevel == .debug && quiet.logLevel == .notice)
        output.ordered.set(nil)
        #expect(logger.logLevel == .info)
    }
}
