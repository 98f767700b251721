// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc
import Primitives

/// The entry point of both programs.
public enum ProgramStart {
    /// Runs a command in a task of medium priority, and serves the main queue meanwhile.
    public static func run(_ command: @escaping @Sendable () async -> Never) -> Never {
        // libdispatch asks for a niceness below 0 for its timer thread and logs a refusal to syslog. Nothing depends on it.
        // An operator who sets the variable gets the lines.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // A task of the main thread would be "user initiated", and its threads would go before ordinary programs.
        Task(priority: .medium) { await command() }
        dispatchMain()
    }

    /// Ends the program with 64 for a mistyped command, as the parser of arguments does for a wrong option.
    public static func check(_ commands: CommandTree) {
        guard let problem = commands.problem(in: Array(CommandLine.arguments.dropFirst())) else { return }
        Output.warn("Error: \(problem)")
        exit(EX_USAGE)
    }
}
