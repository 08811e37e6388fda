#===- faults.py - Ways to break a certificate ----------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Every fault takes a certificate and a random generator, and returns a broken
copy, or None where the certificate has no place for it. Most are bugs that
other systems shipped. A fault that might be harmless is made only where a
brute-force search over the order of a step says that it is not.
"""

import call_faults
import server_faults
import value_faults
from fault_kinds import FAULTS

__all__ = ["FAULTS", "call_faults", "server_faults", "value_faults"]
