// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc

/// Where the program begins.
@main
enum HeraldProgram {
    /// Runs the command.
    static func main() {
        // libdispatch asks for a niceness below 0 for its timer thread, and writes a line to syslog where it may not have it.
        // Nothing depends on it. An operator who sets the variable gets its lines.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // Otherwise a task of the main thread is "user initiated", and its threads go before ordinary programs.
        Task(priority: .medium) {
            await Herald.main()
            Herald.exit()
        }
        dispatchMain()
    }
}

/// The gateway and the operator's commands around it.
struct Herald: AsyncParsableCommand {
    /// The version of both programs, as `--version`, the directory and the status page show it.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "herald",
        abstract: "Announces who calls: a name, a logo and a reason for calls from a trunk to a PBX.",
        discussion: """
            Example:
              herald check-config --config /etc/herald/herald.yaml
              herald run --config /etc/herald/herald.yaml
            """,
        version: version,
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, LookupCommand.self, CallsCommand.self, EventsCommand.self,
            LogosCommand.self, SyncCommand.self,
        ])
}
