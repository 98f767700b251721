// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The last signal that a shield has held back; 0 for none.
private let heldSignal = Atomic<Int32>(0)

/// Holds back the signals that end a program, while files and a key are made that belong together.
///
/// A held signal comes through at the end. One shield at a time in a process; any thread. Programs started meanwhile have the
/// usual signals, and need a session of their own against Ctrl-C.
struct InterruptShield {
    private typealias Handler = @convention(c) (Int32) -> Void

    private let usual: [(number: Int32, handler: Handler?)]

    /// Holds SIGINT, SIGTERM and SIGHUP back from now on.
    init() {
        heldSignal.store(0, ordering: .relaxed)
        usual = [SIGINT, SIGTERM, SIGHUP].map { number in
            (number, signal(number) { heldSignal.store($0, ordering: .relaxed) })
        }
    }

    /// Returns to the usual effect of the signals, and drops one that was held.
    ///
    /// For a program that ends by itself, with the reason on its last line.
    func drop() {
        for (number, handler) in usual { _ = signal(number, handler) }
    }

    /// Returns to the usual effect of the signals, and lets one through that was held.
    func end() {
        drop()
        let number = heldSignal.exchange(0, ordering: .relaxed)
        guard number != 0 else { return }
        // By the process: threads of the library Dispatch block signals. The program ends within the second.
        kill(getpid(), number)
        sleep(1)
    }
}
