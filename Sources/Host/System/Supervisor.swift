// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// Reports the state of the program to systemd, where systemd asks for it with `NOTIFY_SOCKET`.
///
/// Without that variable nothing is sent. Any thread. Source: sd_notify(3), sd_watchdog_enabled(3).
public struct Supervisor: Sendable {
    /// The state of the program.
    public enum State: Hashable, Sendable {
        /// The program serves, for the first time or again after a reload.
        case ready
        /// The program reads its configuration again; `ready` ends it.
        case reloading
        /// The program ends.
        case stopping
        /// One line for `systemctl status`.
        case status(String)
        /// The program makes progress. systemd restarts a program that stays silent for `watchdogInterval`.
        case alive

        /// The state as the protocol writes it.
        ///
        /// - Parameter now: microseconds of the monotonic clock; a reload carries them.
        func text(now: Int64) -> String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(now)"
            case .stopping: "STOPPING=1"
            case .status(let line): "STATUS=" + line.replacing("\n", with: " ")
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// The longest silence before systemd restarts the program; nil without a watchdog.
    public let watchdogInterval: Duration?
    private let send: @Sendable (String) -> Void

    /// systemd, as the environment names it.
    public static var current: Supervisor {
        var microseconds: UInt64 = 0
        let hasWatchdog = sd_watchdog_enabled(0, &microseconds) > 0
        return Supervisor(watchdogInterval: hasWatchdog ? .microseconds(Int64(microseconds)) : nil) {
            sd_notify(0, $0)
        }
    }

    /// - Parameter send: takes each message in the form of the protocol.
    public init(watchdogInterval: Duration?, send: @escaping @Sendable (String) -> Void) {
        self.watchdogInterval = watchdogInterval
        self.send = send
    }

    /// Sends one or more states in one message.
    public func report(_ states: State...) {
        let now = SteadyClock.microseconds
        send(states.map { $0.text(now: now) }.joined(separator: "\n"))
    }
}
