// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import GatewayConfiguration
import Glibc

/// The entry point of the program.
@main
enum HeraldProgram {
    /// Runs the command in a task of its own.
    static func main() {
        // libdispatch asks for a niceness below 0 for its timer thread and logs a refusal to syslog. Nothing depends on it.
        // An operator who sets the variable gets the lines.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // A task of the main thread would be "user initiated", and its threads would go before ordinary programs.
        Task(priority: .medium) {
            await Herald.main()
            Herald.exit()
        }
        dispatchMain()
    }
}

/// The gateway and the operator's commands.
struct Herald: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "herald",
        abstract: "A SIP proxy that adds the caller's brand to calls: a name, a logo and a reason.",
        discussion: """
            Example:
              herald check-config --config /etc/herald/herald.yaml
              herald run --config /etc/herald/herald.yaml
            """,
        version: HeraldVersion.current,
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, DoctorCommand.self, LookupCommand.self, SimulateCommand.self,
            StatusCommand.self, SyncCommand.self, ReloadCommand.self, DrainCommand.self, LogLevelCommand.self,
            TargetsCommand.self, RoutesCommand.self, CustomersCommand.self, CallsCommand.self, EventsCommand.self,
            LogosCommand.self, TraceCommand.self, BackupCommand.self,
        ])
}
